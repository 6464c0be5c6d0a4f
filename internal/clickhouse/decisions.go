package clickhouse

import (
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// The kinds of decisions that unified_selections has rows of.
const (
	decidesCall  = "intra_phase" // what a model call was sent of its history
	decidesPhase = "inter_phase" // what came into a phase of earlier ones
)

// decision is what a row of unified_selections says besides what became of each message.
type decision struct {
	kind              string
	strategy          string
	why               string // in the words of the model that chose
	anchors, selected []string
	input, cached     *float64 // US dollars for a million tokens of the model; nil: unknown
}

func decisionColumns() []column[decision] {
	return []column[decision]{
		{"selection_type", few + " DEFAULT '" + decidesCall + "'", func(d *decision) any { return &d.kind }},
		{"strategy", few, func(d *decision) any { return &d.strategy }},
		{"why", "String", func(d *decision) any { return &d.why }},
		{
			"anchor_hashes", "Array(String)",
			func(d *decision) any { return &d.anchors },
		},
		{"selected_hashes", "Array(String)", func(d *decision) any { return &d.selected }},
		{"input_price", "Nullable(Float64)", func(d *decision) any { return &d.input }},
		{"cached_price", "Nullable(Float64)", func(d *decision) any { return &d.cached }},
	}
}

// phaseSettings are what the start of a visit says of its selections.
type phaseSettings struct {
	model    string
	dialect  dialect.Dialect
	strategy string // of what calls are sent
	price    *echo.Price
}

// settingsOf reads the start of a visit.
func settingsOf(e *echo.Entry) phaseSettings {
	s := phaseSettings{model: e.Model, dialect: dialect.Recorded(e)}
	start, err := echo.Read[echo.PhaseStart](e)
	if err != nil || start.Context == nil {
		return s // without a model, or of another version
	}
	s.price = paidPrice(start.Context)
	var policy struct {
		Enabled bool   `json:"enabled"`
		Advance string `json:"advance"`
	}
	s.strategy = "full"
	if json.Unmarshal(start.Context.Policy, &policy) == nil && policy.Enabled {
		s.strategy = policy.Advance
	}
	return s
}

// paidPrice is the price of what a phase is sent, unless it is pretended.
func paidPrice(c *echo.PhaseContext) *echo.Price {
	if c.Price != nil && c.Price.As != "" {
		return nil
	}
	return c.Price
}

func (s *phaseSettings) decision(kind, strategy string) decision {
	d := decision{kind: kind, strategy: strategy}
	if s.price != nil {
		d.input, d.cached = &s.price.Input, &s.price.Cached
	}
	return d
}

// betweenPhases returns what came into a phase of earlier ones as a row has it; nil: it cannot be
// read.
func (s *phaseSettings) betweenPhases(e *echo.Entry) *selected {
	in, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return nil
	}
	out := &selected{key: e.Key, dialect: s.dialect, model: s.model, decision: s.decision(decidesPhase, string(in.Strategy)), sizes: sizesBetween(&in, s.price)}
	out.decision.why = in.Why
	for i := range in.Anchors {
		out.decision.anchors = append(out.decision.anchors, string(in.Anchors[i].ID))
	}
	for _, id := range in.Chosen {
		out.decision.selected = append(out.decision.selected, string(id))
	}
	return out
}

// sizesBetween are the sizes of a selection between phases. The money is that of the first call
// which is sent it, as nothing of it is in the cache.
func sizesBetween(in *echo.InterSelection, price *echo.Price) sizes {
	s := echo.Selection{FullHistorySize: in.Everything, ContextSize: in.Sent(), MessageCount: in.Messages}
	s.TokensSaved = s.FullHistorySize - s.ContextSize
	for i := range in.Anchors {
		s.MessageCount += in.Anchors[i].Messages
	}
	for i := range in.Scores {
		if !in.Scores[i].Chosen {
			s.MaskedCount += in.Scores[i].Messages
		}
	}
	if price != nil {
		sent, full := float64(s.ContextSize)*price.Input/1e6, float64(s.FullHistorySize)*price.Input/1e6
		s.SentUSD, s.FullUSD = &sent, &full
	}
	return sizesOf(&s)
}
