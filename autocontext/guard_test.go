package autocontext_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// guarded is a phase without settings of its own under the guard: full history, in at most limit
// tokens.
func guarded(limit int64, change func(*cascade.Intra)) autocontext.Settings {
	s := policy(change)
	s.Policy.Enabled = false
	s.Limit = limit
	return s
}

// phase sends the calls of a phase and keeps what happened.
type phase struct {
	*talk
	t       *testing.T
	s       autocontext.Settings
	b       *autocontext.Builder
	c       echo.Carry
	answers func(a *autocontext.Ask) autocontext.Answer // nil: every ask fails
	asks    []*autocontext.Ask
	events  []echo.Guard // of the newest call
	view    *autocontext.View
}

func newPhase(t *testing.T, s autocontext.Settings) *phase {
	t.Helper()
	return &phase{talk: newTalk(), t: t, s: s, b: autocontext.NewBuilder(s)}
}

// call sends the history as it is, and checks the view against every rule.
func (p *phase) call() error {
	p.t.Helper()
	p.events = nil
	for range 5 {
		step, err := p.b.Build(p.items, p.c)
		p.c = step.Carry
		p.events = append(p.events, step.Events...)
		if err != nil {
			return err
		}
		if step.Ask == nil {
			p.view = step.View
			checkRules(p.t, p.s, p.items, step.View, step.Carry)
			return nil
		}
		validSequence(p.t, step.Ask.Messages)
		p.asks = append(p.asks, step.Ask)
		ans := autocontext.Answer{Failed: true}
		if p.answers != nil {
			ans = p.answers(step.Ask)
		}
		p.c, _ = p.b.Answer(p.c, step.Ask, ans)
	}
	p.t.Fatal("it keeps asking")
	return nil
}

// told are the events of the newest call.
func (p *phase) told() string {
	out := make([]string, len(p.events))
	for i, e := range p.events {
		out[i] = string(e.Event)
		if e.Detail != "" {
			out[i] += ": " + e.Detail
		}
	}
	return strings.Join(out, "; ")
}

func (p *phase) size() int64 { return p.view.Report().RequestSize }

const (
	warning  = "context_warning"
	acting   = "compacting"
	complete = "compaction_complete: "
)

// It warns once above warn_percent, and again only after the request was below it.
func TestGuardWarnsOnce(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(1000, nil))
	var got []string
	for _, add := range []int{2000, 900, 60, 500, 900, 60} {
		p.reads(1, add)
		require.NoError(t, p.call())
		got = append(got, fmt.Sprintf("%d %s", p.size()/10, p.told()))
	}
	require.Equal(t, []string{
		"56 ", "83 context_warning", "89 ", "57 compacting; compaction_complete: old tool results were masked", "84 context_warning", "89 ",
	}, got)
}

// compact_at_tokens has it make room early, and changes nothing where the percentages come first. What alone does not fit
// is cut only for the limit.
func TestGuardAtTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   int64
		want string
	}{
		{0, "56 ; 83 ; 89 "}, // in percent of 1,000 tokens
		{900, "56 ; 83 ; 89 "},
		{720, "56 ; 35 context_warning; compacting; compaction_complete: older messages were summed up by extraction"},
		{450, "56 context_warning; compacting"}, // one result is all that there is: it is cut only for the limit
	} {
		p := newPhase(t, guarded(1000, func(in *cascade.Intra) {
			in.Guard.CompactAtTokens = c.at
			in.Guard.WarnPercent = 90
		}))
		var got []string
		for _, add := range []int{2000, 900, 60} {
			p.reads(1, add)
			require.NoError(t, p.call())
			got = append(got, fmt.Sprintf("%d %s", p.size()/10, p.told()))
			if p.told() != "" {
				break
			}
		}
		require.Equal(t, c.want, strings.Join(got, "; "), "%d", c.at)
	}
}

