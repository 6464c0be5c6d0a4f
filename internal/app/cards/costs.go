package cards

import (
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
)

// settleLimit is how long calls for cards may take to end when nobody waits for their answers any
// more: they have been told to.
const settleLimit = time.Second

// costs records the calls that are made for cards and tells the run what they took. The run neither
// waits for it nor fails by it. It is safe for concurrent use.
type costs struct {
	cascade string
	log     *echo.Log

	mu       sync.Mutex
	numbers  map[echo.StepKind]int // calls that have ended, by the beginning of their keys
	unasked  effect.Totals         // what they took that the run has not asked for yet
	underWay int
	idle     chan struct{} // closed when no call is under way
}

func newCosts(cascadeID string, log *echo.Log) *costs {
	return &costs{cascade: cascadeID, log: log, numbers: map[echo.StepKind]int{}}
}

// watch implements [llm.Watch].
func (c *costs) watch() (ended func(llm.Call)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay++; c.underWay == 1 {
		c.idle = make(chan struct{})
	}
	return c.ended
}

func (c *costs) ended(call llm.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := echo.StepCall
	if call.Request.Site.Purpose == echo.PurposeEmbed {
		kind = echo.StepEmbed
	}
	c.numbers[kind]++
	e := effect.CallEntry(echo.CardsKey().Numbered(kind, c.numbers[kind]), call.Request, call.Response, call.Err, call.Took)
	e.CascadeID = c.cascade
	if c.log.Append(e) == nil { // a log that fails ends the run by itself
		c.log.Flush()
	}
	c.unasked.Count(call.Response, call.Err)
	if c.underWay--; c.underWay == 0 {
		close(c.idle)
	}
}

// settle waits until no call is under way, for so long at most.
func (c *costs) settle(limit time.Duration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	underWay, idle := c.underWay, c.idle
	c.mu.Unlock()
	if underWay == 0 {
		return
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}

// sinceAsked returns what calls have taken since it was last asked, see [engine.Spec].
func (c *costs) sinceAsked() effect.Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.unasked
	c.unasked = effect.Totals{}
	return t
}
