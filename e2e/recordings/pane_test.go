//go:build unix

package recordings

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// bound is how long something is waited for that happens at once on an idle machine.
const bound = 60 * time.Second

// prompt is what the shell of a pane shows when it waits for a command.
const prompt = "$"

// pane is a shell in a pane of a tmux of its own.
type pane struct {
	t      testing.TB
	socket string
	colour bool
	typed  int // commands so far
}

// newPane starts a shell in dir with these variables and no others.
func newPane(t testing.TB, dir string, env []string, width, height int, colour bool) *pane {
	t.Helper()
	p := &pane{t: t, socket: filepath.Join(t.TempDir(), "tmux"), colour: colour}
	shell := append([]string{"env", "-i"}, env...)
	shell = append(shell, "TERM=tmux-256color", "PS1="+prompt+" ", "LC_ALL=C.UTF-8", "HISTFILE=/dev/null")
	if !colour {
		shell = append(shell, "NO_COLOR=1")
	}
	p.tmux(append([]string{
		"-f", "/dev/null", "-u", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", dir, "--",
	}, append(shell, "bash", "--norc", "--noprofile")...)...)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() }) // it is gone already when its shell has ended
	p.await("the shell", p.idle)
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = []string{"PATH=" + pathVariable(), "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s(these tests need tmux 3.2 or newer)", args, err, out)
	}
	return string(out)
}

// enter types a command and presses Enter.
func (p *pane) enter(line string) {
	p.t.Helper()
	p.typed++
	p.tmux("send-keys", "-l", line)
	p.press("Enter")
}

// press presses a key, by its name in tmux.
func (p *pane) press(key string) {
	p.t.Helper()
	p.tmux("send-keys", key)
}

// text returns everything that was shown and is not erased, with its colours when the pane has them. Lines are as they were
// written, however wide.
func (p *pane) text() string {
	p.t.Helper()
	args := []string{"capture-pane", "-p", "-J", "-S", "-"}
	if p.colour {
		args = append(args, "-e")
	}
	return p.tmux(args...)
}

// joined returns the same without colours.
func (p *pane) joined() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p", "-J", "-S", "-")
}

var prompted = regexp.MustCompile(`(?m)^(\^C)?` + regexp.QuoteMeta(prompt) + `( |$)`)

// idle reports whether the shell has run every command that was typed.
func (p *pane) idle() bool { return len(prompted.FindAllString(p.joined(), -1)) == p.typed+1 }

// await waits for what a person at the pane would wait for.
func (p *pane) await(what string, reached func() bool) {
	p.t.Helper()
	until(p.t, what, reached, func() string { return p.joined() })
}

// until looks again and again whether something was reached.
func until(t testing.TB, what string, reached func() bool, state func() string) {
	t.Helper()
	end := time.NewTimer(bound)
	defer end.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !reached() {
		select {
		case <-end.C:
			t.Fatalf("%s: not within %s:\n%s", what, bound, state())
		case <-look.C:
		}
	}
}
