package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
)

// begunWith is what a run was begun with beside its cascade and its input, as the header of the journal keeps it. A session
// that is taken up has the same models and the same rights.
type begunWith struct {
	Dir           string   `json:"dir"`              // the working folder, whose windlass.json counts
	WorkDir       string   `json:"work_dir"`         // of the session; of a fork that of the session it comes from,
	Name          string   `json:"name,omitempty"`   // and its id: both stand in what was sent
	Models        []string `json:"models,omitempty"` // as --model takes them, the default resolved
	Roots         []string `json:"roots"`            // absolute
	AllowEnv      []string `json:"allow_env,omitempty"`
	AllowCommands bool     `json:"allow_commands,omitempty"`
	AllowWrite    []string `json:"allow_write,omitempty"`
	Offline       bool     `json:"offline,omitempty"`
	NoClickHouse  bool     `json:"no_clickhouse,omitempty"`
}

// newHeader returns the header of the journal of a session that begins.
func (s *session) newHeader(home, scriptFile string) (journal.Header, error) {
	h := journal.Header{
		Version: journal.Version, Rules: engine.Rules, SessionID: s.id, StartedAt: time.Now().UTC(), Windlass: readVersion().Version, File: s.file,
	}
	begun, err := s.begun(home)
	if err != nil {
		return h, err
	}
	if h.Cascade, err = json.Marshal(s.cascade); err != nil {
		return h, fmt.Errorf("encode cascade: %w", err)
	}
	if h.Input, err = json.Marshal(s.input); err != nil {
		return h, usageError(fmt.Errorf("encode input: %w", err), "")
	}
	if scriptFile != "" {
		if h.Script, err = filepath.Abs(scriptFile); err != nil {
			return h, fmt.Errorf("find the script: %w", err)
		}
	}
	h.Options = encoded(begun)
	h.Cascade, h.Input = s.secrets.JSON(h.Cascade), s.secrets.JSON(h.Input)
	return h, nil
}

func (s *session) begun(home string) (begunWith, error) {
	o := s.options
	b := begunWith{
		WorkDir:  workDir(home, s.id),
		AllowEnv: o.allowEnv, AllowCommands: o.allowCommands, AllowWrite: o.allowWrite, Offline: o.offline, NoClickHouse: o.noClickHouse, Roots: []string{},
	}
	var err error
	if b.Dir, err = os.Getwd(); err != nil {
		return b, fmt.Errorf("find the working folder: %w", err)
	}
	for _, r := range o.roots {
		abs, err := filepath.Abs(r)
		if err != nil {
			return b, fmt.Errorf("find the folder %s: %w", r, err)
		}
		b.Roots = append(b.Roots, abs)
	}
	if s.runner.DefaultModel != "" {
		b.Models = append(b.Models, s.runner.DefaultModel)
	}
	for _, phase := range sortedNames(s.runner.PhaseModels) {
		b.Models = append(b.Models, phase+"="+s.runner.PhaseModels[phase])
	}
	return b, nil
}

// options returns the flags that a run was begun with.
func (b *begunWith) options() runOptions {
	return runOptions{
		models: b.Models, roots: b.Roots, allowEnv: b.AllowEnv, allowCommands: b.AllowCommands, allowWrite: b.AllowWrite, offline: b.Offline,
		noClickHouse: b.NoClickHouse,
	}
}

// readHeader reads what a session was begun with off the header of its journal, for whoever runs it again. The error is an
// [*engine.RulesError] when that cannot be done for the rules of the session.
func readHeader(h journal.Header) (c *cascade.Cascade, input map[string]any, b begunWith, err error) {
	if err := engine.CheckRules(h.Rules); err != nil {
		return nil, nil, b, fmt.Errorf("session %s: %w", h.SessionID, err)
	}
	c, found, err := cascade.Parse(h.SessionID+"/cascade", h.Cascade, knownNames())
	if err != nil {
		return nil, nil, b, fmt.Errorf("read the cascade of session %s: %w", h.SessionID, err)
	}
	if c == nil {
		return nil, nil, b, fmt.Errorf("the cascade of session %s, which windlass %s began, is no valid cascade for windlass %s: %s",
			h.SessionID, h.Windlass, readVersion().Version, found[0].Message)
	}
	if input, err = decodeObject("the input of session "+h.SessionID, h.Input); err != nil {
		return nil, nil, b, err
	}
	if len(h.Options) == 0 {
		return nil, nil, b, fmt.Errorf("the journal of session %s does not say what the run was begun with", h.SessionID)
	}
	if err := json.Unmarshal(h.Options, &b); err != nil {
		return nil, nil, b, fmt.Errorf("read what session %s was begun with: %w", h.SessionID, err)
	}
	return c, input, b, nil
}

// encoded encodes a value of the command's own making.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	return b
}
