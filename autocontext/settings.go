package autocontext

import (
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Settings are what the views of one phase are made with. They stay the same while the phase runs.
type Settings struct {
	Policy  cascade.Intra
	Dialect dialect.Dialect

	// Price is what the model takes for what it is sent; nil: unknown. Decisions then assume that a cached token costs a
	// tenth, as most providers charge, and no money is reported.
	Price *Price

	// Limit is the number of tokens, in the model's own count, that a request may have: the model's window less the
	// reserve for the answer, or less when the cascade has a token_budget. 0: unknown; the guard then acts only when a
	// request was refused as too long.
	Limit int64
	// Strategy says what makes room when a request comes near Limit; "" is [cascade.BudgetSummarize].
	Strategy cascade.BudgetStrategy

	// Count counts a message as the model's tokenizer does, its overhead included, exactly or by the best estimate there
	// is. nil: four bytes are a token. Exact says that the count is the tokenizer's, so that usage does not correct it.
	Count func(*echo.Message) int64
	Exact bool
	// Fixed is what a request has beside its messages: tool schemas and the protocol's own tokens.
	Fixed int64
}

// Price is the price of sent tokens, in USD per million.
type Price struct {
	Input  float64 // a token that is not in the prefix cache
	Cached float64 // one that is
}

// Carry is what must survive from one call to the next in a phase. It is plain data: journaled with each selection, and
// with the history and the settings it determines the next view.
type Carry struct {
	// AsOf is the turn of the phase, counted from 1 over all attempts, as of which the ages of messages are taken: the
	// frontier. It only grows. 0: nothing is old yet.
	AsOf int `json:"as_of,omitempty"`
	// Sent is the length of the history at the call before, 0 before the first.
	Sent int `json:"sent,omitempty"`
	// Debt is what leaving the frontier where it is has cost since it last moved; Paid and Full are what all calls so far
	// have cost, and would have cost with full history. In millionths of a token at full price.
	Debt int64 `json:"debt,omitempty"`
	Paid int64 `json:"paid,omitempty"`
	Full int64 `json:"full,omitempty"`

	Cleared int      `json:"cleared,omitempty"` // clear_tool_uses: results of the history before this index are masked
	Removed *Removal `json:"removed,omitempty"` // the guard's removal of tool results
	Slid    int      `json:"slid,omitempty"`    // turns up to this one are left out by a token_budget
	Summary *Summary `json:"summary,omitempty"` // the summary in force
	Cut     []Cut    `json:"cut,omitempty"`     // tool results that alone would not fit
	Warned  bool     `json:"warned,omitempty"`  // the warning was given, and the request is not below it since
	Scale   int64    `json:"scale,omitempty"`   // tokens by usage for 1,000 counted; 0: not known yet
	Acting  int64    `json:"acting,omitempty"`  // size of the request at which the guard began to act; 0: it does not
	Cold    bool     `json:"cold,omitempty"`    // the prefix cache has surely expired since the call before; the caller says so
	Ceiling int64    `json:"ceiling,omitempty"` // a limit learned from requests that were refused as too long
	Refused int      `json:"refused,omitempty"` // how often in a row

	Summaries int `json:"summaries,omitempty"` // asks for a summary that were answered so far
	Recounts  int `json:"recounts,omitempty"`  // asks for a count that were answered so far

	Answered *Answered `json:"answered,omitempty"` // what came of the asks for the view under way
}

// Removal is the stretch of the history, from the middle outward, in which the guard removed tool results.
type Removal struct {
	From  int `json:"from"`
	To    int `json:"to"` // exclusive
	Level int `json:"level"`
}

// Cut is a tool result that alone would not fit, and to how many characters it is cut.
type Cut struct {
	At int `json:"at"` // its index in the history
	To int `json:"to"`
}

// Summary is what stands for the older messages of a phase.
type Summary struct {
	Covers  int           `json:"covers"` // messages of the history before this index are told by it, unless they always survive
	Hash    echo.Hash     `json:"hash"`
	By      string        `json:"by"` // model or extraction
	Message *echo.Message `json:"-"`  // recorded as an entry of its own
}

// check reports a summary whose message was not restored: what it stands for would be lost without a word.
func (s *Summary) check() error {
	if s == nil || s.Message != nil && s.Message.Hash() == s.Hash {
		return nil
	}
	return fmt.Errorf("the carry has the summary %s of %d messages without its message: restore Summary.Message from the record", s.Hash, s.Covers)
}

// Answered holds the answers to the asks for one view.
type Answered struct {
	Counted int64    `json:"counted,omitempty"` // the count here of the request that the provider counted
	Actual  int64    `json:"actual,omitempty"`  // what the provider counted; 0: it could not be asked
	Summary *Summary `json:"summary,omitempty"`
}

// sameForms reports whether two carries make the same of every message.
func (c *Carry) sameForms(o *Carry) bool {
	return c.AsOf == o.AsOf && c.Cleared == o.Cleared && c.Slid == o.Slid && sameRemoval(c.Removed, o.Removed) &&
		sameSummary(c.Summary, o.Summary) && slices.Equal(c.Cut, o.Cut)
}

func sameRemoval(a, b *Removal) bool { return a == b || a != nil && b != nil && *a == *b }

func sameSummary(a, b *Summary) bool {
	return a == b || a != nil && b != nil && a.Covers == b.Covers && a.Hash == b.Hash
}

// ratio is the price of a cached token in millionths of that of another one.
func (s *Settings) ratio() int64 {
	if s.Price == nil || s.Price.Input <= 0 {
		return assumedRatio
	}
	return min(max(int64(math.Round(s.Price.Cached/s.Price.Input*whole)), 0), whole)
}

const (
	whole        = 1_000_000 // a whole token at full price
	assumedRatio = whole / 10
)

// cost is what a request of size tokens costs when shared of them are read from the cache, in millionths of a token.
func cost(size, shared, ratio int64) int64 { return (size-shared)*whole + shared*ratio }
