package template

import (
	"errors"
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// maxTree bounds how deep expressions nest: a chain of a hundred operators is a hundred levels.
const maxTree = 500

// compiler turns gonja's tree into statements and expressions of our own, and refuses what the dialect does not have.
type compiler struct {
	src   *source
	mode  Mode
	text  tracker             // knows what stands around a value
	roots map[string]struct{} // variables that are not bound by the template itself
	bound []map[string]bool   // names that tags have bound, by scope
	depth int
}

func newCompiler(src *source, mode Mode) *compiler {
	return &compiler{
		src: src, mode: mode, text: newTracker(mode), roots: map[string]struct{}{}, bound: []map[string]bool{{}},
	}
}

func (c *compiler) isBound(name string) bool {
	return slices.ContainsFunc(c.bound, func(m map[string]bool) bool { return m[name] })
}

func (c *compiler) bind(names ...string) {
	for _, n := range names {
		c.bound[len(c.bound)-1][n] = true
	}
}

func (c *compiler) push(names ...string) {
	c.bound = append(c.bound, map[string]bool{})
	c.bind(names...)
}

func (c *compiler) pop() { c.bound = c.bound[:len(c.bound)-1] }

// block compiles the nodes between two tags.
func (c *compiler) block(list []nodes.Node) (block, error) {
	out := make(block, 0, len(list))
	for _, n := range list {
		s, err := c.stmt(n)
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

func (c *compiler) stmt(n nodes.Node) (stmt, error) {
	switch n := n.(type) {
	case *nodes.Data:
		return c.data(n)
	case *nodes.Comment:
		return nil, c.text.boundary(place(n.Start))
	case *nodes.Output:
		return c.output(n)
	case *nodes.ControlStructureBlock:
		t, ok := n.ControlStructure.(*tagNode)
		if !ok {
			return nil, place(n.Location).syntax("there is no tag %q", n.Name)
		}
		if err := c.text.boundary(t.at); err != nil {
			return nil, err
		}
		return c.tag(t)
	}
	return nil, pos{1, 1}.syntax("the template cannot be read")
}

func (c *compiler) data(n *nodes.Data) (stmt, error) {
	text := n.Data.Val
	if n.Trim.Left {
		text = strings.TrimLeft(text, " \r\n\t")
	}
	if n.Trim.Right {
		text = strings.TrimRight(text, " \r\n\t")
	}
	if text == "" {
		return nil, nil //nolint:nilnil // nothing to render
	}
	at := place(n.Data)
	return &constant{at: at, text: text}, c.text.constant(at, text)
}

func (c *compiler) output(n *nodes.Output) (stmt, error) {
	at := place(n.Start)
	then, err := c.interpolation(at, n.Expression)
	if err != nil || n.Condition == nil {
		return then, err
	}
	s := &ifStmt{arms: make([]ifArm, 1)}
	s.arms[0].body = then
	if s.arms[0].when, err = c.expr(at, n.Condition); err != nil {
		return nil, err
	}
	if n.Alternative != nil {
		s.otherwise, err = c.interpolation(at, n.Alternative)
	}
	return s, err
}

// interpolation compiles a value that is written out. The filter raw is a word to the writer, not to the value.
func (c *compiler) interpolation(at pos, n nodes.Node) (stmt, error) {
	raw := false
	if fe, ok := n.(*nodes.FilteredExpression); ok {
		last := len(fe.Filters) - 1
		if fe.Filters[last].Name == "raw" {
			if len(fe.Filters[last].Args)+len(fe.Filters[last].Kwargs) > 0 {
				return nil, place(fe.Filters[last].Token).syntax("the filter raw takes no arguments")
			}
			raw = true
			n = &nodes.FilteredExpression{Expression: fe.Expression, Filters: fe.Filters[:last]}
			if last == 0 {
				n = fe.Expression
			}
		}
	}
	x, err := c.expr(at, n)
	if err != nil {
		return nil, err
	}
	write, err := c.text.value(at, raw)
	return &output{x: x, write: write, at: at, raw: raw, number: endsInNumber(n)}, err
}

func (c *compiler) tag(n *tagNode) (stmt, error) {
	switch n.kind {
	case "if":
		return c.ifTag(n)
	case "for":
		return c.forTag(n)
	case "set":
		return c.setTag(n)
	case "with":
		return c.withTag(n)
	case "macro":
		return c.macroTag(n)
	default: // raw
		return c.block(n.arms[0].body.Nodes)
	}
}

func (c *compiler) ifTag(n *tagNode) (stmt, error) {
	s := &ifStmt{}
	var after []tracker
	before := c.text
	for _, a := range n.arms {
		when, err := c.expr(n.at, a.when)
		if err != nil {
			return nil, err
		}
		c.text = before.clone()
		b, err := c.block(a.body.Nodes)
		if err != nil {
			return nil, err
		}
		s.arms = append(s.arms, ifArm{when, b})
		after = append(after, c.text)
	}
	c.text = before.clone()
	if n.otherwise != nil {
		b, err := c.block(n.otherwise.Nodes)
		if err != nil {
			return nil, err
		}
		s.otherwise = b
	}
	return s, c.join(n.at, after...)
}

// join checks that the text is in the same state after every way through a tag.
func (c *compiler) join(at pos, ways ...tracker) error {
	if err := c.text.boundary(at); err != nil {
		return err
	}
	for _, w := range ways {
		if err := w.boundary(at); err != nil {
			return err
		}
		if err := c.text.merge(at, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) forTag(n *tagNode) (stmt, error) {
	s := &forStmt{at: n.at, names: n.names}
	var err error
	if s.list, err = c.expr(n.at, n.values[0]); err != nil {
		return nil, err
	}
	before := c.text.clone()
	c.push(n.names...)
	if n.filter != nil {
		if s.when, err = c.expr(n.at, n.filter); err != nil {
			return nil, err
		}
	}
	_, outer := c.roots["loop"]
	delete(c.roots, "loop")
	s.body, err = c.block(n.arms[0].body.Nodes)
	c.pop()
	if err != nil {
		return nil, err
	}
	_, s.usesLoop = c.roots["loop"]
	delete(c.roots, "loop")
	if outer {
		c.roots["loop"] = struct{}{}
	}
	if err := c.join(n.at, before); err != nil { // none, or once more
		return nil, err
	}
	if n.otherwise == nil {
		return s, nil
	}
	afterBody := c.text
	c.text = before
	s.otherwise, err = c.block(n.otherwise.Nodes)
	if err != nil {
		return nil, err
	}
	return s, c.join(n.at, afterBody)
}

func (c *compiler) setTag(n *tagNode) (stmt, error) {
	s := &setStmt{at: n.at, name: n.name, member: n.member}
	if s.member == "" {
		defer c.bind(n.name)
	}
	var err error
	if len(n.arms) > 0 {
		s.body, err = c.captured(n)
		return s, err
	}
	if s.value, err = c.expr(n.at, n.values[0]); err != nil || n.condition == nil {
		return s, err
	}
	ch := &choice{at: n.at, then: s.value}
	if ch.when, err = c.expr(n.at, n.condition); err != nil {
		return nil, err
	}
	if n.other != nil {
		if ch.orElse, err = c.expr(n.at, n.other); err != nil {
			return nil, err
		}
	}
	s.value = ch
	return s, nil
}

// captured compiles a body whose text becomes a value. In a text with quoting that value would be quoted a second time
// when it is written, so that it is not allowed there.
func (c *compiler) captured(n *tagNode) (block, error) {
	if c.mode != ModeText {
		return nil, n.at.syntax("%s with a body is not allowed in %s", n.kind, c.mode)
	}
	c.push(n.names...)
	defer c.pop()
	return c.block(n.arms[0].body.Nodes)
}

func (c *compiler) withTag(n *tagNode) (stmt, error) {
	s := &withStmt{names: n.names}
	for _, v := range n.values {
		x, err := c.expr(n.at, v)
		if err != nil {
			return nil, err
		}
		s.values = append(s.values, x)
	}
	c.push(n.names...)
	defer c.pop()
	var err error
	s.body, err = c.block(n.arms[0].body.Nodes)
	return s, err
}

func (c *compiler) macroTag(n *tagNode) (stmt, error) {
	c.bind(n.name)
	m := &macro{at: n.at, name: n.name, params: n.names, defaults: make([]expr, len(n.names))}
	c.push(n.names...)
	for i, v := range n.values {
		if v == nil {
			continue
		}
		x, err := c.expr(n.at, v)
		if err != nil {
			return nil, err
		}
		m.defaults[i] = x
	}
	c.pop()
	var err error
	m.body, err = c.captured(n)
	return m, err
}

var errTooDeep = errors.New("the expression is too deeply nested")

// placeOfNode returns where a node begins, or where its tag does.
func placeOfNode(n nodes.Node, at pos) pos {
	if n == nil {
		return at
	}
	return placeOr(n.Position(), at)
}

// isName reports whether s can be the name of an argument.
func isName(s string) bool { return s != "" && identifier(s) == s }

// indexOf returns the place of a token among all tokens.
func (s *source) indexOf(t *tokens.Token) int {
	i, ok := slices.BinarySearchFunc(s.tokens, t.Pos, func(u *tokens.Token, p int) int { return u.Pos - p })
	if !ok {
		return -1
	}
	return i
}
