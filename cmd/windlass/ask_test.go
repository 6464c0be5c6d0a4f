//go:build linux || darwin

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

const (
	asksAll = `{"cascade_id": "ship", "phases": [
		{"name": "prepare", "instructions": "x", "tackle": ["request_decision", "write_file"], "rules": {"approve": ["write_*"]},
		 "human_input": {"prompt": "Announce it?", "fields": [{"name": "sure", "type": "confirmation", "required": true}, {"name": "why"}]}},
		{"name": "announce", "instructions": "{{ state.human_prepare.why }}"}]}`
	asksAllScript = `{"phases": {"prepare": [
		{"calls": [{"tool": "request_decision", "arguments": {"question": "Who is it for?", "options": [{"id": "users", "label": "Everyone"}, "developers"]}}]},
		{"calls": [{"tool": "write_file", "arguments": {"path": "notes/note.md", "content": "one"}}]},
		{"text": "Written."}], "announce": [{"text": "Announced."}]}}`
)

// answering presses keys at a terminal: each as soon as what it answers is shown.
type answering struct {
	steps []answerStep
	seen  int // of what was shown
}

type answerStep struct {
	shows string // after what the step before has seen
	keys  string
	do    func() // nil: nothing else
}

func (a *answering) during(shown string, tty io.Writer) {
	for len(a.steps) > 0 {
		at := strings.Index(shown[a.seen:], a.steps[0].shows)
		if at < 0 {
			return
		}
		a.seen += at + len(a.steps[0].shows)
		if a.steps[0].do != nil {
			a.steps[0].do()
		}
		_, _ = io.WriteString(tty, a.steps[0].keys)
		a.steps = a.steps[1:]
	}
}

// asking runs windlass on a terminal where somebody answers, and returns all that was shown.
func (l *lab) answering(width, code int, steps []answerStep, args ...string) string {
	l.t.Helper()
	a := &answering{steps: steps}
	shown := l.onTerminal(width, 30, code, a.during, args...)
	require.Empty(l.t, a.steps, "what was not shown: %s", shown)
	return shown
}

func newAskingLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "")
	l.env = append(l.env, "NO_COLOR=1")
	l.file("ship.json", asksAll)
	l.file("ship.script.json", asksAllScript)
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "notes"), 0o700))
	return l
}

var shipRun = []string{"run", "ship.json", "--offline", "--no-clickhouse", "--allow-write", "notes", "--session", "ship"}

const answers = "Enter answers"

// announceID is in the form of the last question of shipRun, and not in the line before it that says what the run waits for: what is
// typed before a form is there is not meant for it.
const announceID = "k24g3p1vnq"

// A run asks where it is, and goes on with each answer.
func TestAskedOnTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 200} {
		l := newAskingLab(t)
		shown := l.answering(width, exitOK, []answerStep{
			{shows: "developers", keys: "2\r"},
			{shows: "edit the arguments", keys: "e"},
			{shows: "Ctrl-D goes on", keys: "\x1b[B\x05\x1b[D\x1b[D\x7f\x7f\x7ftwo\x04"},
			{shows: "run write_file with these arguments", keys: "y"},
			{shows: announceID, keys: "y"},
			{shows: "Tab leaves it out", keys: "\x1b[200~because\nit is late\x1b[201~\r"},
		}, shipRun...)
		s := termtest.NewScreen(width, 30)
		s.Write(t, shown)
		golden(t, map[int]string{80: "asked-80.golden", 200: "asked-200.golden"}[width], strings.ReplaceAll(l.liveText(s), " by "+answerflags.UserName()+" (", " by USER ("))
		note, err := os.ReadFile(filepath.Join(l.dir, "notes", "note.md"))
		require.NoError(t, err)
		require.Equal(t, "two", string(note))
		l.run(exitOK, "verify", "ship")
		journal, err := os.ReadFile(filepath.Join(l.home, "sessions", "ship", "journal.jsonl"))
		require.NoError(t, err)
		require.Equal(t, 3, strings.Count(string(journal), `"via":"terminal"`))
		require.Contains(t, string(journal), `"why":"because\nit is late"`)
	}
}

// What a person leaves is left waiting, and a resumption asks again.
func TestLeftOnTheTerminal(t *testing.T) {
	t.Parallel()
	l := newAskingLab(t)
	shown := l.answering(80, exitWaiting, []answerStep{{shows: "developers", keys: "l"}}, shipRun...)
	require.Contains(t, shown, "Waits for an answer: Who is it for?")
	require.Equal(t, strings.Count(shown, "\x1b[?2004h"), strings.Count(shown, "\x1b[?2004l"), "the terminal is as it was")
	l.onTerminal(80, 24, exitWaiting, nil, "resume", "ship", "--no-ask")
	l.onTerminal(80, 24, exitWaiting, nil, "resume", "ship", "--progress", "plain")
	l.onTerminal(80, 24, exitWaiting, nil, "resume", "ship", "--json")
	shown = l.answering(80, exitWaiting, []answerStep{{shows: "developers", keys: "1\r"}, {shows: "edit the arguments", keys: "\x1b"}}, "resume", "ship")
	require.Contains(t, shown, "answered by ")
	require.NoFileExists(t, filepath.Join(l.dir, "notes", "note.md"))
}

// Somebody else is faster: the form closes, and says who.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	l := newAskingLab(t)
	elsewhere := func() { l.run(exitOK, "answer", "pz66dk0935", "users") }
	shown := l.answering(80, exitWaiting, []answerStep{
		{shows: "pz66dk0935", do: elsewhere},
		{shows: "answered by "},
		{shows: "edit the arguments", keys: "d"},
		{shows: "The model is told.", keys: "no\r"},
		{shows: announceID, keys: "l"},
	}, shipRun...)
	require.Regexp(t, `answered by .+ \(command\)`, shown)
	require.Regexp(t, `denied by .+ \(terminal\)`, shown)
	require.NoFileExists(t, filepath.Join(l.dir, "notes", "note.md"))
}

