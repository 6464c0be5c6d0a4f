package syntax

import (
	"maps"
	"slices"
)

type exprs struct {
	cursor
	names  *Names
	scopes *scopes
	depth  int  // of the expression that is being read
	raw    *Pos // of a filter raw that has not been found to be the last one of an output
}

// How tightly operators bind. All of them associate to the left.
const (
	bindsOr = iota + 1
	bindsAnd
	bindsCompare // also in and is; not binds a comparison
	bindsAdd
	bindsConcat
	bindsMultiply
	bindsPower
)

var bindings = map[string]int{
	"or": bindsOr, "and": bindsAnd,
	"==": bindsCompare, "!=": bindsCompare, "<": bindsCompare, "<=": bindsCompare, ">": bindsCompare, ">=": bindsCompare,
	"in": bindsCompare, "is": bindsCompare, "not": bindsCompare, // not: of not in
	"+": bindsAdd, "-": bindsAdd, "~": bindsConcat,
	"*": bindsMultiply, "/": bindsMultiply, "//": bindsMultiply, "%": bindsMultiply, "**": bindsPower,
}

// value reads an expression that is not written out.
func (p *exprs) value() Expr {
	x := p.expr(bindsOr)
	p.noRaw()
	return x
}

// noRaw refuses a filter raw that is not the last one of an output.
func (p *exprs) noRaw() {
	if p.raw != nil {
		p.raw.fail("raw must be the last filter of the value that is written")
	}
}

func (p *exprs) expr(least int) Expr {
	defer func(depth int) { p.depth = depth }(p.depth)
	x, most := p.first(least)
	for {
		op := p.peek()
		b, ok := bindings[op.text]
		if !ok || b < least || b > most || op.kind != kindWord && op.kind != kindSign {
			return x
		}
		p.deeper()
		p.at++
		if op.kind == kindWord && b == bindsCompare {
			x = p.related(op, x)
			most = bindsAnd // what is behind it is no part of it
		} else {
			x = &Binary{x.Place(), op.text, x, p.expr(b + 1)}
			most = b // whatever binds tighter is part of the right side
		}
	}
}

func (p *exprs) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.peek().fail("the expression is too deeply nested")
	}
}

// first reads what stands before the first operator, and says how tightly that one may bind.
func (p *exprs) first(least int) (x Expr, most int) {
	at := p.peek().Pos
	if least > bindsCompare || !p.accept(kindWord, "not") {
		return p.unary(), bindsPower
	}
	p.deeper()
	return &Not{at, p.expr(bindsCompare)}, bindsAnd
}

// related reads what follows a word between two values: in, not in, or is and a test.
func (p *exprs) related(op *token, x Expr) Expr {
	negated := op.text == "not"
	if op.text == "is" {
		negated = p.accept(kindWord, "not")
	}
	switch {
	case op.text == "in" || p.accept(kindWord, "in"):
		x = &Binary{x.Place(), "in", x, p.expr(bindsAdd)}
	case op.text == "not":
		op.fail("write not in, or is not")
	default:
		x = p.test(x)
	}
	if negated {
		x = &Not{x.Place(), x}
	}
	return p.filters(x)
}

func (p *exprs) test(x Expr) Expr {
	t := p.next()
	want, ok := p.names.Tests[t.text]
	if !ok || t.kind != kindWord {
		panic(t.unknown("test", t.text, slices.Collect(maps.Keys(p.names.Tests))))
	}
	n := &Test{Pos: x.Place(), X: x, Name: t.text}
	if p.startsValue() {
		n.List = []Expr{p.operand()}
	}
	if len(n.List) != want {
		t.fail("the test %s takes %d arguments, not %d", t.text, want, len(n.List))
	}
	return n
}

func (p *exprs) startsValue() bool {
	t := p.peek()
	return t.kind == kindValue || t.kind == kindWord && !reserved(t.text) ||
		t.kind == kindSign && slices.Contains([]string{"(", "[", "{"}, t.text)
}

// unary reads a value with its sign and its filters. A filter sees the sign.
func (p *exprs) unary() Expr {
	sign := p.peek()
	if p.accept(kindSign, "-") || p.accept(kindSign, "+") {
		return p.filters(&Sign{sign.Pos, p.operand(), sign.text == "-"})
	}
	return p.filters(p.operand())
}

// filters reads the filters behind a value.
func (p *exprs) filters(x Expr) Expr {
	for p.accept(kindSign, "|") {
		p.deeper()
		x = p.filter(x)
	}
	return x
}

func (p *exprs) filter(x Expr) Expr {
	t := p.next()
	if t.kind != kindWord {
		t.fail("the name of a filter is missing, found %q", t.text)
	}
	if !slices.Contains(p.names.Filters, t.text) {
		panic(t.unknown("filter", t.text, slices.Clone(p.names.Filters)))
	}
	var args Args
	if p.accept(kindSign, "(") {
		args = p.args()
	}
	switch t.text {
	case "default", "d":
		return newDefault(t.Pos, x, args)
	case "raw":
		if len(args.List)+len(args.Named) > 0 {
			t.fail("the filter raw takes no arguments")
		}
		if p.raw == nil {
			p.raw = &t.Pos
		}
	}
	return &Filter{t.Pos, x, t.text, args}
}

func newDefault(at Pos, x Expr, args Args) Expr {
	n := &Default{Pos: at, X: x, Instead: &Literal{at, ""}}
	given := args.List
	for _, a := range args.Named {
		switch a.Name {
		case "default_value":
			given = append([]Expr{a.X}, given...)
		case "boolean":
			n.Falsy = a.X
		default:
			at.fail("the filter default has no argument %s", a.Name)
		}
	}
	switch len(given) {
	case 2:
		n.Falsy = given[1]
		fallthrough
	case 1:
		n.Instead = given[0]
	case 0:
	default:
		at.fail("the filter default takes at most 2 arguments")
	}
	return n
}
