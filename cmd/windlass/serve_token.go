package main

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/token"
)

func tokenFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "a `FILE` with the token that clients have to show (or "+token.Variable+"; without both the server makes one)")
}

func newServeTokenCommand(con *console) *cobra.Command {
	var file string
	var header bool
	cmd := &cobra.Command{
		Use:   "token [ADDRESS]",
		Short: "Print the token that windlass serve demands",
		Long: `Print the token that windlass serve demands: that of WINDLASS_SERVE_TOKEN or --token-file, or else the one that the
server made when it started, which is in a file that only its owner can read. ADDRESS says which server is meant when
several are running, as its first line has it.

Hand it to a client through a pipe, as in the example: the arguments of a command can be seen by every user of the
machine. A server that starts again makes another token.`,
		Example: `  windlass serve token --header | curl -sS -H @- http://127.0.0.1:8765/api/sessions
  windlass serve token 127.0.0.1:9000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.UsageError(fmt.Errorf("%s takes one address, got %q", cmd.CommandPath(), args), cmd.CommandPath()+" 127.0.0.1:8765")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return printServeToken(con, file, strings.Join(args, ""), header)
		},
	}
	tokenFlag(cmd, &file)
	cmd.Flags().BoolVar(&header, "header", false, "print the header of a request that shows it")
	return cmd
}

// printServeToken prints the token for a client.
func printServeToken(con *console, file, address string, header bool) error {
	opened, err := con.open()
	if err != nil {
		return err
	}
	text, _, err := givenToken(file, log.New(con.err, "", 0))
	if err == nil && text == "" {
		text, err = token.Find(token.Folder(opened.Home()), address)
		err = tokenProblem(err)
	}
	if err != nil {
		return err
	}
	if header {
		text = "Authorization: Bearer " + text
	}
	_, err = fmt.Fprintln(con.out, text)
	return err
}

// givenToken returns the token of the variable or of the file, and the name of that place; ""
// without one. The variable is removed from the environment, so that no tool of a run inherits it.
func givenToken(file string, l *log.Logger) (text, from string, err error) {
	text, given := environment.LookupEnv(token.Variable)
	environment.Withhold(token.Variable)
	switch {
	case given && file != "":
		return "", "", exit.UsageError(fmt.Errorf("--token-file and %s exclude each other", token.Variable), "one of them")
	case file != "":
		from = "--token-file " + file
		text, err = tokenOfFile(file, l)
	case given:
		from = token.Variable
		text, err = token.Parse(text)
	}
	if errors.Is(err, token.ErrForm) {
		err = exit.UsageError(fmt.Errorf("%s: %w", from, err), "openssl rand -hex 32, or give none: the server then makes one")
	}
	return text, from, err
}

// tokenOfFile reads the token of --token-file. That others can read the file too is only said.
func tokenOfFile(file string, l *log.Logger) (string, error) {
	text, shared, err := token.ReadFile(file)
	switch {
	case errors.Is(err, token.ErrForm):
		return "", err
	case err != nil:
		return "", exit.UsageError(fmt.Errorf("read --token-file: %w", err), "--token-file FILE with the token in it")
	case shared != 0:
		l.Printf("warning: other users of this machine can use --token-file %s (mode %04o): chmod 600", file, shared)
	}
	return text, nil
}

// tokenProblem says why there is no token that only its owner knows.
func tokenProblem(err error) error {
	var refused *token.FileError
	var nobody *token.NoServerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return exit.With(exit.Storage, err, refused.Try)
	case errors.As(err, &nobody) && len(nobody.Running) > 0:
		return exit.UsageError(err, "windlass serve token "+nobody.Running[0])
	case errors.As(err, &nobody):
		return exit.UsageError(err, "windlass serve starts one; a token of your own is that of "+token.Variable+" or --token-file FILE")
	}
	return exit.With(exit.Storage, err, "set "+token.Variable+" or --token-file FILE, or WINDLASS_HOME to a folder that can be written")
}
