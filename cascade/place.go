package cascade

import (
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/internal/source"
)

type span struct{ start, end int }

type place struct {
	doc     *document
	pointer string
}

func (p place) key(k string) place { return place{p.doc, p.pointer + "/" + source.EscapePointer(k)} }

func (p place) index(i int) place { return place{p.doc, p.pointer + "/" + strconv.Itoa(i)} }

// keys is key for a path.
func (p place) keys(path ...string) place {
	for _, k := range path {
		p = p.key(k)
	}
	return p
}

// node returns the value, nil when the file has none there.
func (p place) node() *source.Node {
	if p.doc.file.Root == nil {
		return nil
	}
	return p.doc.file.Root.At(p.pointer)
}

// has reports whether the file has the key, be its value right or wrong.
func (p place) has(key string) bool {
	n := p.node()
	return n != nil && n.Get(key) != nil
}

// written returns those of the keys that the file has.
func (p place) written(keys ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !p.has(key) })
}

func (p place) intact(keys ...string) bool {
	for _, k := range keys {
		if p.doc.edits[p.key(k).pointer] != source.Keep {
			return false
		}
	}
	return true
}

// meant reports whether a misspelt key of the value stands for this one.
func (p place) meant(key string) bool { return p.doc.meant[p.key(key).pointer] }

// element is the place of an element of a list that may be written without the list around it.
func (p place) element(i int) place {
	if n := p.node(); n != nil && n.Kind != source.Array {
		return p
	}
	return p.index(i)
}

// valueSpan returns what is marked: all of a scalar, a collection's opening bracket, or the
// nearest value around one that the file does not have.
func (p place) valueSpan() span {
	if p.doc.file.Root == nil {
		return span{}
	}
	n := p.doc.file.Root.Nearest(p.pointer)
	if n.Kind == source.Array || n.Kind == source.Object {
		return p.doc.opening(n)
	}
	return span{n.Start, n.End}
}

// opening marks the first character of a collection or, in block style, its first key.
func (d *document) opening(n *source.Node) span {
	if n.Kind == source.Object && len(n.Members) > 0 && n.Members[0].KeyStart == n.Start {
		return span{n.Start, n.Members[0].KeyEnd}
	}
	return span{n.Start, n.Start + 1}
}

func (p place) keySpan(key string) span {
	if n := p.node(); n != nil {
		if m, ok := n.Member(key); ok {
			return span{m.KeyStart, m.KeyEnd}
		}
	}
	return p.valueSpan()
}

func (p place) error(code Code, message, hint string) {
	p.doc.report(SeverityError, code, p.valueSpan(), message, hint)
}

func (p place) warn(code Code, message, hint string) {
	p.doc.report(SeverityWarning, code, p.valueSpan(), message, hint)
}

// keyError reports something wrong with a key itself, not with its value.
func (p place) keyError(key string, code Code, message, hint string) {
	p.doc.report(SeverityError, code, p.keySpan(key), message, hint)
}

// noEffect warns of a key that changes nothing.
func (p place) noEffect(key, message, hint string) {
	p.doc.report(SeverityWarning, CodeNoEffect, p.keySpan(key), message, hint)
}

// line and column of the value, for messages that name a second place.
func (p place) String() string {
	at := p.doc.file.Pos(p.valueSpan().start)
	return p.doc.file.Name + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Col)
}

// maxFound bounds the diagnostics: nobody reads further.
const maxFound = 1000

// maxSource bounds the characters of a line in a diagnostic: a minified file is one long line.
const maxSource = 400

// maxWarned bounds the diagnostics after which warnings are dropped, to leave room for errors.
const maxWarned = maxFound / 2

// full reports whether no more diagnostics are taken. Errors are among them then.
func (d *document) full() bool { return len(*d.found) >= maxFound }

// report adds a diagnostic. The mark ends on the line it starts on.
func (d *document) report(severity Severity, code Code, s span, message, hint string) {
	if d.full() || severity == SeverityWarning && len(*d.found) >= maxWarned {
		return
	}
	start, end := d.file.Pos(s.start), d.file.Pos(max(s.start, s.end))
	if end.Line != start.Line {
		end.Col = d.file.LineEnd(start.Line)
	}
	text, from := d.file.Around(s.start, maxSource)
	*d.found = append(*d.found, Diagnostic{
		Severity: severity, Code: code, File: d.file.Name,
		Line: start.Line, Col: start.Col, EndCol: max(end.Col, start.Col),
		Message: message, Hint: hint, Source: text, SourceCol: from,
	})
}

func (p place) errorInside(code Code, inside source.Pos, message, hint string) {
	n := p.node()
	if n == nil || n.Kind != source.String {
		p.error(code, message, hint)
		return
	}
	start := p.doc.file.Inside(n, inside)
	p.doc.report(SeverityError, code, span{start, start + 1}, message, hint)
}
