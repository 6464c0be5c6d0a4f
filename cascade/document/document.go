package document

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// Document is a file with what was found wrong with it so far.
type Document struct {
	File  *source.File
	words Words
	found *Diagnostics
	edits map[string]source.Edit // what is wrong, by pointer, to be left out when decoding
	meant map[string]bool        // the pointers of keys that are misspelt: they are missing for no other reason
}

// Words are what a language says of its files in messages.
type Words interface {
	// Describe names a place, as: phase "draft".
	Describe(at Place) string

	// Later reports whether a later version brings an unknown key.
	Later(at Place, key string) bool

	// Home says, as a hint, where an unknown key belongs; "" for any other. Surely asks for what is
	// said even when a known key is near.
	Home(at Place, key string, surely bool) string

	// LaterValue names a value that a later version brings, and what to write instead; "" for others.
	LaterValue(at Place) (what, hint string)

	// Instead says what to write in place of a value of a wrong type, or out of range; "" where nothing special is said.
	Instead(at Place) string

	// TooFew says that a list has too few elements; the code is empty where nothing special is said.
	TooFew(at Place) (code Code, message, hint string)

	// WrongText explains a quoted string that a pattern refuses; the code is empty where nothing special
	// is said.
	WrongText(at Place, text string) (code Code, message, hint string)
}

// Open checks a file against its schema. What is found is added to found, bounded by [MaxFound].
func Open(ctx context.Context, file *source.File, s *schema.Schema, words Words, found *Diagnostics) *Document {
	d := &Document{File: file, words: words, found: found, edits: map[string]source.Edit{}, meant: map[string]bool{}}
	for _, p := range d.File.Problems {
		d.report(SeverityError, Code(p.Code), span{p.Start, p.End}, p.Message, p.Hint)
	}
	if d.File.Root == nil {
		return d
	}
	violations, err := s.ValidateContext(ctx, d.File.Root.JSON(nil))
	if err != nil {
		// The JSON is ours, so the schema cannot be evaluated.
		d.report(SeverityError, CodeInvalidValue, span{0, 0}, err.Error(), "")
		return d
	}
	for _, v := range violations {
		if d.Full() {
			d.edits[""] = source.Nullify // This is no such file: there is nothing to decode.
			return d
		}
		d.violation(v)
	}
	return d
}

// Attach returns the document of a text that belongs to this one: what is found in it is found here.
func (d *Document) Attach(file *source.File, words Words) *Document {
	out := &Document{File: file, words: words, found: d.found, edits: map[string]source.Edit{}, meant: map[string]bool{}}
	for _, p := range file.Problems {
		out.report(SeverityError, Code(p.Code), span{p.Start, p.End}, p.Message, p.Hint)
	}
	return out
}

// Decode fills in v from what the schema accepts and reports whether there is anything to look at.
func (d *Document) Decode(v any) bool {
	if d.File.Root == nil || d.edits[""] != source.Keep {
		return false
	}
	raw := d.File.Root.JSON(func(pointer string) source.Edit { return d.edits[pointer] })
	if err := json.Unmarshal(raw, v); err != nil {
		// The schema accepts what a Go type does not hold, perhaps after other errors.
		if n, _ := d.found.Count(); n == 0 {
			at := d.Root()
			var te *json.UnmarshalTypeError
			if errors.As(err, &te) && te.Field != "" {
				at.pointer = "/" + strings.ReplaceAll(te.Field, ".", "/")
			}
			at.Error(CodeInvalidValue, err.Error(), "")
		}
	}
	return true
}

// Has reports whether something of a code was found.
func (d *Document) Has(codes ...Code) bool {
	return slices.ContainsFunc(*d.found, func(found Diagnostic) bool { return slices.Contains(codes, found.Code) })
}

// Add adds what was found in another document.
func (d *Document) Add(others ...Diagnostic) {
	*d.found = append(*d.found, others[:max(0, min(len(others), MaxFound-len(*d.found)))]...)
}

// Withdraw takes back the newest diagnostic and returns it.
func (d *Document) Withdraw() Diagnostic {
	last := len(*d.found) - 1
	newest := (*d.found)[last]
	*d.found = (*d.found)[:last]
	return newest
}
