package clickhouse

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// logRow is a row of unified_logs: an entry in its parts, zero where it has none.
type logRow struct {
	entry     echo.Entry // without what follows
	place     place
	message   messageParts
	tool      echo.ToolUse
	hasUsage  bool
	usage     echo.Usage
	pretend   *float64 // what a call would have cost
	sizes     sizes
	failure   echo.Failure
	selection []byte // as the journal has it
}

func logTable() table[logRow] {
	at := func(r *logRow) *place { return &r.place }
	return table[logRow]{name: "unified_logs", what: "log", columns: slices.Concat(
		lift(func(r *logRow) *echo.Entry { return &r.entry }, headColumns()),
		[]column[logRow]{{"node_type", few, func(r *logRow) any { return (*string)(&r.entry.NodeType) }}},
		lift(at, placeColumns()),
		lift(at, effectColumns()),
		[]column[logRow]{{"content_hash", "String", func(r *logRow) any { return (*string)(&r.entry.ContentHash) }}},
		lift(func(r *logRow) *messageParts { return &r.message }, messageColumns()),
		lift(func(r *logRow) *echo.ToolUse { return &r.tool }, toolColumns()),
		callColumns(),
		lift(func(r *logRow) *sizes { return &r.sizes }, sizeColumns()),
		[]column[logRow]{
			{"error_kind", few, func(r *logRow) any { return &r.failure.Kind }},
			{"error", "String", func(r *logRow) any { return &r.failure.Message }},
			{"data_json", zipped, func(r *logRow) any { return &r.entry.Data }},
			{
				"selection_json", "String CODEC(ZSTD(3))",
				func(r *logRow) any { return &r.selection },
			},
		})}
}

func headColumns() []column[echo.Entry] {
	return []column[echo.Entry]{
		{"session_id", "String", func(e *echo.Entry) any { return &e.SessionID }},
		{"seq", "UInt64", func(e *echo.Entry) any { return &e.Seq }},
		{"at", "DateTime64(6, 'UTC')", func(e *echo.Entry) any { return &e.At }},
	}
}

func toolColumns() []column[echo.ToolUse] {
	return []column[echo.ToolUse]{
		{"tool_name", few, func(t *echo.ToolUse) any { return &t.Name }},
		{"tool_call_id", "String", func(t *echo.ToolUse) any { return &t.CallID }},
		{"tool_arguments", zipped, func(t *echo.ToolUse) any { return &t.Arguments }},
	}
}

func callColumns() []column[logRow] {
	return []column[logRow]{
		{"model", few, func(r *logRow) any { return &r.entry.Model }},
		{"provider", few, func(r *logRow) any { return &r.entry.Provider }},
		{"scripted", "Bool", func(r *logRow) any { return &r.entry.Scripted }},
		{"has_usage", "Bool", func(r *logRow) any { return &r.hasUsage }},
		{"tokens_in", "Int64", func(r *logRow) any { return &r.usage.In }},
		{"tokens_cached", "Int64", func(r *logRow) any { return &r.usage.Cached }},
		{"tokens_out", "Int64", func(r *logRow) any { return &r.usage.Out }},
		{"tokens_reasoning", "Int64", func(r *logRow) any { return &r.usage.Reasoning }},
		{"usage_estimated", "Bool", func(r *logRow) any { return &r.usage.Estimated }},
		{"cost_usd", "Nullable(Float64)", func(r *logRow) any { return &r.entry.CostUSD }},
		{"pretend_usd", "Nullable(Float64)", func(r *logRow) any { return &r.pretend }},
		{"duration_ms", "Float64", func(r *logRow) any { return &r.entry.DurationMS }},
		{"request_hash", "String", func(r *logRow) any { return &r.entry.RequestHash }},
	}
}

func (r *logRow) set(x *row) {
	e := x.Entry
	*r = logRow{entry: *e, place: placeOf(e.CascadeID, e.Key), tool: toolUse(e), hasUsage: e.Usage != nil, selection: r.selection[:0]}
	if e.Usage != nil {
		r.usage = *e.Usage
	}
	if e.Error != nil {
		r.failure = *e.Error
	}
	if e.Message != nil {
		r.message = partsOf(e.Message, x.rendered)
	}
	if e.Selection != nil {
		r.sizes = sizesOf(e.Selection)
		r.selection, _ = e.Selection.AppendJSON(r.selection) // texts and numbers, which the journal has written already
	}
	if e.NodeType == echo.NodeInter && x.selected != nil {
		r.sizes = x.selected.sizes
	}
	if p := e.Pretend; p != nil {
		r.sizes.PriceAs, r.pretend = p.Model, &p.USD
	}
}

// toolUse is the call that an entry records; a tool message alone names its tool and call.
func toolUse(e *echo.Entry) echo.ToolUse {
	switch {
	case e.Tool != nil:
		return *e.Tool
	case e.Message != nil:
		return echo.ToolUse{Name: e.Message.Tool(), CallID: e.Message.ToolCallID()}
	}
	return echo.ToolUse{}
}

