//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// golden compares a text with testdata/name, or writes it there with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./cmd/windlass -update writes what is seen")
}

// onTerminal runs windlass on a pseudo terminal, calls during with what it has shown so far
// whenever that has grown, and returns all that it has sent.
func (l *lab) onTerminal(width, height, code int, during func(shown string, tty io.Writer), args ...string) string {
	l.t.Helper()
	cmd := exec.Command("windlass", args...)
	cmd.Dir, cmd.Env = l.dir, append(append([]string(nil), l.env...), "TERM=xterm-256color")
	tty, err := startOnTerminal(cmd, width, height)
	require.NoError(l.t, err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	stuck := time.AfterFunc(stuckAfter, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var all strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		if err != nil { // the process has closed its side
			break
		}
		if during != nil {
			during(all.String(), tty)
		}
	}
	_ = cmd.Wait() // the exit code is looked at
	require.Equal(l.t, code, cmd.ProcessState.ExitCode(), all.String())
	return all.String()
}

// stuckAfter is when a command that waits for keys which nobody presses is ended, so that its test says what was shown.
const stuckAfter = 3 * time.Minute

// startOnTerminal starts a command on a terminal. When a person presses Ctrl-C, the kernel throws away
// what waits to be shown, which may be the answer to that: this terminal keeps it.
func startOnTerminal(cmd *exec.Cmd, width, height int) (*os.File, error) {
	tty, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close() //nolint:errcheck // the command has it
	stty := exec.Command("stty", "noflsh")
	stty.Stdin = slave
	if out, err := stty.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("stty: %w: %s", err, out), tty.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = errors.Join(pty.Setsize(tty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}), cmd.Start())
	if err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	return tty, nil
}

// liveText is what a terminal shows in the end, with words in place of what differs from run to run.
// Times are as wide as they are, so blanks before them are one.
func (l *lab) liveText(s *termtest.Screen) string { return l.scrubLive(s.Text()) }

var timeColumn = regexp.MustCompile(`  +(TIME|time\b)`)

// folded are the lines that the sums of a run go on with where a terminal is narrow.
var folded = regexp.MustCompile(`(?m)^((?:Completed|Interrupted) in .*)\n  ([a-z$(])`)

func (l *lab) scrubLive(text string) string {
	for folded.MatchString(text) {
		text = folded.ReplaceAllString(text, "$1  $2")
	}
	return timeColumn.ReplaceAllString(scrub(text, l.dir), "  $1")
}

const (
	fewPhases = `{"cascade_id": "few", "tools": [{"tool_id": "make", "type": "shell", "command": "echo made"}], "phases": [
		{"name": "prepare", "tool": "make"},
		{"name": "think", "instructions": "x", "tackle": ["read_file"], "rules": {"loop_until": "min_words:3", "max_attempts": 2}},
		{"name": "report_of_a_name_that_is_rather_long_for_a_column", "instructions": "y"}]}`
	fewAnswers = `{"phases": {"think": {"attempts": [[{"text": "I look.", "calls": [{"tool": "read_file", "arguments": {"path": "few.json"}}]},
		{"text": "no"}], [{"text": "now it is long enough"}]]}}, "default": [{"text": "Done."}]}`
)

func TestLiveView(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			l.env = append(l.env, "NO_COLOR=1")
			l.file("few.json", fewPhases)
			l.file("few.script.json", fewAnswers)
			shown := l.onTerminal(width, 24, exitOK, nil, "run", "few.json", "--offline", "--no-clickhouse", "--session", "live")
			require.NotRegexp(t, `\x1b\[\d*m`, shown, "NO_COLOR")
			s := termtest.NewScreen(width, 24)
			s.Write(t, shown)
			golden(t, fmt.Sprintf("live-%d.golden", width), l.liveText(s))
		})
	}
}

