package redaction

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// place says what of a JSON value is content, by the names of members; "*" is any member or element.
// What is not said is structure: names, numbers of the engine, hashes. It stays.
type place struct {
	is      contentKind
	members map[string]*place
}

type contentKind uint8

const (
	structure contentKind = iota
	text                  // a string that people or models wrote
	pattern               // a text in which templates stay
	data                  // everything below, and names of members there
	given                 // data under names that stay
	inputs                // names with descriptions, or a JSON Schema
)

func (p *place) member(name string) *place {
	if p == nil {
		return nil
	}
	if p.is == data || p.is == given {
		return p
	}
	if m := p.members[name]; m != nil {
		return m
	}
	return p.members["*"]
}

func (p *place) kind() contentKind {
	if p == nil {
		return structure
	}
	return p.is
}

// change is what becomes of the content of a JSON value.
type change struct {
	text   func(string) string              // a string
	number func(json.Number) (string, bool) // what stands in place of a number, in JSON
	name   func(string) string              // the name of a member of data
	stays  func(string)                     // is told each string that is structure; may be nil
}

// walker copies a JSON value with other content. All else stays byte for byte.
type walker struct {
	change
	dec  *json.Decoder
	raw  []byte
	out  bytes.Buffer
	done int64 // how much of raw is in out
}

// rewrite returns a JSON value with its content changed.
func rewrite(raw []byte, p *place, c change) ([]byte, error) {
	w := walker{change: c, dec: json.NewDecoder(bytes.NewReader(raw)), raw: raw}
	w.dec.UseNumber()
	if err := w.value(p); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	w.out.Write(raw[w.done:])
	return w.out.Bytes(), nil
}

func (w *walker) value(p *place) error {
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
		w.string(t, p.kind(), before)
	case json.Number:
		if k := p.kind(); k == data || k == given {
			if now, ok := w.number(t); ok {
				w.put(before, now)
			}
		}
	}
	return nil
}

func (w *walker) string(t string, k contentKind, before int64) {
	var now string
	switch k {
	case structure, inputs:
		w.stay(t)
		return
	case pattern:
		now = outsideTemplates(t, w.text, w.stay)
	default:
		now = w.text(t)
	}
	if now != t {
		w.put(before, quoted(now))
	}
}

func (w *walker) stay(t string) {
	if w.stays != nil {
		w.stays(t)
	}
}

func (w *walker) container(open json.Delim, p *place, before int64) error {
	if p.kind() == inputs {
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
			if p.kind() != data {
				w.stay(name)
			} else if now := w.name(name); now != name {
				w.put(before, quoted(now))
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
func (w *walker) inputs(p *place, before int64) *place {
	var members map[string]any
	rest := bytes.TrimLeft(w.raw[before:], " \t\r\n,:")
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&members) != nil || members["type"] == "object" {
		return schemaPlace
	}
	for _, m := range members {
		if _, ok := m.(string); !ok {
			return schemaPlace
		}
	}
	return p
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be encoded
	return string(b)
}

// put writes what stands in place of the token that was read last.
func (w *walker) put(before int64, now string) {
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
