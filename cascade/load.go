package cascade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// Known is what cascades refer to and the language does not define itself.
type Known struct {
	// Tools are the names of the tools that exist without being declared.
	Tools []string

	// LaterTool, when set, gets the diagnostics of unknown tools instead of the caller: the tools
	// may be given when the cascade runs.
	LaterTool func(name string, d Diagnostic)

	// CheckTemplate returns a template's syntax error or nil. Without it templates are not checked.
	CheckTemplate func(kind TemplateKind, text string) *TemplateProblem

	// Lookups returns where a template looks up variables, nothing for one that does not parse.
	// Without it variables are not checked; otherwise Variables are what there is.
	Lookups   func(kind TemplateKind, text string) []Lookup
	Variables Variables

	// Arguments returns the JSON Schema of a tool's arguments, or nil when it is not known; the tool
	// is one of Tools, or declared. Without it they are not checked.
	Arguments func(name string, declared *Tool) json.RawMessage

	// Refused says, as a hint, why a run will refuse every call of a tool, for a phase that runs it
	// with its inputs; "" when it may not. Without it that is not checked.
	Refused func(tool string, inputs map[string]json.RawMessage) string

	// Recorded is for a cascade that has begun to run: what would only fail when it runs is not
	// looked for.
	Recorded bool
}

// TemplateKind is the kind of text that a template makes; values are quoted as it needs.
type TemplateKind string

// The kinds of templates in a cascade.
const (
	TemplateText    TemplateKind = "text"
	TemplateCommand TemplateKind = "command"
	TemplateURL     TemplateKind = "url"
	TemplateJSON    TemplateKind = "json"
	TemplateForm    TemplateKind = "form"
)

// TemplateProblem is a syntax error of a template.
type TemplateProblem struct {
	Line, Col int // from one, inside the template's text; Col counts bytes; zero when the place is not known
	Message   string
	Hint      string
}

// toolFileSuffix marks the files beside a cascade that declare one tool each.
const toolFileSuffix = ".tool.json"

// Load reads a cascade file, JSON or YAML, and the *.tool.json files beside it. The error is an
// [InvalidError] or says why the file cannot be read. Warnings are returned in any case.
func Load(path string, known Known) (*Cascade, Diagnostics, error) {
	return LoadContext(context.Background(), path, known)
}

// LoadContext is [Load] until ctx ends.
func LoadContext(ctx context.Context, path string, known Known) (*Cascade, Diagnostics, error) {
	return load(ctx, machine{}, path, known)
}

// LoadFS is [LoadContext] for a file of fsys, with a path as in package io/fs. Only fsys opens
// files, so those of an [os.Root] cannot lead out of it.
func LoadFS(ctx context.Context, fsys fs.FS, path string, known Known) (*Cascade, Diagnostics, error) {
	return load(ctx, slashed{fsys}, path, known)
}

type machine struct{}

func (machine) Open(name string) (fs.File, error)          { return source.Open(name) }
func (machine) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (machine) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

type slashed struct{ fs.FS }

func (s slashed) Open(name string) (fs.File, error) { return s.FS.Open(filepath.ToSlash(name)) }

func (s slashed) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, filepath.ToSlash(name)) }

func (s slashed) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(s.FS, filepath.ToSlash(name))
}

func load(ctx context.Context, fsys fs.FS, path string, known Known) (*Cascade, Diagnostics, error) {
	data, err := readFile(fsys, path)
	if err != nil {
		return nil, nil, fmt.Errorf("load cascade: %w", err)
	}
	files, err := readToolFiles(fsys, filepath.Dir(path))
	if err != nil {
		return nil, nil, fmt.Errorf("load cascade %q: %w", path, err)
	}
	return parse(ctx, source.Parse(path, data), files, known)
}

// Parse is [Load] for a text alone. The extension of name tells JSON from YAML.
func Parse(name string, data []byte, known Known) (*Cascade, Diagnostics, error) {
	return ParseContext(context.Background(), name, data, known)
}

// ParseContext is [Parse] until ctx ends.
func ParseContext(ctx context.Context, name string, data []byte, known Known) (*Cascade, Diagnostics, error) {
	return parse(ctx, source.Parse(name, data), nil, known)
}

// IsToolFile reports whether a path is that of a file that declares one tool.
func IsToolFile(path string) bool { return strings.HasSuffix(path, toolFileSuffix) }

// CheckToolFile checks a *.tool.json file by itself, with the errors of [Load].
func CheckToolFile(ctx context.Context, path string, known Known) (Diagnostics, error) {
	data, err := readFile(machine{}, path)
	if err != nil {
		return nil, fmt.Errorf("load tool: %w", err)
	}
	var found Diagnostics
	none := &document{title: titleTool, file: source.Parse(path, nil), found: &Diagnostics{}}
	k := newChecker(ctx, known, &Cascade{}, none)
	toolRules{k}.declareTools(ctx, []*source.File{source.Parse(path, data)}, &found)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("check tool %q: %w", path, err)
	}
	return found.verdict(path)
}

