package quote

import (
	"strings"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

// tracker follows the text of a template and knows how a value must be quoted where it stands.
type tracker interface {
	// constant goes over text between tags.
	constant(at syntax.Pos, text string) error
	// boundary checks that a tag may stand here.
	boundary(at syntax.Pos) error
	// value checks that a value may stand here, and returns how it is written.
	value(at syntax.Pos, raw bool) (style, error)
	// merge checks that the text is in the same state on another way to the same place.
	merge(at syntax.Pos, other tracker) error
	clone() tracker
}

func newTracker(m Mode) tracker {
	switch m {
	case ModeShell:
		return &shellTracker{}
	case ModeURL:
		return &urlTracker{}
	case ModeForm:
		return &urlTracker{query: true}
	case ModeJSON:
		return &jsonTracker{}
	default:
		return textTracker{}
	}
}

// textTracker is for text without quoting.
type textTracker struct{}

func (textTracker) constant(syntax.Pos, string) error { return nil }
func (textTracker) boundary(syntax.Pos) error         { return nil }
func (textTracker) merge(syntax.Pos, tracker) error   { return nil }
func (t textTracker) clone() tracker                  { return t }

func (textTracker) value(syntax.Pos, bool) (style, error) { return asText, nil }

// jsonTracker knows whether it is inside a JSON string.
type jsonTracker struct {
	inString bool
	escaped  bool // after a backslash in a string
}

func (t *jsonTracker) constant(_ syntax.Pos, text string) error {
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
	return nil
}

func (t *jsonTracker) boundary(at syntax.Pos) error {
	if t.escaped {
		return at.Errorf("a tag cannot stand after a backslash in a JSON string")
	}
	return nil
}

func (t *jsonTracker) value(at syntax.Pos, raw bool) (style, error) {
	if err := t.boundary(at); err != nil {
		return asText, err
	}
	switch {
	case raw:
		return asText, nil
	case t.inString:
		return insideJSON, nil
	}
	return asJSON, nil
}

func (t *jsonTracker) merge(at syntax.Pos, other tracker) error {
	if o, ok := other.(*jsonTracker); !ok || o.inString != t.inString {
		return at.Errorf("the tag opens or closes a JSON string on some of its ways only")
	}
	return nil
}

func (t *jsonTracker) clone() tracker { c := *t; return &c }

// urlTracker knows whether the host is still being written: a value could choose it.
type urlTracker struct {
	seen  string // the text so far, up to the end of the host
	query bool   // beyond the host
}

func (t *urlTracker) constant(_ syntax.Pos, text string) error {
	if t.query {
		return nil
	}
	t.seen += text
	if _, rest, ok := strings.Cut(t.seen, "://"); ok && strings.ContainsAny(rest, "/?#") {
		t.query, t.seen = true, ""
	}
	return nil
}

func (t *urlTracker) boundary(syntax.Pos) error { return nil }

func (t *urlTracker) value(at syntax.Pos, raw bool) (style, error) {
	if raw {
		t.seen += "x" // whatever it is, it may be the scheme, the host or both
		if !strings.Contains(t.seen, "://") {
			t.seen += "://"
		}
		return asText, nil
	}
	if !t.query {
		e := at.Errorf("a value would choose the host of the URL")
		e.Hint = "write the host, with a / after it, before the first value; or add | raw if the value can be trusted"
		return asText, e
	}
	return asPercent, nil
}

func (t *urlTracker) merge(at syntax.Pos, other tracker) error {
	if o, ok := other.(*urlTracker); !ok || o.query != t.query || o.seen != t.seen {
		return at.Errorf("a tag cannot choose between hosts of a URL")
	}
	return nil
}

func (t *urlTracker) clone() tracker { c := *t; return &c }
