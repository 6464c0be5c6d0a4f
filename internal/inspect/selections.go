package inspect

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// SelectionUse is what a selection for a later phase made of a message.
type SelectionUse struct {
	Visit    echo.Key      `json:"visit"` // that was selected for, or the branch of it
	Strategy echo.Strategy `json:"strategy"`
	Anchor   string        `json:"anchor,omitempty"` // why it came in as an anchor
	Score    *echo.Score   `json:"score,omitempty"`  // of its turn group, as a candidate
	Why      string        `json:"why,omitempty"`    // in the words of the model that chose
}

// selections returns what became of a message in selections. Groups have their first hash.
func (r *Record) selections(h echo.Hash) []SelectionUse {
	group := map[echo.Hash]bool{h: true}
	answers := map[echo.Key]echo.Hash{} // of each turn
	var out []SelectionUse
	for _, e := range r.Entries {
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

func selectionUses(e *echo.Entry, group map[echo.Hash]bool) []SelectionUse {
	s, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return nil // it cannot be read: of another version
	}
	var out []SelectionUse
	use := SelectionUse{Visit: record.Conversation(e.Key), Strategy: s.Strategy, Why: s.Why}
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
