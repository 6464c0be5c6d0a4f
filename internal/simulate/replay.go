package simulate

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// Call is one call of a replay. Sizes are in tokens, see [autocontext.Tokens].
type Call struct {
	History  int     // messages before the answer
	Tokens   int64   // of the request
	Shared   int64   // of them at its beginning, message by message equal to the request before
	AsOf     int     // the turn as of which ages were taken
	Frontier int     // tool results before this message of the history may be masked
	Money    float64 // by the prices of the run
	Invalid  string  // why a provider would refuse the request; "" when it would not

	References int // of the answer, to what occurred earlier
	Kept       int // of them that stand in the request

	Request []*echo.Message // nil unless it was asked for
}

// replayer replays one conversation, again and again with other settings. It belongs to one goroutine.
type replayer struct {
	conversation *Conversation
	points       []point
	checker      *checker
	references   *references
	messages     map[*echo.Message]*reading // what was read already
	keep         bool                       // requests are kept
}

// reading is what is known of a message that is sent.
type reading struct {
	at     int // its index in the history; -1: it was made for a view
	text   string
	tokens int64
	wire   *wireMessage
}

func newReplayer(c *Conversation, keep bool) *replayer {
	r := &replayer{
		conversation: c, points: c.points(), checker: newChecker(c), references: newReferences(c),
		messages: map[*echo.Message]*reading{}, keep: keep,
	}
	for i, it := range c.Items {
		r.read(it.Message).at = i
	}
	return r
}

// read reads a message as it would be sent, once.
func (r *replayer) read(m *echo.Message) *reading {
	d, ok := r.messages[m]
	if !ok {
		d = &reading{at: -1, text: saidBy(m), tokens: autocontext.Tokens(m), wire: r.checker.read(m.JSON())}
		r.messages[m] = d
	}
	return d
}

// request is what one call would be sent.
type request struct {
	messages []*echo.Message
	readings []*reading
}

// readRequest reads a request, with what it has in common with the one before it.
func (r *replayer) readRequest(sent []*echo.Message, before *request) *request {
	q := &request{messages: append([]*echo.Message(nil), sent...), readings: make([]*reading, len(sent))}
	for i, m := range sent {
		if i < len(before.messages) && before.messages[i] == m {
			q.readings[i] = before.readings[i]
		} else {
			q.readings[i] = r.read(m)
		}
	}
	return q
}

// replay makes every request of the conversation. A schedule says for each call as of which turn ages are taken; without
// one the settings do.
func (r *replayer) replay(ctx context.Context, settings autocontext.Settings, prices Prices, schedule []int) ([]Call, error) {
	b := autocontext.NewBuilder(settings)
	render := autocontext.NewRenderer(settings.Dialect)
	calls := make([]Call, len(r.points))
	var carry echo.Carry
	before := &request{}
	for k, p := range r.points {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if schedule != nil {
			carry.AsOf = schedule[k]
		}
		view, next, err := build(b, r.conversation.Items[:p.at], carry)
		if err != nil {
			return nil, err
		}
		carry = next
		q := r.readRequest(render.Render(view), before)
		c := &calls[k]
		c.History, c.AsOf, c.Frontier = p.at, carry.AsOf, b.Frontier(carry)
		r.measure(c, p, q, before)
		c.Money = prices.Money(c.Tokens, c.Shared)
		if r.keep {
			c.Request = q.messages
		}
		before = q
	}
	return calls, nil
}

// measure takes a request's measures.
func (r *replayer) measure(c *Call, p point, q, before *request) {
	c.Tokens, c.Shared = measure(before, q)
	wire := make([]*wireMessage, len(q.readings))
	text := sentText{whole: make([]bool, len(r.conversation.Items))}
	for i, d := range q.readings {
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

// build makes one view. Without a limit the builder has nothing to ask and nothing to refuse.
func build(b *autocontext.Builder, history []echo.Item, carry echo.Carry) (*autocontext.View, echo.Carry, error) {
	step, err := b.Build(history, carry)
	if err != nil {
		return nil, carry, err
	}
	if step.Ask != nil {
		return nil, carry, fmt.Errorf("the view wants a %s, which a simulation does not have", step.Ask.Kind)
	}
	return step.View, step.Carry, nil
}

// measure returns the tokens of a request and those of the prefix that it shares with the request before it, message by
// message.
func measure(before, q *request) (tokens, shared int64) {
	same := true
	for i, d := range q.readings {
		tokens += d.tokens
		same = same && i < len(before.messages) && equal(before.messages[i], q.messages[i])
		if same {
			shared += d.tokens
		}
	}
	return tokens, shared
}

func equal(a, b *echo.Message) bool { return a == b || a.Digest() == b.Digest() }
