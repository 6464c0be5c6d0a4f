package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/sounding"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/failure"
)

// Started is what a run was started with besides its cascade and its input, as the header of its
// journal keeps it. A session that is resumed has the same models and the same rights.
type Started struct {
	Dir          string   `json:"dir"`              // the working folder, whose windlass.json counts
	WorkDir      string   `json:"work_dir"`         // of the session; of a fork that of the session it comes from,
	Name         string   `json:"name,omitempty"`   // and its id: both stand in what was sent
	Models       []string `json:"models,omitempty"` // MODEL for all phases, resolved, or PHASE=MODEL
	Asked        string   `json:"asked,omitempty"`  // the model that was asked for when the run began, which its children have, too
	Rights                // with absolute roots
	Offline      bool     `json:"offline,omitempty"`
	PriceAs      *PriceAs `json:"price_as,omitempty"` // nil: a script costs nothing
	NoClickHouse bool     `json:"no_clickhouse,omitempty"`

	Files []engine.File   `json:"files,omitempty"` // of the input; the record has their bytes
	State json.RawMessage `json:"state,omitempty"` // the shared state that a child begins with, without secrets
	Trial *sounding.Trial `json:"trial,omitempty"` // which of several tries of its cascade a child is

	// Off is what windlass.json had switched off of auto_context when the session began.
	Off cascade.SwitchedOff `json:"auto_context_off,omitzero"`
}

// options returns what a run with the same models and rights is started with.
func (s *Started) options() RunOptions {
	o := RunOptions{Models: readModels(s.Models), Offline: s.Offline, NoClickHouse: s.NoClickHouse, Rights: s.Rights}
	if s.PriceAs != nil {
		o.PriceAs = s.PriceAs.Model
	}
	return o
}

// state returns the state that a child begins with, nil when there is none.
func (s *Started) state() map[string]any {
	if len(s.State) == 0 {
		return nil
	}
	state, err := input.Object("state", s.State)
	if err != nil {
		return nil
	}
	return state
}

// Origin is what a session came from.
type Origin struct {
	Cascade *cascade.Cascade
	Input   map[string]any
	Started Started
	State   map[string]any // that a child begins with
}

// ReadHeader reads what a session came from off the header of its journal, so that it can be run
// again. Tools are the names of the caller's, see [Extensions]. The error has a
// [*MissingToolsError], or a [*HeaderError], and an [*engine.RulesError] when the rules of the
// session are why.
func ReadHeader(h journal.Header, tools ...string) (*Origin, error) {
	if err := engine.CheckRules(h.Rules); err != nil {
		return nil, headerError("session %s: %w", h.SessionID, err)
	}
	known := Known(tools...)
	var missing []string
	known.LaterTool = func(name string, _ cascade.Diagnostic) {
		if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	c, found, err := library.Read(h.SessionID+"/cascade", h.Cascade, h.Library, known)
	if err != nil {
		return nil, headerError("read the cascade of session %s: %w", h.SessionID, err)
	}
	if c == nil {
		return nil, headerError("the cascade of session %s, which windlass %s started, is no valid cascade for this windlass: %s",
			h.SessionID, h.Windlass, found[0].Message)
	}
	if len(missing) > 0 {
		return nil, failure.New(failure.InvalidRequest, &MissingToolsError{SessionID: h.SessionID, Tools: missing}, "")
	}
	o := &Origin{Cascade: c}
	if string(h.Input) != "null" { // of a run without one
		if o.Input, err = input.Object("read the input of session "+h.SessionID, h.Input); err != nil {
			return nil, headerError("%w", err)
		}
	}
	if len(h.Options) == 0 {
		return nil, headerError("the journal of session %s does not say what the run was started with", h.SessionID)
	}
	if err := json.Unmarshal(h.Options, &o.Started); err != nil {
		return nil, headerError("read what session %s was started with: %w", h.SessionID, err)
	}
	if o.State = o.Started.state(); o.State == nil && len(o.Started.State) > 0 {
		return nil, headerError("read the state that session %s began with: it is no JSON object", h.SessionID)
	}
	return o, nil
}

// newHeader returns the header of a session that starts.
func (o *opening) newHeader() (journal.Header, error) {
	r := o.run
	h := journal.Header{
		Version: journal.Version, Rules: engine.Rules, SessionID: r.header.SessionID, StartedAt: deskOf(o.app).Clock(), Windlass: o.app.version,
		File: r.header.File, ChildOf: r.header.ChildOf, ChildKey: r.header.ChildKey, Root: r.header.Root, Depth: r.header.Depth,
	}
	var err error
	if r.started, err = o.newStarted(); err != nil {
		return h, err
	}
	if h.Cascade, err = json.Marshal(r.cascade); err != nil {
		return h, fmt.Errorf("encode cascade: %w", err)
	}
	if h.Input, err = json.Marshal(r.input); err != nil {
		return h, failure.New(failure.InvalidInput, fmt.Errorf("encode input: %w", err), "")
	}
	if o.script != "" {
		if h.Script, err = filepath.Abs(o.script); err != nil {
			return h, fmt.Errorf("find the script: %w", err)
		}
	}
	if r.started.State, err = o.maskedState(); err != nil {
		return h, err
	}
	if h.Library, err = library.Encode(r.cascade); err != nil {
		return h, err
	}
	h.Options = encoded(r.started)
	h.Cascade, h.Input = r.secrets.JSON(h.Cascade), r.secrets.JSON(h.Input)
	if h.Library != nil {
		h.Library = r.secrets.JSON(h.Library)
	}
	return h, nil
}

// maskedState returns what is recorded of the state that a child begins with: of all that a run is
// started with, it alone may have secrets.
func (o *opening) maskedState() (json.RawMessage, error) {
	of := o.run.children.of
	if of == nil || len(of.State) == 0 {
		return nil, nil
	}
	state, err := json.Marshal(of.State)
	if err != nil {
		return nil, failure.New(failure.InvalidInput, fmt.Errorf("encode state: %w", err), "")
	}
	return o.run.secrets.JSON(state), nil
}

func (o *opening) newStarted() (Started, error) {
	s := Started{
		WorkDir: filepath.Join(o.dir, "work"), Rights: o.options.Rights, Offline: o.options.Offline, NoClickHouse: o.options.NoClickHouse,
		Off: o.run.started.Off, PriceAs: o.run.started.PriceAs, Files: o.run.started.Files, Asked: o.run.started.Asked, Dir: o.run.started.Dir, Trial: o.run.started.Trial,
	}
	var err error
	if s.Dir, err = filepath.Abs(cmp.Or(s.Dir, o.app.dir)); err != nil {
		return s, fmt.Errorf("find the working folder: %w", err)
	}
	s.Roots = []string{}
	for _, r := range o.options.Rights.Roots {
		abs, err := filepath.Abs(r)
		if err != nil {
			return s, fmt.Errorf("find the folder %s: %w", r, err)
		}
		s.Roots = append(s.Roots, abs)
	}
	if o.runner.DefaultModel != "" {
		s.Models = append(s.Models, o.runner.DefaultModel)
	}
	for _, phase := range sortedKeys(o.runner.PhaseModels) {
		s.Models = append(s.Models, phase+"="+o.runner.PhaseModels[phase])
	}
	return s, nil
}

// encoded encodes a value of windlass's own making.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	return b
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
