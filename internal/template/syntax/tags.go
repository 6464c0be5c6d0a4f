package syntax

import (
	"slices"
	"strings"
)

// parser reads text and tags.
type parser struct {
	exprs
	open int // tags with a body around what is read
}

var (
	openingTags = []string{"if", "for", "set", "with", "macro", "raw"}
	innerTags   = []string{"elif", "else", "endif", "endfor", "endset", "endwith", "endmacro", "endraw"}
	fileTags    = []string{"include", "import", "from", "extends", "block"}
)

// block reads up to one of the closing tags, whose name it returns, or the whole template without
// any. The place is that of the tag around it.
func (p *parser) block(at Pos, closing []string) (body Block, end string) {
	for {
		switch t := p.next(); t.kind {
		case kindText:
			body = append(body, &Text{t.Pos, t.text})
		case kindComment:
			body = append(body, &Comment{t.Pos})
		case kindOutput:
			body = append(body, p.output(t.Pos))
		case kindTag:
			if name := p.peek(); name.kind == kindWord && slices.Contains(closing, name.text) {
				p.at++
				return body, name.text
			}
			body = append(body, p.tag(t.Pos))
		case kindEnd:
			if closing != nil {
				at.fail("the tag is not closed: %s is missing", strings.Join(closing, " or "))
			}
			return body, ""
		default:
			t.fail("unexpected %q", t.text)
		}
	}
}

// body reads a tag's end and its body, with the names bound, and returns the tag that ends it.
func (p *parser) body(at Pos, tag string, names []string, closing ...string) (Block, string) {
	p.close(tag)
	if p.open++; p.open > maxNesting {
		at.fail("tags nest deeper than %d levels", maxNesting)
	}
	if names != nil { // otherwise what the body binds stays bound
		p.scopes.push(names...)
		defer p.scopes.pop()
	}
	defer func() { p.open-- }()
	return p.block(at, closing)
}

// last reads the last body of a tag, up to the end of it all.
func (p *parser) last(at Pos, tag string, names []string, closing string) Block {
	b, _ := p.body(at, tag, names, closing)
	p.close(closing)
	return b
}

func (p *parser) close(tag string) {
	if t := p.next(); t.kind != kindClose {
		t.fail("unexpected %q in the tag %s", t.text, tag)
	}
}

func (p *parser) output(at Pos) *Output {
	n := &Output{Pos: at, X: p.expr(bindsOr)}
	if f, ok := n.X.(*Filter); ok && f.Name == "raw" {
		n.X, n.Raw = f.X, true
		if *p.raw == f.Pos {
			p.raw = nil
		}
	}
	p.noRaw()
	if p.accept(kindWord, "if") {
		n.When = p.value()
		if p.accept(kindWord, "else") {
			p.deeper()
			n.Else = p.output(at)
			p.depth--
			return n
		}
	}
	if t := p.next(); t.kind != kindClose {
		t.fail("'}}' expected here, found %q", t.text)
	}
	return n
}

func (p *parser) tag(at Pos) Stmt {
	name := p.next()
	if name.kind != kindWord {
		name.fail("the name of a tag is missing")
	}
	switch name.text {
	case "if":
		return p.ifTag(at)
	case "for":
		return p.forTag(at)
	case "set":
		return p.setTag(at)
	case "with":
		return p.withTag(at)
	case "macro":
		return p.macroTag(at)
	case "raw":
		return &With{Pos: at, Body: p.last(at, "raw", nil, "endraw")}
	}
	if slices.Contains(innerTags, name.text) {
		name.fail("%q without the tag it belongs to", name.text)
	}
	if slices.Contains(fileTags, name.text) {
		panic(name.Errorf("the tag %q is not allowed: a template cannot read other files", name.text).
			Try("write the text in place, or pass it in as a variable"))
	}
	panic(name.unknown("tag", name.text, slices.Concat(openingTags, innerTags)))
}

func (p *parser) ifTag(at Pos) Stmt {
	n := &If{Pos: at}
	for tag := "if"; ; {
		when := p.value()
		var b Block
		b, tag = p.body(at, tag, nil, "elif", "else", "endif")
		n.Arms = append(n.Arms, Arm{when, b})
		switch tag {
		case "else":
			n.Else = p.last(at, "else", nil, "endif")
			return n
		case "endif":
			p.close("endif")
			return n
		}
	}
}

func (p *parser) forTag(at Pos) Stmt {
	const write = "write {% for x in list %}"
	n := &For{Pos: at}
	for len(n.Names) == 0 || p.accept(kindSign, ",") {
		n.Names = append(n.Names, p.name("a loop variable is missing: "+write))
	}
	if len(n.Names) > 2 || !p.accept(kindWord, "in") {
		p.peek().fail("%s or {%% for key, value in object.items() %%}", write)
	}
	n.List = p.value()
	p.scopes.push(n.Names...)
	if p.accept(kindWord, "if") {
		n.When = p.value()
	}
	p.scopes.top().loop = &n.UsesLoop
	var end string
	n.Body, end = p.body(at, "for", nil, "else", "endfor")
	p.scopes.pop()
	if end == "else" {
		n.Else = p.last(at, "else", nil, "endfor")
	} else {
		p.close(end)
	}
	return n
}

func (p *parser) setTag(at Pos) Stmt {
	n := &Set{Pos: at, Name: p.name("the name to set is missing: write {% set x = value %}")}
	if p.accept(kindSign, ".") {
		t := p.next()
		if n.Member = t.text; t.kind != kindWord {
			t.fail("the name of a member is missing")
		}
	}
	if p.accept(kindSign, "=") {
		n.Value = p.chosen(at)
		p.close("set")
	} else {
		if t := p.peek(); t.kind != kindClose {
			t.fail("expected = after the name, found %q", t.text)
		}
		n.Body = p.last(at, "set", []string{}, "endset")
	}
	if n.Member == "" {
		p.scopes.bind(n.Name)
	}
	return n
}

// chosen reads a value, or a if b else c.
func (p *parser) chosen(at Pos) Expr {
	x := p.value()
	if !p.accept(kindWord, "if") {
		return x
	}
	n := &Choice{Pos: at, Then: x, When: p.value()}
	if p.accept(kindWord, "else") {
		p.deeper()
		n.Else = p.chosen(at)
		p.depth--
	}
	return n
}

func (p *parser) withTag(at Pos) Stmt {
	const write = "write {% with name = value %}"
	n := &With{Pos: at, Names: []string{}}
	for more := p.peek().kind != kindClose; more; more = p.accept(kindSign, ",") {
		n.Names = append(n.Names, p.name(write))
		if !p.accept(kindSign, "=") {
			p.peek().fail("%s", write)
		}
		n.Values = append(n.Values, p.value())
	}
	n.Body = p.last(at, "with", n.Names, "endwith")
	return n
}

func (p *parser) macroTag(at Pos) Stmt {
	const write = "write {% macro name(a, b=1) %}"
	n := &Macro{Pos: at, Name: p.name(write)}
	if !p.accept(kindSign, "(") {
		p.peek().fail("%s", write)
	}
	p.scopes.bind(n.Name)
	p.scopes.push()
	for !p.accept(kindSign, ")") {
		name := p.name("the name of a parameter is missing")
		var value Expr
		if p.accept(kindSign, "=") {
			value = p.value()
		}
		n.Params, n.Defaults = append(n.Params, name), append(n.Defaults, value)
		p.scopes.bind(name)
		p.comma(")")
	}
	n.Body = p.last(at, "macro", nil, "endmacro")
	p.scopes.pop()
	return n
}
