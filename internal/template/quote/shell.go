package quote

import (
	"strings"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

// shellTracker follows the quoting of a POSIX shell. A value may stand only where quotes of its
// own make it one word; text that shells may read differently allows none after it.
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

func (t *shellTracker) constant(at syntax.Pos, text string) {
	for i := range len(text) {
		c := text[i]
		if c == 0 {
			panic(at.Errorf("a command cannot hold a NUL character"))
		}
		if t.tagged && t.in == shellPlain && (c == '#' || c == '(') {
			panic(at.Errorf("%q cannot follow a tag in a command", c).Try("put quotes around it or a space before it"))
		}
		t.step(c)
		t.last, t.tagged = c, false
	}
}

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

// doubtful are pairs of characters, outside of quotes, behind which shells differ.
var doubtful = map[string]string{"$'": "$'...'", "$[": "$[...]", "((": "((...))", "<<": "a here-document"}

func (t *shellTracker) plain(c byte) {
	t.doubt(doubtful[string([]byte{t.last, c})])
	switch c {
	case '\\':
		t.in = shellBackslash
	case '\'':
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

// boundary is called at every tag, which must not part characters that belong together.
func (t *shellTracker) boundary(at syntax.Pos) {
	switch {
	case t.in != shellPlain:
		panic(t.misplaced(at, "a tag"))
	case t.last != 0 && strings.IndexByte("$<", t.last) >= 0 && !t.tagged:
		panic(at.Errorf("a tag cannot follow %q in a command", t.last).Try("put a space between them"))
	}
	t.tagged, t.last = true, 0
}

func (t *shellTracker) misplaced(at syntax.Pos, what string) *syntax.Error {
	e := at.Errorf("%s cannot stand inside %s of a command", what, strings.TrimSpace(string(t.in)))
	if t.in == shellSingle || t.in == shellDouble {
		e.Hint = "leave the quotes out: each value is quoted as one word by itself; join texts with ~, as in {{ a ~ \" \" ~ b }}"
	}
	return e
}

func (t *shellTracker) value(at syntax.Pos, raw bool) style {
	if raw {
		t.tagged, t.last = true, 0
		return asText
	}
	if t.in != shellPlain {
		panic(t.misplaced(at, "a value"))
	}
	t.boundary(at)
	if t.unsure != "" {
		panic(at.Errorf("a value cannot be quoted safely after %s", t.unsure).
			Try("put the value into a variable first, as in x={{ value }}; then use \"$x\""))
	}
	return asWords
}

func (t *shellTracker) merge(at syntax.Pos, other tracker) {
	o, ok := other.(*shellTracker)
	if !ok || o.in != t.in {
		panic(at.Errorf("the tag opens or closes quotes on some of its ways only"))
	}
	t.doubt(o.unsure)
}

func (t *shellTracker) clone() tracker { c := *t; return &c }
