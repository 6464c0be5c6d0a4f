package inspect

import (
	"encoding/json"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Carried is what a message took of all requests that had it, or something in its place.
type Carried struct {
	Calls  int   // whose requests had it
	Tokens int64 // of what was sent for it, in all of them
	Cached int64 // of Tokens: in the common beginning with the request before, which a prefix cache can have

	// USD is what these tokens cost at the prices that the run knew: those of the cache at the price of the cache. It is an
	// estimate, as what a provider really had in its cache is known of whole requests only. Unpriced calls are in none.
	USD      float64
	Unpriced int
	PriceAs  string // the model at whose prices it is, where a script has answered; "": the models' own
}

// Carried adds up what a message took, as itself or in the place of another, also of calls that failed; not of calls that a fork has copied.
func (r *Record) Carried(h echo.Hash) (*Carried, error) {
	out := &Carried{}
	tariffs := Tariffs(r.Entries)
	err := trace(r, h, func(n int, req *record.Request, t *thread, at []int) {
		c := &r.Calls[n-1]
		tokens, cached := int64(0), int64(0)
		for _, i := range at {
			tokens += req.Sent[i].Tokens
			if t.cached(req, i) {
				cached += req.Sent[i].Tokens
			}
		}
		if tokens > 0 && !c.Copied {
			out.add(c, tokens, cached, tariffs)
		}
	})
	return out, err
}

func (x *Carried) add(c *Call, tokens, cached int64, tariffs map[string]echo.Tariff) {
	x.Calls++
	x.Tokens += tokens
	x.Cached += cached
	t, ok := tariffs[c.Model]
	if !ok {
		x.Unpriced++
		return
	}
	t = PricesFor(t, c.ContextSize)
	x.USD += (float64(tokens-cached)*t.Input + float64(cached)*t.Cached) / 1e6
	if c.PriceAs != "" {
		x.PriceAs = c.PriceAs
	}
}

// Recalls returns how often a model has called the tool recall with the hash of a message, or with the beginning of it.
func (r *Record) Recalls(h echo.Hash) int {
	n := 0
	for _, e := range r.Entries {
		if e.Tool != nil && e.Tool.Name == echo.ToolRecall && e.Error == nil && recalls(e.Tool.Arguments, h) {
			n++
		}
	}
	return n
}

func recalls(arguments string, h echo.Hash) bool {
	var in struct {
		Hash string `json:"hash"`
	}
	if json.Unmarshal([]byte(arguments), &in) != nil {
		return false
	}
	given := strings.ToLower(strings.TrimSpace(in.Hash))
	return given != "" && strings.HasPrefix(string(h), given)
}
