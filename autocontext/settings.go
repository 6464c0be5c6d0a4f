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

	// NameText gives what is written as text a form of its own and its size as text. Without it,
	// as in sessions of rules 1, it counts as full history that was shortened.
	NameText bool
	// OwnIDs has a call whose id an earlier call has sent with another id. Without it, as in sessions
	// of rules 1 and 2, it is written as text.
	OwnIDs bool
	// FailuresInText says that a result that tells of a failure is one, also where its call went well.
	FailuresInText bool
	// SwitchedOff says that somebody has switched off what Policy would otherwise do.
	SwitchedOff bool

	// Groups is how many of the newest groups of messages are sent (see [echo.Groups]); 0: all of them. With it the tiers
	// of truncation go by groups.
	Groups int

	// Price is what the model takes for what it is sent; nil: unknown. A cached token is then
	// assumed to cost a tenth, and no money is reported.
	Price *echo.Price

	// Limit is the tokens, in the model's own count, that a request may have. 0: unknown; the
	// guard then acts only when a request was refused as too long.
	Limit int64
	// Assumed says that Limit is a guess: room is made below it, but a request above it is sent.
	Assumed bool
	// Strategy says what makes room near Limit; "" is [cascade.BudgetSummarize].
	Strategy cascade.BudgetStrategy
	// Summary is how older messages are summed up.
	Summary Summaries

	// Count counts a message with its overhead as the model does; nil: four bytes are a token.
	// Exact says that it is the model's tokenizer, which usage does not correct.
	Count func(*echo.Message) int64
	Exact bool
	// Fixed is what a request has beside its messages: tool schemas and the protocol's own tokens.
	Fixed int64
}

// Summaries say how older messages are summed up.
type Summaries struct {
	Tokens  int64    // the size of a summary; 0: a share of the request
	Lookups []string // the tools that find what is not in a request, which a summary names; nil: it names none

	// AboveWhatStays has the guard make room above what cannot be left out where that is too large for compact_at_tokens.
	// Without it, as in sessions of rules 1 to 6, it makes none then.
	AboveWhatStays bool
}

// checkSummary reports a summary whose message was not restored.
func checkSummary(s *echo.Summary) error {
	if s == nil || s.Message != nil && s.Message.Hash() == s.Hash {
		return nil
	}
	return fmt.Errorf("the carry has the summary %s of %d messages without its message: restore Summary.Message from the record", s.Hash, s.Covers)
}

func sameForms(c, o *echo.Carry) bool {
	return c.AsOf == o.AsOf && c.Cleared == o.Cleared && c.Slid == o.Slid && sameRemoval(c.Removed, o.Removed) &&
		sameSummary(c.Summary, o.Summary) && slices.Equal(c.Cut, o.Cut)
}

func sameRemoval(a, b *echo.Removal) bool { return a == b || a != nil && b != nil && *a == *b }

func sameSummary(a, b *echo.Summary) bool {
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

// cost is that of a request, in millionths of a token, when shared of its tokens are cached.
func cost(size, shared, ratio int64) int64 { return (size-shared)*whole + shared*ratio }
