package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxYAMLColumn bounds the depth of blocks: the parser's time grows with its square.
const maxYAMLColumn = 800

// parseYAML fills in f.Root from the first document, or adds the problem that stopped it.
func parseYAML(f *File) {
	tokens := lexer.Tokenize(string(f.data))
	if len(tokens) > maxTokens {
		at := f.offset(posOf(tokens[maxTokens]))
		f.problem(ProblemTooLarge, at, at+1, fmt.Sprintf("the file has more than %d YAML tokens", maxTokens), "write it as JSON, or split it")
		return
	}
	if t := tooDeep(tokens); t != nil {
		at := f.offset(posOf(t))
		f.problem(ProblemTooDeep, at, at+1, fmt.Sprintf("values are nested more than %d deep", MaxDepth), "")
		return
	}
	doc, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		f.yamlSyntax(err)
		return
	}
	b := yamlBuilder{file: f, anchors: map[string]ast.Node{}}
	f.Root = b.document(doc)
}

// tooDeep returns the token at which flow collections or blocks nest too deep, or nil.
func tooDeep(tokens token.Tokens) *token.Token {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			if depth++; depth > MaxDepth {
				return t
			}
		case token.MappingEndType, token.SequenceEndType:
			depth = max(0, depth-1)
		case token.SequenceEntryType, token.MappingKeyType:
			if depth == 0 && t.Position.Column > maxYAMLColumn {
				return t
			}
		case token.MappingValueType:
			if depth == 0 && t.Prev != nil && t.Prev.Position.Column > maxYAMLColumn {
				return t
			}
		}
	}
	return nil
}

func posOf(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{Line: 1, Col: 1}
	}
	return Pos{Line: t.Position.Line, Col: t.Position.Column}
}

func (f *File) yamlSyntax(err error) {
	message, at := err.Error(), 0
	var ye yaml.Error
	if errors.As(err, &ye) {
		message, at = ye.GetMessage(), f.offset(posOf(ye.GetToken()))
	}
	message, _, _ = strings.Cut(message, "\n")
	hint := ""
	if at < len(f.data) && f.data[at] == '\t' {
		hint = "YAML is indented with spaces, never with tabs"
	}
	f.problem(ProblemSyntax, at, at+1, "not valid YAML: "+message, hint)
}

// yamlBuilder turns the parser's tree into nodes. Aliases are expanded, so it counts what it makes.
type yamlBuilder struct {
	file    *File
	anchors map[string]ast.Node
	active  []string // the anchors whose content is being built, to find one that contains itself
	nodes   int
	failed  bool
}

func (b *yamlBuilder) fail(code ProblemCode, n ast.Node, message, hint string) *Node {
	if !b.failed {
		b.failed = true
		b.note(code, n, message, hint)
	}
	return nil
}

// note adds a problem that does not stop the tree from being built.
func (b *yamlBuilder) note(code ProblemCode, n ast.Node, message, hint string) {
	at := b.at(Null, n)
	b.file.problem(code, at.Start, at.End, message, hint)
}

// at returns a value that begins where a node of the parser does, and ends with its first token.
func (b *yamlBuilder) at(kind Kind, n ast.Node) *Node {
	start := b.start(n)
	return &Node{Kind: kind, Start: start, End: b.tokenEnd(start)}
}

func (b *yamlBuilder) document(doc *ast.File) *Node {
	var bodies []ast.Node
	for _, d := range doc.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			bodies = append(bodies, d.Body)
		}
	}
	if len(bodies) == 0 {
		b.file.problem(ProblemSyntax, 0, 0, "the file is empty", "")
		return nil
	}
	if len(bodies) > 1 {
		b.note(ProblemSyntax, bodies[1], "a second YAML document", `a file holds one document; remove what follows the "---"`)
	}
	root := b.node(bodies[0], 0)
	if b.failed {
		return nil
	}
	return root
}

