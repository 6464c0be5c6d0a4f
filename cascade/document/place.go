package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

type span struct{ start, end int }

// Place is a value of a document, which may or may not be there.
type Place struct {
	doc     *Document
	pointer string
}

// Root is the whole of a document.
func (d *Document) Root() Place { return Place{doc: d} }

// Document returns the document that the place is in.
func (p Place) Document() *Document { return p.doc }

// Pointer returns the JSON Pointer of the place.
func (p Place) Pointer() string { return p.pointer }

// Below returns the place of a JSON Pointer from this one.
func (p Place) Below(pointer string) Place { return Place{p.doc, p.pointer + pointer} }

// Describe names the place for messages.
func (p Place) Describe() string { return p.doc.words.Describe(p) }

// Sound reports whether no mistake was found in the value by itself, which need not be there.
func (p Place) Sound() bool { return p.doc.edits[p.pointer] == source.Keep }

// Blank reports whether the file has the value, a text of nothing.
func (p Place) Blank() bool {
	n := p.Node()
	return n != nil && p.Sound() && strings.TrimSpace(n.Text) == ""
}

// Spoil leaves the value out of what is decoded: a mistake was found in it.
func (p Place) Spoil(how source.Edit) { p.doc.edits[p.pointer] = how }

// Key is the place of a member.
func (p Place) Key(k string) Place { return Place{p.doc, p.pointer + "/" + source.EscapePointer(k)} }

// Index is the place of an element.
func (p Place) Index(i int) Place { return Place{p.doc, p.pointer + "/" + strconv.Itoa(i)} }

// Keys is [Place.Key] for a path.
func (p Place) Keys(path ...string) Place {
	for _, k := range path {
		p = p.Key(k)
	}
	return p
}

// Node returns the value, nil when the file has none there.
func (p Place) Node() *source.Node {
	if p.doc.File.Root == nil {
		return nil
	}
	return p.doc.File.Root.At(p.pointer)
}

// Has reports whether the file has the key, be its value right or wrong.
func (p Place) Has(key string) bool {
	n := p.Node()
	return n != nil && n.Get(key) != nil
}

// Written returns those of the keys that the file has.
func (p Place) Written(keys ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !p.Has(key) })
}

// Intact reports whether no mistake was found in the values of keys by themselves.
func (p Place) Intact(keys ...string) bool {
	for _, k := range keys {
		if p.doc.edits[p.Key(k).pointer] != source.Keep {
			return false
		}
	}
	return true
}

// Meant reports whether a misspelt key of the value stands for this one.
func (p Place) Meant(key string) bool { return p.doc.meant[p.Key(key).pointer] }

// Element is the place of an element of a list that may be written without the list around it.
func (p Place) Element(i int) Place {
	if n := p.Node(); n != nil && n.Kind != source.Array {
		return p
	}
	return p.Index(i)
}

// valueSpan returns what is marked: all of a scalar, a collection's opening bracket, or the
// nearest value around one that the file does not have.
func (p Place) valueSpan() span {
	if p.doc.File.Root == nil {
		return span{}
	}
	n := p.doc.File.Root.Nearest(p.pointer)
	if n.Kind == source.Array || n.Kind == source.Object {
		return p.doc.opening(n)
	}
	return span{n.Start, n.End}
}

// opening marks the first character of a collection or, in block style, its first key.
func (d *Document) opening(n *source.Node) span {
	if n.Kind == source.Object && len(n.Members) > 0 && n.Members[0].KeyStart == n.Start {
		return span{n.Start, n.Members[0].KeyEnd}
	}
	return span{n.Start, n.Start + 1}
}

func (p Place) keySpan(key string) span {
	if n := p.Node(); n != nil {
		if m, ok := n.Member(key); ok {
			return span{m.KeyStart, m.KeyEnd}
		}
	}
	return p.valueSpan()
}

// Error reports something wrong with the value.
func (p Place) Error(code Code, message, hint string) {
	p.doc.report(SeverityError, code, p.valueSpan(), message, hint)
}

// Warn reports something about the value that is probably a mistake.
func (p Place) Warn(code Code, message, hint string) {
	p.doc.report(SeverityWarning, code, p.valueSpan(), message, hint)
}

// KeyError reports something wrong with a key itself, not with its value.
func (p Place) KeyError(key string, code Code, message, hint string) {
	p.doc.report(SeverityError, code, p.keySpan(key), message, hint)
}

// KeyWarn reports something about a key that is probably a mistake.
func (p Place) KeyWarn(key string, code Code, message, hint string) {
	p.doc.report(SeverityWarning, code, p.keySpan(key), message, hint)
}

// NoEffect warns of a key that changes nothing.
func (p Place) NoEffect(key, message, hint string) {
	p.doc.report(SeverityWarning, CodeNoEffect, p.keySpan(key), message, hint)
}

// String returns the file, line and column of the value, for messages that name a second place.
func (p Place) String() string {
	at := p.doc.File.Pos(p.valueSpan().start)
	return p.doc.File.Name + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Col)
}

// Bounds of what is found.
const (
	MaxFound  = 1000         // diagnostics: nobody reads further
	MaxSource = 400          // characters of a line in a diagnostic: a minified file is one long line
	MaxWarned = MaxFound / 2 // diagnostics after which warnings are dropped, to leave room for errors
)

// Full reports whether no more diagnostics are taken. Errors are among them then.
func (d *Document) Full() bool { return len(*d.found) >= MaxFound }

// report adds a diagnostic. The mark ends on the line it starts on.
func (d *Document) report(severity Severity, code Code, s span, message, hint string) {
	if d.Full() || severity == SeverityWarning && len(*d.found) >= MaxWarned {
		return
	}
	start, end := d.File.Pos(s.start), d.File.Pos(max(s.start, s.end))
	if end.Line != start.Line {
		end.Col = d.File.LineEnd(start.Line)
	}
	text, from := d.File.Around(s.start, MaxSource)
	*d.found = append(*d.found, Diagnostic{
		Severity: severity, Code: code, File: d.File.Name,
		Line: start.Line, Col: start.Col, EndCol: max(end.Col, start.Col),
		Message: message, Hint: hint, Source: text, SourceCol: from,
	})
}

// Mark reports something at a part of a string: between two positions inside it, as far as the file
// has it as a string; else at the value.
func (p Place) Mark(severity Severity, code Code, from, to source.Pos, message, hint string) {
	n := p.Node()
	if n == nil || n.Kind != source.String {
		p.doc.report(severity, code, p.valueSpan(), message, hint)
		return
	}
	start := p.doc.File.Inside(n, from)
	end := start + 1
	if to != from {
		end = p.doc.File.Inside(n, to) + 1
	}
	p.doc.report(severity, code, span{start, end}, message, hint)
}
