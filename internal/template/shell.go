package template

import (
	"encoding/json"
	"errors"
	"strings"
)

// shellTracker follows the quoting of a POSIX shell through the constant text of a command. A value may stand only where
// quotes of its own make it one word whatever it holds. Text in which that cannot be told for certain, by every shell
// that may be /bin/sh, allows no values after it.
type shellTracker struct {
	in     shellState
	unsure string     // why no value may follow, or empty
	last   byte       // the last character, 0 at the start and after a tag
	tagged bool       // the last thing was a tag: its value may have been empty
	back   shellState // where a ${...} stands
}

type shellState string

const (
	shellPlain     shellState = ""
	shellSingle    shellState = "single quotes"
	shellDouble    shellState = "double quotes"
	shellComment   shellState = "a comment"
	shellBrace     shellState = "${...}"
	shellBackslash shellState = "a backslash's reach" // plain, after a backslash
	shellEscaped   shellState = "double quotes "      // in double quotes, after a backslash
)

func (t *shellTracker) constant(at pos, text string) error {
	for i := range len(text) {
		c := text[i]
		if c == 0 {
			return at.syntax("a command cannot hold a NUL character")
		}
		if t.tagged && t.in == shellPlain && (c == '#' || c == '(') {
			e := at.syntax("%q cannot follow a tag in a command", c)
			e.Hint = "put quotes around it or a space before it"
			return e
		}
		t.step(c)
		t.last, t.tagged = c, false
	}
	return nil
}

// step goes over one character.
func (t *shellTracker) step(c byte) {
	switch t.in {
	case shellPlain:
		t.plain(c)
	case shellSingle:
		if c == '\'' {
			t.in = shellPlain
		}
	case shellDouble:
		t.double(c)
	case shellComment:
		if c == '\n' {
			t.in = shellPlain
		}
	case shellBrace:
		if c == '}' {
			t.in = t.back
		} else if strings.IndexByte("'\"`\\${", c) >= 0 {
			t.doubt("${...} with quotes in it")
		}
	case shellBackslash:
		t.in = shellPlain
	case shellEscaped:
		t.in = shellDouble
	}
}

func (t *shellTracker) plain(c byte) {
	switch c {
	case '\\':
		t.in = shellBackslash
	case '\'':
		if t.last == '$' {
			t.doubt("$'...'")
		}
		t.in = shellSingle
	case '"':
		t.in = shellDouble
	case '`':
		t.doubt("`...`; write $(...)")
	case '#':
		if t.last == 0 || strings.IndexByte(" \t\n;&|()<>", t.last) >= 0 {
			t.in = shellComment
		}
	case '{':
		if t.last == '$' {
			t.in, t.back = shellBrace, shellPlain
		}
	case '[':
		if t.last == '$' {
			t.doubt("$[...]")
		}
	case '(':
		if t.last == '(' {
			t.doubt("((...))")
		}
	case '<':
		if t.last == '<' {
			t.doubt("a here-document")
		}
	}
}

func (t *shellTracker) double(c byte) {
	switch c {
	case '"':
		t.in = shellPlain
	case '\\':
		t.in = shellEscaped
	case '`':
		t.doubt("`...`; write $(...)")
	case '{':
		if t.last == '$' {
			t.in, t.back = shellBrace, shellDouble
		}
	case '(', '[':
		if t.last == '$' {
			t.doubt("$" + string(c) + "... inside double quotes")
		}
	}
}

func (t *shellTracker) doubt(why string) {
	if t.unsure == "" {
		t.unsure = why
	}
}

// boundary is called at every tag. A character that would mean something else together with the next one must not be
// cut off from it.
func (t *shellTracker) boundary(at pos) error {
	switch {
	case t.in != shellPlain:
		return t.misplaced(at, "a tag")
	case t.last != 0 && strings.IndexByte("$<", t.last) >= 0 && !t.tagged:
		e := at.syntax("a tag cannot follow %q in a command", t.last)
		e.Hint = "put a space between them"
		return e
	}
	t.tagged, t.last = true, 0
	return nil
}

func (t *shellTracker) misplaced(at pos, what string) error {
	e := at.syntax("%s cannot stand inside %s of a command", what, strings.TrimSpace(string(t.in)))
	if t.in == shellSingle || t.in == shellDouble {
		e.Hint = "leave the quotes out: each value is quoted as one word by itself; join texts with ~, as in {{ a ~ \" \" ~ b }}"
	}
	return e
}

func (t *shellTracker) value(at pos, raw bool) (func(*run, any) (string, error), error) {
	if raw {
		t.tagged, t.last = true, 0
		return writeText, nil
	}
	if t.in != shellPlain {
		return nil, t.misplaced(at, "a value")
	}
	if err := t.boundary(at); err != nil {
		return nil, err
	}
	if t.unsure != "" {
		e := at.syntax("a value cannot be quoted safely after %s", t.unsure)
		e.Hint = "put the value into a variable first, as in x={{ value }}; then use \"$x\""
		return nil, e
	}
	return quoteShell, nil
}

func (t *shellTracker) merge(at pos, other tracker) error {
	o, ok := other.(*shellTracker)
	if !ok || o.in != t.in {
		return at.syntax("the tag opens or closes quotes on some of its ways only")
	}
	t.doubt(o.unsure)
	return nil
}

func (t *shellTracker) clone() tracker { c := *t; return &c }

// quoteShell writes a value as one word of a POSIX shell, and a list as one word for each of its items.
func quoteShell(r *run, v any) (string, error) {
	l, ok := v.([]any)
	if !ok {
		s, err := r.text(v)
		if err != nil {
			return "", err
		}
		w, err := quoteWord(r, s)
		r.place(0, w, v)
		return w, err
	}
	words := make([]string, len(l))
	offset := 0
	for i, x := range l {
		s, err := r.text(plain(x))
		if err != nil {
			return "", err
		}
		if words[i], err = quoteWord(r, s); err != nil {
			return "", err
		}
		r.place(offset, words[i], plain(x))
		offset += len(words[i]) + 1
	}
	return strings.Join(words, " "), nil
}

// place notes a word of a value that is about to be written.
func (r *run) place(offset int, word string, v any) {
	start := len(r.out) + offset
	r.placed = append(r.placed, span{start, start + len(word), writtenAsNumber(v)})
}

// writtenAsNumber reports whether a value is written as a number, so that a shell has nothing to evaluate in it.
func writtenAsNumber(v any) bool {
	switch v.(type) {
	case int, int64, float64, json.Number:
		return true
	}
	return false
}

// skeleton returns the command with placeholders for its values, and how many there are.
func (r *run) skeleton() (string, int) {
	var b strings.Builder
	at, n := 0, 0
	for _, s := range r.placed {
		if s.number {
			continue
		}
		b.Write(r.out[at:s.start])
		b.WriteString("'" + placeholder(n) + "'")
		at, n = s.end, n+1
	}
	b.Write(r.out[at:])
	return b.String(), n
}

func quoteWord(r *run, s string) (string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("a value with a NUL character cannot be put into a command")
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", r.spendBytes(len(s))
}
