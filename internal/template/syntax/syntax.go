// Package syntax reads the text of a template: a lexer, a parser of recursive descent, and the tree
// that they make.
//
// The parser knows the language but not its filters, tests, functions and methods; their names are
// given to it ([Names]), so that a name that does not exist is an error where it stands. A tree is
// plain data: what it means is the business of whoever walks it. Every node has a place in the
// text, and what nests is bounded, so that a walk over a tree needs no bounds of its own. Bad input
// is an [*Error], never a panic.
package syntax

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/template/hint"
)

const (
	maxSource  = 1 << 20 // bytes of a template's text
	maxNesting = 60      // brackets inside brackets, and tags inside tags
	maxDepth   = 500     // operators and filters of one expression, each of which nests the ones before it
)

// Error is a template that cannot be used. Line and Col count from 1, Col in bytes.
type Error struct {
	Line, Col int
	Msg       string
	Hint      string // what to try next, may be empty
}

func (e *Error) Error() string {
	return hint.After(fmt.Sprintf("template, line %d, column %d: %s", e.Line, e.Col, e.Msg), e.Hint)
}

// Pos is a place in a template's text. It is embedded in every node.
type Pos struct{ Line, Col int }

// Place returns the place itself.
func (p Pos) Place() Pos { return p }

// Errorf returns an error at the place.
func (p Pos) Errorf(format string, args ...any) *Error {
	return &Error{Line: p.Line, Col: p.Col, Msg: fmt.Sprintf(format, args...)}
}

// Try returns the error with a hint.
func (e *Error) Try(hint string) *Error {
	e.Hint = hint
	return e
}

// Recover is deferred by functions that read a template; what they call panics with an [*Error].
func Recover(err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = e
	default:
		panic(e)
	}
}

// fail ends the reading of a template with an error at the place. [Parse] returns it.
func (p Pos) fail(format string, args ...any) { panic(p.Errorf(format, args...)) }

func (p Pos) unknown(what, name string, names []string) *Error {
	return p.Errorf("there is no %s %q", what, name).Try(hint.Guess(name, "", names))
}

// Names is what the language's parser must know of the rest of the dialect.
type Names struct {
	Filters   []string
	Functions []string
	Methods   []string
	Tests     map[string]int // by name: how many arguments each takes
}

// Tree is a template that has been read.
type Tree struct {
	Body  Block
	Roots []string // the variables that are mentioned and not bound by the template itself, sorted
}

// Parse reads a template. An error is an [*Error].
func Parse(src string, names *Names) (tree *Tree, err error) {
	defer Recover(&err)
	if len(src) > maxSource {
		Pos{1, 1}.fail("the template is longer than %d bytes", maxSource)
	}
	if strings.Contains(src, "\r") {
		src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	}
	p := &parser{exprs: exprs{cursor: cursor{list: lex(src)}, names: names, scopes: newScopes()}}
	body, _ := p.block(Pos{}, nil)
	return &Tree{Body: body, Roots: slices.Sorted(maps.Keys(p.scopes.roots))}, nil
}