// Where what stays is too large for compact_at_tokens, the guard makes room from a quarter above that on, not with every call,
// and says so once.
func TestGuardAtTokensBelowWhatStays(t *testing.T) {
	t.Parallel()
	for _, strategy := range []cascade.BudgetStrategy{cascade.BudgetSummarize, cascade.BudgetSlidingWindow, cascade.BudgetPruneOldest} {
		for _, by := range []string{"words", "results"} {
			s := guarded(300_000, func(in *cascade.Intra) { in.Guard.CompactAtTokens, in.MaskAfter = 1000, 1000 })
			s.Strategy, s.Summary.AboveWhatStays = strategy, true
			p := newPhase(t, s)
			p.items[1].Message = echo.NewText(echo.RoleUser, echo.KindTask, strings.Repeat("word ", 1600)) // about 2,000 tokens
			warned, made, details, largest := 0, 0, []string(nil), int64(0)
			for range 100 {
				if by == "results" {
					p.reads(1, 400)
				} else {
					p.say(filler(0, 400)).user(echo.KindTurnPrompt, "go on")
				}
				require.NoError(t, p.call())
				for _, e := range p.events {
					switch {
					case e.Event == echo.GuardComplete:
						made++
					case e.Event == echo.GuardWarning && e.Detail != "":
						details = append(details, e.Detail)
					case e.Event == echo.GuardWarning:
						warned++
					}
				}
				largest = max(largest, p.size())
			}
			name := fmt.Sprint(strategy, " ", by)
			require.Less(t, largest, int64(3000), name)
			require.Greater(t, made, 10, name)
			require.Less(t, made, 70, name)
			require.Len(t, details, 1, name)
			require.Regexp(t, `^2\d{3} tokens of each request cannot be left out, too many for compact_at_tokens 1000: room is made from 2\d{3} tokens on; set it to that or more, or shorten the instructions, the input and the tools$`, details[0], name)
			require.Positive(t, warned, name)
		}
	}
}

// The newest turn stays, too: room is made once it is older, without a word of what to set.
func TestGuardAtTokensBelowTheNewestTurn(t *testing.T) {
	t.Parallel()
	s := guarded(300_000, func(in *cascade.Intra) { in.Guard.CompactAtTokens, in.MaskAfter = 1000, 1000 })
	s.Summary.AboveWhatStays = true
	p := newPhase(t, s)
	for i, want := range []string{"", "", warning + "; " + acting + "; " + complete + "older messages were summed up by extraction", "", ""} {
		p.reads(1, []int{400, 20_000, 400, 400, 400}[i])
		require.NoError(t, p.call())
		require.Equal(t, want, p.told(), "%d", i)
	}
	require.Less(t, p.size(), int64(1000))
}

// In a window that is much larger, compact_at_tokens has older messages summed up as a limit of that size does.
func TestGuardAtTokensOfALargeWindow(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(300_000, func(in *cascade.Intra) { in.Guard.CompactAtTokens = 3000 }))
	summed, largest := false, int64(0)
	for range 300 {
		p.reads(1, 700)
		require.NoError(t, p.call())
		summed = summed || strings.Contains(p.told(), "older messages were summed up")
		largest = max(largest, p.size())
	}
	require.True(t, summed)
	require.Less(t, largest, int64(3000))
}

// Limits that nobody knows are no limits; nor is there a guard when it is off.
func TestGuardRests(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]autocontext.Settings{
		"limit unknown": guarded(0, nil),
		"limit below 0": guarded(-5, nil),
		"off":           guarded(1000, func(p *cascade.Intra) { p.Guard.Enabled = false }),
	} {
		p := newPhase(t, s)
		p.reads(20, 2000)
		require.NoError(t, p.call(), name)
		require.Empty(t, p.events, name)
		require.Zero(t, p.view.Report().TokensSaved, name)
	}
	p := newPhase(t, guarded(1<<63-1, nil))
	p.reads(20, 2000)
	require.NoError(t, p.call(), "the largest limit there is")
	require.Empty(t, p.events)
}

// The steps in their order: it masks what is old, removes results from the middle outward, has the
// rest summed up.
func TestGuardStepsInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit int64
		want  string
		form  string // of the first result
	}{
		{12_000, "", "full no_policy"},
		{9600, "old tool results were masked", "masked aged"},
		{5600, "50 % of the tool results were removed", "masked aged"},
		{2100, "older messages were summed up by extraction", "summary compacted"},
	} {
		p := newPhase(t, guarded(c.limit, func(in *cascade.Intra) { in.MaskAfter = 12; in.Guard.KeepRecentMessages = 4 }))
		p.reads(16, 2000)
		require.NoError(t, p.call())
		require.Contains(t, p.told(), c.want, "limit %d", c.limit)
		require.Equal(t, c.form, form(p.view, 3), "limit %d", c.limit)
		if c.want != "" {
			require.LessOrEqual(t, p.size(), c.limit*90/100)
			require.Equal(t, complete+c.want, strings.Split(p.told(), "; ")[len(p.events)-1])
		}
	}
}