// Ctrl-C stops the run while a form is open, and the terminal is as it was before.
func TestInterruptedForm(t *testing.T) {
	t.Parallel()
	l := newAskingLab(t)
	script := "windlass " + strings.Join(shipRun, " ") + "; echo code $?; stty -a"
	cmd := exec.Command("bash", "-c", "trap : INT; "+script)
	cmd.Dir, cmd.Env = l.dir, append(append([]string(nil), l.env...), "TERM=xterm-256color")
	tty, err := startOnTerminal(cmd, 80, 24)
	require.NoError(t, err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	a := &answering{steps: []answerStep{{shows: answers, keys: "\x03"}}}
	var all strings.Builder
	buf := make([]byte, 1<<16)
	for err == nil {
		var n int
		n, err = tty.Read(buf)
		all.Write(buf[:n])
		a.during(all.String(), tty)
	}
	require.NoError(t, cmd.Wait())
	require.Contains(t, all.String(), "code 130")
	require.Regexp(t, `\sicanon\s`, all.String())
	require.Regexp(t, `\secho\s`, all.String())
	require.Equal(t, strings.Count(all.String(), "\x1b[?2004h"), strings.Count(all.String(), "\x1b[?2004l"))
}

// A deadline closes a form, and the run goes on as the cascade says.
func TestDeadlineOfAForm(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("late.json", `{"cascade_id": "late", "phases": [{"name": "do", "instructions": "x",
		"human_input": {"type": "confirmation", "timeout_seconds": 1, "on_timeout": "default", "default_value": false}}]}`)
	l.file("late.script.json", `{"phases": {"do": [{"text": "Done."}]}}`)
	shown := l.answering(80, exitOK, []answerStep{{shows: answers}, {shows: "nothing has come in time"}}, "run", "late.json", "--offline", "--no-clickhouse", "--session", "late")
	require.Contains(t, shown, "Done.")
	l.run(exitOK, "verify", "late")
}

// Several waits at once are asked one after the other, and signals are shown last.
func TestSeveralForms(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("many.json", `{"cascade_id": "many", "phases": [
		{"name": "begin", "tool": "set_state", "inputs": {"key": "x", "value": "x"}},
		{"name": "hold", "tool": "await_signal", "inputs": {"signal_name": "go"}, "after": "begin"},
		{"name": "one", "tool": "ask_human", "inputs": {"question": "The first?", "ui_hint": "confirmation"}, "after": "begin"},
		{"name": "two", "tool": "ask_human", "inputs": {"question": "The second?", "ui_hint": "confirmation"}, "after": "begin"},
		{"name": "end", "tool": "set_state", "inputs": {"key": "x", "value": "y"}, "after": ["hold", "one", "two"]}]}`)
	signal := func() { l.run(exitOK, "signal", "go", "--session", "many") }
	l.answering(100, exitOK, []answerStep{
		{shows: "and 2 more waits", keys: "yy"}, // what is pressed with an answer is not meant for the next form
		{shows: "and 1 more wait", keys: "y"},
		{shows: "Send it: windlass signal go", do: signal},
	}, "run", "many.json", "--no-clickhouse", "--session", "many")
	l.run(exitOK, "verify", "many")
}

// An approval for the session counts for the next call of the tool, which nobody is asked about.
func TestGrantedOnTheTerminal(t *testing.T) {
	t.Parallel()
	l := newAskingLab(t)
	l.file("twice.json", `{"cascade_id": "twice", "phases": [{"name": "do", "instructions": "x", "tackle": ["write_file"], "rules": {"approve": ["write_*"]}}]}`)
	l.file("twice.script.json", `{"phases": {"do": [
		{"calls": [{"tool": "write_file", "arguments": {"path": "notes/a.md", "content": "one"}}]},
		{"calls": [{"tool": "write_file", "arguments": {"path": "notes/b.md", "content": "two"}}]}, {"text": "Done."}]}}`)
	shown := l.answering(80, exitOK, []answerStep{{shows: "edit the arguments", keys: "s\r"}},
		"run", "twice.json", "--offline", "--no-clickhouse", "--allow-write", "notes", "--session", "twice")
	require.Contains(t, shown, "allowed by an earlier approval of "+answerflags.UserName())
	require.FileExists(t, filepath.Join(l.dir, "notes", "b.md"))
	require.Contains(t, l.run(exitOK, "grants").out.String(), "session")
	l.run(exitOK, "verify", "twice")
}

// Ctrl-X opens the editor of the person, and what it leaves is sent.
func TestEditorOfAForm(t *testing.T) {
	t.Parallel()
	l := newAskingLab(t)
	l.file("edit.sh", "sed -i 's/one/by hand/' \"$1\"; echo \"secret: $OPENAI_API_KEY.\"\n")
	l.env = append(l.env, "EDITOR=sh edit.sh", "OPENAI_API_KEY=sk-abcdefghijklmnop")
	shown := l.answering(80, exitWaiting, []answerStep{
		{shows: "developers", keys: "2\r"},
		{shows: "edit the arguments", keys: "e"},
		{shows: "Ctrl-X opens your editor", keys: "\x18"},
		{shows: "secret: "},
		{shows: "by hand", keys: "\x04"},
		{shows: "run write_file with these arguments", keys: "\r"},
		{shows: announceID, keys: "l"},
	}, shipRun...)
	note, err := os.ReadFile(filepath.Join(l.dir, "notes", "note.md"))
	require.NoError(t, err)
	require.Equal(t, "by hand", string(note))
	require.NotContains(t, shown, "sk-abc")
}
