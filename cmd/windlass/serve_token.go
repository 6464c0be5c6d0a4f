package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server/token"
)

// envToken names the variable with the token that clients have to show.
const envToken = "WINDLASS_SERVE_TOKEN"

func tokenFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "a `FILE` with the token that clients have to show (or "+envToken+"; without both one is made)")
}

// serveToken is the token that clients have to show, and what to call the place that it is from.
type serveToken struct{ text, from string }

// serveTokenOptions are the flags of windlass serve token.
type serveTokenOptions struct {
	file   string
	header bool
	renew  bool
}

func newServeTokenCommand(a *app) *cobra.Command {
	var o serveTokenOptions
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that windlass serve demands",
		Long: `Print the token that windlass serve demands: that of WINDLASS_SERVE_TOKEN or --token-file, or else the one that windlass
made for this home folder, in a file that only its owner can read. When there is none yet, it is made.

Hand it to a client through a pipe, as in the example: the arguments of a command can be seen by every user of the
machine. --new makes another token; servers that are running keep the old one until they are started again.`,
		Example: `  windlass serve token --header | curl -sS -H @- http://127.0.0.1:8765/api/sessions
  windlass serve token --new`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.serveToken(o) },
	}
	tokenFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.header, "header", false, "print the header of a request that shows it")
	cmd.Flags().BoolVar(&o.renew, "new", false, "make another token, in the place of the one that windlass made")
	exclude(cmd, "token-file", "new")
	return cmd
}

// serveToken prints the token.
func (a *app) serveToken(o serveTokenOptions) error {
	home, err := config.Home()
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	if o.renew {
		if _, given := os.LookupEnv(envToken); given {
			return usageError(fmt.Errorf("--new makes the token of the home folder anew, and %s is set", envToken), "unset "+envToken)
		}
		if _, err := token.Renew(token.File(home)); err != nil {
			return tokenProblem(err)
		}
	}
	t, err := readToken(o.file, home, log.New(a.err, "", 0))
	if err != nil {
		return err
	}
	if o.header {
		t.text = "Authorization: Bearer " + t.text
	}
	_, err = fmt.Fprintln(a.out, t.text)
	return err
}

// readToken returns the token that clients have to show: that of the variable or of a file that the person names, or else
// the one that is kept in the home folder. The variable is taken out of the environment, so that no tool of a run
// inherits it.
func readToken(file, home string, l *log.Logger) (serveToken, error) {
	text, given := os.LookupEnv(envToken)
	if err := os.Unsetenv(envToken); err != nil {
		return serveToken{}, fmt.Errorf("take %s out of the environment: %w", envToken, err)
	}
	switch {
	case given && file != "":
		return serveToken{}, usageError(fmt.Errorf("--token-file and %s exclude each other", envToken), "one of them")
	case file != "":
		return tokenOfFile(file, l)
	case given:
		return parseToken(text, envToken)
	}
	made := token.File(home)
	text, err := token.Keep(made)
	if err != nil {
		return serveToken{}, tokenProblem(err)
	}
	return serveToken{text, made}, nil
}

func parseToken(text, from string) (serveToken, error) {
	t, err := token.Parse(text)
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("%s: %w", from, err), "openssl rand -hex 32, or give none: windlass then makes one")
	}
	return serveToken{t, from}, nil
}

// maxTokenFile bounds what is read of a file that a person names.
const maxTokenFile = 4 << 10

// tokenOfFile reads the token from a file that a person names. It may be a pipe, or a link, as the secrets of containers
// are; that others can read it is only told.
func tokenOfFile(file string, l *log.Logger) (serveToken, error) {
	const try = "--token-file FILE with the token in it"
	f, err := os.Open(file)
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("read --token-file: %w", err), try)
	}
	defer f.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	if err != nil {
		return serveToken{}, usageError(fmt.Errorf("read --token-file: %w", err), try)
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
	if errors.As(err, &refused) {
		return withExit(exitStorage, err, refused.Try)
	}
	return withExit(exitStorage, err, "set "+envToken+" or --token-file FILE, or WINDLASS_HOME to a folder that can be written")
}
