package checks

import (
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/verdict"
)

// Answer is what [Checks.Judge] judges.
type Answer struct {
	Text   string
	Empty  string // why there is no text; "": there is some
	Passed bool   // loop_until has accepted it already
}

// AnswerOf reads the answer of a model, by which nothing has judged yet.
func AnswerOf(resp *effect.ModelResponse) Answer {
	return Answer{Text: resp.Message.Text(), Empty: whyEmpty(resp)}
}

// whyEmpty says why an answer has no text; "" when it has some.
func whyEmpty(resp *effect.ModelResponse) string {
	if strings.TrimSpace(resp.Message.Text()) != "" {
		return ""
	}
	reasoned := resp.Usage.Reasoning > 0
	switch {
	case resp.FinishReason == "length" && reasoned:
		return "it was cut off at the limit of output tokens while the model was still reasoning"
	case resp.FinishReason == "length":
		return "it was cut off at the limit of output tokens before any text"
	case resp.FinishReason == "content_filter":
		return "the provider's content filter withheld it"
	case len(resp.Message.ToolCalls()) > 0:
		return "the model called tools where none can be called"
	case reasoned:
		return "the model only reasoned"
	}
	return "the model said nothing"
}

// Content returns what validators see of an answer: its text, and what the tools of its turn answered.
func (c *Validators) Content(text string) string {
	if !c.Rec.Rules.ShowsTurn() {
		return text
	}
	var results []*echo.Message
	for _, it := range c.Record.History {
		if it.Message.Role() == echo.RoleTool && it.Attempt == c.Attempt && it.Turn == c.Turn && it.Order > 0 {
			results = append(results, it.Message)
		}
	}
	return verdict.Content(text, results)
}
