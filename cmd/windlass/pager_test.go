//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
)

// TestPager: what is longer than the terminal goes through the pager that the environment names, with
// its colours and without secrets; what is short, JSON, and what no person reads does not.
func TestPager(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	base := append(withoutPager(l.env), "SOME_API_KEY=canary-of-the-pager", "WINDLASS_TEST_PLAIN=plain")
	seen, env := filepath.Join(l.dir, "seen"), filepath.Join(l.dir, "env")
	with := func(more ...string) { l.env = append(append([]string(nil), base...), more...) }
	paged := func() bool {
		_, err := os.Stat(seen)
		_ = os.Remove(seen)
		return err == nil
	}
	own := "PAGER=env > " + env + "; tee " + seen
	long := []string{"show", "last", "--calls"}

	with(own)
	shown := l.onTerminal(80, 20, exitOK, nil, long...)
	text, err := os.ReadFile(seen)
	require.NoError(t, err)
	require.Contains(t, string(text), string(term.Bold)+"session", "colours are those of the terminal")
	require.Contains(t, string(text), "not shown: ", "and so is the width")
	require.Less(t, strings.Index(shown, "next "), strings.Index(shown, "The cost of 2 calls is unknown"), "notes follow")
	require.True(t, paged())
	given, err := os.ReadFile(env)
	require.NoError(t, err)
	require.Contains(t, string(given), "WINDLASS_TEST_PLAIN=plain")
	require.NotContains(t, string(given), "canary-of-the-pager")
	require.NotContains(t, string(given), "OPENAI_API_KEY")

	for _, args := range [][]string{{"context", "stats", "last"}, {"replay", "last", "--list"}, {"context", "show", "last"}, {"models"}} {
		l.onTerminal(80, 10, exitOK, nil, args...)
		require.True(t, paged(), args)
	}
	l.onTerminal(80, 200, exitOK, nil, long...)
	require.False(t, paged(), "one screen is enough")
	l.onTerminal(80, 20, exitOK, nil, append(long, "--json")...)
	require.False(t, paged(), "JSON is for programs")
	l.onTerminal(80, 20, exitOK, nil, append(long, "--no-pager")...)
	require.False(t, paged())
	l.run(exitOK, long...)
	require.False(t, paged(), "a pipe")
	require.Contains(t, l.onTerminalFrom("/dev/null", long...), "next ")
	require.False(t, paged(), "nobody is there to turn pages")
	for _, off := range []string{"WINDLASS_PAGER=", "WINDLASS_PAGER=cat", "WINDLASS_PAGER=no-such-pager-anywhere"} {
		with(own, off)
		require.Contains(t, l.onTerminal(80, 20, exitOK, nil, long...), "next ")
		require.False(t, paged(), off)
	}
}

// withoutPager is an environment of tests that leaves the choice to PAGER.
func withoutPager(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "WINDLASS_PAGER=") })
}

// onTerminalFrom runs windlass with its output on a small terminal and its input from a file.
func (l *lab) onTerminalFrom(input string, args ...string) string {
	l.t.Helper()
	in, err := os.Open(input)
	require.NoError(l.t, err)
	defer in.Close() //nolint:errcheck // nothing was written
	cmd := exec.Command("windlass", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.dir, append(append([]string(nil), l.env...), "TERM=xterm-256color"), in
	tty, slave, err := pty.Open()
	require.NoError(l.t, err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	require.NoError(l.t, pty.Setsize(tty, &pty.Winsize{Rows: 20, Cols: 80}))
	cmd.Stdout, cmd.Stderr = slave, slave
	require.NoError(l.t, cmd.Start())
	require.NoError(l.t, slave.Close())
	all, _ := io.ReadAll(tty) // it fails when the process has closed its side
	require.NoError(l.t, cmd.Wait())
	return string(all)
}

// TestPagerIsLeft: who leaves the pager early, or ends it by Ctrl-C, has read enough: that is no
// error, and the terminal is not taken away from a pager that goes on.
func TestPagerIsLeft(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	base := withoutPager(l.env)
	long := []string{"replay", "last", "--list"}
	l.env = append(append([]string(nil), base...), "PAGER=head -n 1")
	require.Regexp(t, `^entry +what +where +status\r\n$`, l.onTerminal(80, 10, exitOK, nil, long...))

	press := func(pager, keys string) string {
		l.env = append(append([]string(nil), base...), "PAGER="+pager)
		pressed := false
		return l.onTerminal(80, 10, exitOK, func(shown string, tty io.Writer) {
			if !pressed && strings.Contains(shown, "ready") {
				pressed = true
				_, err := io.WriteString(tty, keys)
				require.NoError(t, err)
			}
		}, long...)
	}
	require.NotContains(t, press("echo ready; exec tail -f /dev/null", "\x03"), "Error")

	// The keys are typed in one go: a shell that Ctrl-C meets just before it reads runs its trap only when it has read.
	stays := press(`trap 'echo caught' INT; echo ready; until read line < /dev/tty; do :; done; echo "still here: $line"`, "\x03q\n")
	require.Contains(t, stays, "caught", "the pager handles Ctrl-C itself")
	require.Contains(t, stays, "still here: q", "windlass waits for it")
}
