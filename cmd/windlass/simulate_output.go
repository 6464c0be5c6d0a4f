package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/internal/simulate"
)

// openOutputs begins the files that the flags name.
func openOutputs(to *simulate.Files, opts simulateOptions) error {
	paths := map[string]string{}
	for _, f := range []struct {
		flag, path string
		to         **simulate.File
	}{{"plot", opts.plot, &to.Plot}, {"calls", opts.calls, &to.Calls}, {"dump", opts.dump, &to.Requests}} {
		if f.path == "" {
			continue
		}
		if other, twice := paths[filepath.Clean(f.path)]; twice {
			return usageError(fmt.Errorf("--%s and --%s name the same file", other, f.flag), "a file for each")
		}
		paths[filepath.Clean(f.path)] = f.flag
		file, err := simulate.CreateFile(f.path)
		if err != nil {
			return usageError(fmt.Errorf("--%s: %w", f.flag, err), "check that the folder exists and can be written")
		}
		*f.to = file
	}
	return nil
}

// counter shows on a terminal how far long work is, in a line that is drawn over. Elsewhere it shows nothing.
type counter struct {
	out        io.Writer
	what       string
	done, all  int
	percent    int
	onTerminal bool
}

func newCounter(w io.Writer, what string, all int) *counter {
	f, ok := w.(*os.File)
	return &counter{out: w, what: what, all: all, onTerminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (c *counter) step() {
	c.done++
	percent := c.done * 100 / c.all
	if !c.onTerminal || percent == c.percent {
		return
	}
	c.percent = percent
	fmt.Fprintf(c.out, "\r%d of %d %s (%d%%)", c.done, c.all, c.what, percent)
}

// clear takes the line away.
func (c *counter) clear() {
	if c.onTerminal && c.percent > 0 {
		fmt.Fprint(c.out, "\r\x1b[K")
	}
}