// reasonsOf writes a letter for each tool result: what became of it.
func resultsOf(v *autocontext.View) string {
	var b strings.Builder
	for _, it := range v.Items {
		if it.Message.Role() == echo.RoleTool {
			b.WriteByte(map[autocontext.Reason]byte{
				autocontext.ReasonNoPolicy: '.', autocontext.ReasonRecent: '.', autocontext.ReasonRemoved: 'R', autocontext.ReasonAged: 'a',
				autocontext.ReasonCompacted: 'S', autocontext.ReasonSlid: 's', autocontext.ReasonOversize: 'o', autocontext.ReasonSmall: '.',
			}[it.Reason])
		}
	}
	return b.String()
}

// Levels take results out from the middle outward; the newest messages stay.
func TestGuardRemovesFromTheMiddleOutward(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		10: "........RR..............", 20: ".......RRRR.............", 50: "....RRRRRRRRRR..........", 100: "RRRRRRRRRRRRRRRRRRR.....",
	}
	for level, want := range want {
		p := newPhase(t, guarded(1, func(in *cascade.Intra) {
			in.MaskAfter = 1000
			in.Guard.RemovalLevels = []int{level}
			in.Guard.TargetPercent = 89
		}))
		p.reads(24, 1000)
		p.s.Limit = 0
		p.b = autocontext.NewBuilder(p.s)
		require.NoError(t, p.call())
		full := p.view.Report().ContextSize
		p.s.Limit = full * 100 / 91
		p.b, p.c = autocontext.NewBuilder(p.s), echo.Carry{}
		require.NoError(t, p.call())
		require.Equal(t, want, resultsOf(p.view), "level %d", level)
		require.Contains(t, p.told(), fmt.Sprintf("%d %% of the tool results were removed", level))
	}
}

// What stays after a compaction: system, summary, task, pinned messages, the latest request
// verbatim, the newest messages.
func TestGuardCompactionKeeps(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(2000, func(in *cascade.Intra) { in.Guard.KeepRecentMessages = 4 }))
	p.answers = func(*autocontext.Ask) autocontext.Answer { return autocontext.Answer{Text: "1. Goals: the task"} }
	p.say("An answer. "+filler(0, 1000)).user(echo.KindTurnPrompt, "An old request.")
	p.calls("pinned words", result{text: "pinned result"}, result{text: "its neighbour"})
	p.items[5].Pinned = true
	p.say(filler(0, 2000)).user(echo.KindTurnPrompt, "The latest request.")
	for range 6 {
		p.calls(filler(0, 500), result{text: filler(9, 190)})
	}
	require.NoError(t, p.call())
	require.Equal(t, warning+"; "+acting+"; "+complete+"older messages were summed up by model", p.told())
	sent := textsOf(p.s, p.view)
	require.Equal(t, "system: You are careful.", sent[0])
	require.Equal(t, "user: Do the task.", sent[1])
	require.True(t, strings.HasPrefix(sent[2], "user: [Summary of the "), sent[2])
	require.True(t, strings.HasSuffix(sent[2], "made by model. The originals are kept.]\n\n1. Goals: the task"), sent[2])
	require.Equal(t, []string{
		"assistant: pinned words bash{} bash{}", "tool: pinned result", "tool: its neighbour", "user: The latest request.",
	}, sent[3:7])
	require.Len(t, sent, 7+4)
	require.Equal(t, p.items[len(p.items)-1].Message.Text(), p.view.Items[len(p.items)-1].Sent.Text())
	require.Equal(t, "model", p.c.Summary.By)
	require.Equal(t, p.view.Items[2].Sent.Hash(), p.c.Summary.Hash)
	// Whoever writes the summary is told the latest request too: it only survives until the next one.
	require.Len(t, p.asks, 1)
	require.Contains(t, p.asks[0].Messages[1].Text(), "The latest request.")
	require.NotContains(t, p.asks[0].Messages[1].Text(), "Do the task.")
	require.NotContains(t, p.asks[0].Messages[1].Text(), "pinned words")
}

