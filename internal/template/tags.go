package template

import (
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// tagNode is what our own tags are in gonja's tree.
type tagNode struct {
	at pos

	kind      string // the tag's name
	arms      []arm  // if: the conditions and their bodies; every other tag with a body: one arm
	otherwise *nodes.Wrapper
	names     []string // for, with, macro: the names that are bound
	name      string   // set: the name, or the namespace; macro: its own name
	member    string   // set: the member of a namespace
	values    []nodes.Node
	filter    nodes.Node // for: the condition after if
	condition nodes.Node // set: a if b else c
	other     nodes.Node
}

// arm is a body with the condition it is rendered on.
type arm struct {
	when nodes.Node
	body *nodes.Wrapper
}

// Position makes tagNode one of gonja's nodes.
func (n *tagNode) Position() *tokens.Token { return &tokens.Token{Line: n.at.line, Col: n.at.col} }

// String makes tagNode one of gonja's nodes.
func (n *tagNode) String() string { return n.kind }

// body reads up to one of the closing words, which take no arguments unless args is asked for.
func body(at pos, p *parser.Parser, closing ...string) (*nodes.Wrapper, error) {
	w, args, err := p.WrapUntil(closing...)
	if err != nil {
		return nil, unclosed(at, err)
	}
	if !args.End() {
		return nil, placeOr(args.Current(), at).syntax("%s takes no arguments", w.EndTag)
	}
	return w, nil
}

// unclosed puts the error that a tag is not closed where the tag begins.
func unclosed(at pos, err error) error {
	if e, ok := err.(*parser.SyntaxError); ok && e.Raw == "" { //nolint:errorlint // gonja's own, not yet wrapped
		return at.syntax("%s", explain(e))
	}
	return err
}

func parseIf(at pos, p, args *parser.Parser) (nodes.Node, error) {
	n := &tagNode{at: at, kind: "if"}
	cond, err := args.ParseExpression()
	if err != nil {
		return nil, err
	}
	for {
		w, rest, err := p.WrapUntil("elif", "else", "endif")
		if err != nil {
			return nil, unclosed(at, err)
		}
		n.arms = append(n.arms, arm{cond, w})
		if w.EndTag == "elif" {
			if cond, err = rest.ParseExpression(); err != nil {
				return nil, err
			}
		}
		if !rest.End() {
			return nil, placeOr(rest.Current(), at).syntax("unexpected %q after %s", rest.Current().Val, w.EndTag)
		}
		if w.EndTag == "else" {
			n.otherwise, err = body(at, p, "endif")
			return n, err
		}
		if w.EndTag == "endif" {
			return n, nil
		}
	}
}

func parseFor(at pos, p, args *parser.Parser) (nodes.Node, error) {
	n := &tagNode{at: at, kind: "for"}
	for {
		name := args.Match(tokens.Name)
		if name == nil {
			return nil, placeOr(args.Current(), at).syntax("a loop variable is missing: write {%% for x in list %%}")
		}
		n.names = append(n.names, name.Val)
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	if args.Match(tokens.In) == nil || len(n.names) > 2 {
		return nil, placeOr(args.Current(), at).syntax("write {%% for x in list %%} or {%% for key, value in object.items() %%}")
	}
	list, err := args.ParseExpression()
	if err != nil {
		return nil, err
	}
	n.values = []nodes.Node{list}
	if args.MatchName("if") != nil {
		if n.filter, err = args.ParseExpression(); err != nil {
			return nil, err
		}
	}
	w, rest, err := p.WrapUntil("else", "endfor")
	if err != nil {
		return nil, unclosed(at, err)
	}
	if !rest.End() {
		return nil, placeOr(rest.Current(), at).syntax("%s takes no arguments", w.EndTag)
	}
	n.arms = []arm{{body: w}}
	if w.EndTag == "else" {
		n.otherwise, err = body(at, p, "endfor")
	}
	return n, err
}

func parseSet(at pos, p, args *parser.Parser) (nodes.Node, error) {
	n := &tagNode{at: at, kind: "set"}
	name := args.Match(tokens.Name)
	if name == nil {
		return nil, placeOr(args.Current(), at).syntax("the name to set is missing: write {%% set x = value %%}")
	}
	n.name = name.Val
	if args.Match(tokens.Dot) != nil {
		member := args.Match(tokens.Name)
		if member == nil {
			return nil, placeOr(args.Current(), at).syntax("the name of a member is missing")
		}
		n.member = member.Val
	}
	if args.Match(tokens.Assign) == nil {
		if !args.End() {
			return nil, placeOr(args.Current(), at).syntax("expected = after the name, found %q", args.Current().Val)
		}
		w, err := body(at, p, "endset")
		n.arms = []arm{{body: w}}
		return n, err
	}
	value, err := args.ParseExpression()
	if err != nil {
		return nil, err
	}
	n.values = []nodes.Node{value}
	n.condition, n.other, err = args.ParseCondition()
	return n, err
}

func parseWith(at pos, p, args *parser.Parser) (nodes.Node, error) {
	n := &tagNode{at: at, kind: "with"}
	for !args.End() {
		name := args.Match(tokens.Name)
		if name == nil || args.Match(tokens.Assign) == nil {
			return nil, placeOr(args.Current(), at).syntax("write {%% with name = value %%}")
		}
		value, err := args.ParseExpression()
		if err != nil {
			return nil, err
		}
		n.names, n.values = append(n.names, name.Val), append(n.values, value)
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	w, err := body(at, p, "endwith")
	n.arms = []arm{{body: w}}
	return n, err
}

func parseMacro(at pos, p, args *parser.Parser) (nodes.Node, error) {
	n := &tagNode{at: at, kind: "macro"}
	name := args.Match(tokens.Name)
	if name == nil || args.Match(tokens.LeftParenthesis) == nil {
		return nil, placeOr(args.Current(), at).syntax("write {%% macro name(a, b=1) %%}")
	}
	n.name = name.Val
	for args.Match(tokens.RightParenthesis) == nil {
		param := args.Match(tokens.Name)
		if param == nil {
			return nil, placeOr(args.Current(), at).syntax("the name of a parameter is missing")
		}
		var value nodes.Node
		if args.Match(tokens.Assign) != nil {
			v, err := args.ParseExpression()
			if err != nil {
				return nil, err
			}
			value = v
		}
		n.names, n.values = append(n.names, param.Val), append(n.values, value)
		if args.Match(tokens.Comma) == nil && args.Current(tokens.RightParenthesis) == nil {
			return nil, placeOr(args.Current(), at).syntax("expected , or ) after a parameter")
		}
	}
	w, err := body(at, p, "endmacro")
	n.arms = []arm{{body: w}}
	return n, err
}

func parseRaw(at pos, p, _ *parser.Parser) (nodes.Node, error) {
	w, err := body(at, p, "endraw")
	return &tagNode{at: at, kind: "raw", arms: []arm{{body: w}}}, err
}
