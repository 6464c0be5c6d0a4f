package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/term"
)

func newModelsCommand(con *console) *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models whose prices and limits are known",
		Long: `List the models whose prices and limits are known: those of windlass.json, and those of the embedded table.
Prices are in US dollars per million tokens: sent, read from the provider's cache, written to it, and generated.
With the name of a model everything is shown that a run would take for it, and where that was found; with another text,
the models that have it in a name or in the name of the family. docs/models.md says how names are matched.

With --endpoint the endpoint itself is asked for its models: that of a model, or one with a URL. Those whose prices and limits are
known are shown with them; a NAME lists those that have the text in their name.`,
		Example: "  windlass models\n  windlass models anthropic\n  windlass models claude-3-5-sonnet-20241022\n  windlass models --json\n" +
			"  windlass models --endpoint gpt-5-mini\n  windlass models --endpoint https://openrouter.ai/api/v1 claude",
		Args: atMostOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := con.config()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("endpoint") {
				return con.showEndpoint(cmd.Context(), cfg, endpoint, strings.Join(args, ""))
			}
			known := knownModels(cfg)
			if len(args) == 0 {
				return con.showModels(known)
			}
			if m := modelCalled(cfg, known, args[0]); m != nil {
				return con.print(m, func() error { return m.write(con.out) })
			}
			matching := slices.DeleteFunc(known, func(m shownModel) bool { return !m.has(args[0]) })
			if len(matching) == 0 {
				return withExit(exitFailed, fmt.Errorf("no known model is called %q: a run takes %s tokens for its window, and does not know what it costs",
					args[0], term.Count(llm.DefaultWindow)), "give it context_window and price in windlass.json; docs/models.md says how")
			}
			return con.showModels(matching)
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "ask the endpoint of this model, or with this URL, for its models")
	cmd.Flags().BoolVar(&con.wide, "wide", false, "also longest answers, prices of long requests, days, and sources; cut nothing")
	con.jsonFlag(cmd)
	return cmd
}

// atMostOne takes one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return usageError(fmt.Errorf("%s takes at most one %s, not %d", cmd.CommandPath(), name, len(args)), cmd.CommandPath()+" --help")
	}
}

// shownPrice is a price as it is printed, in US dollars per million tokens.
type shownPrice struct {
	Input       float64     `json:"input"`
	CachedInput *float64    `json:"cached_input,omitempty"`
	CacheWrite  *float64    `json:"cache_write,omitempty"`
	Output      float64     `json:"output"`
	Over        int64       `json:"over,omitempty"` // the tokens above which this price holds
	Long        *shownPrice `json:"long,omitempty"`
}

// shownModel is what a run would take for a model.
type shownModel struct {
	Name            string      `json:"name"`
	Model           string      `json:"model,omitempty"` // the provider's name, where it is another one
	Aliases         []string    `json:"aliases,omitempty"`
	Family          string      `json:"family"`
	ContextWindow   int         `json:"context_window,omitempty"`
	WindowAssumed   bool        `json:"window_assumed,omitempty"`
	MaxOutputTokens int         `json:"max_output_tokens,omitempty"`
	Price           *shownPrice `json:"price,omitempty"`
	AsOf            string      `json:"as_of,omitempty"`
	Found           string      `json:"found,omitempty"`
	Source          string      `json:"source,omitempty"`
	LimitsSource    string      `json:"limits_source,omitempty"`
	Note            string      `json:"note,omitempty"`
}

// ofConfiguration is the family of the models that windlass.json names.
const ofConfiguration = "windlass.json"

