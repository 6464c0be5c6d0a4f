package llm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
)

//go:embed prices.json
var pricesJSON []byte

// Card is what is known of a well-known model.
type Card struct {
	Model           string   // its name, without provider and date
	Aliases         []string // other names of it
	Family          string
	Price           *config.Price // nil: it depends on more than the tokens, or is not known
	ContextWindow   int           // tokens; 0: unknown
	MaxOutputTokens int           // tokens; 0: unknown
	AsOf            string        // the day the figures were true
	Found           string        // the day they were looked up
	Source          string        // where; of the price, when LimitsSource says otherwise
	LimitsSource    string        // where the limits were found, if elsewhere
	NoImages        bool          // it takes texts only
	Note            string        // what else a person should know
}

// dated matches a release of a known model. No other suffix counts: gpt-5-nano is no kind of gpt-5.
var dated = regexp.MustCompile(`^(.+?)[-@](\d{4}-\d{2}-\d{2}|20\d{6}|latest)$`)

// familyName returns a model's name without the provider's prefix ("openai/gpt-5"), in lower case.
func familyName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// LookupCard returns the card of a model by one of its names, without provider and date.
func LookupCard(model string) (Card, bool) {
	name := familyName(model)
	known := cardTable()
	if c, ok := known.byName[name]; ok {
		return *c, true
	}
	if m := dated.FindStringSubmatch(name); m != nil {
		if c, ok := known.byName[m[1]]; ok {
			return *c, true
		}
	}
	return Card{}, false
}

// Cards returns the cards of all well-known models, family by family.
func Cards() []Card { return slices.Clone(cardTable().list) }

// cards are the rows of the table, and each of them by its names.
type cards struct {
	list   []Card
	byName map[string]*Card
}

var cardTable = sync.OnceValue(func() *cards {
	table, err := parseCards(pricesJSON)
	if err != nil {
		panic("llm: the embedded price card cannot be read: " + err.Error()) // a test reads it
	}
	return table
})

// figures are prices as a row has them.
type figures struct {
	Over   int64    `json:"over"`
	Input  float64  `json:"input"`
	Cached *float64 `json:"cached_input"`
	Write  *float64 `json:"cache_write"`
	Output float64  `json:"output"`
}

type cardRow struct {
	Model   string   `json:"model"`
	Aliases []string `json:"aliases"`
	Family  string   `json:"family"`
	figures
	Long            *figures `json:"long"`
	ContextWindow   int      `json:"context_window"`
	MaxOutputTokens int      `json:"max_output_tokens"`
	AsOf            string   `json:"as_of"`
	Found           string   `json:"found"`
	Source          string   `json:"source"`
	LimitsSource    string   `json:"limits_source"`
	Images          *bool    `json:"images"`
	Note            string   `json:"note"`
}

func parseCards(data []byte) (*cards, error) {
	var rows []cardRow
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rows); err != nil {
		return nil, err
	}
	table := &cards{list: make([]Card, len(rows)), byName: make(map[string]*Card, 2*len(rows))}
	for i := range rows {
		r, c := &rows[i], &table.list[i]
		*c = Card{
			Model: r.Model, Aliases: r.Aliases, Family: r.Family, Price: r.price(), ContextWindow: r.ContextWindow, MaxOutputTokens: r.MaxOutputTokens,
			AsOf: r.AsOf, Found: r.Found, Source: r.Source, LimitsSource: r.LimitsSource, Note: r.Note,
			NoImages: r.Images != nil && !*r.Images,
		}
		for _, name := range append([]string{r.Model}, r.Aliases...) {
			if table.byName[name] != nil {
				return nil, fmt.Errorf("two rows have the name %q", name)
			}
			table.byName[name] = c
		}
	}
	return table, nil
}

// price returns the price of a row, nil when it has none.
func (r *cardRow) price() *config.Price {
	if r.Input == 0 {
		return nil
	}
	p := &config.Price{Input: r.Input, CachedInput: r.Cached, CacheWrite: r.Write, Output: r.Output, AsOf: r.AsOf, Source: r.Source}
	if l := r.Long; l != nil {
		p.Long = &config.LongPrice{Over: l.Over, Input: l.Input, CachedInput: l.Cached, CacheWrite: l.Write, Output: l.Output}
	}
	return p
}

// Cost returns the price of a call in US dollars. Of its tokens that were not cached, so many were
// written to the provider's cache.
func Cost(p config.Price, u echo.Usage, written int64) float64 {
	input, write := p.Input, orElse(p.CacheWrite, p.Input)
	if l := p.Long; l != nil && u.In > l.Over {
		input, write = l.Input, orElse(l.CacheWrite, l.Input)
	}
	const million = 1e6
	return tariff(p).Cost(u) + float64(written)*(write-input)/million
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
