// Package scaffold makes the files of a first cascade: one that runs as it is, with a script in place of a model.
package scaffold

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/schema"
)

//go:embed templates
var templates embed.FS

// The templates.
const (
	Minimal = "minimal" // one phase
	Tools   = "tools"   // files, a command as a tool, and a command that validates
	Context = "context" // three phases, with selected context
)

// Names are those of the templates.
func Names() []string { return []string{Minimal, Tools, Context} }

// tasks are what the first phase of each template does unless the options say otherwise. The
// scripts answer these.
var tasks = map[string]string{
	Minimal: "Explain in three sentences what a workflow engine is.",
	Tools:   "Read notes.md and write summary.md: a title and at most five points. Answer with what you wrote.",
	Context: "List the Markdown files of this folder, read notes.md, and collect what a report on it needs.",
}

// The defaults of options.
const (
	DefaultTemplate = Minimal
	DefaultModel    = "gpt-5-mini"
)

// DefaultTask returns what the first phase of a template does by default.
func DefaultTask(template string) string { return tasks[template] }

// Options are what a person says of a cascade. All fields are set.
type Options struct {
	Name     string // of the cascade and its file
	Template string
	Task     string // the instructions of the first phase
	Model    string // the default model of windlass.json
}

// OptionError is a value that an option cannot have.
type OptionError struct{ Option, Problem string }

func (e *OptionError) Error() string { return e.Option + ": " + e.Problem }

var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// Check says what is wrong with the options.
func (o Options) Check() error {
	switch {
	case !nameForm.MatchString(o.Name):
		return &OptionError{"name", fmt.Sprintf("%q is no name: up to 64 letters, digits, _ and -, the first a letter or _", o.Name)}
	case o.taken():
		return &OptionError{"name", config.FileName + " is the name of the configuration file"}
	case !slices.Contains(Names(), o.Template):
		return &OptionError{"template", fmt.Sprintf("there is no template %q: there are %s", o.Template, strings.Join(Names(), ", "))}
	case strings.TrimSpace(o.Task) == "":
		return &OptionError{"task", "it is empty"}
	case strings.Contains(o.Task, "{{") || strings.Contains(o.Task, "{%") || strings.Contains(o.Task, "{#"):
		return &OptionError{"task", "it is plain text here; write templates such as {{ input.topic }} into the file afterwards"}
	case strings.TrimSpace(o.Model) == "":
		return &OptionError{"model", "it is empty"}
	}
	return nil
}

// taken reports whether the cascade's file would be the configuration file, on any file system.
func (o Options) taken() bool { return strings.EqualFold(o.Name+".json", config.FileName) }

// NameFor returns the name of a cascade for a folder.
func NameFor(dir string) string {
	name := regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(filepath.Base(dir), "_")
	o := Options{Name: name[:min(len(name), 64)]}
	if !nameForm.MatchString(o.Name) || strings.Trim(o.Name, "_-") == "" || o.taken() {
		return "first"
	}
	return o.Name
}

// File is one file to make.
type File struct {
	Name string
	Text []byte
}

// Files returns the files of a cascade; the first is the cascade. The options are sound.
func Files(o Options) ([]File, error) {
	cascade, err := o.read(o.Template + "/cascade.json")
	if err != nil {
		return nil, err
	}
	script, err := o.read(o.Template + "/script.json")
	if err != nil {
		return nil, err
	}
	settings, err := indented(map[string]string{"default_model": o.Model})
	if err != nil {
		return nil, err
	}
	files := []File{
		{o.Name + ".json", cascade},
		{o.Name + ".script.json", script},
		{config.FileName, settings},
		{"cascade.schema.json", schema.CascadeJSON()},
	}
	if o.Template != Minimal {
		notes, err := o.read("notes.md")
		if err != nil {
			return nil, err
		}
		files = append(files, File{"notes.md", notes})
	}
	return files, nil
}

// read returns a file of the templates with the options filled in.
func (o Options) read(name string) ([]byte, error) {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	for _, value := range [][2]string{{"@name", o.Name}, {"@task", o.Task}} {
		written, err := compact(value[1])
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte(`"`+value[0]+`"`), written)
	}
	return text, nil
}

// compact writes a value as JSON with <, > and & as they are.
func compact(v any) ([]byte, error) {
	text, err := encode(v, "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

func indented(v any) ([]byte, error) { return encode(v, "  ") }

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// ExistsError says which files are in the way.
type ExistsError struct{ Paths []string }

func (e *ExistsError) Error() string {
	return strings.Join(e.Paths, ", ") + ": already there, and nothing is overwritten"
}

// Ignore is what is not to be checked in: the home of windlass, when WINDLASS_HOME has it in the
// project.
const Ignore = ".windlass/"

const ignoreFile = ".gitignore"

// Write makes the files in a folder, which it makes when there is none, and adds a line to its
// .gitignore. It returns the paths of what it wrote. It replaces nothing: when any of the files
// exists, none is written, and the error is an [*ExistsError].
func Write(dir string, files []File) ([]string, error) {
	var there []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Lstat(path); err == nil {
			there = append(there, path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for %s: %w", path, err)
		}
	}
	if len(there) > 0 {
		return nil, &ExistsError{there}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // as any folder that a person makes; the umask decides
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	var written []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := create(path, f.Text); err != nil {
			for _, p := range written {
				_ = os.Remove(p) // it was made a moment ago
			}
			return nil, err
		}
		written = append(written, path)
	}
	changed, err := ignore(filepath.Join(dir, ignoreFile))
	if changed {
		written = append(written, filepath.Join(dir, ignoreFile))
	}
	return written, err
}

// create makes a file that is not there yet.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // as any file that a person makes; the umask decides
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{[]string{path}}
	}
	if err != nil {
		return fmt.Errorf("make a file: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // it was made here
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// ignore adds the line to a .gitignore that lacks it, and reports whether it did.
func ignore(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, create(path, []byte(Ignore+"\n"))
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err // what is no file has no lines
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Trim(strings.TrimSpace(line), "/") == strings.Trim(Ignore, "/") {
			return false, nil
		}
	}
	line := Ignore + "\n"
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		line = "\n" + line
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return false, fmt.Errorf("add a line to %s: %w", path, err)
	}
	_, err = f.WriteString(line)
	return true, errors.Join(err, f.Close())
}