// knownModels lists the models of a configuration, and after them those of the table.
func knownModels(cfg *config.Config) []shownModel {
	var list []shownModel
	for name := range cfg.Models {
		if !strings.Contains(name, "*") {
			list = append(list, configured(cfg, name))
		}
	}
	slices.SortFunc(list, func(a, b shownModel) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range llm.Cards() {
		list = append(list, ofCard(&c, c.Model))
	}
	return list
}

// modelCalled returns what a run would take for a model of this name, nil when nothing is known of it.
func modelCalled(cfg *config.Config, known []shownModel, name string) *shownModel {
	if _, ok := cfg.Lookup(name); ok {
		m := configured(cfg, name)
		return &m
	}
	if c, ok := llm.LookupCard(name); ok {
		i := slices.IndexFunc(known, func(m shownModel) bool { return m.Name == c.Model && m.Family == c.Family })
		return &known[i]
	}
	return nil
}

func ofCard(c *llm.Card, name string) shownModel {
	m := shownModel{
		Name: name, Aliases: c.Aliases, Family: c.Family, ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens,
		AsOf: c.AsOf, Found: c.Found, Source: c.Source, LimitsSource: c.LimitsSource, Note: c.Note, Price: priceShown(c.Price),
	}
	m.assumeWindow()
	return m
}

func (m *shownModel) assumeWindow() {
	if m.ContextWindow == 0 {
		m.ContextWindow, m.WindowAssumed = llm.DefaultWindow, true
	}
}

// configured is a model that windlass.json says something of, with what the table adds.
func configured(cfg *config.Config, name string) shownModel {
	said, _ := cfg.Lookup(name)
	m := shownModel{Name: name, Family: ofConfiguration}
	if c, ok := llm.LookupCard(cmp.Or(said.Model, name)); ok {
		m = ofCard(&c, name)
		m.Aliases, m.Family = nil, ofConfiguration
	}
	if said.Model != name {
		m.Model = said.Model
	}
	router := llm.NewRouter(cfg, environment.Getenv)
	m.ContextWindow, m.MaxOutputTokens = router.Limits(name)
	m.WindowAssumed = false
	m.assumeWindow()
	if said.Price != nil {
		m.Price, m.AsOf, m.Found, m.Source = priceShown(said.Price), said.Price.AsOf, "", cmp.Or(said.Price.Source, cfg.Path)
	}
	return m
}

func priceShown(p *config.Price) *shownPrice {
	if p == nil {
		return nil
	}
	out := &shownPrice{Input: p.Input, CachedInput: p.CachedInput, CacheWrite: p.CacheWrite, Output: p.Output}
	if l := p.Long; l != nil {
		out.Long = &shownPrice{Input: l.Input, CachedInput: l.CachedInput, CacheWrite: l.CacheWrite, Output: l.Output, Over: l.Over}
	}
	return out
}

// has reports whether a text is in a name of the model or of its family.
func (m *shownModel) has(text string) bool {
	names := append([]string{m.Name, m.Model, m.Family}, m.Aliases...)
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), strings.ToLower(text)) })
}

func (con *console) showModels(list []shownModel) error {
	return con.print(list, func() error {
		heads := []string{"model", "family", ">window", ">in", ">cached", ">write", ">out"}
		if con.wide {
			heads = append(heads, ">answer", "long requests", "as of", "found", "source")
		}
		t := term.NewTable(heads...)
		for i := range list {
			t.Add(list[i].cells(con.wide)...)
		}
		return con.table(t.Key("model").Drop("write", "cached", "family"))
	})
}

// cells are those of a row; "-" is what is not known.
func (m *shownModel) cells(wide bool) []string {
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

func (m *shownModel) windowText() string {
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
func (p *shownPrice) cells() []string {
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
func (p *shownPrice) text() string {
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

// write writes all that is known of one model.
func (m *shownModel) write(w io.Writer) error {
	window := tokens(m.ContextWindow) + " tokens"
	if m.WindowAssumed {
		window += " are assumed: it is not known"
	}
	price, long := "not known", ""
	if m.Price != nil {
		price = m.Price.text() + " (US dollars per million tokens)"
		if m.Price.Long != nil {
			long = m.Price.Long.text()
		}
	}
	answer := ""
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