// ParseIntra reads a separate intra_context, JSON or YAML by the extension of name, over the
// defaults. Names of tools are not looked up. The error is an [InvalidError].
func ParseIntra(name string, data []byte) (Intra, Diagnostics, error) {
	var found Diagnostics
	root := place{doc: open(context.Background(), titleSettings, source.Parse(name, data), schema.Intra(), &found)}
	settings := &IntraContext{}
	root.doc.decode(settings)
	b := &intraBlock{IntraContext: settings, layered: layered{root, root}, merged: mergeIntra(settings)}
	b.check()
	found, err := found.verdict(name)
	if err != nil {
		return Intra{}, found, err
	}
	return b.merged, found, nil
}

// readFile reads up to one byte more than a source file may have, to see that it is too large.
func readFile(fsys fs.FS, path string) ([]byte, error) {
	if _, ok := fsys.(machine); !ok { // of the machine's files, Open sees to it
		if info, err := fs.Stat(fsys, path); err == nil {
			if err := source.Readable(path, info.Mode()); err != nil {
				return nil, err
			}
		}
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return io.ReadAll(io.LimitReader(f, source.MaxBytes+1))
}

func readToolFiles(fsys fs.FS, dir string) ([]*source.File, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("look for tool files: %w", err)
	}
	var files []*source.File
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		// A link to a file is one; anything else of the name, as a pipe, would only be waited for.
		if info, err := fs.Stat(fsys, path); !IsToolFile(path) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := readFile(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("read tool file: %w", err)
		}
		files = append(files, source.Parse(path, data))
	}
	return files, nil
}

// parse checks text, syntax, schema, typed values and rules, each step on what the one before left
// intact, so that no mistake hides another.
func parse(ctx context.Context, file *source.File, toolFiles []*source.File, known Known) (*Cascade, Diagnostics, error) {
	var found Diagnostics
	doc := open(ctx, titleCascade, file, schema.Cascade(), &found)
	c := &Cascade{}
	checkable := doc.decode(c)
	nameInlinePhases(c)
	k := newChecker(ctx, known, c, doc)
	toolRules{k}.declareTools(ctx, toolFiles, &found)
	if checkable {
		k.check()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("check cascade %q: %w", file.Name, err)
	}
	found, err := found.verdict(file.Name)
	if err != nil {
		return nil, found, err
	}
	return c, found, nil
}

func (ds Diagnostics) verdict(name string) (Diagnostics, error) {
	found := ds.sorted()
	if n, _ := found.Count(); n > 0 {
		return found, &InvalidError{File: name, Diagnostics: found}
	}
	return found, nil
}

func nameInlinePhases(c *Cascade) {
	for p := range c.EachPhase() {
		if inline := p.inline(); inline != nil && inline.Name == "" && p.Name != "" {
			inline.Name = p.Name + "_on_error"
		}
	}
}

// What the whole of a document is called in messages.
const (
	titleCascade  = "the cascade"
	titleTool     = "the tool"
	titleSettings = "the settings"
)

// document is one file on its way to typed values.
type document struct {
	title string
	file  *source.File
	found *Diagnostics
	edits map[string]source.Edit // what the schema found wrong, by pointer, to be left out when decoding
	meant map[string]bool        // the pointers of keys that are misspelt: they are missing for no other reason
}

// open checks a file against its schema.
func open(ctx context.Context, title string, file *source.File, s *schema.Schema, found *Diagnostics) *document {
	d := &document{title: title, file: file, found: found, edits: map[string]source.Edit{}, meant: map[string]bool{}}
	for _, p := range d.file.Problems {
		d.report(SeverityError, Code(p.Code), span{p.Start, p.End}, p.Message, p.Hint)
	}
	if d.file.Root == nil {
		return d
	}
	violations, err := s.ValidateContext(ctx, d.file.Root.JSON(nil))
	if err != nil {
		// The JSON is ours, so the schema cannot be evaluated.
		d.report(SeverityError, CodeInvalidValue, span{0, 0}, err.Error(), "")
		return d
	}
	for _, v := range violations {
		if d.full() {
			d.edits[""] = source.Nullify // This is no cascade: there is nothing to decode.
			return d
		}
		d.violation(v)
	}
	d.checkForms()
	return d
}

// decode fills in v from what the schema accepts and reports whether there is anything to look at.
func (d *document) decode(v any) bool {
	if d.file.Root == nil || d.edits[""] != source.Keep {
		return false
	}
	raw := d.file.Root.JSON(func(pointer string) source.Edit { return d.edits[pointer] })
	if err := json.Unmarshal(raw, v); err != nil {
		// The schema accepts what a Go type does not hold, perhaps after other errors.
		if n, _ := d.found.Count(); n == 0 {
			at := place{doc: d}
			var te *json.UnmarshalTypeError
			if errors.As(err, &te) && te.Field != "" {
				at.pointer = "/" + strings.ReplaceAll(te.Field, ".", "/")
			}
			at.error(CodeInvalidValue, err.Error(), "")
		}
	}
	return true
}
