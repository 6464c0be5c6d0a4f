package inspector

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/selected"
)

// lifeView is the screen of a message.
type lifeView struct {
	head
	*inspect.Explained
	Carried  *inspect.Carried
	Cost     string
	Recalled int
	Uses     []lifeUse
	UsesLeft int // that are not shown
	Detail   *archive.Detail
	Chosen   []pick
	said
	Whole string
	Width int // calls of the session
	SQL   string
}

// lifeUse is a stretch of calls that had the message in one form.
type lifeUse struct {
	inspect.Use
	First, Last string // addresses of calls
	X, W        string // where it is drawn, as attributes of SVG
}

// pick is what a selection for a later phase made of the message.
type pick struct {
	Visit, Path string // the selection
	How, Why    string
	Score       string
}

const mostUses = 500

func life(v *visit) error {
	r, err := v.of.Record()
	if err != nil {
		return err
	}
	x, err := r.Explain(v.Of("hash"))
	if err != nil {
		return err
	}
	view := lifeView{head: v.head("life"), Detail: v.of.Detail, Explained: x, Recalled: r.Recalls(x.Hash), Width: len(r.Calls), SQL: lifeSQL(v.of.ID, x.Hash)}
	if view.Carried, err = r.Carried(x.Hash); err != nil {
		return err
	}
	view.Cost = quantity.USD(view.Carried.USD)
	if view.Carried.Unpriced > 0 && view.Carried.Unpriced == view.Carried.Calls {
		view.Cost = "not known"
	}
	view.UsesLeft = max(len(x.Uses)-mostUses, 0)
	for _, u := range x.Uses[:len(x.Uses)-view.UsesLeft] {
		view.Uses = append(view.Uses, newLifeUse(v.of.ID, u, len(r.Calls)))
	}
	for i := range x.Selections {
		view.Chosen = append(view.Chosen, newPick(v.of.ID, &x.Selections[i]))
	}
	view.whole = v.Query().Has("whole")
	view.add(x.Message)
	view.Whole = v.Path() + "?whole=1"
	return v.Show("life", v.of.ID+": "+string(x.Hash), view)
}

func newLifeUse(id string, u inspect.Use, all int) lifeUse {
	return lifeUse{
		Use: u, First: callPath(id, u.FirstKey), Last: callPath(id, u.LastKey),
		X: fmt.Sprintf("%.4f%%", 100*float64(u.First-1)/float64(all)), W: fmt.Sprintf("%.4f%%", 100*float64(u.Last-u.First+1)/float64(all)),
	}
}

func newPick(id string, s *inspect.SelectionUse) pick {
	c := pick{Visit: s.Visit.String(), Path: selectionPath(id, s.Visit.Step(echo.StepSelect)), How: string(s.Strategy), Why: s.Why}
	if s.Anchor != "" {
		c.How, c.Why = "anchor", s.Anchor
	}
	if s.Score != nil {
		c.How += ", " + selected.Outcome(s.Score, quantity.Grouped)
		c.Score = scoreText(s.Score)
	}
	return c
}

// scoreText writes the parts of a score.
func scoreText(s *echo.Score) string {
	text := fmt.Sprintf("total %.3f: words %.3f, recency %.3f", s.Total, s.Keyword, s.Recency)
	if s.Similarity != nil {
		text += fmt.Sprintf(", meaning %.3f", *s.Similarity)
	}
	if s.Callout {
		text += ", callout"
	}
	if s.Rank > 0 {
		text = fmt.Sprintf("rank %d, ", s.Rank) + text
	}
	return text
}

// lifePath returns the address of the life of a message.
func lifePath(id string, h echo.Hash) string { return pathOf(id) + "/life/" + string(h) }
