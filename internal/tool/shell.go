package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/tool/command"
)

type commandArgs struct {
	Command        string  `json:"command"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	Stdin          string  `json:"stdin"` // of validators only
}

// commandTool is run_command.
func commandTool(o Options, env environment, dir string) tool {
	return tool{
		own: true,
		spec: effect.ToolSpec{
			Name: RunCommand,
			Description: "Run a command line with /bin/sh in the working folder and return what it printed, and its exit status " +
				"when that is not 0. It gets no input. Everything it has started ends with it.",
			Parameters: object([]string{"command"},
				property{"command", "string", "the command line", `"minLength":1`},
				property{
					"timeout_seconds", "number", "after how many seconds it is killed",
					fmt.Sprintf(`"exclusiveMinimum":0,"maximum":%d,"default":%d`, int(maxTimeout.Seconds()), int(DefaultTimeout.Seconds())),
				}),
		},
		run: typed(func(ctx context.Context, c *call, a commandArgs) (string, error) {
			if !o.AllowCommands && !trusted(o.TrustedCommands, a.Command) {
				msg := "this command is not allowed: commands run only with --allow-commands, or when they are trusted"
				if len(o.TrustedCommands) > 0 {
					msg += "; trusted are: " + strings.Join(o.TrustedCommands, ", ")
				}
				return "", &failure{kindNotAllowed, errors.New(msg)}
			}
			return runLine(ctx, command.Spec{
				Line: a.Command, Dir: dir, Env: env.command, Timeout: askedTimeout(a.TimeoutSeconds, c), Combined: true,
			})
		}),
	}
}

// askedTimeout returns the time that a model asked for, within what it may have.
func askedTimeout(seconds float64, c *call) time.Duration {
	if seconds <= 0 {
		return c.timeout
	}
	most := maxTimeout
	if c.Timeout > 0 {
		most = c.Timeout
	}
	return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}

// validatorTool runs the commands of "command:" validators. The cascade's author wrote them, so
// they need no permission.
func validatorTool(env environment, dir string) tool {
	return tool{
		own:  true,
		spec: effect.ToolSpec{Name: effect.CommandTool},
		run: typed(func(ctx context.Context, c *call, a commandArgs) (string, error) {
			return runLine(ctx, command.Spec{
				Line: a.Command, Dir: dir, Env: env.command, Stdin: a.Stdin, Timeout: c.timeout, Combined: true,
			})
		}),
	}
}

// Trusts reports whether a command line is one of those that trusted_commands names, see [Options].
func Trusts(trust []string, line string) bool { return trusted(trust, line) }

// trusted reports whether a command line is one of those that may be run.
func trusted(trust []string, line string) bool {
	line = strings.TrimSpace(line)
	for _, t := range trust {
		words, open := strings.CutSuffix(strings.TrimSpace(t), " *")
		words = strings.TrimSpace(words)
		switch {
		case words == "":
		case line == words:
			return true
		case open && strings.HasPrefix(line, words+" ") && harmless(line[len(words):]):
			return true
		}
	}
	return false
}

// harmless reports whether a text means nothing to a shell but words.
func harmless(s string) bool {
	for _, r := range s {
		word := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" ._/:=@%+,-", r)
		if !word {
			return false
		}
	}
	return true
}

// runLine runs a command and returns what a model is shown of it.
func runLine(ctx context.Context, s command.Spec) (string, error) {
	res, err := run(ctx, s)
	return orNoOutput(output(res)), err
}

// run runs a command; one that fails is an error.
func run(ctx context.Context, s command.Spec) (command.Result, error) {
	res, err := command.Run(ctx, s)
	switch {
	case errors.Is(err, command.ErrUnsupported):
		err = &failure{kindUnsupported, err}
	case err == nil:
		err = commandFailure(res, s.Timeout)
	}
	return res, err
}

// commandFailure returns how a command failed, with its output, or nil.
func commandFailure(res command.Result, timeout time.Duration) error {
	kind := kindExitStatus
	var why string
	switch {
	case res.TimedOut:
		kind, why = kindTimeout, fmt.Sprintf("timed out after %s and was killed", timeout)
	case res.Signal != "":
		why = "ended by signal: " + res.Signal
	case res.ExitCode != 0:
		why = fmt.Sprintf("exit status %d", res.ExitCode)
	default:
		return nil
	}
	text := output(res)
	if res.LeftBehind > 0 && !res.TimedOut {
		why += fmt.Sprintf("; %d processes that it had left behind were killed", res.LeftBehind)
	}
	return &failure{kind, errors.New(endLine(text) + "[" + why + "]")}
}

// output joins what a command printed.
func output(res command.Result) string {
	out, errs := res.Stdout.String(), res.Stderr.String()
	switch {
	case errs == "":
		return out
	case out == "":
		return errs
	}
	return endLine(out) + "[standard error]\n" + errs
}

func orNoOutput(s string) string {
	if strings.TrimSpace(s) == "" {
		return "[no output]"
	}
	return s
}

// declaredShell is a shell tool of a cascade.
type declaredShell struct {
	line    *textTemplate
	program *program
	env     environment
	dir     string
}

func (d *declaredShell) run(ctx context.Context, c *call) (string, error) {
	vars, err := variables(c.Arguments, d.env)
	if err != nil {
		return "", err
	}
	line, err := d.line.render(vars)
	if err != nil {
		return "", err
	}
	limit := command.DefaultMaxOutput
	if d.program != nil {
		limit = maxBody
	}
	res, err := run(ctx, command.Spec{Line: line, Dir: d.dir, Env: d.env.command, Timeout: c.timeout, MaxOutput: limit})
	if err != nil {
		return "", err
	}
	if d.program == nil {
		// What a program says beside its result would spoil a result that is data.
		if out := res.Stdout.String(); strings.TrimSpace(out) != "" {
			return out, nil
		}
		return orNoOutput(res.Stderr.String()), nil
	}
	if res.Stdout.Cut() > 0 {
		return "", &failure{kindOutputLimit, fmt.Errorf("the output has %d bytes, more than the %d that response_jq reads",
			res.Stdout.Total(), limit)}
	}
	within, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return d.program.run(within, []byte(res.Stdout.String()))
}

// variables returns what the templates of a declared tool see: each argument under its name, all of
// them under input, the granted environment under env.
func variables(arguments json.RawMessage, env environment) (map[string]any, error) {
	args := map[string]any{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &args); err != nil {
			return nil, &failure{kindBadArguments, fmt.Errorf("the arguments are not a JSON object: %w", err)}
		}
	}
	vars := map[string]any{}
	maps.Copy(vars, args)
	vars["input"], vars["env"] = args, maps.Clone(env.allowed)
	return vars, nil
}
