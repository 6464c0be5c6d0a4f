package windlass

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/failure"
)

// Cascade is a cascade that was read and checked. It is immutable.
type Cascade struct {
	file     string
	parsed   *cascade.Cascade
	warnings cascade.Diagnostics
	later    []laterTool
	find     app.Find // finds cascades that models name; nil: as windlass.json says
}

// laterTool is a tool that a phase names and nothing declares: the program gives it when it starts
// a run.
type laterTool struct {
	name    string
	missing cascade.Diagnostic // what is wrong without it
}

// LoadFile reads a cascade, JSON or YAML, the *.tool.json files beside it, and the other cascades that
// it names. These are looked for as the command does: docs/children.md.
//
// The error is of [InvalidCascade] when something is wrong with it, with a [*cascade.InvalidError]
// that has every mistake with its place and a hint. A phase may name tools that the program gives:
// [Windlass.Start] says which of them are missing.
func LoadFile(path string) (*Cascade, error) {
	c := &Cascade{file: path}
	parsed, found, err := app.LoadFile(context.Background(), path, c.known())
	return c.read(parsed, found, err)
}

// LoadFS is [LoadFile] for a file of fsys, such as an [embed.FS], and for the other cascades there: the
// root of fsys is the project folder, and no name leads out of it. A cascade that a model names is
// found there, too, in a run that [Windlass.Start] began; one that is resumed finds it as the command.
func LoadFS(fsys fs.FS, path string) (*Cascade, error) {
	c := &Cascade{file: path}
	parsed, found, err := app.LoadFS(context.Background(), fsys, path, c.known())
	c.find = app.FindFS(fsys, path)
	return c.read(parsed, found, err)
}

// Load reads a cascade, JSON or YAML, from memory. It can name no other cascades. The name stands for its file in errors and in
// the record; its suffix, .json, .yaml or .yml, says which of the two it is.
func Load(name string, data []byte) (*Cascade, error) {
	c := &Cascade{file: name}
	parsed, found, err := cascade.Parse(name, data, c.known())
	return c.read(parsed, found, err)
}

func (c *Cascade) known() cascade.Known {
	known := app.Known()
	known.LaterTool = func(name string, d cascade.Diagnostic) { c.later = append(c.later, laterTool{name, d}) }
	return known
}

func (c *Cascade) read(parsed *cascade.Cascade, found cascade.Diagnostics, err error) (*Cascade, error) {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, failure.New(InvalidCascade, err, "the path of a cascade file")
	case err != nil:
		return nil, failure.New(InvalidCascade, err, "docs/cascade.md describes the language")
	}
	c.parsed, c.warnings = parsed, found
	return c, nil
}

// ID returns the cascade's own name.
func (c *Cascade) ID() string {
	if c.parsed == nil {
		return ""
	}
	return c.parsed.CascadeID
}

// File returns where the cascade is from, as it was given.
func (c *Cascade) File() string { return c.file }

// Parsed returns what the file says. It must not be changed.
func (c *Cascade) Parsed() *cascade.Cascade { return c.parsed }

// Warnings returns what is probably a mistake and keeps nothing from running.
func (c *Cascade) Warnings() cascade.Diagnostics { return slices.Clone(c.warnings) }

// errUnmade is the error of a Cascade that no function of this package made.
var errUnmade = errors.New("the cascade is empty: LoadFile, LoadFS and Load make one")

// checkTools reports tools that phases name and nobody gives.
func (c *Cascade) checkTools(given []string) error {
	var missing cascade.Diagnostics
	for _, t := range c.later {
		if !slices.Contains(given, t.name) {
			missing = append(missing, t.missing)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return failure.New(InvalidCascade, &cascade.InvalidError{File: c.file, Diagnostics: missing}, "give the tool with WithTool, or correct its name")
}

// values returns an input as JSON values, with numbers exact, and checked.
func (c *Cascade) values(given Input) (map[string]any, error) {
	if given == nil {
		given = Input{}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, failure.New(InvalidInput, err, "values that encoding/json can encode")
	}
	values, err := input.Object("read the input", text)
	if err != nil {
		return nil, failure.New(InvalidInput, err, "")
	}
	if bad := c.parsed.CheckInput(values); len(bad) > 0 {
		return nil, failure.New(InvalidInput, &InputError{File: c.file, Violations: bad}, "docs/cascade.md describes inputs_schema")
	}
	return values, nil
}