// When a newer request comes, the one before gives way to the summary, which still stands once.
func TestGuardSummaryStandsOnce(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(2000, func(in *cascade.Intra) { in.Guard.KeepRecentMessages = 2 }))
	p.answers = func(*autocontext.Ask) autocontext.Answer { return autocontext.Answer{Text: "the notes"} }
	p.user(echo.KindTurnPrompt, "The first request.")
	for range 6 {
		p.say(filler(0, 1200))
	}
	require.NoError(t, p.call())
	summaries := func() int { return strings.Count(strings.Join(textsOf(p.s, p.view), "\n"), "[Summary of the ") }
	require.Equal(t, 1, summaries())
	require.Equal(t, "full kept", form(p.view, 2))
	p.say("ok").user(echo.KindTurnPrompt, "The second request.")
	require.NoError(t, p.call())
	require.Equal(t, 1, summaries())
	require.Equal(t, "summary compacted", form(p.view, 2))
	require.NotNil(t, p.view.Items[2].Sent, "the summary stands at the first message that it is for")
	require.Nil(t, p.view.Items[3].Sent)
	require.Contains(t, p.asks[0].Messages[1].Text(), "The first request.", "it is told")
}

// A second summary folds the first one in, and each ask has a number of its own.
func TestGuardSecondSummary(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(2000, func(in *cascade.Intra) { in.Guard.KeepRecentMessages = 2 }))
	n := 0
	p.answers = func(*autocontext.Ask) autocontext.Answer {
		n++
		return autocontext.Answer{Text: fmt.Sprintf("notes number %d", n)}
	}
	for range 50 {
		p.calls(filler(0, 600), result{text: filler(0, 190)})
		require.NoError(t, p.call())
		require.LessOrEqual(t, p.size(), int64(1800))
	}
	require.Greater(t, len(p.asks), 2)
	for i, a := range p.asks {
		require.Equal(t, autocontext.AskSummary, a.Kind)
		require.Equal(t, i+1, a.Number)
		if i > 0 {
			require.Contains(t, a.Messages[1].Text(), fmt.Sprintf("notes number %d", i))
		}
	}
	require.Equal(t, len(p.asks), p.c.Summaries)
}

// A summariser that always fails, or says nothing, does not keep a phase from going on.
func TestGuardFailingSummariser(t *testing.T) {
	t.Parallel()
	for name, ans := range map[string]autocontext.Answer{"fails": {Failed: true}, "says nothing": {Text: " \n\t"}} {
		p := newPhase(t, guarded(2000, nil))
		p.answers = func(*autocontext.Ask) autocontext.Answer { return ans }
		for range 300 {
			p.calls(filler(0, 600), result{text: filler(p.turn, 190)})
			require.NoError(t, p.call(), name)
			require.LessOrEqual(t, p.size(), int64(1800), name)
		}
		require.Equal(t, "extraction", p.c.Summary.By, name)
		text := p.view.Items[2].Sent.Text()
		require.Contains(t, text, "made by extraction", name)
		require.Equal(t, 1, strings.Count(text, "without a model"), "what is folded in leaves its heading behind")
		require.Equal(t, 1, strings.Count(text, "[Summary of the"))
	}
}

// A model that ignores how long its summary may be is cut, in the tokens of the model, whatever the
// writing.
func TestGuardLongSummaryIsCut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"words": strings.Repeat("word ", 20_000), "quotes": strings.Repeat(`"`, 50_000), "japanese": strings.Repeat("日本語", 10_000),
	} {
		for _, exact := range []bool{false, true} {
			s := guarded(3000, nil)
			if exact {
				s.Exact = true
				s.Count = func(m *echo.Message) int64 { return int64(len([]rune(string(m.JSON())))) / 2 }
			}
			p := newPhase(t, s)
			p.answers = func(*autocontext.Ask) autocontext.Answer { return autocontext.Answer{Text: text} }
			for range 300 {
				p.say(filler(0, 500)).user(echo.KindTurnPrompt, "go on")
				require.NoError(t, p.call(), name)
				require.LessOrEqual(t, p.size(), int64(2700), name)
			}
			require.NotNil(t, p.c.Summary, name)
			m := p.c.Summary.Message
			tokens := autocontext.Tokens(m)
			if exact {
				tokens = s.Count(m)
			}
			require.LessOrEqual(t, tokens, int64(p.asks[0].MaxOut), name)
			require.Greater(t, tokens, int64(p.asks[0].MaxOut)*9/10, "%s: it is cut no shorter than needed", name)
		}
	}
}

