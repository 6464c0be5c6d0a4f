package inspectortest

import (
	"github.com/windlass-run/windlass/echo"
)

// Sounded returns the entries of a visit with four candidates, whose judge turns its verdict in one of three pairs, and a step of
// refinement with a score. Everything that can be said says a text.
func Sounded(text string) []*echo.Entry {
	visit := echo.PhaseKey("draft", 1)
	out := []*echo.Entry{echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})}
	say := func(key echo.Key, d echo.Payload) { out = append(out, echo.NewEntry(key, d)) }
	for i, mutation := range []*echo.Mutation{nil, {Mode: "rewrite", Entry: text, Text: text}, {Mode: "augment", Entry: text}, {Mode: "augment", Entry: text}} {
		say(visit.Numbered(echo.StepSounding, i+1).Step(echo.StepCandidate), echo.Candidate{Index: i, Factor: 4, Model: text, Mutation: mutation, Species: "5bec1e5"})
	}
	for i, usd := range []float64{0.25, 0.5, 0.125} {
		tried(visit.Numbered(echo.StepSounding, i+1), text, usd, &out)
	}
	failed := echo.NewEntry(visit.Numbered(echo.StepSounding, 4).Step(echo.StepFinish), echo.PhaseEnd{Status: echo.StatusFailed, Turns: 1})
	failed.Error = &echo.Failure{Kind: text, Message: text}
	out = append(out, failed)
	for i, b := range ballots(text) {
		say(visit.Numbered(echo.StepBallot, i+1), b)
	}
	say(visit.Step(echo.StepChoice), echo.Choice{
		Winner: 2, How: echo.ChoiceVotes, Confidence: 0.9, Needed: 10, EValue: 12, Pairs: 3, Flipped: 1, CostUSD: new(3.0),
		Standings: []echo.Standing{
			{Number: 1, State: echo.CandidateLost, Quality: new(0.25), CostUSD: new(0.25), Tokens: 110},
			{Number: 2, State: echo.CandidateWon, Votes: 1, EValue: 12, Quality: new(0.75), Value: new(0.5), CostUSD: new(0.5), Tokens: 110},
			{Number: 3, State: echo.CandidateRejected, Why: text, CostUSD: new(0.125), Tokens: 110},
			{Number: 4, State: echo.CandidateFailed, Why: text},
		},
		Frontier: []echo.FrontierPoint{{Number: 2, Quality: 0.75, WeighedUSD: new(0.5)}, {Number: 1, Quality: 0.25, DominatedBy: []int{2}}},
		Prefix:   &echo.Prefix{Shared: 100, Waited: 2, Cached: 50}, Room: &echo.Room{NeededUSD: 2, LeftUSD: 1},
	})
	better := visit.Numbered(echo.StepReforge, 1)
	say(better.Numbered(echo.StepSounding, 1).Step(echo.StepCandidate), echo.Candidate{Factor: 1, Model: text})
	tried(better.Numbered(echo.StepSounding, 1), "better: "+text, 0.0625, &out)
	say(better.Numbered(echo.StepScore, 1), echo.Ballot{Step: 1, Judge: text, Order: []int{1}, Score: new(8.5), Why: text, CostUSD: new(0.5)})
	say(better.Step(echo.StepChoice), echo.Choice{Step: 1, Winner: 1, How: echo.ChoicePerson, CostUSD: new(0.5), Standings: []echo.Standing{
		{Number: 0, State: echo.CandidateLost}, {Number: 1, State: echo.CandidateWon, Quality: new(0.85), Value: new(0.9), CostUSD: new(0.0625), Tokens: 110},
	}, Person: &echo.Chooser{Order: []int{0, 1}, Labels: []string{text, text}, Said: text, Why: text, By: text, Via: echo.ViaPage}})
	say(visit.Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered})
	return out
}

