package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Prices are what a server charges, in billionths of a US dollar for a token: whole numbers, so that its sums are exact.
type Prices struct {
	Input, Cached, Output int64
}

// Nano is how many of the units of [Prices] a US dollar has.
const Nano = 1e9

// Charge is what a server charged for an answer.
type Charge struct {
	Number  int    // of the request
	ID      string // of the request's body: equal bodies have equal ones
	Request *Request

	In, Cached, Out int64 // tokens; Cached are of In
	Nano            int64 // what they cost
}

// USD returns what the answer cost in US dollars.
func (c *Charge) USD() float64 { return float64(c.Nano) / Nano }

// bytesOfToken is how many bytes are a token to this server.
const bytesOfToken = 8

// Bill returns what was charged so far, in the order in which the requests arrived.
func (s *Server) Bill() []Charge {
	s.mu.Lock()
	defer s.mu.Unlock()
	bill := slices.Clone(s.bill)
	slices.SortFunc(bill, func(a, b Charge) int { return a.Number - b.Number })
	return bill
}

// charge bills an answer, and returns it with a usage that says so.
func (s *Server) charge(r *Request, a *Answer) *Answer {
	p := s.prices(r.Model)
	if p == nil || a.Usage != nil || a.Fault.Status != 0 || a.Fault.ResetAt == AtStart || a.Fault.HangAt == AtStart {
		return a
	}
	c := Charge{Number: r.Number, ID: BodyID(r.Raw), Request: r, In: tokens(len(r.Raw)), Out: tokens(answerSize(a))}
	s.mu.Lock()
	warm := len(s.bill)
	switch s.cfg.Cache {
	case Warm:
	case Started:
		warm = r.begun
	case NoCache:
		warm = 0
	}
	for i := range warm {
		if was := s.bill[i].Request; was.Model == r.Model {
			c.Cached = max(c.Cached, int64(shared(was.Raw, r.Raw))/bytesOfToken)
		}
	}
	c.Cached = min(c.Cached, c.In)
	c.Nano = (c.In-c.Cached)*p.Input + c.Cached*p.Cached + c.Out*p.Output
	s.bill = append(s.bill, c)
	s.mu.Unlock()
	billed := *a
	billed.Usage = map[string]any{
		"prompt_tokens": c.In, "completion_tokens": c.Out, "total_tokens": c.In + c.Out,
		"prompt_tokens_details": map[string]any{"cached_tokens": c.Cached},
	}
	return &billed
}

// prices returns what a model's answers are charged; nil: nothing.
func (s *Server) prices(model string) *Prices {
	if p, ok := s.cfg.ModelPrices[model]; ok {
		return p
	}
	return s.cfg.Prices
}

// BodyID names a body: equal bodies have equal names.
func BodyID(body json.RawMessage) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func tokens(size int) int64 { return int64(size/bytesOfToken) + 1 }

func answerSize(a *Answer) int {
	n := len(a.Text) + len(a.Reasoning) + len(a.Refusal)
	for _, c := range a.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}

// shared returns how many bytes two bodies have in common in the member messages, from its beginning.
func shared(a, b []byte) int {
	a, b = fromMessages(a), fromMessages(b)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func fromMessages(body []byte) []byte {
	at := bytes.Index(body, []byte(`"messages":`))
	if at < 0 {
		return nil
	}
	return body[at:]
}
