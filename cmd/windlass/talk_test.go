//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

const (
	talkCascade = `{"cascade_id": "talk", "model": "plain", "audibles": true, "phases": [{"name": "draft", "instructions": "Which colour?"}]}`
	talkHint    = "a  say something to the model"
	talkSaid    = "said: the model is told before its next turn"
	marked      = "\x1b[?2004h" // the keyboard is open
)

// heldModel is a model that holds its first answer until it is let go.
type heldModel struct {
	*llmtest.Server
	letGo func()
}

// holding has a model hold its first answer, the red one; its next one repeats what it was told last.
func (l *lab) holding(first *llmtest.Answer) *heldModel {
	l.t.Helper()
	held, asked := make(chan struct{}), atomic.Bool{}
	m := &heldModel{letGo: sync.OnceFunc(func() { close(held) })}
	m.Server = llmtest.Start(llmtest.Config{Window: 1_000_000, Details: true, Key: testKey, Models: []string{"plain"}, Answer: func(r llmtest.Request) *llmtest.Answer {
		a := &llmtest.Answer{Text: "Told: " + strings.Join(strings.Fields(r.Messages[len(r.Messages)-1].Text()), " "), Usage: usage}
		if asked.CompareAndSwap(false, true) {
			<-held
			return first
		}
		return a
	}})
	l.t.Cleanup(m.Close)
	l.t.Cleanup(m.letGo)
	l.env = append(l.env, "OPENAI_BASE_URL="+m.URL)
	return m
}

var red = &llmtest.Answer{Text: "Red.", Usage: usage}

func newTalkingLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "")
	l.env = append(l.env, "NO_COLOR=1")
	l.file("talk.json", talkCascade)
	return l
}

var talkRun = []string{"run", "talk.json", "--no-clickhouse", "--session", "talk"}

// in runs a script on a terminal, in which windlass may be one of several programs.
func (l *lab) in(script string, steps []answerStep) string {
	l.t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = l.dir, append(append([]string(nil), l.env...), "TERM=xterm-256color")
	tty, err := startOnTerminal(cmd, 80, 24)
	require.NoError(l.t, err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	a := &answering{steps: steps}
	var all strings.Builder
	buf := make([]byte, 1<<16)
	for err == nil {
		var n int
		n, err = tty.Read(buf)
		all.Write(buf[:n])
		a.during(all.String(), tty)
	}
	require.NoError(l.t, cmd.Wait(), all.String())
	require.Empty(l.t, a.steps, "what was not shown: %s", all.String())
	return all.String()
}

// requireRestored demands that the terminal is as it was before, as stty -a says at the end.
func requireRestored(t *testing.T, shown string) {
	t.Helper()
	require.Regexp(t, `\sicanon\s`, shown)
	require.Regexp(t, `\secho\s`, shown)
	require.Equal(t, strings.Count(shown, marked), strings.Count(shown, "\x1b[?2004l"))
}

// A person says something while the model answers, and it is told before the answer ends the phase.
func TestSaidOnTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 200} {
		l := newTalkingLab(t)
		m := l.holding(red)
		shown := l.answering(width, exitOK, []answerStep{
			{shows: talkHint},
			{shows: "asking plain", keys: "a"},
			{shows: "Enter goes on", keys: "Rather blue.\x1b\rAnd warm.\r"},
			{shows: "yes: the model is not sent it again", keys: "n"},
			{shows: talkSaid, do: m.letGo},
		}, talkRun...)
		s := termtest.NewScreen(width, 30)
		s.Write(t, shown)
		golden(t, fmt.Sprintf("said-%d.golden", width), strings.ReplaceAll(l.liveText(s), " "+answerflags.UserName()+" says", " USER says"))
		require.Contains(t, shown, "Told: The person who watches this run says: Rather blue. And warm.")
		require.Equal(t, strings.Count(shown, marked), strings.Count(shown, "\x1b[?2004l"))
		l.run(exitOK, "verify", "talk")
		require.Contains(t, l.run(exitOK, "audible", "talk", "--json").out.String(), `"via": "terminal"`)
		replayed := l.run(exitOK, "replay", "talk", "--progress", "plain").err.String()
		require.Contains(t, replayed, "turn 1: "+answerflags.UserName()+" says: Rather blue. And warm.\n")
		require.Contains(t, l.run(exitOK, "replay", "talk", "--events").out.String(), `"text":"Rather blue.\nAnd warm."`)
	}
}