// tried adds what one candidate did: a call, a check, and its end.
func tried(at echo.Key, text string, usd float64, out *[]*echo.Entry) {
	turn := at.Attempt(1).Turn(1)
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text)})
	*out = append(*out,
		&echo.Entry{NodeType: echo.NodeModelCall, Key: turn.Step(echo.StepModel), Model: text, Message: answer, CostUSD: &usd, Usage: &echo.Usage{In: 100, Out: 10}},
		echo.NewEntry(turn.Named(echo.StepVerdict, text), echo.Verdict{Validator: text, Reason: text}),
		echo.NewEntry(at.Step(echo.StepFinish), echo.PhaseEnd{Status: echo.StatusCompleted, Turns: 1, Output: at.String() + ": " + text}),
	)
}

// ballots are three pairs: the first names candidate 2 twice, the second turns with the order, the third has no second verdict.
func ballots(text string) []echo.Ballot {
	in := func(pair int, reverse bool, order ...int) echo.Ballot {
		return echo.Ballot{Pair: pair, Reverse: reverse, Judge: text, Order: order, Labels: []string{"A", "B"}, Said: "A", Why: text, CostUSD: new(0.5)}
	}
	list := []echo.Ballot{in(1, false, 1, 2), in(1, true, 2, 1), in(2, false, 1, 2), in(2, true, 2, 1), in(3, false, 1, 2), in(3, true, 2, 1)}
	for i, winner := range []int{2, 2, 1, 2} {
		list[i].Winner = &winner
	}
	list[1].Vote, list[1].EValues, list[1].Evidence = new(2), []float64{12, 0.5}, &echo.Evidence{EValue: 12, Needed: 10}
	list[4].Said, list[5].Said, list[5].Problem = "tie", "", text
	return list
}

// Selected returns the entries of a visit to a phase that says a text, and of one that selects of it: an anchor, a candidate that was
// chosen, one for which there was no room, and one that was not ranked. Everything that can be said says a text.
func Selected(text string) []*echo.Entry {
	out := Conversation(text)
	out = append(out, echo.NewEntry(echo.PhaseKey("draft", 1).Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusCompleted, Output: text}))
	var hashes []echo.Hash
	for _, e := range out {
		if e.Message != nil {
			hashes = append(hashes, e.Message.Hash())
		}
	}
	visit := echo.PhaseKey("tell", 1)
	at := visit.Step(echo.StepSelect)
	score := func(i, rank int, chosen bool, total float64) echo.Score {
		return echo.Score{ID: hashes[i], Phase: text, Tokens: 50, Messages: 1, Keyword: total, Recency: 0.5, Callout: i == 1, Similarity: new(0.25), Total: total, Rank: rank, Chosen: chosen, Late: i == 2}
	}
	out = append(out,
		echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1}),
		echo.NewEntry(at.Step(echo.StepCards), echo.Findings{Found: []echo.Found{
			{Cards: []echo.FoundCard{{Hash: hashes[0], Summary: text, Keywords: []string{text, text}}}}, {Cards: []echo.FoundCard{}}, {Cards: []echo.FoundCard{}},
		}}),
		echo.NewEntry(at, echo.InterSelection{
			Selected: echo.Selected{
				Asked: echo.Strategy(text), Strategy: echo.StrategyHybrid, Notes: []string{text}, Ignored: []string{text}, Why: text, Candidates: 3, CandidateTokens: 150,
				Budget: 90, Used: 70, Messages: 1, Chosen: []echo.Hash{hashes[0]}, Scores: []echo.Score{score(0, 1, true, 0.9), score(1, 2, false, 0.5), score(2, 0, false, 0)},
			},
			Anchors: []echo.Anchor{{ID: hashes[3], Phase: text, Why: text, Messages: 1, Tokens: 20}}, AnchorTokens: 20, Everything: 170, Ending: 20,
			CardsUsed: echo.CardsUsed{Digest: "d", Embedder: text, Degraded: []string{text}},
		}),
		&echo.Entry{NodeType: echo.NodeMessage, Key: visit.Attempt(1).Step(echo.StepTask), Message: echo.NewText(echo.RoleUser, echo.KindTask, text)},
	)
	return out
}
