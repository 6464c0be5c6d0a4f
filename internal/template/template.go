package template

import (
	"maps"
	"slices"
	"strings"
)

// Mode is the kind of text that a template makes. It decides how interpolated values are quoted.
type Mode string

// The modes.
const (
	ModeText  Mode = "a text"          // values are written as they are: strings bare, everything else as JSON
	ModeShell Mode = "a command"       // each value is one quoted word of a POSIX shell, a list is one word for each item
	ModeURL   Mode = "a URL"           // values are percent-encoded
	ModeForm  Mode = "a form"          // as in a URL, for a body of name=value pairs
	ModeJSON  Mode = "a JSON document" // values are JSON; inside a JSON string, the inside of one
)

// Template is a text that has been read and can be rendered any number of times. It is immutable: any number of
// goroutines may render it at once.
type Template struct {
	body     stmt
	constant string // the whole text, when nothing is interpolated
	fixed    bool
	roots    []string
}

// Parse reads a template for a text. An error is a [*SyntaxError].
func Parse(src string) (*Template, error) { return ParseMode(ModeText, src) }

// ParseShell reads a template for a command line that is run by a POSIX shell.
func ParseShell(src string) (*Template, error) { return ParseMode(ModeShell, src) }

// ParseURL reads a template for a URL.
func ParseURL(src string) (*Template, error) { return ParseMode(ModeURL, src) }

// ParseMode reads a template for one kind of text. An error is a [*SyntaxError].
func ParseMode(mode Mode, src string) (*Template, error) {
	if !strings.Contains(src, "{{") && !strings.Contains(src, "{%") && !strings.Contains(src, "{#") {
		return &Template{constant: src, fixed: true}, nil
	}
	tree, s, err := parse(src)
	if err != nil {
		return nil, err
	}
	c := newCompiler(s, mode)
	b, err := c.block(tree.Nodes)
	if err != nil {
		return nil, err
	}
	if mode == ModeShell {
		if err := checkWays(b); err != nil {
			return nil, err
		}
	}
	return &Template{body: b, roots: slices.Sorted(maps.Keys(c.roots))}, nil
}

// References returns the variables that the template mentions and does not bind itself, sorted.
func (t *Template) References() []string { return slices.Clone(t.roots) }

// Uses reports whether the template mentions the variable.
func (t *Template) Uses(name string) bool { return slices.Contains(t.roots, name) }

// Constant returns the text and true when there is nothing to render in it.
func (t *Template) Constant() (string, bool) { return t.constant, t.fixed }

// Option changes how a template is rendered.
type Option func(*run)

// MaxOutput bounds the text, in bytes. Without it the bound is [DefaultMaxOutput].
func MaxOutput(n int) Option { return func(r *run) { r.maxOutput = n } }

// Render returns the text. The variables are read, never written; values that are not plain JSON are taken as JSON
// shows them. Lookups that found nothing in state or outputs are named in the warnings.
//
// An error is a [*MissingError] or a [*RenderError]; then there is no text.
func (t *Template) Render(vars map[string]any, opts ...Option) (text string, warnings []string, err error) {
	if t.fixed {
		return t.constant, nil, nil
	}
	r := &run{vars: vars, maxOutput: DefaultMaxOutput}
	for _, o := range opts {
		o(r)
	}
	defer func() {
		if p := recover(); p != nil {
			text, warnings = "", nil
			err = pos{1, 1}.fail(panicError{p})
		}
	}()
	if err := t.body.render(&frame{run: r}); err != nil {
		return "", r.warnings, err
	}
	if len(r.placed) > 0 {
		if err := checkCommand(r.skeleton()); err != nil {
			return "", r.warnings, pos{1, 1}.fail(err)
		}
	}
	return string(r.out), r.warnings, nil
}
