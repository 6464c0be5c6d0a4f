// Package script is the scripted model: a file beside a cascade has the answers and tool calls of
// each phase and turn, as templates over tool results. It costs nothing, says that it is scripted,
// and refuses broken sequences and calls of tools that are not offered, as a provider does.
package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/template"
)

// Script is a parsed script file. It is immutable.
type Script struct {
	Path       string
	tokenModel string           // whose tokenizer counts; empty: that of gpt-5
	phases     map[string]*part // by the name of the phase
	validators map[string]*part // by the name of the inline validator
	summaries  map[string]*part // by the name of the phase whose older messages are summed up
	selections map[string]*part // by the name of the phase that messages are chosen for
	judges     map[string]*part // by the name of the phase whose candidates are judged
	aggregates map[string]*part // by the name of the phase for whose candidates one answer is written
	rewrites   map[string]*part // by the name of the phase whose instructions are rewritten
	fallback   *part            // for phases that are not named; may be nil
}

// part says what one phase or one validator answers, attempt by attempt.
type part struct {
	attempts [][]*turn
	repeat   bool // the last attempt is played for all later ones too
}

// turn is one answer.
type turn struct {
	text   *text
	calls  []call
	finish string
	usage  *usage
	delay  time.Duration
	fail   *fail
	repeat bool // answers all later turns of the attempt too
	expect *expect
	judge  *judge // nil: the text is the answer
}

// usage replaces the counted tokens.
type usage struct{ in, cached, out, reasoning int64 }

// call is one tool call; every string in its arguments is a template.
type call struct {
	tool      string
	arguments any   // as decoded JSON, with *text in place of strings; nil: none
	raw       *text // the arguments as text, also when that is not valid JSON
}

// fail is a provider's error in place of an answer.
type fail struct {
	kind    string
	status  int
	message string
	model   string // that fails, while others answer; "": all
}

// expect is what must be true of the request, or the script does not fit the run.
type expect struct {
	contains []string // in the last message
	matches  []*regexp.Regexp
	tools    []string // offered
}

// text is a template, with what it uses found out beforehand.
type text struct {
	source   string
	template *template.Template
}

// extensions of script files, in the order in which they are looked for.
var extensions = []string{".script.json", ".script.yaml", ".script.yml"}

// Find returns the script beside a cascade: for dir/x.json dir/x.script.json, .script.yaml or .yml.
func Find(cascadePath string) (string, error) {
	stem := strings.TrimSuffix(cascadePath, filepath.Ext(cascadePath))
	for _, ext := range extensions {
		path := stem + ext
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for the script of %q: %w", cascadePath, err)
		}
	}
	return "", fmt.Errorf("no script for %q: looked for %s: %w", cascadePath, stem+extensions[0]+" and .yaml", fs.ErrNotExist)
}

// IsFile reports whether a path is that of a script.
func IsFile(path string) bool {
	return slices.ContainsFunc(extensions, func(ext string) bool { return strings.HasSuffix(path, ext) })
}

// MaxBytes bounds a script, which may hold long answers.
const MaxBytes = 64 << 20

// Load reads a script. What is wrong with its content is a [*strict.Error] with every problem.
func Load(path string) (*Script, error) {
	data, err := source.ReadFile(path, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return Parse(path, data)
}

// Phases returns the names of the phases that the script answers by name.
func (s *Script) Phases() []string {
	return slices.Collect(maps.Keys(s.phases))
}

// render fills in a value of call arguments.
func render(v any, fill func(*text) (string, error)) (any, error) {
	switch t := v.(type) {
	case *text:
		return fill(t)
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			r, err := render(item, fill)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			r, err := render(item, fill)
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	default:
		return v, nil
	}
}

// argumentsText returns a call's arguments as JSON text.
func (c *call) argumentsText(fill func(*text) (string, error)) (string, error) {
	if c.raw != nil {
		return fill(c.raw)
	}
	if c.arguments == nil {
		return "{}", nil
	}
	v, err := render(c.arguments, fill)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the arguments of %s: %w", c.tool, err)
	}
	return string(b), nil
}
