package main

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// selectionUse is what a selection for a later phase made of a message.
type selectionUse struct {
	Visit    echo.Key      `json:"visit"` // that was selected for
	Strategy echo.Strategy `json:"strategy"`
	Anchor   string        `json:"anchor,omitempty"` // why it came in as an anchor
	Score    *echo.Score   `json:"score,omitempty"`  // of its turn group, as a candidate
}

// selections returns what became of a message in the selections for later phases. Groups are recorded by the hash of their
// first message, so a tool result is found by the answer that called for it.
func (r *contextRecord) selections(h echo.Hash) []selectionUse {
	group := map[echo.Hash]bool{h: true}
	answers := map[echo.Key]echo.Hash{} // of each turn
	var out []selectionUse
	for _, e := range r.entries {
		turn := e.Key.Place()
		switch {
		case e.NodeType == echo.NodeModelCall && e.Message != nil:
			answers[turn] = e.Message.Hash()
		case e.NodeType == echo.NodeToolCall && e.Message != nil && e.Message.Hash() == h:
			if first, ok := answers[turn]; ok {
				group[first] = true
			}
		case e.NodeType == echo.NodeInter:
			out = append(out, selectionUses(e, group)...)
		}
	}
	return out
}

func selectionUses(e *echo.Entry, group map[echo.Hash]bool) []selectionUse {
	s := selectionOf(e)
	if s == nil {
		return nil
	}
	var out []selectionUse
	use := selectionUse{Visit: e.Key.VisitKey(), Strategy: s.Strategy}
	for _, a := range s.Anchors {
		if group[a.ID] {
			use.Anchor = a.Why
			out = append(out, use)
		}
	}
	use.Anchor = ""
	for i := range s.Scores {
		if group[s.Scores[i].ID] {
			use.Score = &s.Scores[i]
			out = append(out, use)
		}
	}
	return out
}

func selectionUseTable(uses []selectionUse) *table {
	t := newTable("selected for", "by", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "outcome")
	for _, u := range uses {
		if u.Score == nil {
			t.add(u.Visit.String(), string(u.Strategy), "", "", "", "", "", "", "anchor: "+u.Anchor)
			continue
		}
		s := u.Score
		cells := scoreCells(s)
		outcome := "left out"
		switch {
		case s.Chosen:
			outcome = "chosen"
		case s.Rank > 0:
			outcome = fmt.Sprintf("left out: no room for its %s tokens", formatCount(s.Tokens))
		}
		t.add(append(append([]string{u.Visit.String(), string(u.Strategy)}, cells...), outcome)...)
	}
	return t
}
