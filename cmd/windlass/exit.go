package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/failure"
)

// The exit codes. They are part of the command's contract: docs/cli.md lists them.
const (
	exitOK          = 0
	exitFailed      = 1 // the cascade failed: a phase, a validator
	exitUsage       = 2 // wrong usage
	exitInvalid     = 3 // the cascade file is invalid
	exitProvider    = 4 // the provider failed
	exitBudget      = 5 // a budget was reached
	exitStorage     = 6 // storage or engine not available where it was asked for
	exitInterrupted = 130
)

// exitCodes gives each kind of failure its exit code.
var exitCodes = map[failure.Kind]int{
	failure.Failed:           exitFailed,
	failure.InvalidRequest:   exitUsage,
	failure.InvalidCascade:   exitInvalid,
	failure.InvalidInput:     exitUsage,
	failure.InvalidConfig:    exitUsage,
	failure.UnknownSession:   exitUsage,
	failure.UnknownCall:      exitUsage,
	failure.UnknownMessage:   exitUsage,
	failure.NoHandoff:        exitUsage,
	failure.SessionExists:    exitUsage,
	failure.SessionBusy:      exitUsage,
	failure.NotResumable:     exitUsage,
	failure.Diverged:         exitFailed,
	failure.OtherVersion:     exitStorage,
	failure.Damaged:          exitStorage,
	failure.StorageFailed:    exitStorage,
	failure.EngineMissing:    exitStorage,
	failure.ModelUnavailable: exitProvider,
	failure.OverBudget:       exitBudget,
	failure.Interrupted:      exitInterrupted,
}

// asExit gives an error that has no exit code yet that of its kind.
func asExit(err error) error {
	if err == nil || errors.As(err, new(*exitError)) {
		return err
	}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return withExit(exitCodes[f.Kind], inFlags(err), cmp.Or(hintFor(err), f.Try, hints[f.Kind]))
	}
	return withExit(exitFailed, err, "")
}

// exitError is an error with the exit code it ends the process with and, mostly, what to try next.
type exitError struct {
	code   int
	err    error
	hint   string
	silent bool // already shown
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// withExit gives err an exit code and a hint.
func withExit(code int, err error, hint string) error {
	return &exitError{code: code, err: err, hint: hint}
}

func usageError(err error, hint string) error { return withExit(exitUsage, err, hint) }

// exclude makes two flags of a command exclude each other.
func exclude(cmd *cobra.Command, one, other string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return usageError(fmt.Errorf("--%s and --%s exclude each other", one, other), "one of them, or neither")
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// takes demands n arguments, none empty. Without a hint the hint is the help of the command.
func takes(n int, wanted, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n && !slices.Contains(args, "") {
			return nil
		}
		return usageError(fmt.Errorf("%s takes %s, got %q", cmd.CommandPath(), wanted, args), cmp.Or(hint, cmd.CommandPath()+" --help"))
	}
}

var (
	noArgs     = takes(0, "no arguments", "")
	oneSession = takes(1, "one session id", "windlass sessions list")
)

// atLeastOne refuses a command line without arguments.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return usageError(fmt.Errorf("%s needs at least one %s", cmd.Name(), what), cmd.CommandPath()+" --help")
	}
}

// needsCommand refuses a command that only has others.
func needsCommand(names, hint string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return usageError(fmt.Errorf("%s needs %s", cmd.CommandPath(), names), hint)
	}
}