// TestLiveViewOfManyPhases has more phases than lines: nothing is left over on the way, and all
// phases stand there at the end.
func TestLiveViewOfManyPhases(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	var phases []string
	for i := range 40 {
		phases = append(phases, fmt.Sprintf(`{"name": "phase_%02d", "instructions": "x"}`, i))
	}
	l.file("many.json", `{"cascade_id": "many", "phases": [`+strings.Join(phases, ",")+`]}`)
	l.file("many.script.json", `{"default": [{"text": "one two three", "delay_ms": 20}]}`)
	shown := l.onTerminal(80, 12, exitOK, nil, "run", "many.json", "--offline", "--no-clickhouse")
	require.Contains(t, shown, " before")
	require.Contains(t, shown, " to come")
	require.Contains(t, shown, string(term.Green))
	s := termtest.NewScreen(80, 12)
	s.Write(t, shown)
	text := s.Text()
	for i := range 40 {
		require.Equal(t, 1, strings.Count(text, fmt.Sprintf("✓ phase_%02d     1   7    3 ", i)), text)
	}
	require.Equal(t, 1, strings.Count(text, "\n  in "), text)
	require.NotContains(t, text, "▸")
	require.NotContains(t, text, "to come")
}

// TestInterruptOnTerminal presses Ctrl-C there.
func TestInterruptOnTerminal(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	pressed := false
	shown := l.onTerminal(100, 24, exitInterrupted, func(shown string, tty io.Writer) {
		if !pressed && strings.Contains(shown, "asking hangs") && len(l.provider.Requests()) > 0 {
			pressed = true
			_, err := io.WriteString(tty, "\x03")
			require.NoError(t, err)
		}
	}, "run", "ask.json", "--model", "hangs", "--session", "pressed", "--no-clickhouse")
	s := termtest.NewScreen(100, 24)
	s.Write(t, shown)
	golden(t, "live-interrupt.golden", l.liveText(s))
}

// TestHostileOutput has a tool and a model write escape sequences: none reaches the terminal, and a
// pipe gets the answer as it is.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	const hostile = `\u001b]0;owned\u0007\u001b[2J\u009b31m`
	l := newLab(t, "")
	l.env = append(l.env, "NO_COLOR=1")
	l.file("answer.json", recorded["ask.json"])
	l.file("answer.script.json", `{"default": [{"text": "before `+hostile+` after"}]}`)
	l.file("fails.json", `{"cascade_id": "fails", "tools": [{"tool_id": "f", "type": "shell", "command": "printf 'before \\033[2J\\033]0;owned\\007 after'; exit 1"}], "phases": [{"name": "one", "tool": "f"}]}`)
	l.file("fails.script.json", `{}`)
	shown := l.onTerminal(100, 24, exitOK, nil, "run", "answer.json", "--offline", "--no-clickhouse")
	require.Contains(t, shown, "before ")
	requireHarmless(t, shown)
	shown = l.onTerminal(100, 24, exitFailed, nil, "run", "fails.json", "--offline", "--no-clickhouse")
	require.Contains(t, shown, " after")
	requireHarmless(t, shown)
	piped := l.run(exitOK, "run", "answer.json", "--offline", "--no-clickhouse")
	require.Equal(t, "before \x1b]0;owned\a\x1b[2J\u009b31m after\n", piped.out.String())
}

func requireHarmless(t *testing.T, shown string) {
	t.Helper()
	require.NotContains(t, shown, "\x1b]")
	require.NotContains(t, shown, "\x1b[2J")
	require.NotContains(t, shown, "\u009b")
	require.NotContains(t, shown, "\a")
}

// A run that a budget stopped does not look failed when it is replayed, nor its phases when it was
// resumed and completed, while it is resumed and afterwards.
func TestReplayOfAStoppedRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.env = append(l.env, "NO_COLOR=1")
	l.file("few.json", fewPhases)
	l.file("few.script.json", fewAnswers)
	marks := func(shown string) string {
		s := termtest.NewScreen(120, 24)
		s.Write(t, shown)
		var marks string
		_, frame, _ := strings.Cut(s.Text(), "session s1\n")
		for line := range strings.Lines(frame) {
			if m := strings.Fields(line); len(m) > 1 && len([]rune(m[0])) == 1 {
				marks += m[0] + m[1][:1] + " "
			}
		}
		return marks
	}
	l.run(exitBudget, "run", "few.json", "--offline", "--no-clickhouse", "--session", "s1", "--max-tokens", "1")
	replay := func() string { return l.onTerminal(120, 24, exitOK, nil, "replay", "s1") }
	require.Equal(t, "✓p ■t ·r ", marks(replay()))
	require.Equal(t, "✓p ✓t ✓r ", marks(l.onTerminal(120, 24, exitOK, nil, "resume", "s1", "--max-tokens", "0")))
	require.Equal(t, "✓p ✓t ✓r ", marks(replay()))
}