func (b *yamlBuilder) node(n ast.Node, depth int) *Node {
	b.nodes++
	switch {
	case b.failed:
		return nil
	case depth > MaxDepth:
		return b.fail(ProblemTooDeep, n, fmt.Sprintf("values are nested more than %d deep", MaxDepth), "")
	case b.nodes > maxNodes:
		return b.fail(ProblemTooLarge, n, fmt.Sprintf("the file has more than %d values when its aliases are expanded", maxNodes), "")
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return b.mapping(n, n.Values, depth)
	case *ast.MappingValueNode:
		return b.mapping(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return b.sequence(n, depth)
	case *ast.AnchorNode:
		return b.anchor(n, depth)
	case *ast.AliasNode:
		return b.alias(n, depth)
	case *ast.TagNode:
		return b.tagged(n, depth)
	default:
		return b.scalar(n)
	}
}

func (b *yamlBuilder) sequence(n *ast.SequenceNode, depth int) *Node {
	out := b.at(Array, n)
	for _, v := range n.Values {
		item := b.node(v, depth+1)
		if b.failed {
			return nil
		}
		out.Items = append(out.Items, item)
		out.End = max(out.End, item.End)
	}
	return out
}

func (b *yamlBuilder) anchor(n *ast.AnchorNode, depth int) *Node {
	name := n.Name.GetToken().Value
	b.anchors[name] = n.Value
	b.active = append(b.active, name)
	defer func() { b.active = b.active[:len(b.active)-1] }()
	if n.Value == nil {
		return b.at(Null, n)
	}
	return b.node(n.Value, depth+1)
}

func (b *yamlBuilder) alias(n *ast.AliasNode, depth int) *Node {
	name := n.Value.GetToken().Value
	if slices.Contains(b.active, name) {
		return b.fail(ProblemSyntax, n, fmt.Sprintf("the anchor %q contains itself", name), "")
	}
	target, ok := b.anchors[name]
	if !ok || target == nil {
		return b.fail(ProblemSyntax, n, fmt.Sprintf("no anchor %q stands above this alias", name), "an anchor is set with &"+name)
	}
	b.active = append(b.active, name)
	defer func() { b.active = b.active[:len(b.active)-1] }()
	return b.node(target, depth+1)
}

// tagged supports the tags of the core schema; the value decides except for !!str.
func (b *yamlBuilder) tagged(n *ast.TagNode, depth int) *Node {
	switch tag := n.Start.Value; tag {
	case "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null":
		return b.node(n.Value, depth+1)
	case "!!str":
		out := b.node(n.Value, depth+1)
		if !b.failed && out.Kind < String {
			out.Kind, out.Text = String, n.Value.GetToken().Value
		}
		return out
	default:
		return b.fail(ProblemSyntax, n, fmt.Sprintf("the tag %q is not supported", tag), "remove it")
	}
}

func (b *yamlBuilder) mapping(n ast.Node, values []*ast.MappingValueNode, depth int) *Node {
	out := b.at(Object, n)
	out.index = map[string]int{}
	var merged []*Node
	for _, v := range values {
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			merged = append(merged, b.merge(v.Value, depth)...)
		} else {
			b.member(out, v, depth)
		}
		if b.failed {
			return nil
		}
	}
	for _, m := range merged {
		for _, member := range m.Members {
			if _, own := out.index[member.Key]; !own {
				out.index[member.Key] = len(out.Members)
				out.Members = append(out.Members, member)
			}
		}
	}
	return out
}

func (b *yamlBuilder) member(out *Node, v *ast.MappingValueNode, depth int) {
	m, ok := b.key(v.Key)
	if !ok {
		return
	}
	if m.Value = b.at(Null, v); v.Value != nil {
		m.Value = b.node(v.Value, depth+1)
	}
	if !b.failed {
		out.End = max(out.End, m.Value.End)
		b.file.addMember(out, m)
	}
}

// merge returns the mappings that "<<" brings in: one, or a list of them, the earlier ones winning.
func (b *yamlBuilder) merge(value ast.Node, depth int) []*Node {
	n := b.node(value, depth+1)
	switch {
	case b.failed:
		return nil
	case n.Kind == Object:
		return []*Node{n}
	case n.Kind == Array:
		if slices.ContainsFunc(n.Items, func(item *Node) bool { return item.Kind != Object }) {
			b.note(ProblemSyntax, value, "a merge key takes mappings only", "")
			return nil
		}
		return n.Items
	default:
		b.note(ProblemSyntax, value, "a merge key takes a mapping or a list of mappings", "")
		return nil
	}
}

