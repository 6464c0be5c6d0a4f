package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

func (r treeRun) judges(key string) {
	k := echo.MustKey(key)
	r.view.Observe(engine.Event{Kind: engine.EventModelCall, Key: k, Site: effect.Site{Phase: k.Path().Phase, Purpose: k.Purpose()}, Model: "gpt-5"})
}

// pair records a pair of ballots that names a candidate, 0: the two differ.
func (r treeRun) pair(at string, n, vote int, evidence float64) {
	order := []int{1, 3} // the second one has failed
	second := echo.Ballot{Pair: n, Reverse: true, Judge: "gpt-5", Order: order, EValues: []float64{0.1, 2 * evidence}, Evidence: &echo.Evidence{EValue: evidence, Needed: 10}}
	if vote > 0 {
		second.Vote = &vote
	}
	for i, d := range []echo.Ballot{{Pair: n, Judge: "gpt-5", Order: order}, second} {
		key := fmt.Sprintf("%s/ballot%d", at, 2*n-1+i)
		r.judges(key + "/model")
		r.entry(key+"/model", echo.ModelCall{}, 0.001)
		r.entry(key, d, 0)
	}
}

// contests plays a phase with three candidates, a judging and a step of refinement, and one whose list has
// candidates in its elements.
func (r treeRun) contests(show func(when string)) {
	cent := 0.0123
	r.entry("run/start", echo.RunStart{}, 0)
	r.entry("draft/start", echo.PhaseStart{Visit: 1}, 0)
	for i := 1; i <= 3; i++ {
		r.mark(echo.NodeBranchStart, fmt.Sprintf("draft/sounding%d/start", i))
	}
	r.entry("draft/sounding1/candidate", echo.Candidate{Index: 0, Factor: 3, Model: "gpt-5-mini"}, 0)
	r.entry("draft/sounding2/candidate", echo.Candidate{Index: 1, Factor: 3, Model: "gpt-5-mini", Mutation: &echo.Mutation{Mode: "augment", Entry: "Be\x1b[2J brief, and say nothing that the reader knows already."}}, 0)
	r.asks("draft/sounding1/attempt1/turn1/model")
	r.asks("draft/sounding2/attempt1/turn1/model")
	r.after(2 * time.Second)
	r.entry("draft/sounding1/attempt1/turn1/model", echo.ModelCall{}, 0.0025)
	r.calls("draft/sounding1/attempt1/turn1/tool1", "read_file", `{"path": "notes.md"}`)
	r.after(3 * time.Second)
	show("candidates run side by side")
	require.NoError(r.t, r.view.Write(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "draft", Key: echo.MustKey("draft/sounding1/attempt1/turn1/tool1"), Tool: &echo.ToolUse{Name: "read_file"}}))
	r.entry("draft/sounding1/attempt1/turn2/model", echo.ModelCall{}, 0.0125)
	r.entry("draft/sounding1/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Turns: 2, Output: "one"}, 0)
	r.entry("draft/sounding2/finish", echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError}, 0)
	r.entry("draft/sounding3/candidate", echo.Candidate{Index: 2, Factor: 3, Model: "gpt-5"}, 0)
	r.entry("draft/sounding3/attempt1/turn1/model", echo.ModelCall{}, 0.02)
	r.entry("draft/sounding3/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Turns: 1, Output: "three"}, 0)
	r.pair("draft", 1, 3, 1.1)
	r.pair("draft", 2, 0, 0.9)
	r.judges("draft/ballot5/model")
	r.after(time.Second)
	show("judges hold pairs of ballots")
	r.entry("draft/choice", echo.Choice{Winner: 3, How: echo.ChoiceVotes, Pairs: 3, Confidence: 0.9, EValue: 12, CostUSD: &cent, Standings: []echo.Standing{
		{Number: 1, State: echo.CandidateLost}, {Number: 2, State: echo.CandidateFailed}, {Number: 3, State: echo.CandidateWon, Votes: 2},
	}}, 0)
	show("one is kept")
	r.mark(echo.NodeBranchStart, "draft/reforge1/start")
	r.entry("draft/reforge1/sounding1/candidate", echo.Candidate{Index: 0, Factor: 2, Model: "gpt-5-mini"}, 0)
	r.asks("draft/reforge1/sounding1/attempt1/turn1/model")
	r.mark(echo.NodeBranchStart, "draft/reforge1/sounding2/start")
	show("it is refined")
	r.entry("draft/reforge1/choice", echo.Choice{Step: 1, How: echo.ChoiceFirst, Tie: true, CostUSD: &cent, Standings: []echo.Standing{
		{State: echo.CandidateWon}, {Number: 1, State: echo.CandidateLost}, {Number: 2, State: echo.CandidateSame, SameAs: 1},
	}}, 0)
	r.entry("draft/end", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered}, 0)
	r.entry("each/start", echo.PhaseStart{Visit: 1}, 0)
	for i := 1; i <= 2; i++ {
		r.mark(echo.NodeBranchStart, fmt.Sprintf("each/item%d/start", i))
		for n := 1; n <= 2; n++ {
			r.mark(echo.NodeBranchStart, fmt.Sprintf("each/item%d/sounding%d/start", i, n))
			r.entry(fmt.Sprintf("each/item%d/sounding%d/candidate", i, n), echo.Candidate{Index: n - 1, Factor: 2, Model: "gpt-5"}, 0)
		}
	}
	r.asks("each/item1/sounding1/attempt1/turn1/model")
	r.entry("each/item2/sounding2/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Turns: 1, Output: "x"}, 0)
	r.mark(echo.NodeBranchEnd, "each/item2/sounding2/end")
	r.entry("each/item2/choice", echo.Choice{Winner: 2, How: echo.ChoiceOnly, Standings: []echo.Standing{{Number: 1, State: echo.CandidateFailed}, {Number: 2, State: echo.CandidateWon}}}, 0)
	r.after(time.Second)
	show("elements of a list have candidates")
}

