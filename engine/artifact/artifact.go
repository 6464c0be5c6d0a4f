// Package artifact has the tools by which a model makes what people see, and finds it again.
package artifact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// The tools.
const (
	ToolShow   = "show_ui"
	ToolCreate = "create_artifact"
	ToolList   = "list_artifacts"
	ToolGet    = "get_artifact"
)

const (
	// MaxHTML is how long the HTML of an artifact may be, in bytes.
	MaxHTML = 1 << 20
	// MaxText is how much of it a model gets back, in bytes.
	MaxText = 64 << 10
)

const (
	titleSchema = `"title":{"type":"string","minLength":1,"maxLength":200}`
	htmlSchema  = `"html":{"type":"string","minLength":1,"description":"a whole document, with inline styles and images as data: addresses; scripts, links and forms do nothing in it"}`
	tagsSchema  = `"tags":{"type":"array","maxItems":16,"items":{"type":"string","minLength":1,"maxLength":64}}`
	typeSchema  = `"artifact_type":{"type":"string","minLength":1,"maxLength":64,"description":"what it is: report, dashboard, ..."}`
)

var specs = []effect.ToolSpec{
	{
		Name: ToolShow, Idempotent: true,
		Description: "Show the person who runs this work something as HTML, and go on without waiting.",
		Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"required":["html","title"],"properties":{` + htmlSchema + `,` + titleSchema + `}}`),
	},
	{
		Name: ToolCreate, Idempotent: true,
		Description: "Keep a document as HTML with this run, for people and for later.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["html","title"],"properties":{` +
			htmlSchema + `,` + titleSchema + `,` + typeSchema + `,` + tagsSchema + `}}`),
	},
	{
		Name: ToolList, Idempotent: true,
		Description: "List what was shown and kept as HTML in this run.",
		Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` + typeSchema + `,` + tagsSchema + `}}`),
	},
	{
		Name: ToolGet, Idempotent: true,
		Description: "Read what was shown or kept as HTML in this run.",
		Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string","minLength":1}}}`),
	},
}

// Spec returns what a model is told of one of these tools.
func Spec(tool string) effect.ToolSpec {
	return specs[slices.IndexFunc(specs, func(s effect.ToolSpec) bool { return s.Name == tool })]
}

// Is reports whether a tool is one of these.
func Is(tool string) bool {
	return slices.ContainsFunc(specs, func(s effect.ToolSpec) bool { return s.Name == tool })
}

// Makes reports whether a tool makes an artifact; the others find some.
func Makes(tool string) bool { return tool == ToolShow || tool == ToolCreate }

// Wanted is what the tools are called with, all of them together.
type Wanted struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Type  string   `json:"artifact_type"`
	Tags  []string `json:"tags"`
	HTML  string   `json:"html"`
}

// Read returns the arguments of a call that its schema has let through.
func Read(tool string, args json.RawMessage) (*Wanted, error) {
	var in Wanted
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("read arguments of %s: %w", tool, err)
	}
	return &in, nil
}

// Of returns the artifact that a call makes. The problem is for the model: there is no artifact then.
func Of(tool, session string, key echo.Key, in *Wanted) (a echo.Artifact, problem string) {
	switch {
	case len(in.HTML) > MaxHTML:
		return a, fmt.Sprintf("The HTML has %d bytes, at most %d are kept.", len(in.HTML), MaxHTML)
	case strings.TrimSpace(in.HTML) == "":
		return a, "The HTML is empty."
	}
	kind := echo.ArtifactMade
	if tool == ToolShow {
		kind = echo.ArtifactUI
	}
	return echo.Artifact{ID: echo.ArtifactID(session, key), Kind: kind, Title: in.Title, Type: in.Type, Tags: in.Tags, HTML: in.HTML}, ""
}

// matches reports whether an artifact is one of those that are wanted.
func (in *Wanted) matches(a *echo.Artifact) bool {
	if in.ID != "" && a.ID != in.ID || in.Type != "" && a.Type != in.Type {
		return false
	}
	return !slices.ContainsFunc(in.Tags, func(tag string) bool { return !slices.Contains(a.Tags, tag) })
}

// Made tells a model that its artifact is there.
func Made(a *echo.Artifact) string {
	return text(map[string]any{"id": a.ID, "status": map[echo.ArtifactKind]string{echo.ArtifactUI: "shown", echo.ArtifactMade: "kept"}[a.Kind]})
}

// listed is an artifact in a list.
type listed struct {
	ID    string            `json:"id"`
	Kind  echo.ArtifactKind `json:"kind"`
	Title string            `json:"title"`
	Type  string            `json:"artifact_type,omitempty"`
	Tags  []string          `json:"tags,omitempty"`
	Bytes int               `json:"bytes"`
	HTML  string            `json:"html,omitempty"`
}

// Told returns what a model is told of the artifacts that a call has found.
func Told(tool string, in *Wanted, list []echo.Artifact) (out string, failed bool) {
	if tool == ToolGet && len(list) == 0 {
		return fmt.Sprintf("There is no artifact %q in this run. list_artifacts lists them.", in.ID), true
	}
	all := []listed{}
	for _, a := range list {
		all = append(all, listed{ID: a.ID, Kind: a.Kind, Title: a.Title, Type: a.Type, Tags: a.Tags, Bytes: len(a.HTML)})
	}
	if tool == ToolList {
		return text(all), false
	}
	all[0].HTML = beginning(list[0].HTML)
	return text(all[0]), false
}

// beginning returns as much of HTML as a model gets.
func beginning(html string) string {
	if len(html) <= MaxText {
		return html
	}
	at := MaxText
	for !utf8.RuneStart(html[at]) {
		at--
	}
	return fmt.Sprintf("%s\n[the first %d of %d bytes]", html[:at], at, len(html))
}

func text(v any) string { return string(effect.MustJSON(v)) }

// Shelf has the entries of a run's artifacts. Its zero value is empty. It is safe for concurrent use.
type Shelf struct {
	mu      sync.Mutex
	entries []*echo.Entry
}

// Add takes an entry, if it is of an artifact.
func (s *Shelf) Add(e *echo.Entry) {
	if !isArtifact(e) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
}

func isArtifact(e *echo.Entry) bool {
	if e.NodeType != echo.NodeValue {
		return false
	}
	p := e.Key.Path()
	return p.Last().Kind == echo.StepArtifact
}

// Find returns the keys of the artifacts that are wanted, in the order in which they were made.
func (s *Shelf) Find(in *Wanted) []echo.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []echo.Key
	for _, e := range s.entries {
		if a, err := echo.Read[echo.Artifact](e); err == nil && in.matches(&a) && !slices.Contains(keys, e.Key) {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// At returns the artifacts with some keys.
func (s *Shelf) At(keys []echo.Key) ([]echo.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []echo.Artifact
	for _, key := range keys {
		i := slices.IndexFunc(s.entries, func(e *echo.Entry) bool { return e.Key == key })
		if i < 0 {
			return nil, fmt.Errorf("the record has no artifact %s", key)
		}
		a, err := echo.Read[echo.Artifact](s.entries[i])
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}
