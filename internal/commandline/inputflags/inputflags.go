// Package inputflags reads the input of a run from the flags that give it, and says how it is given.
package inputflags

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// Given is what the flags give.
type Given struct {
	Values []string // of --input: NAME=VALUE, or NAME=@FILE
	JSON   string   // of --input-json: an object
	File   string   // of --input-file; "-" is standard input
}

// Misfit says what the schema of a cascade file has against an input.
func Misfit(file string, violations []schema.Violation) error {
	var lines []string
	for _, v := range violations {
		lines = append(lines, "  "+v.String())
	}
	return fmt.Errorf("the input does not fit %s:\n%s", file, strings.Join(lines, "\n"))
}

// Hint shows how the input of a cascade is given after the command that was typed.
func Hint(command string, c *cascade.Cascade) string { return hint(command, "", c, nil) }

// Hint shows how what is missing of the input is given, after the command that was typed and what of
// the input is not wrong.
func (g *Given) Hint(command string, c *cascade.Cascade, violations []schema.Violation) string {
	return hint(command, g.kept(violations), c, violations)
}

// kept are the flags that are not wrong, to be typed again.
func (g *Given) kept(wrong []schema.Violation) string {
	kept := ""
	if g.File != "" {
		kept += " --input-file " + commandline.Path(g.File)
	}
	if g.JSON != "" {
		kept += " --input-json " + commandline.Quote(g.JSON)
	}
	for _, pair := range g.Values {
		name, _, _ := strings.Cut(pair, "=")
		if !slices.ContainsFunc(wrong, func(v schema.Violation) bool {
			return v.Property == name || strings.HasPrefix(v.Pointer+"/", "/"+name+"/")
		}) {
			kept += " --input " + commandline.Quote(pair)
		}
	}
	return kept
}

func hint(command, kept string, c *cascade.Cascade, violations []schema.Violation) string {
	var names []string
	if c.InputsSchema != nil {
		names = slices.Sorted(maps.Keys(c.InputsSchema.Names))
		if len(names) == 0 {
			names = slices.Sorted(maps.Keys(c.FileInputs()))
		}
	}
	if c.InputsSchema == nil || len(names) > 0 && len(violations) > 0 {
		names = nil
		for _, v := range violations {
			if v.Keyword == "required" {
				names = append(names, v.Property)
			}
		}
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, " .[") }) {
		return command + " --input-json '{...}'"
	}
	line := command + kept
	files := c.FileInputs()
	for _, name := range names {
		value := "..."
		if _, isFile := files[name]; isFile {
			value = "@FILE"
		}
		line += fmt.Sprintf(" --input %s=%s", name, value)
	}
	return line
}

// Read merges the file, the object and single values; the later ones win. The files are those that
// inputs are.
func (g *Given) Read(stdin io.Reader, c *cascade.Cascade) (out map[string]any, files []engine.File, err error) {
	if out, err = g.objects(stdin); err != nil {
		return nil, nil, err
	}
	kinds := c.FileInputs()
	given := map[string]*input.File{}
	for _, pair := range g.Values {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, nil, fmt.Errorf("--input %q: expected NAME=VALUE", pair)
		}
		kind, isFile := kinds[name]
		if !isFile {
			out[name] = c.ReadValue(name, value)
			continue
		}
		path, ok := strings.CutPrefix(value, "@")
		if !ok {
			return nil, nil, fmt.Errorf("--input %s: the input takes a file: expected %s=@FILE", pair, name)
		}
		f, err := input.ReadFile(name, path, kind)
		if err != nil {
			return nil, nil, fmt.Errorf("--input %s: %w", name, err)
		}
		out[name], given[name] = f.Marker(), f
	}
	files, err = input.Together(given)
	return out, files, err
}

// objects merges the file and the object.
func (g *Given) objects(stdin io.Reader) (map[string]any, error) {
	out := map[string]any{}
	if g.File != "" {
		in, err := readFile(stdin, g.File)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	if g.JSON != "" {
		in, err := input.Object("--input-json", []byte(g.JSON))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	return out, nil
}

func readFile(stdin io.Reader, path string) (map[string]any, error) {
	r := stdin
	if path != "-" {
		f, err := source.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--input-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read from
		r = f
	}
	out, err := input.Read(path, r)
	if err != nil {
		return nil, fmt.Errorf("--input-file %w", err)
	}
	return out, nil
}
