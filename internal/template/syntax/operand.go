package syntax

import "slices"

// operand reads a value with what is taken of it: members, items, slices and calls.
func (p *exprs) operand() Expr {
	x := p.primary()
	for {
		switch t := p.peek(); {
		case p.accept(kindSign, "."):
			x = p.member(t.Pos, x)
		case p.accept(kindSign, "["):
			x = p.item(t.Pos, x)
		case p.accept(kindSign, "("):
			x = p.call(t.Pos, x)
		default:
			return x
		}
	}
}

func (p *exprs) primary() Expr {
	t := p.next()
	constant, isConstant := constantOf(t.text)
	switch {
	case t.kind == kindValue:
		return &Literal{t.Pos, t.value}
	case t.kind == kindWord && isConstant:
		return &Literal{t.Pos, constant}
	case t.kind == kindWord && !reserved(t.text):
		if !p.is(kindSign, "(") { // the name of what is called is no variable
			p.scopes.mention(t.text)
		}
		return &Lookup{Pos: t.Pos, Name: t.text}
	case t.kind == kindSign && t.text == "(":
		return p.group(t.Pos)
	case t.kind == kindSign && t.text == "[":
		return &List{t.Pos, p.exprsUntil("]")}
	case t.kind == kindSign && t.text == "{":
		return p.object(t.Pos)
	}
	panic(t.Errorf("expected a value, found %q", t.text))
}

// group reads what stands in round brackets: an expression, or a list when there is a comma.
func (p *exprs) group(at Pos) Expr {
	if p.accept(kindSign, ")") {
		return &List{Pos: at}
	}
	x := p.expr(bindsOr)
	if p.accept(kindSign, ",") {
		return &List{at, append([]Expr{x}, p.exprsUntil(")")...)}
	}
	p.expect(")")
	return x
}

func (p *exprs) exprsUntil(closing string) []Expr {
	var list []Expr
	for !p.accept(kindSign, closing) {
		list = append(list, p.expr(bindsOr))
		p.comma(closing)
	}
	return list
}

// comma reads what stands between two parts of a list: a comma, unless the list ends there.
func (p *exprs) comma(closing string) {
	if !p.is(kindSign, closing) && !p.accept(kindSign, ",") {
		p.expect(closing)
	}
}

func (p *exprs) object(at Pos) Expr {
	n := &Object{Pos: at}
	for !p.accept(kindSign, "}") {
		n.Keys = append(n.Keys, p.expr(bindsOr))
		p.expect(":")
		n.Values = append(n.Values, p.expr(bindsOr))
		p.comma("}")
	}
	return n
}

func (p *exprs) member(at Pos, x Expr) Expr {
	t := p.next()
	if i, ok := t.value.(int64); ok {
		return step(x, Step{Pos: at, Index: &Literal{at, i}})
	}
	if t.kind != kindWord {
		t.fail("expected a name or an integer after the dot, found %q", t.text)
	}
	if p.accept(kindSign, "(") {
		return p.method(at, x, t.text)
	}
	return step(x, Step{Pos: at, Key: t.text})
}

func step(x Expr, s Step) Expr {
	l, ok := x.(*Lookup)
	if !ok {
		l = &Lookup{Pos: x.Place(), Base: x}
	}
	l.Steps = append(l.Steps, s)
	return l
}

// item reads what follows an opening square bracket: one item, or a slice.
func (p *exprs) item(at Pos, x Expr) Expr {
	n := &Slice{Pos: at, X: x}
	if !p.is(kindSign, ":") {
		n.From = p.expr(bindsOr)
		if p.accept(kindSign, "]") {
			return step(x, Step{Pos: at, Index: n.From})
		}
	}
	for _, part := range []*Expr{&n.To, &n.By} {
		if p.accept(kindSign, ":") && !p.is(kindSign, ":") && !p.is(kindSign, "]") {
			*part = p.expr(bindsOr)
		}
	}
	p.expect("]")
	p.deeper()
	return n
}

func (p *exprs) method(at Pos, x Expr, name string) Expr {
	args := p.args()
	if !slices.Contains(p.names.Methods, name) {
		panic(at.unknown("method", name, slices.Clone(p.names.Methods)))
	}
	if len(args.Named) > 0 {
		at.fail("the method %s takes no arguments by name", name)
	}
	p.deeper()
	return &Method{at, x, name, args}
}

func (p *exprs) call(at Pos, x Expr) Expr {
	l, ok := x.(*Lookup)
	if !ok || l.Base != nil || len(l.Steps) > 0 {
		at.fail("only macros, functions and methods can be called")
	}
	if !slices.Contains(p.names.Functions, l.Name) && !p.scopes.bound(l.Name) {
		panic(l.unknown("function or macro", l.Name, p.scopes.callable(p.names.Functions)))
	}
	return &Call{l.Pos, l.Name, p.args()}
}

func (p *exprs) args() Args {
	var args Args
	given := map[string]bool{}
	for !p.accept(kindSign, ")") {
		name := p.peek()
		if name.kind == kindWord && p.list[p.at+1].kind == kindSign && p.list[p.at+1].text == "=" {
			p.at += 2
			if given[name.text] {
				name.fail("the argument %s is given twice", name.text)
			}
			given[name.text] = true
			args.Named = append(args.Named, Named{name.text, p.expr(bindsOr)})
		} else {
			args.List = append(args.List, p.expr(bindsOr))
		}
		p.comma(")")
	}
	return args
}
