//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// Six tools of one answer: one fails at once, the others read from a pipe that nobody has written to
// yet. The text of the retry is that of a validator that is a command.
const (
	sixTools = `{"cascade_id": "six", "tools": [
		{"tool_id": "look", "type": "shell", "inputs_schema": {"path": "a file"}, "command": "read line < gate; echo looked at {{ path }}"},
		{"tool_id": "broken", "type": "shell", "inputs_schema": {"command": "what to run"}, "command": "echo cannot open the log; exit 3"}],
		"phases": [{"name": "collect", "instructions": "x", "tackle": ["look", "broken"]}, {"name": "report", "instructions": "y"}]}`
	sixAnswers = `{"phases": {"collect": [{"text": "I look.", "calls": [
		{"tool": "look", "arguments": {"path": "services/checkout/main.go"}},
		{"tool": "look", "arguments": {"path": "services/cart/main.go"}},
		{"tool": "broken", "arguments": {"command": "tail -n 100 /var/log/checkout.log"}},
		{"tool": "look", "arguments": {"path": "deploy/production/values of a file whose name is so long that eighty columns have no room for it.yaml"}},
		{"tool": "look", "arguments": {"path": "README.md"}},
		{"tool": "look", "arguments": {"path": "docs/runbook.md"}}]}, {"text": "Found."}]}, "default": [{"text": "The pool is exhausted."}]}`
	retried = `{"cascade_id": "retried", "phases": [{"name": "summary", "instructions": "x", "rules": {"max_attempts": 2,
		"loop_until": "command:test -e {{ session.work_dir }}/again || { touch {{ session.work_dir }}/again; echo 2 rules are broken; echo line 1 has no title; echo line 3 is empty; exit 1; }"}}]}`
	slow = `{"cascade_id": "slow", "tools": [{"tool_id": "look", "type": "shell", "inputs_schema": {"path": "a file"}, "command": "read line < gate"},
		{"tool_id": "make", "type": "shell", "command": "echo made"}],
		"phases": [{"name": "prepare", "tool": "make"}, {"name": "collect", "instructions": "x", "tackle": ["look"]}]}`
	slowAnswers = `{"phases": {"collect": [{"text": "I look.", "calls": [{"tool": "look", "arguments": {"path": "README.md"}}]}, {"text": "Found."}]}}`
)

// variant is a terminal that a recording is made on.
type variant struct {
	width  int
	colour bool
}

var variants = []variant{{80, false}, {80, true}, {200, false}, {200, true}}

func (v variant) String() string {
	if v.colour {
		return fmt.Sprintf("%d columns with colour", v.width)
	}
	return fmt.Sprintf("%d columns", v.width)
}

// recordings runs a scenario on every variant, which returns screens, and holds what they show
// against a golden file. No line wraps; colours are there exactly when they are wanted.
func recordings(t *testing.T, name string, scenario func(l *lab, v variant) []string) {
	t.Helper()
	texts := make([]string, len(variants))
	t.Run("variants", func(t *testing.T) {
		for i, v := range variants {
			t.Run(v.String(), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, "")
				if !v.colour {
					l.env = append(l.env, "NO_COLOR=1")
				}
				for _, shown := range scenario(l, v) {
					s := termtest.NewScreen(v.width, 24)
					s.Write(t, shown)
					require.False(t, s.Wraps(), s.Text())
					require.Equal(t, v.colour, strings.Contains(shown, string(term.Dim)))
					text := s.Text()
					if v.colour {
						text = s.Styled()
					}
					texts[i] += fmt.Sprintf("== %s\n%s", v, l.scrubLive(text))
				}
			})
		}
	})
	golden(t, "recording-"+name+".golden", strings.Join(texts, ""))
}

// shownAs is what a terminal shows of a text in the end.
func (l *lab) shownAs(v variant, text string) string {
	s := termtest.NewScreen(v.width, 24)
	s.Write(l.t, text)
	return l.scrubLive(s.Text())
}

func TestRecordingOfAFirstRun(t *testing.T) {
	t.Parallel()
	recordings(t, "first", func(l *lab, v variant) []string {
		l.file("few.json", fewPhases)
		l.file("few.script.json", fewAnswers)
		return []string{l.onTerminal(v.width, 24, exitOK, nil, "run", "few.json", "--offline", "--no-clickhouse", "--session", "first")}
	})
}

func TestRecordingOfSixTools(t *testing.T) {
	t.Parallel()
	recordings(t, "six", func(l *lab, v variant) []string {
		l.file("six.json", sixTools)
		l.file("six.script.json", sixAnswers)
		gate := filepath.Join(l.dir, "gate")
		require.NoError(l.t, syscall.Mkfifo(gate, 0o600))
		midway := ""
		all := l.onTerminal(v.width, 24, exitOK, func(shown string, _ io.Writer) {
			whole := strings.HasSuffix(shown, "\x1b[J") // what is drawn ends so
			if midway != "" || !whole || !strings.Contains(shown, "docs/runbook.md") || !strings.Contains(shown, "cannot open the log") {
				return
			}
			midway = shown
			f, err := os.OpenFile(gate, os.O_RDWR, 0)
			require.NoError(l.t, err)
			l.t.Cleanup(func() { _ = f.Close() })
			_, err = io.WriteString(f, strings.Repeat("go\n", 100))
			require.NoError(l.t, err)
		}, "run", "six.json", "--offline", "--no-clickhouse", "--session", "six")
		require.True(l.t, strings.HasPrefix(l.shownAs(v, all), l.shownAs(v, l.onTerminal(v.width, 24, exitOK, nil, "replay", "six"))), "a replay ends with the same frame")
		return []string{midway, all}
	})
}

func TestRecordingOfARetry(t *testing.T) {
	t.Parallel()
	recordings(t, "retry", func(l *lab, v variant) []string {
		l.file("retried.json", retried)
		l.file("retried.script.json", `{"phases": {"summary": {"attempts": [[{"text": "no"}], [{"text": "# Yes"}]]}}}`)
		return []string{l.onTerminal(v.width, 24, exitOK, nil, "run", "retried.json", "--offline", "--no-clickhouse", "--session", "retried")}
	})
}

func TestRecordingOfAnInterruptAndAResume(t *testing.T) {
	t.Parallel()
	recordings(t, "interrupt", func(l *lab, v variant) []string {
		l.file("slow.json", slow)
		l.file("slow.script.json", slowAnswers)
		require.NoError(l.t, syscall.Mkfifo(filepath.Join(l.dir, "gate"), 0o600))
		pressed := false
		first := l.onTerminal(v.width, 24, exitInterrupted, func(shown string, tty io.Writer) {
			if !pressed && strings.Contains(shown, "look  README.md") {
				pressed = true
				_, err := io.WriteString(tty, "\x03")
				require.NoError(l.t, err)
			}
		}, "run", "slow.json", "--offline", "--session", "pressed", "--no-clickhouse")
		require.True(l.t, strings.HasSuffix(first, "Try: windlass resume pressed\r\n"), first)
		return []string{first, l.onTerminal(v.width, 24, exitOK, nil, "resume", "pressed")}
	})
}

// TestShownRecordings holds the recordings in the pages against the golden files, but for times.
func TestShownRecordings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)<!-- recording (\\w+) -->\n```text\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	require.Len(t, found, 1)
	for _, m := range found {
		recording, err := os.ReadFile("testdata/recording-" + m[1] + ".golden")
		require.NoError(t, err)
		first := strings.Split(string(recording), "== 80 columns\n")[1]
		require.Equal(t, first, newLab(t, "").scrubLive(m[2]))
	}
}