// recount: probe asks the provider before anything is given up, and remembers what it said.
func TestGuardProbe(t *testing.T) {
	t.Parallel()
	probing := func(exact bool) autocontext.Settings {
		s := guarded(2000, func(in *cascade.Intra) { in.Guard.Recount = cascade.RecountProbe })
		if exact {
			s.Exact, s.Count = true, autocontext.Tokens
		}
		return s
	}
	for _, exact := range []bool{false, true} {
		p := newPhase(t, probing(exact)) // the provider counts half of what is counted here
		p.answers = func(a *autocontext.Ask) autocontext.Answer {
			require.Equal(t, autocontext.AskRecount, a.Kind)
			require.Equal(t, 1, a.MaxOut)
			var n int64
			for _, m := range a.Messages {
				n += autocontext.Tokens(m)
			}
			return autocontext.Answer{Tokens: n / 2}
		}
		p.reads(4, 2000)
		require.NoError(t, p.call())
		require.Len(t, p.asks, 1)
		require.Zero(t, p.view.Report().TokensSaved, "nothing had to be given up")
		p.reads(2, 2000)
		require.NoError(t, p.call())
		require.Len(t, p.asks, 1, "it knows by now")
		require.Zero(t, p.view.Report().TokensSaved)

		p = newPhase(t, probing(exact)) // it cannot say
		p.reads(4, 2000)
		require.NoError(t, p.call())
		require.Equal(t, autocontext.AskRecount, p.asks[0].Kind)
		require.Equal(t, 1, p.asks[0].Number)
		require.Equal(t, 1, p.c.Recounts)
		require.Positive(t, p.view.Report().TokensSaved, "what is counted here decides")
		require.Less(t, p.size(), int64(1800))
	}
}

func TestGuardStrategies(t *testing.T) {
	t.Parallel()
	with := func(strategy cascade.BudgetStrategy, keep int) *phase {
		s := guarded(3000, func(in *cascade.Intra) { in.MaskAfter, in.Guard.KeepRecentMessages = 1000, keep })
		s.Strategy = strategy
		return newPhase(t, s)
	}
	p := with(cascade.BudgetPruneOldest, 4)
	p.reads(7, 2000)
	require.NoError(t, p.call())
	require.Equal(t, "RRRR...", resultsOf(p.view))
	require.Contains(t, p.told(), complete+"the oldest tool results were removed")
	require.LessOrEqual(t, p.size(), int64(3000*72/100))

	p = with(cascade.BudgetPruneOldest, 100) // there are no results that it may remove
	p.reads(7, 2000)
	require.NoError(t, p.call())
	require.Equal(t, "ssss...", resultsOf(p.view))
	require.Contains(t, p.told(), complete+"the oldest turns were left out")

	p = with(cascade.BudgetSlidingWindow, 4)
	p.reads(7, 2000)
	require.NoError(t, p.call())
	require.Equal(t, "ssss...", resultsOf(p.view))
	require.Equal(t, "user: [The first 4 turns of this conversation are left out, to stay within its token budget.]", textsOf(p.s, p.view)[2])
	require.Contains(t, p.told(), complete+"the oldest turns were left out")
	p.reads(3, 2000)
	require.NoError(t, p.call())
	require.Equal(t, "user: [The first 7 turns of this conversation are left out, to stay within its token budget.]", textsOf(p.s, p.view)[2])
	require.Empty(t, p.asks, "no model is asked")

	p = with(cascade.BudgetFail, 4)
	p.reads(5, 2000)
	require.NoError(t, p.call(), "between compact_percent and the limit")
	require.Equal(t, warning, p.told())
	p.reads(2, 2000)
	require.EqualError(t, p.call(), `the request has 3823 tokens and may have 3000: token_budget has the strategy "fail"; `+
		`the largest message is 4 (tool, tool_result), with 512 tokens`)
	_, again := p.b.Refused(p.c)
	require.False(t, again, "fail makes nothing smaller")
}

