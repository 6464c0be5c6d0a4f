package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// tag is a {% tag %} of the dialect.
type tag struct {
	name   string
	closed bool // by {% endNAME %}
	parse  func(pos, *parser.Parser, *parser.Parser) (nodes.Node, error)
}

// tags returns what there is. It is a function because the parsers refer to each other.
func tags() []tag {
	return []tag{
		{"if", true, parseIf},
		{"for", true, parseFor},
		{"set", false, parseSet},
		{"with", true, parseWith},
		{"macro", true, parseMacro},
		{"raw", true, parseRaw},
	}
}

func tagOf(text string) (tag, bool) {
	name := identifier(text)
	for _, t := range tags() {
		if t.name == name {
			return t, true
		}
	}
	return tag{}, false
}

// inner are the words that stand in {% %} inside other tags.
var inner = []string{"elif", "else", "endif", "endfor", "endset", "endwith", "endmacro", "endraw"}

// source is a template's text as gonja reads it.
type source struct {
	text   string
	tokens []*tokens.Token
}

// parse returns gonja's tree.
func parse(src string) (tree *nodes.Template, s *source, err error) {
	text, err := scan(src)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			tree, s, err = nil, nil, pos{1, 1}.syntax("the template cannot be read: %v", p)
		}
	}()
	cfg := config.New()
	cfg.KeepTrailingNewline = true
	s = &source{text: text}
	if err := s.lex(cfg); err != nil {
		return nil, nil, err
	}
	tree, err = parser.NewParser("template", tokens.NewStream(s.tokens), cfg, nil, s).Parse()
	if err != nil {
		return nil, nil, s.syntaxError(err)
	}
	return tree, s, nil
}

// lex reads the tokens, and checks the ones that gonja is lax about.
func (s *source) lex(cfg *config.Config) error {
	stream := tokens.LexAll(s.text, cfg)
	for {
		t := stream.Current()
		if t.Type == tokens.Error {
			return placeOf(s.text, t.Pos).syntax("%s", lowerFirst(t.Val))
		}
		s.tokens = append(s.tokens, t)
		if t.Type == tokens.EOF {
			break
		}
		stream.Next()
	}
	for i, t := range s.tokens {
		if t.Type == tokens.BlockBegin {
			if err := checkTag(s.tokens[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkTag(name *tokens.Token) error {
	at := place(name)
	_, known := tagOf(name.Val)
	switch {
	case known || slices.Contains(inner, name.Val):
		return nil
	case name.Val == "":
		return at.syntax("the name of a tag is missing")
	case slices.Contains([]string{"include", "import", "from", "extends", "block"}, name.Val):
		e := at.syntax("the tag %q is not allowed: a template cannot read other files", name.Val)
		e.Hint = "write the text in place, or pass it in as a variable"
		return e
	}
	names := slices.Clone(inner)
	for _, t := range tags() {
		names = append(names, t.name)
	}
	e := at.syntax("there is no tag %q", name.Val)
	e.Hint = guess(name.Val, "", names)
	return e
}

// Get finds the parser of a tag: s is gonja's table of tags.
func (s *source) Get(name string) (parser.ControlStructureParser, bool) {
	t, ok := tagOf(name)
	if !ok {
		return nil, false
	}
	return func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		at := s.tagBefore(p.Current())
		n, err := t.parse(at, p, args)
		if err == nil && !args.End() {
			err = placeOr(args.Current(), at).syntax("unexpected %q in the tag %s", args.Current().Val, t.name)
		}
		if err != nil {
			return nil, s.located(err, at)
		}
		return n, nil
	}, true
}

// tagBefore returns the place of the last tag that begins before t.
func (s *source) tagBefore(t *tokens.Token) pos {
	at := pos{1, 1}
	for _, b := range s.tokens {
		if b == t || b.Pos >= t.Pos && t.Type != tokens.EOF {
			break
		}
		if b.Type == tokens.BlockBegin {
			at = place(b)
		}
	}
	return at
}

// located returns err as a SyntaxError, at the given place when it has none of its own.
func (s *source) located(err error, at pos) error {
	var ours *SyntaxError
	if errors.As(err, &ours) {
		return ours
	}
	var theirs *parser.SyntaxError
	if !errors.As(err, &theirs) {
		return at.syntax("%s", lowerFirst(err.Error()))
	}
	if theirs.Line > 0 {
		at = pos{theirs.Line, theirs.Column}
	}
	return at.syntax("%s", explain(theirs))
}

func (s *source) syntaxError(err error) error {
	return s.located(err, placeOf(s.text, len(s.text)))
}

// explain puts gonja's messages into the words of this package.
func explain(e *parser.SyntaxError) string {
	msg := lowerFirst(e.Message)
	switch name := strings.TrimSpace(e.Raw); {
	case strings.HasPrefix(e.Message, "ControlStructure"):
		return fmt.Sprintf("%q without the tag it belongs to", name)
	case strings.HasPrefix(e.Message, "Unexpected EOF, expected tag "):
		return "the tag is not closed: " + strings.TrimSuffix(strings.TrimPrefix(msg, "unexpected EOF, expected tag "), ".") +
			" is missing"
	case name != "" && !strings.Contains(msg, name):
		return strings.TrimSuffix(msg, ".") + fmt.Sprintf(", found %q", name)
	}
	return strings.TrimSuffix(msg, ".")
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func place(t *tokens.Token) pos { return pos{t.Line, t.Col} }

func placeOr(t *tokens.Token, at pos) pos {
	if t == nil || t.Line == 0 {
		return at
	}
	return place(t)
}