// Candidates that run have lines of their own, side by side with what they took; the judging and the
// choices stand below and above them.
func TestFramesOfSoundings(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("drafts", "nightly-7", []string{"draft", "each"}, func() time.Time { return clock })
	var b strings.Builder
	root := following{p}
	treeRun{t, root, &clock}.contests(func(when string) {
		for _, room := range []Room{{200, 40}, {80, 24}, {50, 9}, {100, 0}} {
			lines := p.Frame(room, false)
			fmt.Fprintf(&b, "== %s, %d columns, %d lines\n", when, room.Width, room.Height)
			require.True(t, room.Height == 0 || len(lines) <= room.Height)
			for _, line := range lines {
				require.LessOrEqual(t, runewidth.StringWidth(line), room.Width)
				b.WriteString(line + "\n")
			}
		}
		for _, line := range p.Said(80, false) {
			b.WriteString("said: " + line + "\n")
		}
	})
	goldenFile(t, "testdata/soundings.golden", b.String())
}

// In lines, what each candidate is, what pairs of ballots come to and what is chosen is said once.
func TestSoundingsInLines(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	var b strings.Builder
	treeRun{t, NewPlain(&b), &clock}.contests(func(string) {})
	goldenFile(t, "testdata/soundings_plain.golden", b.String())
}

// Of many candidates those are shown that run.
func TestManyCandidates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := contest{}
	for i := 1; i <= 64; i++ {
		x := c.at(i)
		if i%10 == 0 {
			x.begin(now)
		} else {
			x.end(echo.StatusCompleted, time.Second)
		}
	}
	require.Equal(t, "64 candidates: 58 done, 6 running", c.sum())
	lines := c.lines(now, 4, 80, nil)
	require.Len(t, lines, 4)
	require.Equal(t, "    0s  10  running", lines[0])
	require.Equal(t, "        and 3 more", lines[3])
}

// wholes plays a run whose candidates are runs of the whole cascade.
func (r treeRun) wholes(show func(when string), child func(parent, session string, c *cascade.Cascade) View) {
	r.entry("run/start", echo.RunStart{}, 0)
	of := &cascade.Cascade{CascadeID: "whole", Phases: []cascade.Phase{{Name: "draft"}, {Name: "check"}}}
	var candidates []treeRun
	for i := 1; i <= 2; i++ {
		at, session := fmt.Sprintf("run/sounding%d/candidate", i), fmt.Sprintf("c%d", i)
		r.mark(echo.NodeBranchStart, fmt.Sprintf("run/sounding%d/start", i))
		r.entry(at, echo.Candidate{Index: i - 1, Factor: 2}, 0)
		r.entry(at, echo.ChildStart{Session: session, Name: "whole", How: echo.ChildSounding, Cascade: "whole"}, 0)
		c := r
		c.view = child("s", session, of)
		c.entry("run/start", echo.RunStart{}, 0)
		c.entry("draft/start", echo.PhaseStart{Visit: 1}, 0)
		c.asks("draft/attempt1/turn1/model")
		candidates = append(candidates, c)
	}
	candidates[0].entry("draft/attempt1/turn1/model", echo.ModelCall{}, 0.5)
	candidates[0].calls("draft/attempt1/turn1/tool1", "read_file", `{"path": "notes.md"}`)
	r.after(2 * time.Second)
	show("candidates of a whole cascade")
	candidates[1].entry("run/end", echo.RunEnd{Status: echo.StatusFailed, Reason: echo.StopError}, 0)
	r.entry("run/sounding2/candidate", echo.ChildEnd{Session: "c2", Status: echo.StatusFailed, Reason: echo.StopError, Calls: 1}, 0.25)
	candidates[0].entry("run/end", echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade}, 0)
	r.entry("run/sounding1/candidate", echo.ChildEnd{Session: "c1", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Calls: 1}, 0.5)
	r.entry("run/choice", echo.Choice{Winner: 1, How: echo.ChoiceOnly, CostUSD: new(float64), Standings: []echo.Standing{
		{Number: 1, State: echo.CandidateWon}, {Number: 2, State: echo.CandidateFailed},
	}}, 0)
	show("one of them is kept")
	r.entry("run/end", echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade}, 0)
	show("the end")
}

// The candidates of a whole cascade are sessions, whose figures their lines have.
func TestFramesOfWholeCascades(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	parent := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id": "whole", "soundings": {"factor": 2}, "phases": [{"name": "draft", "instructions": "x"}]}`), parent))
	p := NewProgress("whole", "nightly-7", phaseNames(parent), func() time.Time { return clock })
	var b strings.Builder
	root := following{p}
	tree := NewTree("s", root)
	treeRun{t, root, &clock}.wholes(func(when string) {
		for _, room := range []Room{{120, 24}, {60, 8}} {
			fmt.Fprintf(&b, "== %s, %d columns, %d lines\n", when, room.Width, room.Height)
			b.WriteString(strings.Join(p.Frame(room, false), "\n") + "\n")
		}
		for _, line := range p.Said(80, false) {
			b.WriteString("said: " + line + "\n")
		}
	}, tree.Child)
	v := NewPlain(&b)
	b.WriteString("== in lines\n")
	tree = NewTree("s", v)
	treeRun{t, v, &clock}.wholes(func(string) {}, tree.Child)
	goldenFile(t, "testdata/soundings_whole.golden", b.String())
}
