package simulate

import (
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

// replayer replays one conversation, again and again with other settings.
type replayer struct {
	conversation *Conversation
	points       []point
	checker      *checker
	references   *references
	keep         bool // requests are kept
}

func newReplayer(c *Conversation, keep bool) *replayer {
	return &replayer{
		conversation: c, points: c.points(), checker: newChecker(c), references: newReferences(), keep: keep,
	}
}

// replay makes every request of the conversation. A schedule says for each call as of which turn ages are taken; without
// one the settings do.
func (r *replayer) replay(settings autocontext.Settings, prices Prices, schedule []int) ([]Call, error) {
	b := autocontext.NewBuilder(settings)
	render := autocontext.NewRenderer(settings.Dialect)
	calls := make([]Call, len(r.points))
	var carry autocontext.Carry
	var before []*echo.Message
	for k, p := range r.points {
		if schedule != nil {
			carry.AsOf = schedule[k]
		}
		history := r.conversation.Items[:p.at]
		view, next, err := build(b, history, carry)
		if err != nil {
			return nil, err
		}
		carry = next
		sent := append([]*echo.Message(nil), render.Render(view)...)
		c := &calls[k]
		c.History, c.AsOf, c.Frontier = p.at, carry.AsOf, b.Frontier(carry)
		c.Tokens, c.Shared = measure(before, sent)
		c.Money = prices.Money(c.Tokens, c.Shared)
		if err := r.checker.check(sent); err != nil {
			c.Invalid = err.Error()
		}
		c.References, c.Kept = r.references.count(p.answer, history, sent)
		if r.keep {
			c.Request = sent
		}
		before = sent
	}
	return calls, nil
}

// build makes one view. Without a limit the builder has nothing to ask and nothing to refuse.
func build(b *autocontext.Builder, history []echo.Item, carry autocontext.Carry) (*autocontext.View, autocontext.Carry, error) {
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
func measure(before, sent []*echo.Message) (tokens, shared int64) {
	same := true
	for i, m := range sent {
		n := autocontext.Tokens(m)
		tokens += n
		same = same && i < len(before) && (before[i] == m || before[i].Digest() == m.Digest())
		if same {
			shared += n
		}
	}
	return tokens, shared
}
