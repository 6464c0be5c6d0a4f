package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/server/token"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/vault"
)

// envToken names the variable with the token that clients have to show.
const envToken = "WINDLASS_SERVE_TOKEN"

func tokenFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "a `FILE` with the token that clients have to show (or "+envToken+"; without both the server makes one)")
}

// serveToken is the token that clients have to show, and what to call the place that it is from.
type serveToken struct{ text, from string }

func newServeTokenCommand(a *app) *cobra.Command {
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
				return usageError(fmt.Errorf("%s takes one address, got %q", cmd.CommandPath(), args), cmd.CommandPath()+" 127.0.0.1:8765")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.printServeToken(file, strings.Join(args, ""), header)
		},
	}
	tokenFlag(cmd, &file)
	cmd.Flags().BoolVar(&header, "header", false, "print the header of a request that shows it")
	return cmd
}

// printServeToken prints the token for a client.
func (a *app) printServeToken(file, address string, header bool) error {
	home, err := homeFolder()
	if err != nil {
		return err
	}
	t, err := givenToken(file, log.New(a.err, "", 0))
	if err == nil && t.text == "" {
		t.text, err = token.Find(token.Folder(home), address)
		err = tokenProblem(err)
	}
	if err != nil {
		return err
	}
	if header {
		t.text = "Authorization: Bearer " + t.text
	}
	_, err = fmt.Fprintln(a.out, t.text)
	return err
}

// givenToken returns the token that a person gave, by the variable or in a file; an empty one when none is. The variable is
// taken out of the environment, so that no tool of a run inherits it.
func givenToken(file string, l *log.Logger) (serveToken, error) {
	text, given := vault.LookupEnv(envToken)
	vault.Withhold(envToken)
	switch {
	case given && file != "":
		return serveToken{}, usageError(fmt.Errorf("--token-file and %s exclude each other", envToken), "one of them")
	case file != "":
		return tokenOfFile(file, l)
	case given:
		return parseToken(text, envToken)
	}
	return serveToken{}, nil
}

// keepToken returns the token that was given, or makes one for a server that listens at an address. The function that
// it returns takes away what it made.
func keepToken(ctx context.Context, t serveToken, home string, at net.Addr) (serveToken, func() error, error) {
	if t.text != "" {
		return t, func() error { return nil }, nil
	}
	made, err := token.Make(ctx, token.Folder(home), at.String())
	if err != nil {
		return t, nil, tokenProblem(err)
	}
	return serveToken{made.Text, made.File}, made.Remove, nil
}

func parseToken(text, from string) (serveToken, error) {
	t, err := token.Parse(text)
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("%s: %w", from, err), "openssl rand -hex 32, or give none: the server then makes one")
	}
	return serveToken{t, from}, nil
}

// maxTokenFile bounds what is read of a file that a person names.
const maxTokenFile = 4 << 10

// tokenOfFile reads the token from a file that a person names. It may be what a shell's <(...) names, or a link, as the secrets of
// containers are; that others can read it is only told.
func tokenOfFile(file string, l *log.Logger) (serveToken, error) {
	const try = "--token-file FILE with the token in it"
	f, err := source.Open(file)
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("read --token-file: %w", err), try)
	}
	defer f.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("read --token-file: %w", err), try)
	}
	if len(data) > maxTokenFile {
		return serveToken{}, usageError(fmt.Errorf("read --token-file: %s has more than %d bytes", file, maxTokenFile), try)
	}
	t, err := parseToken(string(data), "--token-file "+file)
	if err != nil {
		return t, err
	}
	if info, err := f.Stat(); err == nil && token.Shared(info) {
		l.Printf("warning: other users of this machine can use --token-file %s (mode %04o): chmod 600", file, info.Mode().Perm())
	}
	return t, nil
}

// tokenProblem says why there is no token that only its owner knows.
func tokenProblem(err error) error {
	var refused *token.FileError
	var nobody *token.NoServerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return withExit(exitStorage, err, refused.Try)
	case errors.As(err, &nobody) && len(nobody.Running) > 0:
		return usageError(err, "windlass serve token "+nobody.Running[0])
	case errors.As(err, &nobody):
		return usageError(err, "windlass serve starts one; a token of your own is that of "+envToken+" or --token-file FILE")
	}
	return withExit(exitStorage, err, "set "+envToken+" or --token-file FILE, or WINDLASS_HOME to a folder that can be written")
}
