package autocontext

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// AskKind says what a view needs before it can be sent.
type AskKind string

// The kinds.
const (
	AskSummary AskKind = "summary" // a model's summary of older messages
	AskRecount AskKind = "recount" // the provider's own count of the request
)

// Ask is something that a view needs and that costs money. The caller gets the answer and calls
// Build again with the carry of [Builder.Answer].
type Ask struct {
	Kind     AskKind
	Number   int             // of this kind in the phase, from 1: part of the structural key
	Messages []*echo.Message // what to send: the request for a summary, or the request to count
	MaxOut   int             // tokens of the answer

	covers int             // a summary: the messages before this index are told
	told   []*echo.Message // they themselves, and the summary before
	count  int64           // a recount: what was counted here
}

// Answer is what came of an [Ask].
type Answer struct {
	Text   string // a summary
	Tokens int64  // a count of what was sent
	Failed bool   // there is no answer: the model could not be asked, or said nothing
}

// FitError says that a request cannot be made small enough.
type FitError struct {
	Tokens, Limit int64
	Largest       *echo.Message // the largest message that must stay
	LargestTokens int64
	LargestIndex  int // in the history
	Why           string
}

func (e *FitError) Error() string {
	s := fmt.Sprintf("the request has %d tokens and may have %d: %s", e.Tokens, e.Limit, e.Why)
	if e.Largest != nil {
		s += fmt.Sprintf("; the largest message is %d (%s, %s), with %d tokens", e.LargestIndex+1, e.Largest.Role(),
			e.Largest.Kind(), e.LargestTokens)
	}
	return s
}