// What cannot be made to fit is said with its size, and which message is the largest.
func TestGuardFitError(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("word ", 8000)
	p := newPhase(t, guarded(3000, nil))
	p.items[1].Message = echo.NewText(echo.RoleUser, echo.KindTask, huge)
	err := p.call()
	require.EqualError(t, err, "the request has 10019 tokens and may have 3000: nothing more can be left out; "+
		"the largest message is 2 (user, task), with 10007 tokens")
	var fit *autocontext.FitError
	require.True(t, errors.As(err, &fit))
	require.Same(t, p.items[1].Message, fit.Largest)
	require.Equal(t, 1, fit.LargestIndex)
	require.Equal(t, warning+"; "+acting, p.told(), "what it tried is told")
	require.Error(t, p.call())
	require.Empty(t, p.told(), "and not again")

	p = newPhase(t, guarded(3000, nil))
	p.items[0].Message = echo.NewText(echo.RoleSystem, echo.KindSystem, huge)
	p.reads(4, 3000)
	require.EqualError(t, p.call(), "the request has 10480 tokens and may have 3000: nothing more can be left out; "+
		"the largest message is 1 (system, system), with 10008 tokens")

	p = newPhase(t, guarded(3000, nil))
	p.calls("", result{args: `{"text":"` + huge + `"}`, text: "done"})
	require.EqualError(t, p.call(), "the request has 10070 tokens and may have 3000: nothing more can be left out; "+
		"the largest message is 3 (assistant, answer), with 10035 tokens")

	for _, strategy := range []cascade.BudgetStrategy{cascade.BudgetPruneOldest, cascade.BudgetSlidingWindow} {
		s := guarded(3000, nil)
		s.Strategy = strategy
		p = newPhase(t, s)
		p.items[1].Message = echo.NewText(echo.RoleUser, echo.KindTask, huge)
		p.reads(4, 3000)
		require.ErrorAs(t, p.call(), &fit, string(strategy))
	}
}

// A tool result that is larger than the window is cut, and several of one turn are cut as far as
// they must be.
func TestGuardCutsWhatAloneDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, strategy := range []cascade.BudgetStrategy{cascade.BudgetSummarize, cascade.BudgetPruneOldest, cascade.BudgetSlidingWindow} {
		s := guarded(3000, nil)
		s.Strategy = strategy
		p := newPhase(t, s)
		p.calls("", result{text: filler(1, 400_000)})
		require.NoError(t, p.call())
		require.Equal(t, "excerpt oversize", form(p.view, 3))
		require.Contains(t, p.told(), complete+"tool results that alone did not fit were cut")
		require.InDelta(t, 4000, len(p.view.Items[3].Sent.Text()), 100)

		p = newPhase(t, s)
		var many []result
		for i := range 8 {
			many = append(many, result{text: filler(i, 3900)})
		}
		p.calls("", many...)
		require.NoError(t, p.call(), "none of them is larger than the first length")
		require.Less(t, p.size(), int64(2700))
		// Once they are old they are masked like any other.
		p.reads(6, 100)
		p.s.Policy.Enabled, p.s.Policy.Advance = true, cascade.AdvanceEveryTurn
		p.b = autocontext.NewBuilder(p.s)
		require.NoError(t, p.call())
		require.Equal(t, "aaaaaaaa......", resultsOf(p.view))
	}
}

// What was cut is still taken out when the guard needs more room.
func TestGuardRemovesWhatItCut(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(3000, func(in *cascade.Intra) { in.MaskAfter, in.Guard.KeepRecentMessages = 1000, 4 }))
	p.calls("", result{text: filler(1, 400_000)})
	require.NoError(t, p.call())
	require.Equal(t, "o", resultsOf(p.view))
	p.reads(5, 1800)
	require.NoError(t, p.call())
	require.Equal(t, "RRRR..", resultsOf(p.view))
	require.Less(t, p.view.Items[3].Tokens, int64(40))
}

// A pinned result is never cut, so a phase with one that does not fit ends with the reason.
func TestGuardNeverCutsPinned(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(3000, nil))
	p.calls("", result{text: filler(1, 400_000)}).reads(6, 100)
	p.items[3].Pinned = true
	require.ErrorContains(t, p.call(), "the largest message is 4 (tool, tool_result)")
}

// A request that the provider refused as too long is made smaller, three times in a row at most.
func TestGuardRefused(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(0, nil)) // the limit is not known
	p.reads(20, 2000)
	require.NoError(t, p.call())
	size := p.view.Report().ContextSize
	var sizes []int64
	for range 3 {
		var smaller bool
		p.c, smaller = p.b.Refused(p.c)
		require.True(t, smaller)
		require.NoError(t, p.call())
		require.Less(t, p.view.Report().ContextSize, size)
		size = p.view.Report().ContextSize
		sizes = append(sizes, size)
	}
	_, smaller := p.b.Refused(p.c)
	require.False(t, smaller, "%v", sizes)
	// An answer ends the row; the ceiling stays.
	ceiling := p.c.Ceiling
	p.c = p.b.Used(p.c, size)
	require.Zero(t, p.c.Refused)
	require.Equal(t, ceiling, p.c.Ceiling)
	_, smaller = p.b.Refused(p.c)
	require.True(t, smaller)
	off := newPhase(t, guarded(0, func(in *cascade.Intra) { in.Guard.Enabled = false }))
	_, smaller = off.b.Refused(off.c)
	require.False(t, smaller)
}

