package serveflags

import (
	"errors"
	"fmt"
	"log"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/token"
)

// Token returns the token that a client shows: that of the variable or of a file, else the one that the server of a
// home folder at an address has made; with "" as the address there must be one server only.
func Token(home, file, address string, l *log.Logger) (string, error) {
	text, _, err := givenToken(file, l)
	if err == nil && text == "" {
		text, err = token.Find(token.Folder(home), address)
		err = tokenProblem(err)
	}
	return text, err
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