// The newest answer is taken back: the model is not sent it again.
func TestTakenBackOnTheTerminal(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	m := l.holding(red)
	shown := l.answering(80, exitOK, []answerStep{
		{shows: talkHint},
		{shows: "asking plain", keys: "a"},
		{shows: "Enter goes on", keys: "Rather blue.\r"},
		{shows: "yes: the model is not sent it again", keys: "y"},
		{shows: talkSaid, do: m.letGo},
		{shows: "wants another answer and says: Rather blue."},
	}, talkRun...)
	require.Contains(t, shown, "Told: Your newest answer was taken back.")
	for _, msg := range m.Requests()[1].Messages {
		require.NotContains(t, msg.Text(), "Red.")
	}
	l.run(exitOK, "verify", "talk")
}

// Esc says nothing. Other keys do nothing, and none of them is shown.
func TestNothingSaidOnTheTerminal(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	m := l.holding(red)
	shown := l.answering(80, exitOK, []answerStep{
		{shows: talkHint},
		{shows: "asking plain", keys: "a"},
		{shows: "Esc says nothing", keys: "no\x1b"},
		{shows: talkHint, keys: "qqq\r", do: m.letGo},
	}, talkRun...)
	require.NotContains(t, shown, "qqq")
	require.NotContains(t, shown, talkSaid)
	require.Contains(t, shown, "Red.")
	require.Len(t, m.Requests(), 1)
	require.Contains(t, l.run(exitOK, "audible", "talk").err.String(), "Nothing was said to this session.")
}

// A call that needs an approval comes while the person writes: the approval is asked for after that, with keys of its own.
func TestAWaitWhileSomethingIsSaid(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "notes"), 0o700))
	l.file("talk.json", strings.Replace(talkCascade, `"Which colour?"`, `"Which colour?", "tackle": ["write_file"], "rules": {"approve": ["write_*"]}`, 1))
	m := l.holding(&llmtest.Answer{Calls: []llmtest.Call{{ID: "c1", Name: "write_file", Arguments: `{"path": "notes/a.md", "content": "Red."}`}}, Usage: usage})
	shown := l.answering(80, exitOK, []answerStep{
		{shows: talkHint},
		{shows: "asking plain", keys: "a"},
		{shows: "Enter goes on", keys: "Rather", do: m.letGo},
		{shows: "then 1 wait to be answered", keys: " blue.\r"},
		{shows: "yes: the model is not sent it again", keys: "n"},
		{shows: "edit the arguments", keys: "a\r"},
		{shows: talkHint},
	}, append(slices.Clone(talkRun), "--allow-write", "notes")...)
	require.Contains(t, shown, "Told: The person who watches this run says: Rather blue.")
	require.FileExists(t, filepath.Join(l.dir, "notes", "a.md"))
	l.run(exitOK, "verify", "talk")
}

// Ctrl-C stops the run while the form is open, and the words that were in it are shown.
func TestInterruptedTalk(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	shown := l.in("trap : INT; windlass "+strings.Join(talkRun, " ")+" --model hangs; echo code $?; stty -a", []answerStep{
		{shows: talkHint},
		{shows: "asking hangs", keys: "a"},
		{shows: "Enter goes on", keys: "Rather blue"},
		{shows: "Rather blue", keys: "\x03"},
	})
	require.Contains(t, shown, "code 130")
	require.Contains(t, shown, "Not said, as the run has ended before: Rather blue")
	requireRestored(t, shown)
}

// Ctrl-C twice ends the process at once, and the terminal is as it was before.
func TestTalkEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	l.file("talk.json", strings.NewReplacer(`"cascade_id": "hang",`, `"cascade_id": "hang", "audibles": true,`, "trap '' TERM", "trap '' TERM INT").Replace(hangingCascade(true, "sleep 8672; sleep 8672")))
	shown := l.in("trap : INT; windlass "+strings.Join(talkRun, " ")+" --model plain; echo code $?; stty -a", []answerStep{
		{shows: talkHint, keys: "a"},
		{shows: "Enter says it", do: func() { l.awaitHanging("talk") }, keys: "\x03"},
		{shows: "Press Ctrl-C again", keys: "\x03"},
	})
	require.Contains(t, shown, "code 130")
	requireRestored(t, shown)
}

