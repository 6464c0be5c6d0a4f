package live

import (
	"cmp"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
)

// Tokens writes the tokens that calls took and gave.
func Tokens(u echo.Usage) string {
	return fmt.Sprintf("in %s  cached %s  out %s", term.Count(u.In), term.Count(u.Cached), term.Count(u.Out))
}

// selectionLine says what came into a phase of earlier ones; "": the entry cannot be read.
func selectionLine(e *echo.Entry) string {
	s, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("context by %s: %s, %d of %d candidates; %s of %s tokens", s.Strategy, term.Plural(len(s.Anchors), "anchor"),
		len(s.Chosen), s.Candidates, term.Count(s.Sent()), term.Count(s.Everything))
}

// guardLine says what the guard of a phase's context did; "": the entry cannot be read.
func guardLine(e *echo.Entry) string {
	ev, err := echo.Read[echo.Guard](e)
	if err != nil {
		return ""
	}
	detail := term.OneLine(ev.Detail)
	if detail != "" {
		detail = ": " + detail
	}
	switch ev.Event {
	case echo.GuardWarning:
		return fmt.Sprintf("context at %s of its limit (%s of %s tokens)%s",
			term.Share(ev.Tokens, ev.Limit), term.Count(ev.Tokens), term.Count(ev.Limit), detail)
	case echo.GuardActing:
		return fmt.Sprintf("making room in the context (%s of %s tokens)%s", term.Count(ev.Tokens), term.Count(ev.Limit), detail)
	case echo.GuardComplete:
		return fmt.Sprintf("made room in the context, %s -> %s tokens%s", term.Count(ev.Before), term.Count(ev.Tokens), detail)
	default:
		return ""
	}
}

// purposes are the words for what a call for a phase's context does.
var purposes = map[echo.Purpose]string{
	echo.PurposeRecount: "having the request counted",
	echo.PurposeSelect:  "choosing context",
	echo.PurposeCards:   "summing messages up for their cards",
	echo.PurposeEmbed:   "embedding messages",
}

func purposeWords(p echo.Purpose) string { return cmp.Or(purposes[p], "summing up older messages") }
