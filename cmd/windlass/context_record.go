package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// contextRecord is the record of one session, with its model calls. Calls that belong to no conversation (of validators,
// for summaries and counts) are not among them.
type contextRecord struct {
	id      string
	entries []*echo.Entry
	calls   []contextCall
}

// contextCall is one model call of a phase: what its selection says in figures, and what came of it.
type contextCall struct {
	Number  int       `json:"number"` // in the session, from 1
	Key     echo.Key  `json:"key"`    // of the model call
	At      time.Time `json:"at"`
	Visit   echo.Key  `json:"visit"`
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
	RequestSize     int64    `json:"request_size"` // in tokens of the model; 0: not counted
	RequestLimit    int64    `json:"request_limit"`

	Forms map[autocontext.Form]formSum `json:"forms"`

	Answered     bool     `json:"answered"`
	Scripted     bool     `json:"scripted,omitempty"`
	Error        string   `json:"error,omitempty"` // what the call failed of
	Counted      bool     `json:"counted"`         // the tokens below are the provider's count
	TokensIn     int64    `json:"tokens_in"`
	TokensCached int64    `json:"tokens_cached"`
	CostUSD      *float64 `json:"cost_usd"` // answer included; null: unknown
}

// formSum adds up the messages of a history that are sent in one form.
type formSum struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"` // of what is sent for them
}

// place is the call's key as a person writes it.
func (c *contextCall) place() string { return callName(c.Key, echo.Key{}) }

// inVisit is the call's key as a person reads it who sees the visit.
func (c *contextCall) inVisit() string { return callName(c.Key, c.Visit) }

// callName is the key of a model call as a person writes it, below a visit: its place is enough for the first call there.
func callName(call, visit echo.Key) string {
	if place := call.Place(); place.Step(echo.StepModel) == call {
		call = place
	}
	return call.From(visit)
}

// newContextRecord reads off the entries of a session which calls were made. The error says that they do not fit together.
func newContextRecord(id string, entries []*echo.Entry) (*contextRecord, error) {
	r := &contextRecord{id: id, entries: entries}
	answers := map[echo.Key]*echo.Entry{}
	for _, e := range entries {
		if e.NodeType == echo.NodeModelCall {
			answers[e.Key] = e
		}
	}
	err := r.walk(func(n int, req *record.Request) bool {
		r.calls = append(r.calls, newContextCall(n, req, answers[req.Key()]))
		return true
	})
	return r, err
}

// walk shows the requests of the session in their order, numbered from 1, until see has seen enough. A request is valid
// until see returns; that of the last one stays so.
func (r *contextRecord) walk(see func(n int, req *record.Request) bool) error {
	n := 0
	for req, err := range record.RequestsOf(r.entries) {
		if err != nil {
			return withExit(exitStorage, fmt.Errorf("the record of session %s does not fit together: %w", r.id, err), "")
		}
		if n++; !see(n, req) {
			return nil
		}
	}
	return nil
}

// request returns what a call was sent.
func (r *contextRecord) request(c *contextCall) (*record.Request, error) {
	var found *record.Request
	err := r.walk(func(n int, req *record.Request) bool {
		if n == c.Number {
			found = req
		}
		return n < c.Number
	})
	return found, err
}

func newContextCall(n int, req *record.Request, answer *echo.Entry) contextCall {
	e, s := req.Selection, req.Selection.Selection
	c := contextCall{
		Number: n, Key: req.Key(), At: e.At, Visit: e.Key.VisitKey(), Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Model: e.Model,
		Dialect: req.Dialect.String(), FullHistorySize: s.FullHistorySize, ContextSize: s.ContextSize, TokensSaved: s.TokensSaved,
		MessageCount: s.MessageCount, MaskedCount: s.MaskedCount, SharedSize: s.SharedSize, FullSharedSize: s.FullSharedSize,
		FullUSD: s.FullUSD, SentUSD: s.SentUSD, RequestSize: s.RequestSize, RequestLimit: s.Limit,
		Forms: map[autocontext.Form]formSum{},
	}
	for _, sent := range req.Sent {
		sum := c.Forms[autocontext.Form(sent.Form)]
		sum.Messages++
		sum.Tokens += sent.Tokens
		c.Forms[autocontext.Form(sent.Form)] = sum
	}
	if answer == nil {
		return c
	}
	c.CostUSD, c.Answered, c.Scripted = answer.CostUSD, answer.Error == nil, answer.Scripted
	if answer.Error != nil {
		c.Error = answer.Error.Kind
	}
	if u := answer.Usage; u != nil && !u.Estimated {
		c.Counted, c.TokensIn, c.TokensCached = true, u.In, u.Cached
	}
	return c
}

