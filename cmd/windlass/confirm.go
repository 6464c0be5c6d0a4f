package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
)

// consent is what a person is asked before something is gone for good.
type consent struct {
	would    string // what would be done, for where nobody can be asked
	hint     string // how it is said then
	question string
	refused  string // what a person is told who does not say yes
}

// confirm shows what it is about and asks a person on a terminal. Without one it is an error.
func confirm(con *console, c consent, show func() error) error {
	in, ok := con.in.(*os.File)
	if !ok || !term.IsTerminal(in) || !term.IsTerminal(con.err) {
		return exit.UsageError(fmt.Errorf("%s, and there is no terminal to ask on", c.would), c.hint)
	}
	if err := show(); err != nil {
		return err
	}
	fmt.Fprintf(con.err, "%s [y/N] ", c.question)
	answer, err := bufio.NewReader(con.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return exit.UsageError(errors.New(c.refused), "")
	}
	return nil
}
