// Package pager shows what is longer than a terminal through the pager of the person there.
package pager

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/term"
)

// Default is the pager where the environment names none: it ends by itself when one screen is
// enough, takes colours, and leaves its text on the screen.
const Default = "less -FRX"

// Command returns the pager that the environment names in WINDLASS_PAGER or else in PAGER; "" for
// none, which an empty variable and cat mean.
func Command(lookup func(string) (string, bool)) string {
	for _, name := range []string{"WINDLASS_PAGER", "PAGER"} {
		if v, ok := lookup(name); ok {
			if v = strings.TrimSpace(v); v == "cat" {
				v = ""
			}
			return v
		}
	}
	return Default
}

// Pager is an output that goes to a terminal: by way of a pager once it is longer than the terminal,
// else when it is closed. One goroutine at a time may use it. What a person does not want to read any
// more is dropped, and no error.
type Pager struct {
	terminal      *os.File
	command       string
	width, height int

	held    bytes.Buffer // as long as no pager runs
	lines   int          // that held takes on the terminal
	running *exec.Cmd    // nil: none yet
	in      io.WriteCloser
	direct  bool // there is no such pager
	ignored chan os.Signal
}

// New returns a pager for a terminal. It starts nothing yet.
func New(terminal *os.File, command string) *Pager {
	width, height := term.Size(terminal)
	return &Pager{terminal: terminal, command: command, width: width, height: height}
}

// Terminal is where the text is shown.
func (p *Pager) Terminal() *os.File { return p.terminal }

// Write implements io.Writer.
func (p *Pager) Write(b []byte) (int, error) {
	switch {
	case p.running != nil:
		_, _ = p.in.Write(b) // it fails when the pager was left
		return len(b), nil
	case p.direct:
		return p.terminal.Write(b)
	}
	p.held.Write(b)
	p.lines += linesOf(string(b), p.width)
	if p.lines < p.height {
		return len(b), nil
	}
	if !p.start() {
		p.direct = true
	}
	return len(b), p.release()
}

// release writes what is held to the pager, or the terminal when none runs.
func (p *Pager) release() error {
	text := p.held.Bytes()
	p.held = bytes.Buffer{}
	if p.running != nil {
		_, _ = p.in.Write(text)
		return nil
	}
	_, err := p.terminal.Write(text)
	return err
}

// linesOf returns how many lines of a terminal a text takes at least.
func linesOf(text string, width int) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, "\n") {
			n++
		}
		if w := runewidth.StringWidth(term.StripColour(line)); width > 0 && w > width {
			n += (w - 1) / width
		}
	}
	return n
}

// start starts the pager, and reports whether there is one. As long as it runs Ctrl-C is for the
// pager, which has the terminal.
func (p *Pager) start() bool {
	cmd := shellCommand(p.command)
	if cmd == nil {
		return false
	}
	cmd.Stdout, cmd.Stderr = p.terminal, p.terminal
	cmd.Env = childEnvironment(os.Environ())
	in, err := cmd.StdinPipe()
	if err != nil {
		return false
	}
	p.ignored = make(chan os.Signal, 1)
	signal.Notify(p.ignored, os.Interrupt) // handled, not ignored, while the pager starts: it would inherit that
	if err := cmd.Start(); err != nil {
		signal.Stop(p.ignored)
		return false
	}
	signal.Ignore(os.Interrupt)
	p.running, p.in = cmd, in
	return true
}

// shellCommand returns the command of a pager, nil when its program is not there.
func shellCommand(line string) *exec.Cmd {
	words := strings.Fields(line)
	if runtime.GOOS == "windows" || !strings.ContainsAny(line, "'\"\\$`|&;<>(){}*?!~#=") {
		path, err := exec.LookPath(words[0])
		if err != nil {
			return nil
		}
		return exec.Command(path, words[1:]...) //nolint:noctx // a person ends it
	}
	return exec.Command("/bin/sh", "-c", line) //nolint:noctx // a person ends it
}

// childEnvironment is an environment without secrets.
func childEnvironment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return environment.IsSecret(name, value)
	})
}

// Close writes what is held, or waits until the person has left the pager.
func (p *Pager) Close() error {
	if p.running == nil {
		return p.release()
	}
	_ = p.in.Close()
	_ = p.running.Wait() // how it ends says nothing of the command
	p.running = nil
	p.direct = true
	signal.Reset(os.Interrupt)
	return nil
}
