package main

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/llm"
)

// guardLine says what the guard of a phase's context did, or nothing for an entry that cannot be read.
func guardLine(e *echo.Entry) string {
	var ev autocontext.GuardEvent
	if json.Unmarshal(e.Data, &ev) != nil {
		return ""
	}
	detail := oneLine(ev.Detail)
	if detail != "" {
		detail = ": " + detail
	}
	switch ev.Event {
	case autocontext.EventWarning:
		return fmt.Sprintf("context at %d%% of its limit (%s of %s tokens)%s",
			percentOf(ev.Tokens, ev.Limit), formatCount(ev.Tokens), formatCount(ev.Limit), detail)
	case autocontext.EventActing:
		return fmt.Sprintf("making room in the context (%s of %s tokens)%s", formatCount(ev.Tokens), formatCount(ev.Limit), detail)
	case autocontext.EventComplete:
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

// purposes names model calls that are made for a phase's context, by the part of their key.
var purposes = map[string]string{
	"compact": engine.PurposeSummary, "recount": engine.PurposeRecount, "select": engine.PurposeSelect,
	"cards/call": llm.PurposeCards, "cards/embed": llm.PurposeEmbed,
}

var purposeKey = regexp.MustCompile(`(?:/(compact|recount)\d+/model|/(select)/model|^(cards/call|cards/embed)\d+)$`)

// purposeOf returns what a model call was made for by its key: a purpose of the engine's, or nothing.
func purposeOf(key string) string {
	m := purposeKey.FindStringSubmatch(key)
	if m == nil {
		return ""
	}
	return purposes[m[1]+m[2]+m[3]]
}

// purposeWords say what a call for a phase's context does.
func purposeWords(purpose string) string {
	switch purpose {
	case engine.PurposeRecount:
		return "having the request counted"
	case engine.PurposeSelect:
		return "choosing context"
	case llm.PurposeCards:
		return "summing messages up for their cards"
	case llm.PurposeEmbed:
		return "embedding messages"
	}
	return "summing up older messages"
}
