//go:build unix

package lab

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/creack/pty"
)

// Terminal runs windlass on a pseudo terminal: Out has all that was sent to it.
func (w *World) Terminal(args ...string) *Outcome {
	w.T.Helper()
	cmd := exec.CommandContext(context.Background(), w.Bin, args...)
	cmd.Dir, cmd.Env = w.Dir, append(append([]string(nil), w.Env...), "TERM=xterm-256color", "WINDLASS_PAGER=") // nobody is there to leave a pager
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 120})
	w.Must(err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	bound := time.AfterFunc(Bound, func() { _ = cmd.Process.Kill() })
	var all strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		if err != nil { // the process has closed its side
			break
		}
	}
	_ = cmd.Wait() // the exit code is looked at
	o := &Outcome{Code: cmd.ProcessState.ExitCode(), Out: all.String(), Endless: !bound.Stop()}
	w.readJournals(o)
	return o
}
