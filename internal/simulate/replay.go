package simulate

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// Call is one call of a replay.
type Call struct {
	Sizes
	References int             // of the answer, to what occurred earlier
	Kept       int             // of them that stand in the request
	Request    []*echo.Message // nil unless requests are kept

	print uint64 // equal for requests that are equal
}

// Sizes are the measures of one request, in tokens by [autocontext.Tokens].
type Sizes struct {
	History  int     `json:"history"` // messages of the conversation before the answer
	Tokens   int64   `json:"tokens_sent"`
	Shared   int64   `json:"tokens_shared"` // of them in the prefix that the call before has as well
	Frontier int     `json:"frontier"`      // tool results before this message, from 0, may be masked
	AsOf     int     `json:"as_of"`         // the turn as of which ages were taken
	Money    float64 `json:"money"`         // in USD, or in tokens at full price
	Invalid  string  `json:"invalid,omitempty"`
}

// replayer replays one conversation under any number of settings. It belongs to one goroutine.
type replayer struct {
	conversation *Conversation
	points       []point
	checker      *checker
	references   *references
	readings     map[*echo.Message]*reading
	keep         bool // requests are kept
}

type reading struct {
	message *echo.Message
	at      int // its index in the history; -1: it was made for a view
	text    string
	tokens  int64
	wire    *wireMessage
}

func newReplayer(c *Conversation, keep bool) *replayer {
	r := &replayer{
		conversation: c, points: c.points(), checker: newChecker(c), references: newReferences(c),
		readings: map[*echo.Message]*reading{}, keep: keep,
	}
	for i, it := range c.Items {
		r.read(it.Message).at = i
	}
	return r
}

// read reads a message as it would be sent, once.
func (r *replayer) read(m *echo.Message) *reading {
	d, ok := r.readings[m]
	if !ok {
		d = &reading{message: m, at: -1, text: saidBy(m), tokens: autocontext.Tokens(m), wire: r.checker.read(m.JSON())}
		r.readings[m] = d
	}
	return d
}

// readRequest reads a request. Most of it is the request before.
func (r *replayer) readRequest(sent []*echo.Message, before []*reading) []*reading {
	request := make([]*reading, len(sent))
	for i, m := range sent {
		if i < len(before) && before[i].message == m {
			request[i] = before[i]
		} else {
			request[i] = r.read(m)
		}
	}
	return request
}

// replay makes every request. schedule has each call's turn of ages; nil leaves it to the settings.
func (r *replayer) replay(ctx context.Context, settings autocontext.Settings, prices Prices, schedule []int) ([]Call, error) {
	b := autocontext.NewBuilder(settings)
	render := autocontext.NewRenderer(settings.Dialect)
	calls := make([]Call, len(r.points))
	var carry echo.Carry
	var before []*reading
	for k, p := range r.points {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if schedule != nil {
			carry.AsOf = schedule[k]
		}
		if r.conversation.changes(k, r.points) {
			b = autocontext.NewBuilder(settings)
			carry.BeginAnew()
		}
		step, err := b.Build(r.conversation.history(k, p), carry)
		if err != nil {
			return nil, err
		}
		if step.Ask != nil {
			return nil, fmt.Errorf("the view wants a %s, which a simulation does not have", step.Ask.Kind)
		}
		carry = step.Carry
		sent := render.Render(step.View)
		request := r.readRequest(sent, before)
		c := &calls[k]
		c.History, c.AsOf, c.Frontier = p.at, carry.AsOf, b.Frontier(carry)
		r.measure(c, p, request, before)
		c.Money = prices.Money(c.Tokens, c.Shared)
		if r.keep {
			c.Request = sent
		}
		before = request
	}
	return calls, nil
}

// measure sets what follows from the bytes of a request.
func (r *replayer) measure(c *Call, p point, request, before []*reading) {
	c.Tokens, c.Shared = measure(before, request)
	if r.conversation.Sent != nil { // only what was really sent is compared with it
		c.print = fingerprint(request)
	}
	wire := make([]*wireMessage, len(request))
	text := sentText{whole: make([]bool, len(r.conversation.Items))}
	for i, d := range request {
		wire[i] = d.wire
		if d.at >= 0 {
			text.whole[d.at] = true
		} else {
			text.other = append(text.other, d.text)
		}
	}
	if err := checkSequence(wire); err != nil {
		c.Invalid = err.Error()
	}
	c.References, c.Kept = r.references.count(p.answer, p.at, &text)
}

// measure returns the tokens of a request, and those of the prefix that it shares with the request
// before it, message by message.
func measure(before, request []*reading) (tokens, shared int64) {
	same := true
	for i, d := range request {
		tokens += d.tokens
		same = same && i < len(before) && before[i].message.Digest() == d.message.Digest()
		if same {
			shared += d.tokens
		}
	}
	return tokens, shared
}
