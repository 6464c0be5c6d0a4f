package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Call is one model call of a phase: what its selection says in figures, and what came of it.
type Call struct {
	Number  int       `json:"number"` // in the session, from 1; 0: a request to choose what comes in of earlier phases
	Key     echo.Key  `json:"key"`    // of the model call
	At      time.Time `json:"at"`
	Visit   echo.Key  `json:"visit"`
	Branch  string    `json:"branch,omitempty"` // of the visit, whose conversation it is in, such as each/item3; "": the visit's own
	Phase   string    `json:"phase_name"`
	Attempt int       `json:"attempt"`
	Turn    int       `json:"turn"`
	Model   string    `json:"model"`
	Dialect string    `json:"dialect"` // native or prompted

	FullHistorySize int64    `json:"full_history_size"`
	ContextSize     int64    `json:"context_size"`
	TokensSaved     int64    `json:"tokens_saved"`
	MessageCount    int      `json:"message_count"`
	MaskedCount     int      `json:"masked_count"`
	SharedSize      int64    `json:"shared_size"`
	FullSharedSize  int64    `json:"full_shared_size"`
	FullUSD         *float64 `json:"full_usd"` // null: the price is unknown
	SentUSD         *float64 `json:"sent_usd"`
	PriceAs         string   `json:"price_as,omitempty"` // the model at whose prices both are; "": the call's own
	RequestSize     int64    `json:"request_size"`       // in tokens of the model; 0: not counted
	RequestLimit    int64    `json:"request_limit"`

	Forms map[autocontext.Form]FormSum `json:"forms"`

	Answered     bool     `json:"answered"`
	Copied       bool     `json:"copied,omitempty"` // of the session that a fork comes from, which paid for it: it is in no sum
	Scripted     bool     `json:"scripted,omitempty"`
	Error        string   `json:"error,omitempty"` // what the call failed of
	Counted      bool     `json:"counted"`         // the tokens below are the provider's count
	TokensIn     int64    `json:"tokens_in"`
	TokensCached int64    `json:"tokens_cached"`
	CostUSD      *float64 `json:"cost_usd"`              // answer included; null: unknown
	PretendUSD   *float64 `json:"pretend_usd,omitempty"` // what it would have cost at the prices of PriceAs
}

// FormSum adds up the messages of a history that are sent in one form.
type FormSum struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"` // of what is sent for them
}

// Place is the call's key as a person writes it.
func (c *Call) Place() string { return CallName(c.Key, echo.Key{}) }

// conversation is the visit or branch whose history the call was sent.
func (c *Call) conversation() string { return cmp.Or(c.Branch, c.Visit.String()) }

// in is the number of the branch of a kind that the call is of, the innermost; 0: none.
func (c *Call) in(kind echo.StepKind) int {
	p := c.Key.Path()
	for _, s := range slices.Backward(p.Branches) {
		if s.Kind == kind {
			return s.Number
		}
	}
	return 0
}

// InVisit is the call's key as a person reads it who sees the visit.
func (c *Call) InVisit() string { return CallName(c.Key, c.Visit) }

// CallName is the key of a call below a visit, as a person writes it: the first is its place.
func CallName(call, visit echo.Key) string {
	if place := call.Place(); place.Step(echo.StepModel) == call {
		call = place
	}
	return call.From(visit)
}

func newCall(n int, req *record.Request, forms map[autocontext.Form]FormSum, answer *echo.Entry) Call {
	e, s := req.Selection, req.Selection.Selection
	c := Call{
		Number: n, Key: req.Key(), At: e.At, Visit: e.Key.VisitKey(), Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Model: e.Model,
		Dialect: req.Dialect.String(), FullHistorySize: s.FullHistorySize, ContextSize: s.ContextSize, TokensSaved: s.TokensSaved,
		MessageCount: s.MessageCount, MaskedCount: s.MaskedCount, SharedSize: s.SharedSize, FullSharedSize: s.FullSharedSize,
		FullUSD: s.FullUSD, SentUSD: s.SentUSD, PriceAs: s.PriceAs, RequestSize: s.RequestSize, RequestLimit: s.Limit,
		Forms: forms,
	}
	if of := record.Conversation(e.Key); of != c.Visit {
		c.Branch = of.String()
	}
	if answer != nil {
		c.answered(answer)
	}
	return c
}

// answered takes over what came of the call.
func (c *Call) answered(answer *echo.Entry) {
	c.CostUSD, c.Answered, c.Scripted = answer.CostUSD, answer.Error == nil, answer.Scripted
	if p := answer.Pretend; p != nil {
		c.PretendUSD = &p.USD
	}
	if answer.Error != nil {
		c.Error = answer.Error.Kind
	}
	if u := answer.Usage; u != nil && !u.Estimated {
		c.Counted, c.TokensIn, c.TokensCached = true, u.In, u.Cached
	}
}
