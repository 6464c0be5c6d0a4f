package fetching

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
)

// Ask asks the person at a terminal whether a download may begin. An empty line is a yes. An end of
// the input is an error. When ctx ends, the line that is still being read is left to the process.
func Ask(ctx context.Context, in io.Reader, out io.Writer, o fetch.Offer) (bool, error) {
	fmt.Fprintf(out, "Needed, and not on this machine: %s.\nDownload %s into %s now? [Y/n] ", o.What, o.Amount(), term.Clean(o.Dir))
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		answered <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false, context.Cause(ctx)
	case a := <-answered:
		if a.err != nil {
			fmt.Fprintln(out)
			return false, a.err
		}
		return isYes(a.text), nil
	}
}

// isYes reads an answer. Whatever is neither empty nor a yes is a no.
func isYes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "y", "yes":
		return true
	}
	return false
}

// Announce says that a download begins that nobody was asked for.
func Announce(out io.Writer, o fetch.Offer) {
	fmt.Fprintf(out, "Not on this machine: %s. Downloading %s into %s.\n", o.What, o.Amount(), term.Clean(o.Dir))
}
