// Package secret takes known secrets out of texts, in whatever encoding they stand there.
//
// A [Set] finds a value as it is; with any of its characters escaped as in URLs, JSON, HTML or
// programming languages, in any mixture; in base64, also as a part of what was encoded; and in
// hexadecimal. It puts "[value of NAME]" in its place. It guards against values that are printed by
// accident, not against those who hide one, by reversing it for example.
//
// The package imports nothing else of windlass.
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// MinLength is the least length in bytes of a secret: shorter ones are part of innocent texts.
const MinLength = 8

// Value is one secret, and the name by which it is known to people.
type Value struct{ Name, Value string }

// Set is a set of secrets. It does not change, and is safe for concurrent use. A nil Set is empty.
type Set struct {
	values []Value
	forms  []form        // the longest first
	first  [256][]uint16 // indexes of the forms that begin with a byte
	pairs  [1 << 10]uint64
}

// form is one way in which a value may be written.
type form struct {
	name string
	text string
	kind formKind
}

type formKind uint8

const (
	formPlain  formKind = iota
	formBase64          // of both alphabets, perhaps in several lines
	formHex             // of both cases, perhaps in several lines
)

// New returns the set of these secrets, without those that are too short or easily guessed.
func New(values ...Value) *Set { return (*Set)(nil).With(values...) }

// With returns a set that has these secrets, too.
func (s *Set) With(values ...Value) *Set {
	all := slices.Clone(s.Values())
	for _, v := range values {
		known := slices.ContainsFunc(all, func(o Value) bool { return o.Value == v.Value })
		if len(v.Value) >= MinLength && !known && !guessed[strings.ToLower(v.Value)] {
			all = append(all, v)
		}
	}
	if len(all) == len(s.Values()) {
		return s
	}
	out := &Set{values: all}
	for _, v := range all {
		out.forms = append(out.forms, formsOf(v)...)
	}
	slices.SortStableFunc(out.forms, func(a, b form) int {
		return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.name, b.name))
	})
	for i := range out.forms {
		out.index(i)
	}
	return out
}

// Values returns the secrets of the set. It must not be written to.
func (s *Set) Values() []Value {
	if s == nil {
		return nil
	}
	return s.values
}

// guessed are values that stand in every manual, and in innocent texts.
var guessed = map[string]bool{"password": true, "passw0rd": true, "changeme": true, "clickhouse": true, "postgres": true, "windlass": true, "localhost": true}

// formsOf lists how a value may be written, apart from escapes, which the matching knows.
func formsOf(v Value) []form {
	forms := []form{
		{v.Name, v.Value, formPlain},
		{v.Name, hex.EncodeToString([]byte(v.Value)), formHex},
		{v.Name, base64.StdEncoding.EncodeToString([]byte(v.Value)), formBase64},
		{v.Name, base64.RawStdEncoding.EncodeToString([]byte(v.Value)), formBase64},
	}
	// Inside of what was encoded, the value begins at one of three places of a group. Only
	// characters that depend on the value alone are looked for.
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + v.Value))
		from := []int{0, 2, 3}[before]
		to := len(encoded)
		if (before+len(v.Value))%3 != 0 {
			to-- // its last bits are those of what follows
		}
		forms = append(forms, form{v.Name, encoded[from:to], formBase64})
	}
	return slices.CompactFunc(forms, func(a, b form) bool { return a.text == b.text })
}

// index enters a form into the tables that say where one may begin.
func (s *Set) index(i int) {
	f := &s.forms[i]
	for a := range 256 {
		if !f.is(0, byte(a)) {
			continue
		}
		s.first[a] = append(s.first[a], uint16(i)) //nolint:gosec // there are not that many secrets
		for b := range 256 {
			if f.is(1, byte(b)) || isEscape(byte(b)) || f.breaks(1, byte(b)) {
				n := a<<8 | b
				s.pairs[n>>6] |= 1 << (n & 63)
			}
		}
	}
}

// Text returns a text with "[value of NAME]" for every secret in it.
func (s *Set) Text(text string) string {
	out, _ := s.replace(text, true)
	return out
}

// Has reports whether a text holds a secret.
func (s *Set) Has(text string) bool {
	if s == nil {
		return false
	}
	for at := s.next(text, 0); at < len(text); at = s.next(text, at+1) {
		if n, _, _ := s.match(text, at); n > 0 {
			return true
		}
	}
	return false
}

// Parts calls a function with the parts of a text, one after the other: with the name of each secret that [Set.Text]
// replaces, and with "" for what stays.
func (s *Set) Parts(text string, part func(text, secret string)) {
	done := 0
	for at := 0; s != nil; {
		if at = s.next(text, at); at == len(text) {
			break
		}
		n, name, _ := s.match(text, at)
		if n == 0 {
			at++
			continue
		}
		part(text[done:at], "")
		part(text[at:at+n], name)
		done, at = at+n, at+n
	}
	part(text[done:], "")
}

// replace replaces secrets. If the text is not whole, out ends at rest, where a secret may begin.
func (s *Set) replace(text string, whole bool) (out string, rest int) {
	if s == nil {
		return text, len(text)
	}
	var b strings.Builder
	done, at := 0, s.next(text, 0)
	for at < len(text) {
		n, name, open := s.match(text, at)
		switch {
		case open && !whole:
			b.WriteString(text[done:at])
			return b.String(), at
		case n == 0:
			at = s.next(text, at+1)
			continue
		}
		b.WriteString(text[done:at])
		b.WriteString(Placeholder(name))
		done = at + n
		at = s.next(text, done)
	}
	if done == 0 {
		return text, len(text)
	}
	b.WriteString(text[done:])
	return b.String(), len(text)
}

// Placeholder is what stands in place of a value.
func Placeholder(name string) string { return "[value of " + name + "]" }

// next returns the first place, from a place on, at which a form may begin, or the text's length.
func (s *Set) next(text string, from int) int {
	for i := from; i < len(text); i++ {
		a := text[i]
		if isEscape(a) || i+1 == len(text) && len(s.first[a]) > 0 {
			return i
		}
		if i+1 < len(text) {
			if n := uint16(a)<<8 | uint16(text[i+1]); s.pairs[n>>6]&(1<<(n&63)) != 0 {
				return i
			}
		}
	}
	return len(text)
}

// match returns length and name of the longest secret at a place. open: the text ends too early.
func (s *Set) match(text string, at int) (n int, name string, open bool) {
	try := func(b byte) {
		for _, i := range s.first[b] {
			f := &s.forms[i]
			if strings.HasPrefix(text[at:], f.text) && len(f.text) > n {
				n, name = len(f.text), f.name
			}
			work := maxWork * len(f.text)
			end, cut := f.end(text, at, 0, &work)
			open = open || cut
			if end-at > n {
				n, name = end-at, f.name
			}
		}
	}
	try(text[at])
	if isEscape(text[at]) {
		var room [maxReadings]char
		chars, cut := escapes(room[:0], text, at)
		open = open || cut
		for _, c := range chars {
			if c.first() != text[at] {
				try(c.first())
			}
		}
	}
	return n, name, open
}
