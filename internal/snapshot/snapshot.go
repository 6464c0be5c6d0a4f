// Package snapshot makes regression tests of recorded sessions, and runs them without a model. A
// [Test] holds the answers that a run got and what it came to.
package snapshot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// Version is the version of the format of test files.
const Version = 2

// Suffix is how the names of test files end.
const Suffix = ".test.json"

// WorkDir is the work folder that templates see in a test.
const WorkDir = "/session/work"

// Test is one frozen session.
type Test struct {
	Version int                 `json:"windlass_test"`
	Name    string              `json:"name"`
	Cascade string              `json:"cascade"`                   // its file, relative to that of the test, with slashes
	Rules   int                 `json:"rules,omitempty"`           // of the engine, by which it runs; 0: 1, from before they were kept
	Off     cascade.SwitchedOff `json:"auto_context_off,omitzero"` // of auto_context, by windlass.json
	Session string              `json:"session"`                   // what templates see as the id of the session
	Models  []string            `json:"models,omitempty"`          // as --model takes them
	Env     map[string]string   `json:"env,omitempty"`             // what templates see: placeholders, or values that are kept
	Input   map[string]any      `json:"input"`
	Match   []Aspect            `json:"match"` // what must be as it was
	Expect  Observed            `json:"expect"`
	Answers []Answer            `json:"answers"` // in the order in which they were given

	path string
}

// FileError is a test file that cannot be used.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("%s is no test: %v", e.Path, e.Err) }
func (e *FileError) Unwrap() error { return e.Err }

const maxFile = 64 << 20

// Load reads a test file. An error is a [*FileError], unless the file cannot be read at all.
func Load(path string) (*Test, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read test: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read test %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, &FileError{path, fmt.Errorf("it is larger than %d MiB", maxFile>>20)}
	}
	t, err := parse(data)
	if err != nil {
		return nil, &FileError{path, err}
	}
	t.path = path
	return t, nil
}

func parse(data []byte) (*Test, error) {
	var version struct {
		Version *int `json:"windlass_test"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, plainJSON(err)
	}
	switch {
	case version.Version == nil:
		return nil, errors.New("it has no windlass_test; windlass test freeze writes such files")
	case *version.Version < Version:
		return nil, fmt.Errorf("it is of version %d, and this windlass reads version %d: the last windlass that reads it was built from commit %s; "+
			"run the cascade again and freeze the new session in place of it", *version.Version, Version, echo.LastOldBuild)
	case *version.Version > Version:
		return nil, fmt.Errorf("it is of version %d, and this windlass reads version %d: a newer windlass wrote it", *version.Version, Version)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	t := &Test{}
	if err := dec.Decode(t); err != nil {
		return nil, plainJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more after its JSON object")
	}
	return t, t.check()
}

// plainJSON says what is wrong with a file's JSON without the names of Go.
func plainJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("character %d: %s", syntax.Offset, strings.TrimPrefix(syntax.Error(), "json: "))
	case errors.As(err, &kind):
		return fmt.Errorf("%s is %s, which it cannot be", cmp.Or(kind.Field, "the whole"), kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func (t *Test) check() error {
	switch {
	case t.Name == "":
		return errors.New("it has no name")
	case t.Cascade == "":
		return errors.New("it names no cascade")
	case len(t.Match) == 0:
		return errors.New("match is empty: nothing would be compared")
	}
	for _, a := range t.Match {
		if !slices.Contains(Aspects(), a) {
			return fmt.Errorf("match: there is no %q; there is: %s", a, Joined(Aspects()))
		}
	}
	for i, a := range t.Answers {
		if a.Key.IsZero() || !slices.Contains([]echo.NodeType{echo.NodeModelCall, echo.NodeToolCall, echo.NodeChildEnd, echo.NodeValue, echo.NodeInter, echo.NodeAnswer}, a.Type) {
			return fmt.Errorf("answer %d: key %q and type %q name no answer", i+1, a.Key, a.Type)
		}
	}
	return nil
}

// Lacking returns the aspects that are to be compared and of which nothing is expected yet.
func (t *Test) Lacking() []Aspect {
	return slices.DeleteFunc(slices.Clone(t.Match), t.Expect.has)
}

// Path returns the file that the test was read from or written to.
func (t *Test) Path() string { return t.path }

// CascadeFile returns the file of the cascade.
func (t *Test) CascadeFile() string {
	return filepath.Join(filepath.Dir(t.path), filepath.FromSlash(t.Cascade))
}

// Create writes a test to a new file. The error is [os.ErrExist] when there is one.
func (t *Test) Create(path string) error {
	data, err := t.encode()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // made to be committed
	if err != nil {
		return fmt.Errorf("write test: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write test: %w", err), os.Remove(path))
	}
	t.path = path
	return nil
}

// Update writes the test over the file that it was read from: whole, or not at all.
func (t *Test) Update() error {
	data, err := t.encode()
	if err != nil {
		return err
	}
	if err := wholefile.Write(t.path, data, 0o644); err != nil { // made to be committed
		return fmt.Errorf("write %s: %w", t.path, err)
	}
	return nil
}

func (t *Test) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(t); err != nil {
		return nil, fmt.Errorf("encode test %s: %w", t.Name, err)
	}
	return b.Bytes(), nil
}

// Joined lists names.
func Joined[S ~string](names []S) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}
