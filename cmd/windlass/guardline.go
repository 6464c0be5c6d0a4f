package main

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// guardLine says what the guard of a phase's context did, or nothing for an entry that cannot be read.
func guardLine(e *echo.Entry) string {
	ev, err := echo.Read[echo.Guard](e)
	if err != nil {
		return ""
	}
	detail := oneLine(ev.Detail)
	if detail != "" {
		detail = ": " + detail
	}
	switch ev.Event {
	case echo.GuardWarning:
		return fmt.Sprintf("context at %d%% of its limit (%s of %s tokens)%s",
			percentOf(ev.Tokens, ev.Limit), formatCount(ev.Tokens), formatCount(ev.Limit), detail)
	case echo.GuardActing:
		return fmt.Sprintf("making room in the context (%s of %s tokens)%s", formatCount(ev.Tokens), formatCount(ev.Limit), detail)
	case echo.GuardComplete:
		return fmt.Sprintf("made room in the context, %s -> %s tokens%s", formatCount(ev.Before), formatCount(ev.Tokens), detail)
	default:
		return ""
	}
}

// percentOf returns how much of the whole a part is, in percent rounded down; 0 for nothing of nothing.
func percentOf(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return part * 100 / whole
}

// purposeWords say what a call for a phase's context does.
func purposeWords(purpose echo.Purpose) string {
	switch purpose {
	case echo.PurposeRecount:
		return "having the request counted"
	case echo.PurposeSelect:
		return "choosing context"
	case echo.PurposeCards:
		return "summing messages up for their cards"
	case echo.PurposeEmbed:
		return "embedding messages"
	}
	return "summing up older messages"
}
