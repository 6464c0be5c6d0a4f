package simulate

import (
	"hash/maphash"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/withheld"
)

// sentRequests are the requests that a visit really sent, until it is known which of them belong to
// its conversation: branches of a visit have requests of the same length.
type sentRequests struct {
	sent     map[sentAt]sentRequest
	rendered map[*echo.Message]*echo.Message
	newest   sentAt
}

// sentAt tells requests apart: how many messages the history had, and the last of them.
type sentAt struct {
	at   int
	last *echo.Message
}

type sentRequest struct {
	messages []*echo.Message
	out      []Taken  // see [takenIn]
	usd      *float64 // of the call, answer included; nil: unknown
}

func newSentRequests() *sentRequests {
	return &sentRequests{sent: map[sentAt]sentRequest{}, rendered: map[*echo.Message]*echo.Message{}}
}

// add takes a request. One of a place that was asked again takes the place of the one before.
func (s *sentRequests) add(req *record.Request, values *withheld.Values) {
	r := sentRequest{out: takenIn(req, values)}
	for i := range req.Sent {
		for _, m := range req.Messages(i) {
			if s.rendered[m] == nil { // most of a request was in the one before
				s.rendered[m] = req.Dialect.Render(m)
			}
			r.messages = append(r.messages, s.rendered[m])
		}
	}
	s.newest = sentAt{at: len(req.History)}
	if n := len(req.History); n > 0 {
		s.newest.last = req.History[n-1].Message
	}
	s.sent[s.newest] = r
}

// answered takes what the newest request cost.
func (s *sentRequests) answered(e *echo.Entry) {
	r := s.sent[s.newest]
	r.usd = e.CostUSD
	s.sent[s.newest] = r
}

// of sets what was sent for each call of a conversation, unless that is not recorded of all of them.
func (s *sentRequests) of(c *Conversation) {
	sent := [][]*echo.Message{}
	var out [][]Taken
	whole := true
	paid := new(float64)
	for _, p := range c.points() {
		r, ok := s.sent[sentAt{p.at, c.Items[p.at-1].Message}]
		if !ok {
			return
		}
		sent, out = append(sent, r.messages), append(out, r.out)
		whole = whole && r.out == nil
		if paid != nil && r.usd != nil {
			*paid += *r.usd
		} else {
			paid = nil
		}
	}
	if c.Sent, c.PaidUSD = sent, paid; !whole {
		c.Taken = out
	}
}

// asRun measures what was really sent as any replay is; nil when it is not recorded.
func (r *replayer) asRun(prices Prices) []Call {
	if r.conversation.Sent == nil {
		return nil
	}
	calls := make([]Call, len(r.points))
	var before []*reading
	for k, p := range r.points {
		request := r.readRequest(r.conversation.Sent[k], before)
		calls[k].History = p.at
		r.measure(&calls[k], p, request, before)
		calls[k].Money = prices.Money(calls[k].Tokens, calls[k].Shared)
		before = request
	}
	return calls
}

var printSeed = maphash.MakeSeed()

// fingerprint tells requests of this process apart.
func fingerprint(request []*reading) uint64 {
	var h maphash.Hash
	h.SetSeed(printSeed)
	for _, d := range request {
		digest := d.message.Digest()
		_, _ = h.Write(digest[:]) // never fails
	}
	return h.Sum64()
}

// changed counts the calls of a run that send something else than another run.
func changed(a, b []Call) (n int) {
	for i := range a {
		if a[i].print != b[i].print {
			n++
		}
	}
	return n
}

// addAsRun adds what was really sent in a conversation, at the prices of an index. A group without
// that of one conversation has none.
func (g *Group) addAsRun(o *Outcome, prices int, runs []Run) {
	if g.AsRun == nil || o.AsRun == nil {
		g.AsRun, g.PaidUSD = nil, nil
		return
	}
	was := &o.AsRun[prices]
	g.AsRun.add(was, o.Full[prices].total(), o.Conversation)
	for i := range runs {
		s := g.Policies[i]
		if s.Changed == nil {
			s.Changed = new(int)
		}
		*s.Changed += changed(runs[i].Calls, was.Calls)
	}
	if paid := o.Conversation.PaidUSD; g.PaidUSD == nil || paid == nil {
		g.PaidUSD = nil
	} else {
		*g.PaidUSD += *paid
	}
}

// finishAsRun compares the policies with what was really sent.
func (g *Group) finishAsRun(c *Collector) {
	if g.AsRun == nil {
		for _, s := range g.Policies {
			s.Changed = nil
		}
		g.Series = slices.DeleteFunc(g.Series, func(s *Series) bool { return s.Policy == AsRun })
		return
	}
	for _, s := range g.Policies {
		s.TokensOfRun = new(ratio(float64(s.TokensSent), float64(g.AsRun.TokensSent)))
		s.MoneyOfRun = new(ratio(s.Money, g.AsRun.Money))
	}
	g.AsRun.best = g.bestOfRun(c)
	g.AsRun.finish(g, g.AsRun.best > 0)
}

// bestOfRun returns the money of the schedule in hindsight that what was really sent is measured by:
// that of a policy that sends the same, else that of the defaults; 0 when there is none.
func (g *Group) bestOfRun(c *Collector) float64 {
	for i, s := range g.Policies {
		if *s.Changed == 0 && c.best[i] >= 0 {
			return s.best
		}
	}
	for _, s := range g.Policies {
		if s.Policy == PolicyHindsight {
			return s.Money
		}
	}
	return 0
}

// NothingChanges reports whether every policy sends in every call what was really sent.
func (g *Group) NothingChanges() bool {
	if g.AsRun == nil {
		return false
	}
	for _, s := range g.Policies {
		if *s.Changed > 0 {
			return false
		}
	}
	return true
}
