// Package strict reads JSON or YAML fields and collects unknown keys and wrong types with their
// places.
package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Problem is one thing wrong with a file.
type Problem struct {
	File    string
	Pos     source.Pos
	Message string
	Hint    string // what to do about it; may be empty
	Page    string // of the documentation, where it is another one than that of the file

	offset int // of Pos
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Pos.Line, p.Pos.Col, p.Message)
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Error is everything wrong with one file, in the order of the file.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Page returns the page of the documentation that describes what is wrong, "" for that of the file.
func (e *Error) Page() string {
	for _, p := range e.Problems {
		if p.Page == "" || p.Page != e.Problems[0].Page {
			return ""
		}
	}
	return e.Problems[0].Page
}

// Reader reads one file's values in one goroutine. Its methods note problems for [Reader.Err].
type Reader struct {
	file     *source.File
	problems []Problem
	page     string // of what is read now
}

// Parse reads the file's text.
func Parse(name string, data []byte) *Reader {
	r := &Reader{file: source.Parse(name, data)}
	for _, p := range r.file.Problems {
		r.note(p.Start, p.Hint, p.Message)
	}
	return r
}

// Root returns the file's value, or nil when the syntax is broken.
func (r *Reader) Root() *source.Node { return r.file.Root }

// Err returns an [*Error] with every problem found so far, or nil.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	sorted := slices.SortedStableFunc(slices.Values(r.problems), func(a, b Problem) int { return a.offset - b.offset })
	return &Error{Problems: sorted}
}

// Described says which page describes what is read until the returned function is called.
func (r *Reader) Described(page string) (end func()) {
	before := r.page
	r.page = page
	return func() { r.page = before }
}

// Fail notes a problem with a value.
func (r *Reader) Fail(n *source.Node, hint, format string, args ...any) {
	at := 0
	if n != nil {
		at = n.Start
	}
	r.note(at, hint, fmt.Sprintf(format, args...))
}

func (r *Reader) note(offset int, hint, message string) {
	r.problems = append(r.problems, Problem{File: r.file.Name, Pos: r.file.Pos(offset), Message: message, Hint: hint, Page: r.page, offset: offset})
}

// Fields says how each key of an object is read.
type Fields map[string]func(*source.Node)

// Object reads an object called what, whose other keys are problems. It reports whether n is one
// with known keys only: then missing ones are worth reporting.
func (r *Reader) Object(n *source.Node, what string, fields Fields) bool {
	if !r.is(n, source.Object, what, "an object") {
		return false
	}
	sound := true
	for _, m := range n.Members {
		read, ok := fields[m.Key]
		if !ok {
			sound = false
			r.note(m.KeyStart, suggest(m.Key, fields), fmt.Sprintf("unknown key %q in %s", m.Key, what))
			continue
		}
		read(m.Value)
	}
	return sound
}

// Each reads an object with free keys, in the order of the file.
func (r *Reader) Each(n *source.Node, what string, read func(key string, value *source.Node)) {
	if r.is(n, source.Object, what, "an object") {
		for _, m := range n.Members {
			read(m.Key, m.Value)
		}
	}
}

// List reads an array.
func (r *Reader) List(n *source.Node, what string, read func(i int, item *source.Node)) {
	if r.is(n, source.Array, what, "a list") {
		for i, item := range n.Items {
			read(i, item)
		}
	}
}

// String reads a string.
func (r *Reader) String(n *source.Node, what string) string {
	if !r.is(n, source.String, what, "a string") {
		return ""
	}
	return n.Text
}

// Strings reads a list of strings.
func (r *Reader) Strings(n *source.Node, what string) []string {
	var out []string
	r.List(n, what, func(_ int, item *source.Node) { out = append(out, r.String(item, "an item of "+what)) })
	return out
}

// Bool reads true or false.
func (r *Reader) Bool(n *source.Node, what string) bool {
	return r.is(n, source.Bool, what, "true or false") && n.Text == "true"
}

// Number reads a number that is not below the minimum.
func (r *Reader) Number(n *source.Node, what string, minimum float64) float64 {
	if !r.is(n, source.Number, what, "a number") {
		return 0
	}
	var v float64
	if err := json.Unmarshal([]byte(n.Text), &v); err != nil {
		r.Fail(n, "", "%s is not a number that can be used: %s", what, n.Text)
		return 0
	}
	if v < minimum {
		r.Fail(n, "", "%s must be at least %g, it is %s", what, minimum, n.Text)
		return 0
	}
	return v
}

// Int reads a whole number that is not below the minimum.
func (r *Reader) Int(n *source.Node, what string, minimum int) int {
	v := r.Number(n, what, float64(minimum))
	if v != float64(int(v)) {
		r.Fail(n, "", "%s must be a whole number, it is %s", what, n.Text)
		return 0
	}
	return int(v)
}

func (r *Reader) is(n *source.Node, kind source.Kind, what, article string) bool {
	if n != nil && n.Kind == kind {
		return true
	}
	r.Fail(n, "", "%s must be %s", what, article)
	return false
}

// suggest names the known key that a misspelt one is nearest to, or else all of them.
func suggest(key string, fields Fields) string {
	known := slices.Sorted(maps.Keys(fields))
	if near := suggestion.For(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known keys: " + strings.Join(known, ", ")
}
