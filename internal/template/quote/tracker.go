package quote

import (
	"strings"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

// tracker knows how a value must be quoted where it stands, or panics with a [*syntax.Error].
type tracker interface {
	// constant goes over text between tags.
	constant(at syntax.Pos, text string)
	// boundary checks that a tag may stand here.
	boundary(at syntax.Pos)
	// value checks that a value may stand here, and returns how it is written.
	value(at syntax.Pos, raw bool) style
	// merge checks that the text is in the same state on another way to the same place.
	merge(at syntax.Pos, other tracker)
	clone() tracker
}

// jsonTracker knows whether it is inside a JSON string.
type jsonTracker struct {
	inString bool
	escaped  bool // after a backslash in a string
}

func (t *jsonTracker) constant(_ syntax.Pos, text string) {
	for i := range len(text) {
		switch {
		case t.escaped:
			t.escaped = false
		case t.inString && text[i] == '\\':
			t.escaped = true
		case text[i] == '"':
			t.inString = !t.inString
		}
	}
}

func (t *jsonTracker) boundary(at syntax.Pos) {
	if t.escaped {
		panic(at.Errorf("a tag cannot stand after a backslash in a JSON string"))
	}
}

func (t *jsonTracker) value(at syntax.Pos, raw bool) style {
	t.boundary(at)
	switch {
	case raw:
		return asText
	case t.inString:
		return insideJSON
	}
	return asJSON
}

func (t *jsonTracker) merge(at syntax.Pos, other tracker) {
	if o, ok := other.(*jsonTracker); !ok || o.inString != t.inString {
		panic(at.Errorf("the tag opens or closes a JSON string on some of its ways only"))
	}
}

func (t *jsonTracker) clone() tracker { c := *t; return &c }

// urlTracker knows whether the host is still being written: a value could choose it.
type urlTracker struct {
	seen  string // the text so far, up to the end of the host
	query bool   // beyond the host
}

func (t *urlTracker) constant(_ syntax.Pos, text string) {
	if t.query {
		return
	}
	t.seen += text
	if _, rest, ok := strings.Cut(t.seen, "://"); ok && strings.ContainsAny(rest, "/?#") {
		t.query, t.seen = true, ""
	}
}

func (t *urlTracker) boundary(syntax.Pos) {}

func (t *urlTracker) value(at syntax.Pos, raw bool) style {
	if raw {
		t.seen += "x" // whatever it is, it may be the scheme, the host or both
		if !strings.Contains(t.seen, "://") {
			t.seen += "://"
		}
		return asText
	}
	if !t.query {
		panic(at.Errorf("a value would choose the host of the URL").
			Try("write the host, with a / after it, before the first value; or add | raw if the value can be trusted"))
	}
	return asPercent
}

func (t *urlTracker) merge(at syntax.Pos, other tracker) {
	if o, ok := other.(*urlTracker); !ok || o.query != t.query || o.seen != t.seen {
		panic(at.Errorf("a tag cannot choose between hosts of a URL"))
	}
}

func (t *urlTracker) clone() tracker { c := *t; return &c }
