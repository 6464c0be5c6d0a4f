package clickhouse

import "github.com/windlass-run/windlass/echo"

// place is where in a run an entry belongs: its key, as a text and in parts. Of branches of one
// kind below each other the innermost has the column.
type place struct {
	key, cascade, phase     string
	visit                   uint32
	branch                  string
	sounding, reforge, item uint32
	child                   string
	attempt, turn           uint32

	effect       string // the first step of what was done there
	effectNumber uint32
	effectName   string
}

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
		case echo.StepChild:
			p.child = b.Name
		}
	}
	if len(path.Effect) > 0 {
		first := path.Effect[0]
		p.effect, p.effectNumber, p.effectName = string(first.Kind), uint32(first.Number), first.Name
	}
	return p
}

// placeColumns are those of both tables.
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
		{"child", few, func(p *place) any { return &p.child }},
		{"attempt", "UInt32", func(p *place) any { return &p.attempt }},
		{"turn", "UInt32", func(p *place) any { return &p.turn }},
	}
}

// effectColumns are further columns of unified_logs.
func effectColumns() []column[place] {
	return []column[place]{
		{"effect", few, func(p *place) any { return &p.effect }},
		{"effect_number", "UInt32", func(p *place) any { return &p.effectNumber }},
		{"effect_name", few, func(p *place) any { return &p.effectName }},
	}
}