// Ctrl-Z stops the run as always, with the terminal as it was before, and the key is there again when it continues.
func TestSuspendedTalk(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	m := l.holding(red)
	shown := l.in("set -m; windlass "+strings.Join(talkRun, " ")+"; echo stopped $?; stty -a; fg; echo code $?", []answerStep{
		{shows: talkHint},
		{shows: "asking plain", keys: "\x1a"},
		{shows: "stopped 1"},
		{shows: "asking plain"},
		{shows: talkHint, keys: "a"},
		{shows: "Enter goes on", keys: "Rather blue.\r"},
		{shows: "yes: the model is not sent it again", keys: "n"},
		{shows: talkSaid, do: m.letGo},
		{shows: "code 0"},
	})
	require.Contains(t, shown, "says: Rather blue.")
	requireRestored(t, shown)
}

// A run in the background of a shell leaves the terminal to that.
func TestTalkInTheBackground(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	m := l.holding(red)
	shown := l.in("set -m; windlass "+strings.Join(talkRun, " ")+" & wait; echo ended; stty -a", []answerStep{{shows: "asking plain", do: m.letGo}, {shows: "ended"}})
	require.Contains(t, shown, "Completed in ")
	require.NotContains(t, shown, marked)
	requireRestored(t, shown)
}

// A run that takes no audibles, and one that asks nobody, have no key and leave the keyboard alone: what is typed is for the
// next program.
func TestNoTalk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cascade, flags string }{
		"no audibles": {strings.Replace(talkCascade, `"audibles": true, `, "", 1), ""},
		"--no-ask":    {talkCascade, " --no-ask"},
		"--json":      {talkCascade, " --json"},
		"--events":    {talkCascade, " --events"},
		"plain":       {talkCascade, " --progress plain"},
		"quiet":       {talkCascade, " --quiet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTalkingLab(t)
			l.file("talk.json", c.cascade)
			m := l.holding(red)
			shown := l.in("echo begins; windlass "+strings.Join(talkRun, " ")+c.flags+"; read line; echo then $line", []answerStep{
				{shows: "begins", keys: "apt\n", do: m.letGo}, {shows: "then apt"},
			})
			require.NotContains(t, shown, talkHint)
			require.NotContains(t, shown, marked)
		})
	}
}

// What no turn was told is said at the end of a run: what lists it, and whether it can still be told.
func TestUnheard(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	l.file("talk.json", strings.Replace(talkCascade, `"audibles": true`, `"audibles": {"budget": 1}`, 1))
	m := l.holding(red)
	p := l.start(talkRun...)
	until(t, "the model is asked", func() bool { return len(m.Requests()) > 0 })
	for _, words := range []string{"Rather blue.", "Or green.", "Or none."} {
		l.run(exitOK, "audible", "talk", words)
	}
	m.letGo()
	require.Equal(t, exitOK, p.wait(), p.err.String())
	require.Contains(t, p.err.String(), "\ndraft turn 1: "+answerflags.UserName()+" says: Rather blue.\n")
	require.Contains(t, p.err.String(), "\n2 audibles were told to no model: the run has ended before. windlass audible last lists what was said.\n")
}

// A run that is stopped before its next turn says that it is told when it is resumed.
func TestUnheardYet(t *testing.T) {
	t.Parallel()
	l := newTalkingLab(t)
	m := l.holding(red)
	p := l.start(append(slices.Clone(talkRun), "--quiet")...)
	until(t, "the model is asked", func() bool { return len(m.Requests()) > 0 })
	l.run(exitOK, "audible", "talk", "Green.")
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	require.Equal(t, exitInterrupted, p.wait())
	require.Contains(t, p.err.String(), "1 audible was told to no model yet: it is when the run is resumed. windlass audible last lists what was said.\n")
	resumed := l.run(exitOK, "resume", "talk", "--progress", "plain")
	require.Contains(t, resumed.err.String(), answerflags.UserName()+" says: Green.\n")
	require.NotContains(t, resumed.err.String(), "told to no model")
}
