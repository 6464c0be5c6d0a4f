package checks

import (
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/verdict"
	"github.com/windlass-run/windlass/engine/withheld"
)

// Answer is what [Checks.Judge] judges.
type Answer struct {
	Text   string
	Empty  string // why there is no text; "": there is some
	Passed bool   // loop_until has accepted it already
}

// AnswerOf reads the answer of a model, by which nothing has judged yet. What it writes for itself is no part of it.
func AnswerOf(resp *effect.ModelResponse, on continuity.InForce) Answer {
	a := Answer{Text: resp.Message.Text(), Empty: core.WhyEmpty(resp)}
	if visible := standing.Visible(a.Text, on); visible != a.Text {
		if a.Text = visible; visible == "" {
			a.Empty = "it writes only what stands at the end of requests, and no answer"
		}
	}
	return a
}

// Content returns what validators see of an answer: its text, and what the tools of its turn answered.
func (c *Validators) Content(text string) string {
	if !c.Rec.Rules.ShowsTurn() {
		return text
	}
	var results []*echo.Message
	values := withheld.Of(c.Place.Session)
	for _, it := range c.Present() {
		if it.Message.Role() == echo.RoleTool && it.Attempt == c.Attempt && it.Turn == c.Turn && it.Order > 0 {
			results = append(results, values.Told(it.Message))
		}
	}
	return verdict.Content(text, results)
}
