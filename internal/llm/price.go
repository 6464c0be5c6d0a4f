package llm

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
)

//go:embed prices.json
var pricesJSON []byte

// Card is the price of a well-known model and its limits in tokens; zero is unknown.
type Card struct {
	Price           config.Price
	ContextWindow   int
	MaxOutputTokens int
}

// dated matches a release of a known model. No other suffix counts: gpt-5-nano is no kind of gpt-5.
var dated = regexp.MustCompile(`^(.+?)[-@](\d{4}-\d{2}-\d{2}|20\d{6}|latest)$`)

// familyName returns a model's name without the provider's prefix ("openai/gpt-5"), in lower case.
func familyName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// LookupCard returns the card of a model by its name, without provider and date.
func LookupCard(model string) (Card, bool) {
	name := familyName(model)
	cards := cardTable()
	if c, ok := cards[name]; ok {
		return c, true
	}
	if m := dated.FindStringSubmatch(name); m != nil {
		c, ok := cards[m[1]]
		return c, ok
	}
	return Card{}, false
}

var cardTable = sync.OnceValue(func() map[string]Card {
	cards, err := parseCards(pricesJSON)
	if err != nil {
		panic("llm: the embedded price card cannot be read: " + err.Error()) // a test reads it
	}
	return cards
})

func parseCards(data []byte) (map[string]Card, error) {
	type figures struct {
		Over   int64    `json:"over"`
		Input  float64  `json:"input"`
		Cached *float64 `json:"cached_input"`
		Output float64  `json:"output"`
	}
	var rows []struct {
		Model string `json:"model"`
		figures
		Long            *figures `json:"long"`
		ContextWindow   int      `json:"context_window"`
		MaxOutputTokens int      `json:"max_output_tokens"`
		AsOf            string   `json:"as_of"`
		Source          string   `json:"source"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, err
	}
	cards := make(map[string]Card, len(rows))
	for _, r := range rows {
		p := config.Price{Input: r.Input, CachedInput: r.Cached, Output: r.Output, AsOf: r.AsOf, Source: r.Source}
		if r.Long != nil {
			p.Long = &config.LongPrice{Over: r.Long.Over, Input: r.Long.Input, CachedInput: r.Long.Cached, Output: r.Long.Output}
		}
		cards[r.Model] = Card{Price: p, ContextWindow: r.ContextWindow, MaxOutputTokens: r.MaxOutputTokens}
	}
	return cards, nil
}

// Cost returns the price of a call in US dollars.
func Cost(p config.Price, u echo.Usage) float64 {
	return tariff(p).Cost(u)
}

// tariff is a price as the engine knows it.
func tariff(p config.Price) echo.Tariff {
	t := echo.Tariff{Input: p.Input, Cached: orElse(p.CachedInput, p.Input), Output: p.Output}
	if l := p.Long; l != nil {
		t.Over, t.Long = l.Over, &echo.Tariff{Input: l.Input, Cached: orElse(l.CachedInput, l.Input), Output: l.Output}
	}
	return t
}

func orElse(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}
