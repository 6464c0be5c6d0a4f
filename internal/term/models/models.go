// Package models is what is known of models, as a person and a program read it.
package models

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/term"
)

// Price is a price as it is printed, in US dollars per million tokens.
type Price struct {
	Input       float64  `json:"input"`
	CachedInput *float64 `json:"cached_input,omitempty"`
	CacheWrite  *float64 `json:"cache_write,omitempty"`
	Output      float64  `json:"output"`
	Over        int64    `json:"over,omitempty"` // the tokens above which this price holds
	Long        *Price   `json:"long,omitempty"`
}

// Model is what a run would take for a model.
type Model struct {
	Name            string   `json:"name"`
	Model           string   `json:"model,omitempty"` // the provider's name, where it is another one
	Aliases         []string `json:"aliases,omitempty"`
	Family          string   `json:"family"`
	NoImages        bool     `json:"no_images,omitempty"` // it takes texts only
	ContextWindow   int      `json:"context_window,omitempty"`
	WindowAssumed   bool     `json:"window_assumed,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
	Price           *Price   `json:"price,omitempty"`
	AsOf            string   `json:"as_of,omitempty"`
	Found           string   `json:"found,omitempty"`
	Source          string   `json:"source,omitempty"`
	LimitsSource    string   `json:"limits_source,omitempty"`
	Note            string   `json:"note,omitempty"`
}

// ofConfiguration is the family of the models that windlass.json names.
const ofConfiguration = "windlass.json"

// Known lists the models of a configuration, and after them those of the table.
func Known(cfg *config.Config) []Model {
	var list []Model
	for name := range cfg.Models {
		if !strings.Contains(name, "*") {
			list = append(list, configured(cfg, name))
		}
	}
	slices.SortFunc(list, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range llm.Cards() {
		list = append(list, ofCard(&c, c.Model))
	}
	return list
}

// Called returns what a run would take for a model of this name, nil when nothing is known of it.
func Called(cfg *config.Config, known []Model, name string) *Model {
	if _, ok := cfg.Lookup(name); ok {
		m := configured(cfg, name)
		return &m
	}
	if c, ok := llm.LookupCard(name); ok {
		i := slices.IndexFunc(known, func(m Model) bool { return m.Name == c.Model && m.Family == c.Family })
		return &known[i]
	}
	return nil
}

func ofCard(c *llm.Card, name string) Model {
	m := Model{
		Name: name, Aliases: c.Aliases, Family: c.Family, ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens,
		NoImages: c.NoImages, AsOf: c.AsOf, Found: c.Found, Source: c.Source, LimitsSource: c.LimitsSource, Note: c.Note, Price: priceOf(c.Price),
	}
	m.assumeWindow()
	return m
}

func (m *Model) assumeWindow() {
	if m.ContextWindow == 0 {
		m.ContextWindow, m.WindowAssumed = llm.DefaultWindow, true
	}
}

// configured is a model that windlass.json says something of, with what the table adds.
func configured(cfg *config.Config, name string) Model {
	said, _ := cfg.Lookup(name)
	m := Model{Name: name, Family: ofConfiguration}
	if c, ok := llm.LookupCard(cmp.Or(said.Model, name)); ok {
		m = ofCard(&c, name)
		m.Aliases, m.Family = nil, ofConfiguration
	}
	if said.Model != name {
		m.Model = said.Model
	}
	router := llm.NewRouter(cfg, environment.Getenv)
	m.ContextWindow, m.MaxOutputTokens = router.Limits(name)
	m.NoImages = router.TakesNoImages(name)
	m.WindowAssumed = false
	m.assumeWindow()
	if said.Price != nil {
		m.Price, m.AsOf, m.Found, m.Source = priceOf(said.Price), said.Price.AsOf, "", cmp.Or(said.Price.Source, cfg.Path)
	}
	return m
}

func priceOf(p *config.Price) *Price {
	if p == nil {
		return nil
	}
	out := &Price{Input: p.Input, CachedInput: p.CachedInput, CacheWrite: p.CacheWrite, Output: p.Output}
	if l := p.Long; l != nil {
		out.Long = &Price{Input: l.Input, CachedInput: l.CachedInput, CacheWrite: l.CacheWrite, Output: l.Output, Over: l.Over}
	}
	return out
}

// Has reports whether a text is in a name of the model or of its family.
func (m *Model) Has(text string) bool {
	names := append([]string{m.Name, m.Model, m.Family}, m.Aliases...)
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), strings.ToLower(text)) })
}

// Cells are those of a row; "-" is what is not known.
func (m *Model) Cells(wide bool) []string {
	cells := append([]string{m.Name, m.Family, m.windowText()}, m.Price.cells()...)
	if !wide {
		return cells
	}
	long := "-"
	if m.Price != nil && m.Price.Long != nil {
		long = m.Price.Long.text()
	}
	return append(cells, tokens(m.MaxOutputTokens), long, cmp.Or(m.AsOf, "-"), cmp.Or(m.Found, "-"), cmp.Or(m.Source, "-"))
}

func (m *Model) windowText() string {
	if m.WindowAssumed {
		return "-"
	}
	return tokens(m.ContextWindow)
}

func tokens(n int) string {
	if n == 0 {
		return "-"
	}
	return term.Count(int64(n))
}

// cells are the prices of a row, for nil that none is known.
func (p *Price) cells() []string {
	if p == nil {
		return []string{"-", "-", "-", "-"}
	}
	return []string{dollars(&p.Input), dollars(p.CachedInput), dollars(p.CacheWrite), dollars(&p.Output)}
}

func dollars(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return strconv.FormatFloat(*usd, 'f', -1, 64)
}

// text is a price in words.
func (p *Price) text() string {
	parts := []string{dollars(&p.Input) + " in"}
	if p.CachedInput != nil {
		parts = append(parts, dollars(p.CachedInput)+" cached")
	}
	if p.CacheWrite != nil {
		parts = append(parts, dollars(p.CacheWrite)+" written to the cache")
	}
	text := strings.Join(append(parts, dollars(&p.Output)+" out"), ", ")
	if p.Over > 0 {
		text = fmt.Sprintf("over %s tokens: %s", term.Count(p.Over), text)
	}
	return text
}

// Write writes all that is known of one model.
func (m *Model) Write(w io.Writer) error {
	window := tokens(m.ContextWindow) + " tokens"
	if m.WindowAssumed {
		window += " are assumed, unless its endpoint says another number when a run begins"
	}
	price, long := "not known", ""
	if m.Price != nil {
		price = m.Price.text() + " (US dollars per million tokens)"
		if m.Price.Long != nil {
			long = m.Price.Long.text()
		}
	}
	answer, images := "", ""
	if m.NoImages {
		images = "none: it takes texts only"
	}
	if m.MaxOutputTokens > 0 {
		answer = tokens(m.MaxOutputTokens) + " tokens"
	}
	var b strings.Builder
	for _, line := range []struct{ name, value string }{
		{"family", m.Family},
		{"provider's name", m.Model},
		{"also", strings.Join(m.Aliases, ", ")},
		{"window", window},
		{"longest answer", answer},
		{"images", images},
		{"price", price},
		{"", long},
		{"as of", m.AsOf},
		{"found", m.Found},
		{"source", m.Source},
		{"of the limits", m.LimitsSource},
		{"note", m.Note},
	} {
		if line.value != "" {
			fmt.Fprintf(&b, "  %-16s %s\n", line.name, term.CleanLines(line.value))
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%s", term.CleanLines(m.Name), b.String())
	return err
}