// callFlags say which call is meant; nothing set means the last one.
type callFlags struct {
	call, phase   string
	attempt, turn int
}

// pick returns the last call that the flags name.
func (r *contextRecord) pick(f callFlags) (*contextCall, error) {
	if f.attempt < 0 || f.turn < 0 {
		return nil, usageError(errors.New("attempts and turns are counted from 1"), "--attempt 1 --turn 3")
	}
	if f.call != "" {
		return r.call(f.call)
	}
	for i := range slices.Backward(r.calls) {
		c := &r.calls[i]
		if (f.phase == "" || f.phase == c.Phase || f.phase == c.Visit.String()) && (f.attempt == 0 || f.attempt == c.Attempt) &&
			(f.turn == 0 || f.turn == c.Turn) {
			return c, nil
		}
	}
	return nil, r.noCall(f.String(), f.phase)
}

// String says what the flags name.
func (f callFlags) String() string {
	s := "model call"
	if f.phase != "" {
		s += fmt.Sprintf(" of phase %q", f.phase)
	}
	if f.attempt > 0 {
		s += fmt.Sprintf(" in attempt %d", f.attempt)
	}
	if f.turn > 0 {
		s += fmt.Sprintf(" in turn %d", f.turn)
	}
	return s
}

// call returns the call that a person named by its number or its key. A place where a request was refused and sent again
// names the last one.
func (r *contextRecord) call(name string) (*contextCall, error) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(r.calls) {
			return nil, r.noCall(fmt.Sprintf("model call number %d", n), "")
		}
		return &r.calls[n-1], nil
	}
	key, err := echo.ParseKey(strings.TrimSuffix(name, "/"))
	for i := range slices.Backward(r.calls) {
		c := &r.calls[i]
		if err == nil && (c.Key == key.ModelKey() || c.Key.Place() == key) {
			return c, nil
		}
	}
	return nil, r.noCall(fmt.Sprintf("model call %q", name), name)
}

// noCall says that a call is not there, and which ones are like it.
func (r *contextRecord) noCall(what, like string) error {
	if len(r.calls) == 0 {
		return usageError(fmt.Errorf("session %s has no model call of which it is recorded what was sent", r.id), "windlass sessions show "+r.id)
	}
	msg := fmt.Sprintf("session %s has no %s; it has %s", r.id, what, plural(len(r.calls), "call"))
	if like != "" {
		places := make([]string, len(r.calls))
		for i := range r.calls {
			places[i] = r.calls[i].place()
		}
		msg += ", the nearest are " + strings.Join(nearest(like, places, 3), ", ")
	}
	return usageError(errors.New(msg), "windlass context stats "+r.id)
}

// nearest returns the n candidates that a word is most like, the likest first.
func nearest(word string, candidates []string, n int) []string {
	list := slices.Clone(candidates)
	slices.SortStableFunc(list, func(a, b string) int { return distance(word, a) - distance(word, b) })
	return list[:min(n, len(list))]
}

// distance is smaller the more a word is like a candidate; a common beginning counts most.
func distance(word, candidate string) int {
	common := 0
	for common < min(len(word), len(candidate)) && word[common] == candidate[common] {
		common++
	}
	return levenshtein.ComputeDistance(word, candidate) - 3*common
}
