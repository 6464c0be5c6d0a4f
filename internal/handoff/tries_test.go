package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// The handoff says how far candidates have come and which was chosen. What one that lost has said is not
// in it, and one that failed is in nobody's way.
func TestHandoffOfCandidates(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{CascadeID: "drafts", Phases: []cascade.Phase{{Name: "draft", Instructions: "x"}, {Name: "next", Instructions: "x"}}}
	b := &recordBuilder{t: t, cascade: "drafts"}
	key := echo.MustKey
	b.add(key("run/start"), echo.RunStart{})
	b.add(key("draft/start"), echo.PhaseStart{Visit: 1})
	for i := range 3 {
		at := key("draft").Numbered(echo.StepSounding, i+1)
		b.put(&echo.Entry{NodeType: echo.NodeBranchStart, Key: at.Step(echo.StepStart)})
		b.add(at.Step(echo.StepCandidate), echo.Candidate{Index: i, Factor: 3})
	}
	b.answer(key("draft/sounding1/attempt1/turn1"), echo.NewText(echo.RoleAssistant, echo.KindAnswer, "- [x] what one did"))
	b.add(key("draft/sounding1/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "one"})
	e := echo.NewEntry(key("draft/sounding2/finish"), echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError})
	e.Error = &echo.Failure{Kind: "error", Message: "it broke"}
	b.put(e)
	b.answer(key("draft/sounding3/attempt1/turn1"), echo.NewText(echo.RoleAssistant, echo.KindAnswer, "- [x] what three did"))
	of := func() *echo.Handoff { return FromFold(record.Of(b.entries), c, nil) }
	require.Equal(t, []echo.HandoffItem{
		{Source: "phase draft", Text: "is under way: 1 of 3 candidates done (#1), 1 failed (#2), 1 under way (#3 in turn 1); then the choice"}, {Source: "phase next", Text: "has not begun"},
	}, of().Remaining)
	require.Empty(t, of().Done, "it may lose")
	require.Empty(t, of().Blocking)
	require.Empty(t, of().Decisions)

	b.add(key("draft/sounding3/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "three"})
	cost := 0.01
	b.add(key("draft/choice"), echo.Choice{Winner: 3, How: echo.ChoiceVotes, CostUSD: &cost, Standings: []echo.Standing{
		{Number: 1, State: echo.CandidateLost}, {Number: 2, State: echo.CandidateFailed}, {Number: 3, State: echo.CandidateWon},
	}})
	b.put(&echo.Entry{NodeType: echo.NodeBranchStart, Key: key("draft/reforge1/start")})
	b.add(key("draft/reforge1/sounding1/candidate"), echo.Candidate{Index: 0, Factor: 1})
	h := of()
	require.Equal(t, "is under way: 0 of 1 candidate done, 1 under way (#1), in step 1 of refinement; then the choice", h.Remaining[0].Text)
	require.Equal(t, []echo.HandoffItem{{Source: "checklist", Text: "what three did"}}, h.Done)
	require.Equal(t, []echo.HandoffItem{{Source: "candidates of draft", Text: "3 candidates (1 failed), 3 kept by votes, judging $0.0100"}}, h.Decisions)
	require.Contains(t, Markdown(h), "- candidates of draft: 3 candidates (1 failed), 3 kept by votes, judging $0.0100\n")
}

// Candidates of a whole cascade are named by their numbers.
func TestHandoffOfWholeCandidates(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{CascadeID: "whole", Phases: []cascade.Phase{{Name: "draft", Instructions: "x"}}}
	b := &recordBuilder{t: t, cascade: "whole"}
	key := echo.MustKey
	b.add(key("run/start"), echo.RunStart{})
	for i, session := range []string{"c1", "c2"} {
		at := echo.RunKey().Numbered(echo.StepSounding, i+1).Step(echo.StepCandidate)
		b.add(at, echo.Candidate{Index: i, Factor: 2})
		b.add(at, echo.ChildStart{Session: session, Name: "whole", How: echo.ChildSounding})
	}
	b.add(key("run/sounding1/candidate"), echo.ChildEnd{Session: "c1", Status: echo.StatusFailed, Reason: echo.StopError})
	h := FromFold(record.Of(b.entries), c, nil)
	const whole = "candidates of the whole cascade"
	require.Equal(t, []echo.HandoffItem{
		{Source: whole, Text: "0 of 2 candidates done, 1 failed (#1), 1 under way (#2); then the choice"}, {Source: "child sounding 2", Text: "is under way, in session c2"},
	}, h.Remaining)
	require.Empty(t, h.Blocking)
	require.Contains(t, Markdown(h), "- phase: those of its candidates, each of which is a session, under way\n- progress: 0 of 2 candidates of the whole cascade done\n")
	require.Contains(t, h.Continuation, "Where the work stands: cascade whole, of which candidates run as sessions of their own.")

	b.add(key("run/sounding2/candidate"), echo.ChildEnd{Session: "c2", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "two"})
	h = FromFold(record.Of(b.entries), c, nil)
	require.Equal(t, []echo.HandoffItem{
		{Source: whole, Text: "1 of 2 candidates done (#2), 1 failed (#1); then the choice"}, {Source: "child sounding 2", Text: "has ended, in session c2: it waits for the choice"},
	}, h.Remaining)

	b.add(key("run/choice"), echo.Choice{Winner: 2, How: echo.ChoiceOnly, Standings: []echo.Standing{{Number: 1, State: echo.CandidateFailed}, {Number: 2, State: echo.CandidateWon}}})
	b.add(key("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "two"})
	h = FromFold(record.Of(b.entries), c, nil)
	require.Equal(t, []echo.HandoffItem{{Source: whole, Text: "two"}}, h.Done)
	require.Empty(t, h.Remaining)
	require.Equal(t, []echo.HandoffItem{{Source: whole, Text: "2 candidates (1 failed), 2 kept as the only one left, in session c2"}}, h.Decisions)
}
