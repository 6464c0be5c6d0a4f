package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/internal/excerpt"
)

// Command is one call of the tool. Each command has arguments of its own; the others are ignored.
type Command struct {
	Command    string `json:"command"`
	Path       string `json:"path"`
	FileText   string `json:"file_text"`
	OldStr     string `json:"old_str"`
	NewStr     string `json:"new_str"`
	InsertText string `json:"insert_text"`
	OldPath    string `json:"old_path"`
	NewPath    string `json:"new_path"`
	ViewRange  []int  `json:"view_range"`  // nil: the whole file
	InsertLine *int   `json:"insert_line"` // nil: not given
}

// needed has the arguments that each command cannot do without.
var needed = map[string][]string{
	commandView:    {"path"},
	commandCreate:  {"path", "file_text"},
	commandReplace: {"path", "old_str", "new_str"},
	commandInsert:  {"path", "insert_line", "insert_text"},
	commandDelete:  {"path"},
	commandRename:  {"old_path", "new_path"},
}

var arguments = []string{
	"command", "path", "view_range", "file_text", "old_str", "new_str", "insert_line", "insert_text", "old_path", "new_path",
}

// argumentError is an error for the model.
type argumentError string

func (e argumentError) Error() string { return string(e) }

// Read returns the command of a call. The text of an error is for the model, and names the argument that is missing,
// unknown or wrong. An argument that is null is not given. It is safe for concurrent use.
func Read(args json.RawMessage) (*Command, error) {
	if !utf8.Valid(args) { // the parser would replace what is not
		return nil, argumentError("Error: The arguments are not valid UTF-8")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, argumentError("Error: The arguments are no JSON object")
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return bytes.Equal(v, []byte("null")) })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(arguments, name) {
			return nil, argumentError("Error: Unknown argument: " + visible(excerpt.Clip(name, maxShown)))
		}
	}
	c, err := decode(args)
	if err != nil {
		return nil, err
	}
	if _, ok := given["command"]; !ok {
		return nil, argumentError("Error: The argument command is missing")
	}
	for _, name := range needed[c.Command] {
		if _, ok := given[name]; !ok {
			return nil, argumentError(missing(c.Command, name))
		}
	}
	if needed[c.Command] == nil {
		return nil, argumentError(unknown(c.Command))
	}
	return c, nil
}

func missing(command, argument string) string {
	return fmt.Sprintf("Error: The command %s needs the argument %s", command, argument)
}

func unknown(command string) string {
	return "Unknown command: " + visible(excerpt.Clip(command, maxShown))
}

// decode reads the arguments, whose names are known.
func decode(args json.RawMessage) (*Command, error) {
	var in struct {
		Command
		ViewRange  []whole `json:"view_range"`
		InsertLine *whole  `json:"insert_line"`
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(args, &in); {
	case errors.As(err, &wrong):
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return nil, argumentError(fmt.Sprintf("Error: The argument %s cannot be a JSON %s", name, wrong.Value))
	case err != nil:
		return nil, err
	}
	c := in.Command
	if in.ViewRange != nil {
		c.ViewRange = make([]int, len(in.ViewRange))
		for i, n := range in.ViewRange {
			c.ViewRange[i] = int(n)
		}
	}
	c.InsertLine = (*int)(in.InsertLine)
	return &c, nil
}

// whole is the number of a line. JSON Schema takes 1.0 for an integer, so does whole.
type whole int

// UnmarshalJSON reads a number without a fraction.
func (w *whole) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
		return argumentError(fmt.Sprintf("Error: %s is not the number of a line", visible(excerpt.Clip(string(raw), 40))))
	}
	*w = whole(v)
	return nil
}

// Writes reports whether the command changes files.
func (c *Command) Writes() bool { return c.Command != commandView }

// CheckPaths says what is wrong with the paths of the command, whatever files there are; "" when nothing is.
func (c *Command) CheckPaths() (problem string) {
	paths := []string{c.Path}
	if c.Command == commandRename {
		paths = []string{c.OldPath, c.NewPath}
	}
	for _, path := range paths {
		if _, problem := cleanPath(path); problem != "" {
			return problem
		}
	}
	return ""
}

// Run runs the command over the files of a bank, which it does not change: the result has the changes. The result of a
// command that fails has a text for the model and no changes. The files are those of a bank: their paths are such that
// create makes them. It is safe for concurrent use, as long as nobody changes the files.
func (c *Command) Run(files Files) Result {
	switch c.Command {
	case commandView:
		return c.on(c.Path, files.view)
	case commandCreate:
		return c.on(c.Path, files.create)
	case commandReplace:
		return c.on(c.Path, files.replace)
	case commandInsert:
		return c.on(c.Path, files.insert)
	case commandDelete:
		return c.on(c.Path, files.remove)
	case commandRename:
		return files.rename(c)
	}
	return failed(unknown(c.Command))
}

// on runs a command that has one path, when that is a right one.
func (c *Command) on(path string, run func(c *Command, path string) Result) Result {
	path, problem := cleanPath(path)
	if problem != "" {
		return failed(problem)
	}
	return run(c, path)
}
