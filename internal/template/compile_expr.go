package template

import (
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// expr compiles an expression; at is where its tag begins.
func (c *compiler) expr(at pos, n nodes.Node) (expr, error) {
	if n == nil {
		return nil, at.syntax("an expression is missing")
	}
	if c.depth++; c.depth > maxTree {
		return nil, at.syntax("%s", errTooDeep)
	}
	defer func() { c.depth-- }()
	at = placeOfNode(n, at)
	switch n := n.(type) {
	case *nodes.String:
		return literal{at, n.Val}, nil
	case *nodes.Integer:
		return literal{at, int64(n.Val)}, nil
	case *nodes.Float:
		return literal{at, n.Val}, nil
	case *nodes.Bool:
		return literal{at, n.Val}, nil
	case *nodes.None:
		return literal{at, nil}, nil
	case *nodes.Name, *nodes.GetAttribute, *nodes.GetItem:
		return c.lookup(at, n)
	case *nodes.Call:
		return c.call(at, n)
	case *nodes.GetSlice:
		return c.slice(at, n)
	case *nodes.List:
		items, err := c.exprs(at, n.Val)
		return &listExpr{at, items}, err
	case *nodes.Tuple:
		items, err := c.exprs(at, n.Val)
		return &listExpr{at, items}, err
	case *nodes.Dict:
		return c.dict(at, n)
	}
	return c.operation(at, n)
}

func (c *compiler) operation(at pos, n nodes.Node) (expr, error) {
	switch n := n.(type) {
	case *nodes.Negation:
		x, err := c.expr(at, n.Term)
		return &notExpr{at, x}, err
	case *nodes.UnaryExpression:
		x, err := c.expr(at, n.Term)
		return &negExpr{at, x, n.Negative}, err
	case *nodes.BinaryExpression:
		a, err := c.expr(at, n.Left)
		if err != nil {
			return nil, err
		}
		b, err := c.expr(at, n.Right)
		return &binary{at, n.Operator.Token.Val, a, b}, err
	case *nodes.FilteredExpression:
		return c.filtered(at, n)
	case *nodes.TestExpression:
		return c.test(at, n)
	}
	return nil, at.syntax("the expression cannot be read")
}

func (c *compiler) exprs(at pos, list []nodes.Expression) ([]expr, error) {
	out := make([]expr, len(list))
	for i, n := range list {
		x, err := c.expr(at, n)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func (c *compiler) named(at pos, args map[string]nodes.Expression) (map[string]expr, error) {
	if len(args) == 0 {
		return nil, nil //nolint:nilnil // no arguments by name
	}
	out := make(map[string]expr, len(args))
	for name, n := range args {
		if !isName(name) {
			return nil, at.syntax("%q is not the name of an argument", name)
		}
		x, err := c.expr(at, n)
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}

// constants are the names that are values in themselves.
func constantOf(name string) (any, bool) {
	switch name {
	case "none", "null":
		return nil, true
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return nil, false
}

// lookup flattens a chain of members and items into one expression.
func (c *compiler) lookup(at pos, n nodes.Node) (expr, error) {
	var steps []step
	for {
		switch x := n.(type) {
		case *nodes.GetAttribute:
			s := step{at: place(x.Location), key: x.Attribute}
			if x.Attribute == "" {
				s.index = literal{s.at, int64(x.Index)}
			}
			steps, n = append(steps, s), x.Node
			continue
		case *nodes.GetItem:
			i, err := c.expr(place(x.Location), x.Arg)
			if err != nil {
				return nil, err
			}
			steps, n = append(steps, step{at: place(x.Location), index: i}), x.Node
			continue
		}
		break
	}
	slices.Reverse(steps)
	name, ok := n.(*nodes.Name)
	if !ok {
		base, err := c.expr(at, n)
		return &lookup{at: at, base: base, steps: steps}, err
	}
	at = place(name.Name)
	if v, ok := constantOf(name.Name.Val); ok && !c.isBound(name.Name.Val) {
		if len(steps) == 0 {
			return literal{at, v}, nil
		}
		return &lookup{at: at, base: literal{at, v}, steps: steps}, nil
	}
	c.refer(name.Name.Val)
	return &lookup{at: at, root: name.Name.Val, steps: steps}, nil
}

// refer notes that the template reads a variable.
func (c *compiler) refer(name string) {
	if !c.isBound(name) {
		c.roots[name] = struct{}{}
	}
}

func (c *compiler) call(at pos, n *nodes.Call) (expr, error) {
	args, err := c.exprs(at, n.Args)
	if err != nil {
		return nil, err
	}
	named, err := c.named(at, n.Kwargs)
	if err != nil {
		return nil, err
	}
	switch fn := n.Func.(type) {
	case *nodes.Name:
		name := fn.Name.Val
		if _, ok := functionOf(name); !ok && !c.isBound(name) {
			e := place(fn.Name).syntax("there is no function or macro %q", name)
			e.Hint = guess(name, "", c.callable())
			return nil, e
		}
		return &callExpr{place(fn.Name), name, args, named}, nil
	case *nodes.GetAttribute:
		if !isMethod(fn.Attribute) || len(named) > 0 {
			e := place(fn.Location).syntax("there is no method %q", fn.Attribute)
			e.Hint = guess(fn.Attribute, "", methodNames())
			return nil, e
		}
		x, err := c.expr(at, fn.Node)
		return &methodExpr{place(fn.Location), x, fn.Attribute, args}, err
	}
	return nil, at.syntax("only macros, functions and methods can be called")
}

func (c *compiler) callable() []string {
	names := []string{"range", "namespace", "dict"}
	for _, scope := range c.bound {
		for n := range scope {
			names = append(names, n)
		}
	}
	return names
}

func (c *compiler) slice(at pos, n *nodes.GetSlice) (expr, error) {
	e := &sliceExpr{at: place(n.Location)}
	var err error
	if e.x, err = c.expr(at, n.Node); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		to *expr
		n  nodes.Node
	}{{&e.from, n.Start}, {&e.to, n.End}, {&e.by, n.Step}} {
		if b.n == nil {
			continue
		}
		if *b.to, err = c.expr(at, b.n); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (c *compiler) dict(at pos, n *nodes.Dict) (expr, error) {
	e := &dictExpr{at: at}
	for _, p := range n.Pairs {
		k, err := c.expr(at, p.Key)
		if err != nil {
			return nil, err
		}
		v, err := c.expr(at, p.Value)
		if err != nil {
			return nil, err
		}
		e.keys, e.vals = append(e.keys, k), append(e.vals, v)
	}
	return e, nil
}

func (c *compiler) filtered(at pos, n *nodes.FilteredExpression) (expr, error) {
	if t, ok := c.looseTest(n); ok {
		return c.expr(at, t)
	}
	x, err := c.expr(at, n.Expression)
	if err != nil {
		return nil, err
	}
	for _, f := range n.Filters {
		if x, err = c.filter(x, f); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (c *compiler) filter(x expr, f *nodes.FilterCall) (expr, error) {
	at := place(f.Token)
	fn, known := filterOf(f.Name)
	isDefault := f.Name == "default" || f.Name == "d" // it sees what is missing, so that it is no ordinary filter
	switch {
	case f.Name == "raw":
		return nil, at.syntax("raw must be the last filter of the value that is written")
	case !known && !isDefault:
		e := at.syntax("there is no filter %q", f.Name)
		e.Hint = guess(f.Name, "", filterNames())
		return nil, e
	}
	args, err := c.exprs(at, f.Args)
	if err != nil {
		return nil, err
	}
	named, err := c.named(at, f.Kwargs)
	if err != nil {
		return nil, err
	}
	if isDefault {
		return newDefault(at, x, args, named)
	}
	return &filterExpr{at, x, f.Name, fn, args, named}, nil
}

// looseTest mends the one place where gonja binds a filter less tightly than Jinja does: "a in b | f" is "a in (b | f)".
// The tokens tell whether the test stands in brackets of its own.
func (c *compiler) looseTest(n *nodes.FilteredExpression) (nodes.Node, bool) {
	inner, negated := n.Expression, false
	if neg, ok := inner.(*nodes.Negation); ok {
		inner, negated = neg.Term, true
	}
	t, ok := inner.(*nodes.TestExpression)
	if !ok || len(t.Test.Args) != 1 || t.Test.Args[0] == nil {
		return nil, false
	}
	if c.bracketed(c.src.indexOf(n.Filters[0].Token)-2, t.Test.Token.Pos) {
		return nil, false
	}
	call := *t.Test
	call.Args = []nodes.Expression{&nodes.FilteredExpression{Expression: t.Test.Args[0], Filters: n.Filters}}
	mended := &nodes.TestExpression{Expression: t.Expression, Test: &call}
	if negated {
		return &nodes.Negation{Term: mended, Operator: n.Expression.(*nodes.Negation).Operator}, true //nolint:forcetypeassert // seen above
	}
	return mended, true
}

// bracketed reports whether the nth token closes a bracket that was opened before the given place.
func (c *compiler) bracketed(n, before int) bool {
	if n < 0 || c.src.tokens[n].Type != tokens.RightParenthesis {
		return false
	}
	open := 0
	for ; n >= 0; n-- {
		switch c.src.tokens[n].Type {
		case tokens.RightParenthesis:
			open++
		case tokens.LeftParenthesis:
			if open--; open == 0 {
				return c.src.tokens[n].Pos < before
			}
		}
	}
	return false
}

func (c *compiler) test(at pos, n *nodes.TestExpression) (expr, error) {
	x, err := c.expr(at, n.Expression)
	if err != nil {
		return nil, err
	}
	args, err := c.exprs(at, n.Test.Args)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(n.Test.Name)
	if name == "in" {
		if len(args) != 1 {
			return nil, place(n.Test.Token).syntax("write a in b")
		}
		return &binary{at, "in", x, args[0]}, nil
	}
	want, ok := testArgs(name)
	if !ok {
		e := place(n.Test.Token).syntax("there is no test %q", name)
		e.Hint = guess(name, "", testNames())
		return nil, e
	}
	if len(args) != want {
		return nil, place(n.Test.Token).syntax("the test %s takes %d arguments, not %d", name, want, len(args))
	}
	return &testExpr{at, x, name, args}, nil
}