func (r *logRow) restore() (*echo.Entry, error) {
	e, p := r.entry, &r.place
	e.CascadeID, e.Phase = p.cascade, p.phase
	e.Attempt, e.Turn, e.Sounding = int(p.attempt), int(p.turn), int(p.sounding)
	if err := e.Key.UnmarshalText([]byte(p.key)); err != nil {
		return nil, err
	}
	if err := e.CheckKey(); err != nil {
		return nil, err
	}
	if r.hasUsage {
		e.Usage = &r.usage
	}
	if r.pretend != nil {
		e.Pretend = &echo.Pretend{Model: r.sizes.PriceAs, USD: *r.pretend}
	}
	// A tool's result that no call is recorded with names its tool in the message.
	if e.NodeType == echo.NodeToolCall || r.message.role == "" && r.tool.Name != "" {
		e.Tool = &r.tool
	}
	if r.failure != (echo.Failure{}) {
		e.Error = &r.failure
	}
	if len(e.Data) == 0 {
		e.Data = nil
	}
	if len(r.selection) > 0 {
		if err := json.Unmarshal(r.selection, &e.Selection); err != nil {
			return nil, fmt.Errorf("read the selection: %w", err)
		}
	} else if e.NodeType == echo.NodeSelection {
		return nil, errors.New("the selection is missing")
	}
	if r.message.role == "" {
		return &e, nil
	}
	m, err := r.message.restore(&r.tool)
	if err != nil {
		return nil, err
	}
	if m.Hash() != e.ContentHash {
		return nil, fmt.Errorf("the content has the hash %s and not %s", m.Hash(), e.ContentHash)
	}
	e.Message = m
	return &e, nil
}

// sizes are what both tables have of a selection, in tokens and in money. Money at pretend prices is
// in columns of its own.
type sizes struct {
	echo.Selection

	messages, masked         int64
	pretendSent, pretendFull *float64
}

func sizesOf(s *echo.Selection) sizes {
	out := sizes{Selection: *s, messages: int64(s.MessageCount), masked: int64(s.MaskedCount)}
	if s.PriceAs != "" {
		out.pretendSent, out.pretendFull, out.SentUSD, out.FullUSD = s.SentUSD, s.FullUSD, nil, nil
	}
	return out
}

func sizeColumns() []column[sizes] {
	return []column[sizes]{
		{"full_history_size", "Int64", func(s *sizes) any { return &s.FullHistorySize }},
		{"context_size", "Int64", func(s *sizes) any { return &s.ContextSize }},
		{"tokens_saved", "Int64", func(s *sizes) any { return &s.TokensSaved }},
		{"message_count", "Int64", func(s *sizes) any { return &s.messages }},
		{"masked_count", "Int64", func(s *sizes) any { return &s.masked }},
		{"shared_size", "Int64", func(s *sizes) any { return &s.SharedSize }},
		{"full_shared_size", "Int64", func(s *sizes) any { return &s.FullSharedSize }},
		{"sent_usd", "Nullable(Float64)", func(s *sizes) any { return &s.SentUSD }},
		{"full_usd", "Nullable(Float64)", func(s *sizes) any { return &s.FullUSD }},
		{"price_as", few, func(s *sizes) any { return &s.PriceAs }},
		{"pretend_sent_usd", "Nullable(Float64)", func(s *sizes) any { return &s.pretendSent }},
		{"pretend_full_usd", "Nullable(Float64)", func(s *sizes) any { return &s.pretendFull }},
		{"request_size", "Int64", func(s *sizes) any { return &s.RequestSize }},
		{"request_limit", "Int64", func(s *sizes) any { return &s.Limit }},
	}
}

// place is where in a run an entry belongs: its key, as a text and in parts. Of branches of one
// kind below each other the innermost has the column.
type place struct {
	key, cascade, phase string
	visit               uint32
	branch              string
	branchNumbers
	child               string
	attempt, turn, ward uint32

	effect       string // the first step of what was done there, or at its ward
	effectNumber uint32
	effectName   string
}

// branchNumbers are those of the innermost branch of each kind, 0 for none.
type branchNumbers struct{ sounding, reforge, item, node uint32 }

func placeOf(cascade string, k echo.Key) place {
	path := k.Path()
	p := place{
		key: k.String(), cascade: cascade, phase: path.Phase, visit: uint32(path.Visit), branch: path.Branch().String(),
		attempt: uint32(path.Attempt), turn: uint32(path.Turn),
	}
	for _, b := range path.Branches {
		switch b.Kind {
		case echo.StepSounding:
			p.sounding = uint32(b.Number)
		case echo.StepReforge:
			p.reforge = uint32(b.Number)
		case echo.StepItem:
			p.item = uint32(b.Number)
		case echo.StepNode:
			p.node = uint32(b.Number)
		}
	}
	done := path.Effect
	if len(done) > 0 && done[0].Kind == echo.StepWard {
		p.ward, done = uint32(done[0].Number), done[1:]
	}
	if len(done) > 0 {
		first := done[0]
		p.effect, p.effectNumber, p.effectName = string(first.Kind), uint32(first.Number), first.Name
		if first.Kind == echo.StepChild || first.Kind == echo.StepAsync {
			p.child = first.Name
		}
	}
	return p
}

func placeColumns() []column[place] {
	return []column[place]{
		{"key", "String", func(p *place) any { return &p.key }},
		{"cascade_id", few, func(p *place) any { return &p.cascade }},
		{"phase_name", few, func(p *place) any { return &p.phase }},
		{"visit", "UInt32", func(p *place) any { return &p.visit }},
		{"branch", "String", func(p *place) any { return &p.branch }},
		{"sounding", "UInt32", func(p *place) any { return &p.sounding }},
		{"reforge", "UInt32", func(p *place) any { return &p.reforge }},
		{"item", "UInt32", func(p *place) any { return &p.item }},
		{"node", "UInt32", func(p *place) any { return &p.node }},
		{"child", few, func(p *place) any { return &p.child }},
		{"attempt", "UInt32", func(p *place) any { return &p.attempt }},
		{"turn", "UInt32", func(p *place) any { return &p.turn }},
		{"ward", "UInt32", func(p *place) any { return &p.ward }},
	}
}

func effectColumns() []column[place] {
	return []column[place]{
		{"effect", few, func(p *place) any { return &p.effect }},
		{"effect_number", "UInt32", func(p *place) any { return &p.effectNumber }},
		{"effect_name", few, func(p *place) any { return &p.effectName }},
	}
}
