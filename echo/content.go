package echo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ContentPlace says what of a JSON value is content, by the names of members; "*" is any member or
// element. What is not said is structure: names, numbers of the engine, hashes.
type ContentPlace struct {
	Is      ContentKind
	Members map[string]*ContentPlace
	Schema  *ContentPlace // of [ContentInputs]
}

// ContentKind is what stands in a place.
type ContentKind uint8

// The kinds of content.
const (
	ContentNone    ContentKind = iota // structure
	ContentText                       // a string that people or models wrote
	ContentPattern                    // a text in which templates stay
	ContentData                       // everything below, and names of members there
	ContentGiven                      // data under names that stay
	ContentInputs                     // names with descriptions, or a JSON Schema
)

func (p *ContentPlace) member(name string) *ContentPlace {
	if p == nil {
		return nil
	}
	if p.Is == ContentData || p.Is == ContentGiven {
		return p
	}
	if m := p.Members[name]; m != nil {
		return m
	}
	return p.Members["*"]
}

func (p *ContentPlace) holds() ContentKind {
	if p == nil {
		return ContentNone
	}
	return p.Is
}

// ContentChange is what becomes of the content of a JSON value.
type ContentChange struct {
	Text   func(string) string              // a string
	Number func(json.Number) (string, bool) // what stands in place of a number, in JSON
	Name   func(string) string              // the name of a member of data
	Stays  func(string)                     // is told each string that is structure; may be nil
}

// contentWalker copies a JSON value with other content. All else stays byte for byte.
type contentWalker struct {
	ContentChange
	dec  *json.Decoder
	raw  []byte
	out  bytes.Buffer
	done int64 // how much of raw is in out
}

// RewriteContent returns a JSON value with its content changed.
func RewriteContent(raw []byte, p *ContentPlace, c ContentChange) ([]byte, error) {
	w := contentWalker{ContentChange: c, dec: json.NewDecoder(bytes.NewReader(raw)), raw: raw}
	w.dec.UseNumber()
	if err := w.value(p); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	w.out.Write(raw[w.done:])
	return w.out.Bytes(), nil
}

func (w *contentWalker) value(p *ContentPlace) error {
	before := w.dec.InputOffset()
	token, err := w.dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return w.container(t, p, before)
	case string:
		w.string(t, p.holds(), before)
	case json.Number:
		if k := p.holds(); k == ContentData || k == ContentGiven {
			if now, ok := w.Number(t); ok {
				w.put(before, now)
			}
		}
	}
	return nil
}

func (w *contentWalker) string(t string, k ContentKind, before int64) {
	var now string
	switch k {
	case ContentNone, ContentInputs:
		w.stay(t)
		return
	case ContentPattern:
		now = outsideTemplates(t, w.Text, w.stay)
	default:
		now = w.Text(t)
	}
	if now != t {
		w.put(before, quotedText(now))
	}
}

func (w *contentWalker) stay(t string) {
	if w.Stays != nil {
		w.Stays(t)
	}
}

func (w *contentWalker) container(open json.Delim, p *ContentPlace, before int64) error {
	if p.holds() == ContentInputs {
		p = w.inputs(p, before)
	}
	for w.dec.More() {
		at := p.member("*")
		if open == '{' {
			before := w.dec.InputOffset()
			token, err := w.dec.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string)
			at = p.member(name)
			if p.holds() != ContentData {
				w.stay(name)
			} else if now := w.Name(name); now != name {
				w.put(before, quotedText(now))
			}
		}
		if err := w.value(at); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// inputs tells the two forms of inputs apart: names with descriptions, and a JSON Schema.
func (w *contentWalker) inputs(p *ContentPlace, before int64) *ContentPlace {
	var members map[string]any
	rest := bytes.TrimLeft(w.raw[before:], " \t\r\n,:")
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&members) != nil || members["type"] == "object" {
		return p.Schema
	}
	for _, m := range members {
		if _, ok := m.(string); !ok {
			return p.Schema
		}
	}
	return p
}

func quotedText(s string) string {
	b, _ := json.Marshal(s) // a string can always be encoded
	return string(b)
}

// put writes what stands in place of the token that was read last.
func (w *contentWalker) put(before int64, now string) {
	end := w.dec.InputOffset()
	token := bytes.TrimLeft(w.raw[before:end], " \t\r\n,:")
	w.out.Write(w.raw[w.done : end-int64(len(token))])
	w.out.WriteString(now)
	w.done = end
}

// outsideTemplates changes what of a text is not between the brackets of a template.
func outsideTemplates(t string, now func(string) string, stays func(string)) string {
	var b strings.Builder
	for {
		at, end := template(t)
		b.WriteString(now(t[:at]))
		if at == len(t) {
			return b.String()
		}
		stays(t[at:end])
		b.WriteString(t[at:end])
		t = t[end:]
	}
}

// template returns where the first template of a text begins and ends.
func template(t string) (from, to int) {
	from = len(t)
	closing := ""
	for open, end := range map[string]string{"{{": "}}", "{%": "%}"} {
		if at := strings.Index(t, open); at >= 0 && at < from {
			from, closing = at, end
		}
	}
	if n := strings.Index(t[from:], closing); n >= 0 && closing != "" {
		return from, from + n + len(closing)
	}
	return len(t), len(t)
}

// RewriteContent changes the content of what the entry says; see [RewriteContent].
func (e *Entry) RewriteContent(p *ContentPlace, c ContentChange) error {
	if len(e.Data) == 0 {
		return nil
	}
	now, err := RewriteContent(e.Data, p, c)
	if err == nil {
		e.Data = now
	}
	return err
}
