package autocontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// attempts is a talk of n attempts that did not pass and the beginning of another. Each reads
// something, then answers.
func attempts(n int) *talk {
	k := newTalk()
	for i := 1; i <= n; i++ {
		k.calls("I look it up.", result{text: strings.Repeat("found ", 100)}).say(fmt.Sprintf("answer %d", i)).retry(fmt.Sprintf("rejected %d", i))
	}
	return k
}

// After attempts that did not pass the last loop_history_limit answers stay with the words that
// turned them down.
func TestRetryKeepsTheLastAnswersAndTheirVerdicts(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]string{
		0: {"user: rejected 4"},
		1: {"assistant: answer 4", "user: rejected 4"},
		3: {
			"assistant: answer 2", "user: rejected 2", "assistant: answer 3", "user: rejected 3",
			"assistant: answer 4", "user: rejected 4",
		},
		9: {
			"assistant: answer 1", "user: rejected 1", "assistant: answer 2", "user: rejected 2",
			"assistant: answer 3", "user: rejected 3", "assistant: answer 4", "user: rejected 4",
		},
	} {
		s := policy(func(p *cascade.Intra) { p.LoopHistoryLimit = limit })
		v := viewOf(t, s, attempts(4))
		want = append([]string{"system: You are careful.", "user: Do the task."}, want...)
		require.Equal(t, want, textsOf(s, v), "loop_history_limit %d", limit)
	}
}

// What an attempt under way has done itself follows as it is.
func TestRetryLeavesTheAttemptUnderWay(t *testing.T) {
	t.Parallel()
	k := attempts(2)
	before := len(k.items)
	k.calls("Again.", result{text: strings.Repeat("found ", 100)})
	v := viewOf(t, policy(nil), k)
	for i := before; i < len(k.items); i++ {
		require.Equal(t, "full recent", form(v, i))
	}
}

// An answer with calls keeps its words and loses the calls, as their results are not sent. One that
// has no words is left out.
func TestRetryAnswersLoseTheirCalls(t *testing.T) {
	t.Parallel()
	k := newTalk().calls("Words beside a call.", result{text: strings.Repeat("found ", 100)}).retry("no answer")
	k.calls("", result{text: strings.Repeat("found ", 100)}).retry("no words")
	v := viewOf(t, policy(nil), k)
	require.Equal(t, []string{
		"system: You are careful.", "user: Do the task.", "assistant: Words beside a call.", "user: no answer", "user: no words",
	}, textsOf(policy(nil), v))
	require.Equal(t, []string{
		"full kept", "full kept", "excerpt retry", "dropped retry", "full recent", "dropped retry", "dropped retry", "full kept",
	}, formsOf(v))
}

func TestRetryCutsLongAnswers(t *testing.T) {
	t.Parallel()
	k := newTalk().say(strings.Repeat("long ", 400)).retry("too long")
	v := viewOf(t, policy(nil), k)
	m := v.Items[2].Sent
	require.Equal(t, "excerpt retry", form(v, 2))
	require.Less(t, len(m.Text()), 500+80)
	require.Contains(t, m.Text(), string(v.Items[2].Message.Hash()))
	// What would not become shorter stays, for the same reason.
	v = viewOf(t, policy(nil), newTalk().say(strings.Repeat("l", 520)).retry("too long"))
	require.Equal(t, "full retry", form(v, 2))
	require.Same(t, v.Items[2].Message, v.Items[2].Sent)
}

// Turn prompts, notices and the results of old attempts go; pinned messages stay, a tool result
// with its whole group.
func TestRetryKeepsPinnedGroups(t *testing.T) {
	t.Parallel()
	k := newTalk().calls("a", result{text: "one"}, result{text: "two"}).user(echo.KindTurnPrompt, "go on").user(echo.KindNotice, "note").say("x").retry("no")
	require.Equal(t, []string{"system: You are careful.", "user: Do the task.", "assistant: x", "user: no"},
		textsOf(policy(nil), viewOf(t, policy(nil), k)))
	k.items[4].Pinned = true // the second result
	v := viewOf(t, policy(nil), k)
	require.Equal(t, []string{"full kept", "full kept", "full kept"}, formsOf(v)[2:5])
}

// No request of a phase with retries is longer than with compress_loops off, whatever the limits.
func TestRetryNeverSendsMore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		w := newWorld(seed, seed%3 == 0)
		history, calls := w.conversation(12)
		on := policy(func(p *cascade.Intra) {
			p.LoopHistoryLimit, p.LoopOutputLimit = w.IntN(4), w.IntN(300)
			p.Window, p.MaskAfter = 1000, 1000
		})
		off := on
		off.Policy.CompressLoops = false
		a, b := autocontext.NewBuilder(on), autocontext.NewBuilder(off)
		var ca, cb echo.Carry
		for _, n := range calls {
			short, err := a.Build(history[:n], ca)
			require.NoError(t, err)
			plain, err := b.Build(history[:n], cb)
			require.NoError(t, err)
			ca, cb = short.Carry, plain.Carry
			require.LessOrEqual(t, short.View.Report().ContextSize, plain.View.Report().ContextSize, "seed %d call %d", seed, n)
		}
	}
}

func TestRetryOffOrNotEnabled(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cascade.Intra){
		"compress_loops false": func(p *cascade.Intra) { p.CompressLoops, p.Dedupe, p.MaskAfter = false, false, 1000 },
		"not enabled":          func(p *cascade.Intra) { p.Enabled = false },
	} {
		k := attempts(3)
		v := viewOf(t, policy(change), k)
		require.Equal(t, int64(0), v.Report().TokensSaved, name)
	}
}
