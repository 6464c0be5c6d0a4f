package template

import (
	"errors"
	"strings"
)

// tracker follows the text of a template and knows how a value must be quoted where it stands.
type tracker interface {
	// constant goes over text between tags.
	constant(at pos, text string) error
	// boundary checks that a tag may stand here.
	boundary(at pos) error
	// value checks that a value may stand here, and returns how it is written.
	value(at pos, raw bool) (func(*run, any) (string, error), error)
	// merge checks that the text is in the same state on another way to the same place.
	merge(at pos, other tracker) error
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

func writeText(r *run, v any) (string, error) { return r.text(v) }

// textTracker is for text without quoting.
type textTracker struct{}

func (textTracker) constant(pos, string) error { return nil }
func (textTracker) boundary(pos) error         { return nil }
func (textTracker) merge(pos, tracker) error   { return nil }
func (t textTracker) clone() tracker           { return t }

func (textTracker) value(pos, bool) (func(*run, any) (string, error), error) { return writeText, nil }

// jsonTracker knows whether it is inside a JSON string.
type jsonTracker struct {
	inString bool
	escaped  bool // after a backslash in a string
}

func (t *jsonTracker) constant(_ pos, text string) error {
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

func (t *jsonTracker) boundary(at pos) error {
	if t.escaped {
		return at.syntax("a tag cannot stand after a backslash in a JSON string")
	}
	return nil
}

func (t *jsonTracker) value(at pos, raw bool) (func(*run, any) (string, error), error) {
	if err := t.boundary(at); err != nil {
		return nil, err
	}
	switch {
	case raw:
		return writeText, nil
	case t.inString:
		return func(r *run, v any) (string, error) {
			s, err := r.text(v)
			quoted := appendJSONString(nil, s)
			return string(quoted[1 : len(quoted)-1]), err
		}, nil
	}
	return func(r *run, v any) (string, error) { return r.json(v, "") }, nil
}

func (t *jsonTracker) merge(at pos, other tracker) error {
	if o, ok := other.(*jsonTracker); !ok || o.inString != t.inString {
		return at.syntax("the tag opens or closes a JSON string on some of its ways only")
	}
	return nil
}

func (t *jsonTracker) clone() tracker { c := *t; return &c }

// urlTracker knows whether the host of a URL is still being written. Until then a value could choose where a request
// goes.
type urlTracker struct {
	seen  string // the text so far, up to the end of the host
	query bool   // beyond the host
}

func (t *urlTracker) constant(_ pos, text string) error {
	if t.query {
		return nil
	}
	t.seen += text
	if _, rest, ok := strings.Cut(t.seen, "://"); ok && strings.ContainsAny(rest, "/?#") {
		t.query, t.seen = true, ""
	}
	return nil
}

func (t *urlTracker) boundary(pos) error { return nil }

func (t *urlTracker) value(at pos, raw bool) (func(*run, any) (string, error), error) {
	if raw {
		t.seen += "x" // whatever it is, it may be the scheme, the host or both
		if !strings.Contains(t.seen, "://") {
			t.seen += "://"
		}
		return writeText, nil
	}
	if !t.query {
		e := at.syntax("a value would choose the host of the URL")
		e.Hint = "write the host, with a / after it, before the first value; or add | raw if the value can be trusted"
		return nil, e
	}
	return percentEncode, nil
}

func (t *urlTracker) merge(at pos, other tracker) error {
	if o, ok := other.(*urlTracker); !ok || o.query != t.query || o.seen != t.seen {
		return at.syntax("a tag cannot choose between hosts of a URL")
	}
	return nil
}

func (t *urlTracker) clone() tracker { c := *t; return &c }

// percentEncode writes a value so that it is one part of a path or a query. The items of a list are joined by commas.
func percentEncode(r *run, v any) (string, error) {
	if l, ok := v.([]any); ok {
		parts := make([]string, len(l))
		for i, x := range l {
			if _, nested := plain(x).([]any); nested {
				return "", errors.New("a list inside a list cannot be put into a URL; use the filter tojson")
			}
			s, err := percentEncode(r, plain(x))
			if err != nil {
				return "", err
			}
			parts[i] = s
		}
		return strings.Join(parts, ","), nil
	}
	s, err := r.text(v)
	if err != nil {
		return "", err
	}
	if err := r.spendBytes(len(s)); err != nil {
		return "", err
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String(), nil
}

// isUnreserved reports whether a character means itself everywhere in a URL (RFC 3986, section 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