func (b *yamlBuilder) key(k ast.MapKeyNode) (Member, bool) {
	var n ast.Node = k
	if wrapped, ok := k.(*ast.MappingKeyNode); ok && wrapped.Value != nil {
		n = wrapped.Value
	}
	if a, ok := n.(*ast.AnchorNode); ok && a.Value != nil {
		b.anchors[a.Name.GetToken().Value] = a.Value
		n = a.Value
	}
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.MappingKeyNode:
		b.fail(ProblemSyntax, n, "a key that is not a plain value", "keys are strings")
		return Member{}, false
	}
	v := b.node(n, 0)
	if b.failed {
		return Member{}, false
	}
	text := v.Text
	if v.Kind == Null {
		text = n.GetToken().Value
	}
	return Member{Key: text, KeyStart: v.Start, KeyEnd: v.End}, true
}

func (b *yamlBuilder) scalar(n ast.Node) *Node {
	out := b.at(Null, n)
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, strconv.FormatBool(n.Value)
	case *ast.IntegerNode:
		out.Kind, out.Text = Number, fmt.Sprint(n.Value)
	case *ast.FloatNode:
		return b.float(n, out)
	case *ast.InfinityNode, *ast.NanNode:
		return b.fail(ProblemSyntax, n, "infinity and NaN are no numbers here", "")
	case *ast.StringNode:
		out.Kind, out.Text = String, n.Value
	case *ast.LiteralNode:
		out.Kind, out.Text = String, n.Value.Value
	default:
		return b.fail(ProblemSyntax, n, "this kind of YAML value is not supported", "")
	}
	if !utf8.ValidString(out.Text) {
		return b.fail(ProblemEncoding, n, "an escape sequence in this string is no valid character", "")
	}
	return out
}

func (b *yamlBuilder) float(n *ast.FloatNode, out *Node) *Node {
	if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
		return b.fail(ProblemSyntax, n, fmt.Sprintf("the number %s is out of range", n.GetToken().Value), "")
	}
	out.Kind, out.Text = Number, n.GetToken().Value
	if !json.Valid([]byte(out.Text)) || !finite(out.Text) {
		out.Text = strconv.FormatFloat(n.Value, 'g', -1, 64)
	}
	return out
}

func (b *yamlBuilder) start(n ast.Node) int {
	if n == nil {
		return 0
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0]
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		n = v.Key // The token of a block mapping is its first colon.
	}
	return b.file.offset(posOf(n.GetToken()))
}

// tokenEnd returns where the token at an offset ends on its line.
func (b *yamlBuilder) tokenEnd(start int) int {
	data := b.file.data
	if start >= len(data) {
		return len(data)
	}
	line := data[start:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if len(line) == 0 {
		return start
	}
	switch line[0] {
	case '"', '\'':
		return start + quotedLen(line)
	case '{', '[', '|', '>', '?':
		return start + 1
	}
	return start + plainLen(line)
}

func quotedLen(line []byte) int {
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && line[0] == '"':
			i++
		case line[i] == line[0] && line[0] == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
		case line[i] == line[0]:
			return i + 1
		}
	}
	return len(bytes.TrimRight(line, " \t\r"))
}

func plainLen(line []byte) int {
	end := len(line)
	for i, c := range line {
		next := byte(' ')
		if i+1 < len(line) {
			next = line[i+1]
		}
		blank := next == ' ' || next == '\t' || next == '\r'
		if c == ':' && (blank || next == ',' || next == '}') || c == ',' && blank || c == ']' || c == '}' || i > 0 && c == '#' && line[i-1] == ' ' {
			end = i
			break
		}
	}
	return max(len(bytes.TrimRight(line[:end], " \t\r")), min(1, len(line)))
}
