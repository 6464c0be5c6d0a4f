package waiting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/engine/effect"
)

// A person is shown a mark in the place of each secret, as [value of NAME]. A text that looks like one, whoever wrote it,
// is shown as [text: value of NAME], one that looks like that as [text: text: value of NAME], and so on: no two calls that
// differ look the same, and an edit says which of both it means.
const (
	maskedMark = "[value of "
	textMark   = "text: "
)

var (
	jsonString  = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)
	looksMasked = regexp.MustCompile(`\[((?:text: )*value of )`)
	saysText    = regexp.MustCompile(`\[text: ((?:text: )*value of )`)
	mark        = regexp.MustCompile(`\[value of ([^\]]*)\]`)
)

func markOf(name string) string { return maskedMark + name + "]" }

// escaped returns a text as it is shown, unescaped the text that is shown so.
func escaped(text string) string   { return looksMasked.ReplaceAllString(text, "["+textMark+"$1") }
func unescaped(text string) string { return saysText.ReplaceAllString(text, "[$1") }

// shownText returns a text with marks in the place of its secrets.
func shownText(mask effect.Mask, text string) string {
	var b strings.Builder
	mask.Parts(text, func(part, secret string) {
		if secret == "" {
			b.WriteString(escaped(part))
		} else {
			b.WriteString(markOf(secret))
		}
	})
	return b.String()
}

// rewritten returns JSON with other strings, else byte for byte.
func rewritten(raw json.RawMessage, change func(string) string) json.RawMessage {
	return jsonString.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return quoted
		}
		changed := change(text)
		if changed == text {
			return quoted
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(changed) // a string can always be encoded
		return bytes.TrimSpace(b.Bytes())
	})
}

// unknownMarkIn returns the first mark in the arguments of an edit that those which were shown do not have, "" for none:
// nobody names a secret that the call does not have.
func unknownMarkIn(shown, edit json.RawMessage) string {
	var known []string
	rewritten(shown, func(s string) string {
		known = append(known, mark.FindAllString(s, -1)...)
		return s
	})
	unknown := ""
	rewritten(edit, func(s string) string {
		for _, m := range mark.FindAllString(s, -1) {
			if unknown == "" && !slices.Contains(known, m) {
				unknown = m
			}
		}
		return s
	})
	return unknown
}

// CheckMarks says why the arguments of an edit are not taken for the marks in them, "" when they are.
func CheckMarks(shown, edit json.RawMessage) string {
	if m := unknownMarkIn(shown, edit); m != "" {
		return unknownMark(m)
	}
	return ""
}

// HasMark reports whether a text has what is shown in the place of a secret.
func HasMark(text string) bool { return mark.MatchString(text) }

// unknownMark says why an edit with such a mark is not taken.
func unknownMark(m string) string {
	return fmt.Sprintf("the arguments have %s, and those that were shown do not: an edit can only keep the secrets of its call; the text itself is written as %s", m, escaped(m))
}

// secrets are the texts that marks stand for in the arguments of a call.
type secrets struct {
	first map[string]string            // by their names: what one stands for where it stands first
	at    map[string]map[string]string // the same by the place of a string
	names []string                     // in their order
}

func (s *secrets) add(place, name, text string) {
	if s.at[place] == nil {
		s.at[place] = map[string]string{}
	}
	if _, has := s.at[place][name]; !has {
		s.at[place][name] = text
	}
	if _, has := s.first[name]; !has {
		s.first[name] = text
		s.names = append(s.names, name)
	}
}

// secretsOf finds the secrets of canonical arguments. One may stand there in several ways, such as in base64.
func secretsOf(mask effect.Mask, args json.RawMessage) (*secrets, error) {
	out := &secrets{first: map[string]string{}, at: map[string]map[string]string{}}
	_, err := eachString(args, func(place, text string) (string, error) {
		mask.Parts(text, func(part, name string) {
			if name != "" {
				out.add(place, name, part)
			}
		})
		return text, nil
	})
	return out, err
}

// reading says what the texts of an edit mean.
type reading struct {
	*secrets
	old    bool // texts that look like marks were shown as they are
	strict bool // marks of no secret are refused, else they stay
}

// reveal returns what a text of an edit stands for: with the secrets of its place, else of others, for marks.
func (r *reading) reveal(place, text string) (string, error) {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(text, maskedMark)
		text = text[len(before):]
		if !r.old {
			before = unescaped(before)
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		is, value, known := r.secretIn(place, text)
		switch {
		case known:
			b.WriteString(value)
		case r.strict && !r.old && mark.MatchString(text):
			return "", &FormError{Why: unknownMark(mark.FindString(text))}
		default:
			is = maskedMark
			b.WriteString(is)
		}
		text = text[len(is):]
	}
}

// secretIn returns the mark that a text begins with, and what it stands for.
func (r *reading) secretIn(place, text string) (is, value string, known bool) {
	at := slices.IndexFunc(r.names, func(name string) bool { return strings.HasPrefix(text, markOf(name)) })
	if at < 0 {
		return "", "", false
	}
	name := r.names[at]
	value, here := r.at[place][name]
	if !here {
		value = r.first[name]
	}
	return markOf(name), value, here || !r.old
}

// eachString returns JSON with what a function makes of its strings, which it gets with their places; canonical.
func eachString(raw json.RawMessage, change func(place, text string) (string, error)) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("read arguments: %w", err)
	}
	changed, err := eachIn("", value, change)
	if err != nil {
		return nil, err
	}
	return encoded(changed)
}

func eachIn(place string, value any, change func(place, text string) (string, error)) (out any, err error) {
	switch v := value.(type) {
	case string:
		return change(place, v)
	case []any:
		for i := range v {
			if v[i], err = eachIn(fmt.Sprintf("%s/%d", place, i), v[i], change); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		changed := make(map[string]any, len(v))
		for _, name := range sortedKeys(v) {
			inner, err := eachIn(fmt.Sprintf("%s/%q", place, name), v[name], change)
			if err != nil {
				return nil, err
			}
			if name, err = change(place, name); err != nil {
				return nil, err
			}
			changed[name] = inner
		}
		return changed, nil
	}
	return value, nil
}
