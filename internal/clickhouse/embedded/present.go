package embedded

import (
	"context"
	"strings"
)

// Presence says which engine this machine has for windlass, without fetching or starting one.
type Presence struct {
	Here    bool   `json:"here"`              // it is on this machine
	Version string `json:"version,omitempty"` // of the engine that is here or would be fetched; "" when it is not known
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem,omitempty"` // why there is none and none can be fetched, in one line
}

// Present looks for the engine in the order of the sources.
func Present(ctx context.Context, c Config) Presence {
	engine, attempts, err := Survey(ctx, c)
	p := Presence{Here: engine.Path != "", Path: engine.Path}
	last := Attempt{}
	if len(attempts) > 0 {
		last = attempts[len(attempts)-1]
	}
	switch {
	case err != nil:
		p.Problem, _, _ = strings.Cut(err.Error(), ";")
	case engine.Kind == KindBinary:
		if out, err := askVersion(ctx, engine.Path); err == nil {
			p.Version = strings.TrimPrefix(strings.Trim(versionPattern.FindString(out), "."), "version ")
		}
	case last.Source == SourceNpm, last.Source == SourceCache && c.URL == "":
		p.Version = pins()[c.platform()].Version
	}
	return p
}

// String says it in one line.
func (p Presence) String() string {
	version := p.Version
	if version == "" {
		version = "of an unknown version"
	}
	switch {
	case p.Problem != "":
		return "none, " + p.Problem
	case p.Here:
		return "ClickHouse " + version + ", on this machine: " + p.Path
	}
	return "ClickHouse " + version + ", not on this machine yet: windlass fetch engine fetches it"
}
