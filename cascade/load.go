package cascade

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/files"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/wording"
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

	// Resolve finds another cascade by a name that the file has: a path relative to the file, or a
	// cascade_id. It returns what is reached, or what is wrong; the loader asks once for each name, and
	// keeps what is reached in [Cascade.Reaches]. Without it such names stand for nothing.
	Resolve func(ref string) (*Reached, *Problem)

	// Project is the folder, as the loader is given paths, in which the files of templates (@NAME) are
	// looked for after the folder of the cascade; "": none.
	Project string

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
	return load(ctx, files.Machine{}, path, known)
}

// LoadFS is [LoadContext] for a file of fsys, with a path as in package io/fs. Only fsys opens
// files, so those of an [os.Root] cannot lead out of it.
func LoadFS(ctx context.Context, fsys fs.FS, path string, known Known) (*Cascade, Diagnostics, error) {
	return load(ctx, files.Slashed{FS: fsys}, path, known)
}

func load(ctx context.Context, fsys fs.FS, path string, known Known) (*Cascade, Diagnostics, error) {
	data, err := files.Read(fsys, path)
	if err != nil {
		return nil, nil, fmt.Errorf("load cascade: %w", err)
	}
	tools, err := readToolFiles(fsys, filepath.Dir(path))
	if err != nil {
		return nil, nil, fmt.Errorf("load cascade %q: %w", path, err)
	}
	t := &files.Texts{FS: fsys, Folders: []string{filepath.Dir(path)}}
	if known.Project != "" && filepath.Clean(known.Project) != t.Folders[0] {
		t.Folders = append(t.Folders, filepath.Clean(known.Project))
	}
	return parse(ctx, source.Parse(path, data), tools, t, known)
}

// Parse is [Load] for a text alone. The extension of name tells JSON from YAML.
func Parse(name string, data []byte, known Known) (*Cascade, Diagnostics, error) {
	return ParseContext(context.Background(), name, data, known)
}

// ParseContext is [Parse] until ctx ends.
func ParseContext(ctx context.Context, name string, data []byte, known Known) (*Cascade, Diagnostics, error) {
	return parse(ctx, source.Parse(name, data), nil, nil, known)
}

// IsToolFile reports whether a path is that of a file that declares one tool.
func IsToolFile(path string) bool { return strings.HasSuffix(path, toolFileSuffix) }

// CheckToolFile checks a *.tool.json file by itself, with the errors of [Load].
func CheckToolFile(ctx context.Context, path string, known Known) (Diagnostics, error) {
	data, err := files.Read(files.Machine{}, path)
	if err != nil {
		return nil, fmt.Errorf("load tool: %w", err)
	}
	var found Diagnostics
	none := document.Open(ctx, source.Parse(path, nil), schema.Tool(), wordsOf(wording.Tool), &Diagnostics{})
	k := newChecker(ctx, known, &Cascade{}, none)
	toolRules{k}.declareTools(ctx, []*source.File{source.Parse(path, data)}, &found)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("check tool %q: %w", path, err)
	}
	return found.Verdict(path)
}

// ParseIntra reads a separate intra_context, JSON or YAML by the extension of name, over the
// defaults. Names of tools are not looked up. The error is an [InvalidError].
func ParseIntra(name string, data []byte) (Intra, Diagnostics, error) {
	var found Diagnostics
	doc := open(context.Background(), wording.Settings, source.Parse(name, data), schema.Intra(), &found)
	block := &IntraContext{}
	doc.Decode(block)
	b := &settings.IntraBlock{IntraContext: block, Layered: settings.Layered{At: doc.Root(), Below: doc.Root()}, Merged: settings.MergeIntra(block)}
	b.Check()
	found, err := found.Verdict(name)
	if err != nil {
		return Intra{}, found, err
	}
	return b.Merged, found, nil
}

// readToolFiles reads the files of a folder that declare one tool each.
func readToolFiles(fsys fs.FS, dir string) ([]*source.File, error) {
	list, err := files.Named(fsys, dir, IsToolFile)
	if err != nil {
		return nil, err
	}
	out := make([]*source.File, 0, len(list))
	for _, f := range list {
		out = append(out, source.Parse(f.Path, f.Data))
	}
	return out, nil
}

// parse checks text, syntax, schema, typed values and rules, each step on what the one before left
// intact, so that no mistake hides another.
func parse(ctx context.Context, file *source.File, toolFiles []*source.File, t *files.Texts, known Known) (*Cascade, Diagnostics, error) {
	var found Diagnostics
	doc := open(ctx, wording.Cascade, file, schema.Cascade(), &found)
	c := &Cascade{}
	checkable := doc.Decode(c)
	nameInlinePhases(c)
	k := newChecker(ctx, known, c, doc)
	toolRules{k}.declareTools(ctx, toolFiles, &found)
	if checkable {
		k.includeTexts(t)
		k.check()
		k.leaveOut()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("check cascade %q: %w", file.Name, err)
	}
	found, err := found.Verdict(file.Name)
	if err != nil {
		return nil, found, err
	}
	return c, found, nil
}

func nameInlinePhases(c *Cascade) {
	for p := range c.EachPhase() {
		if inline := p.inline(); inline != nil && inline.Name == "" && p.Name != "" {
			inline.Name = p.Name + "_on_error"
		}
	}
}

// open checks a file against its schema, and its short forms.
func open(ctx context.Context, title string, file *source.File, s *schema.Schema, found *Diagnostics) *document.Document {
	d := document.Open(ctx, file, s, wordsOf(title), found)
	checkForms(d, title)
	return d
}

func wordsOf(title string) wording.Words {
	return wording.Words{Title: title, Rules: wording.KeysOf[Rules]()}
}