// Images have bytes that say nothing of their tokens: a count that knows that is used, exact or
// not.
func TestGuardCountsByCount(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{true, false} {
		s := guarded(2000, nil)
		s.Exact, s.Count = exact, func(m *echo.Message) int64 { return int64(len(m.Text()))/4 + 765*int64(len(m.Parts())-1) + 5 }
		p := newPhase(t, s)
		p.calls("", result{text: "a picture", image: true}, result{text: "another", image: true})
		require.NoError(t, p.call())
		require.Empty(t, p.told(), "four thousand characters of an image are 765 tokens")
		require.Zero(t, p.view.Report().TokensSaved)
	}
}

// What usage says of a request corrects what is counted of the next.
func TestGuardLearnsFromUsage(t *testing.T) {
	t.Parallel()
	p := newPhase(t, guarded(4000, nil))
	p.reads(4, 2000) // about 2,200 tokens as counted here
	require.NoError(t, p.call())
	require.Empty(t, p.told())
	p.c = p.b.Used(p.c, 3*p.view.Report().ContextSize/2)
	require.InDelta(t, 1500, p.c.Scale, 1)
	require.NoError(t, p.call())
	require.Equal(t, warning, p.told(), "it is 83 % by the provider's count")
	same := p.b.Used(p.c, 0)
	require.Equal(t, p.c.Scale, same.Scale, "no usage teaches nothing")

	s := guarded(4000, nil)
	s.Exact = true
	s.Count = func(m *echo.Message) int64 { t.Error("nothing is counted for nothing"); return autocontext.Tokens(m) }
	b := autocontext.NewBuilder(s)
	step, err := b.Build(newTalk().items, echo.Carry{})
	require.NoError(t, err)
	require.Zero(t, b.Used(step.Carry, 100).Scale)
}

// However phases grow and whatever is asked of models, the guard ends below compact_percent, or
// says that the request fits as it is, or that it does not. It never asks without end (build fails
// then), and what it made of a request is not touched again by building it once more.
func TestGuardAlwaysEnds(t *testing.T) {
	t.Parallel()
	acted, kept := 0, 0
	for seed := range uint64(200) {
		w := newWorld(seed, seed%3 == 0)
		s := w.settings()
		s.Limit, s.Policy.Guard.Recount = int64(600+w.IntN(9000)), cascade.RecountTokenizer
		if s.Strategy == cascade.BudgetFail {
			s.Strategy = ""
		}
		if seed%2 == 0 {
			s.Policy.Guard.CompactAtTokens, s.Summary.AboveWhatStays = 1+s.Limit*int64(seed%10)/10, true
		}
		history, calls := w.conversation(5 + w.IntN(25))
		b := autocontext.NewBuilder(s)
		var c echo.Carry
		for _, n := range calls {
			step, err := build(t, w, b, history[:n], &c)
			if err != nil {
				var fit *autocontext.FitError
				require.ErrorAs(t, err, &fit)
				require.GreaterOrEqual(t, fit.Tokens, s.Limit, "seed %d", seed)
				break
			}
			c = step.Carry
			for _, e := range step.Events {
				if e.Event == echo.GuardComplete {
					acted++
					require.Less(t, e.Tokens, s.Limit*90/100, "seed %d: %s", seed, e.Detail)
				}
			}
			if size := step.View.Report().RequestSize; size >= s.Limit*90/100 {
				kept++
				require.Less(t, size, s.Limit)
			}
			sent := string(bytesOf(s, step.View))
			again, err := b.Build(history[:n], c)
			require.NoError(t, err)
			require.Empty(t, again.Events, "seed %d: nothing happens twice", seed)
			require.Nil(t, again.Ask)
			if again.Carry.AsOf == c.AsOf { // else the frontier has been owed enough by one more call
				require.Equal(t, sent, string(bytesOf(s, again.View)), "seed %d", seed)
			}
			c = again.Carry
		}
	}
	require.Greater(t, acted, 100)
	t.Logf("it acted %d times; %d requests were sent as they are", acted, kept)
}
