package live

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/form"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/waits"
)

func audibleEntry(text, by string, retry bool) *echo.Entry {
	e := echo.NewEntry(echo.PhaseKey("draft", 1).Attempt(1).Turn(2).Numbered(echo.StepAudible, 1),
		echo.Audible{Letter: "x", Text: text, By: by, Retry: retry, Via: echo.ViaTerminal, At: time.Unix(1, 0)})
	e.SetKeyFields()
	return e
}

// Both views show what a person says, in one line, without what controls a terminal.
func TestSpokenIsShown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 60)
	for want, e := range map[string]*echo.Entry{
		"draft turn 2: ann says: Rather blue.":                                  audibleEntry("Rather\n blue.", "ann", false),
		"draft turn 2: ann wants another answer and says: Rather blue.":         audibleEntry("Rather blue.", "ann", true),
		"draft turn 2: a�[31mnn says: �[2J�]0;owned�now":                        audibleEntry("\x1b[2J\x1b]0;owned\anow", "a\x1b[31mnn", false),
		"draft turn 2: somebody says: " + strings.Repeat("word ", 39) + "word…": audibleEntry(long, "", false),
	} {
		var out bytes.Buffer
		require.NoError(t, NewPlain(&out).Write(e))
		require.Equal(t, want+"\n", out.String())
		p := NewProgress("c", "s", []string{"draft"}, time.Now)
		p.Entry(e)
		require.Equal(t, "  › "+want, strings.Join(p.Said(400, false), "|"))
	}
	broken := echo.NewEntry(echo.PhaseKey("draft", 1).Attempt(1).Turn(2).Numbered(echo.StepAudible, 1), echo.Audible{Problem: "a disk failed"})
	require.Nil(t, sayingOf(broken), "a warning says it")
}

// talking is an asker whose keys a test presses.
type talking struct {
	*Asker
	out  *safeBuffer
	said []form.Said
	fail error
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func newTalking(t *testing.T) *talking {
	t.Helper()
	k := &talking{out: &safeBuffer{}}
	p := NewProgress("c", "s", []string{"draft", "check", "end"}, time.Now)
	for _, phase := range []string{"draft", "check"} {
		p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: phase})
	}
	v := NewInPlace(p, k.out, func() Room { return Room{80, 24} }, false)
	t.Cleanup(func() { require.NoError(t, v.Close(t.Context())) })
	k.Asker = &Asker{view: v, talk: talk{on: true, hearers: []form.Hearer{{Phase: "draft", Retries: true}, {Phase: "end"}}, say: func(s form.Said) error {
		k.said = append(k.said, s)
		return k.fail
	}}}
	return k
}

// reads presses keys: what each read of the keyboard has returned.
func (k *talking) reads(reads ...string) {
	var d keys.Decoder
	for _, r := range reads {
		switch r {
		case "<esc>":
			k.press(nil, []keys.Key{{Name: keys.Escape}})
		default:
			k.press(nil, d.Feed([]byte(r)))
		}
	}
}

func (k *talking) below() string {
	return strings.Join(k.lines(Room{79, 20}, func(_ term.Colour, text string) string { return text }), "\n")
}

const hint = "  a  say something to the model"

// The key opens the form, and the words are said.
func TestTalk(t *testing.T) {
	t.Parallel()
	k := newTalking(t)
	require.Equal(t, hint, k.below())
	k.reads("a", "Rather blue.", "\r")
	require.Contains(t, k.below(), "Is the newest answer taken back?", "draft, which runs, allows it")
	require.NotContains(t, k.below(), "Which phase", "end does not run")
	k.reads("y")
	require.Equal(t, []form.Said{{Text: "Rather blue.", Retry: true}}, k.said)
	require.Equal(t, hint, k.below())
	require.Equal(t, []string{"  › said: the model is told before its next turn"}, k.view.progress.Said(80, false))
	k.reads("a", "no", "<esc>")
	require.Equal(t, hint, k.below())
	require.Len(t, k.said, 1)
	k.view.progress.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "end"})
	k.reads("a", "to both", "\r")
	require.Contains(t, k.below(), "Which phase is told?")
	k.reads("3", "\r")
	require.Equal(t, form.Said{Text: "to both", Phase: "end"}, k.said[1])
}

// What a person types for the shell opens no form: the key counts by itself, after a pause.
func TestTypedForTheShell(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string][]string{
		"at once":        {"make test\r"},
		"that begins so": {"apt update\r"},
		"key by key":     {"c", "a", "t", "\r"},
		"slowly":         {"c", "", "a", "", "t"},
		"pasted":         {"\x1b[200~a\x1b[201~"},
		"another key":    {"A", "\x1b[A"},
	} {
		k := newTalking(t)
		k.reads(reads...)
		require.Equal(t, hint, k.below(), name)
	}
	k := newTalking(t)
	k.reads("c", "", "", "", "", "", "a")
	require.Contains(t, k.below(), "Esc says nothing")
}

// What was not taken stays in the form, with the reason.
func TestTalkIsRefused(t *testing.T) {
	t.Parallel()
	k := newTalking(t)
	k.fail = errors.New("the disk is full")
	k.reads("a", "Blue.", "\r", "n")
	require.Contains(t, k.below(), "✗ the disk is full")
	require.Empty(t, k.view.progress.Said(80, false))
	k.fail = nil
	k.reads("\r")
	require.Equal(t, hint, k.below())
	require.Len(t, k.said, 2)
}

// A wait is asked about when what the person says is said: no key that was meant for the one answers the other.
func TestTalkBeforeAWait(t *testing.T) {
	t.Parallel()
	k := newTalking(t)
	k.reads("a", "may")
	yes := &asked{wait: &waits.Wait{ID: "7k2mq0a1b2", Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormConfirmation, Question: "Deploy?"}}, done: make(chan struct{})}
	yes.form = form.New(yes.wait)
	k.mu.Lock()
	k.queue = append(k.queue, yes)
	k.mu.Unlock()
	k.reads("y")
	require.Contains(t, k.below(), "│ mayy▏")
	require.Contains(t, k.below(), "  then 1 wait to be answered")
	k.reads("\r", "ny")
	require.Equal(t, []form.Said{{Text: "mayy"}}, k.said)
	require.Contains(t, k.below(), "Deploy?", "what was pressed with the last key is not meant for it")
	k.reads("a")
	require.Contains(t, k.below(), "Deploy?", "the keyboard is its")
	require.False(t, yes.over)
}

// Words that are not said when the run ends are kept.
func TestUnsaid(t *testing.T) {
	t.Parallel()
	var none *Asker
	require.Empty(t, none.Unsaid())
	none.Listen()
	none.Close()
	k := newTalking(t)
	k.reads("a", "Rather blue")
	k.Close()
	require.Equal(t, "Rather blue", k.Unsaid())
	require.Empty(t, k.below())
	k.reads("a")
	require.Empty(t, k.below())
}
