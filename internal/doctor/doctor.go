// Package doctor examines what windlass needs on this machine: its folders, its ClickHouse, npm,
// keys and the embedder. It starts an engine that is here, and fetches nothing.
package doctor

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/vault"
)

// Report is what an examination found. Secrets are in it only as set or not set.
type Report struct {
	Home       string       `json:"home"`
	Cache      string       `json:"cache"`
	Config     string       `json:"config,omitempty"` // windlass.json; empty: there is none
	ClickHouse ClickHouse   `json:"clickhouse"`
	Npm        string       `json:"npm,omitempty"` // its path; empty: not found
	Model      string       `json:"model,omitempty"`
	BaseURL    string       `json:"base_url,omitempty"`
	Endpoints  []Endpoint   `json:"endpoints,omitempty"` // of the models that windlass.json names one for
	Embedder   Embedder     `json:"embedder"`
	Keys       []Key        `json:"keys"`
	Secrets    Secrets      `json:"secrets"`
	Memory     []MemoryFile `json:"memory,omitempty"`
	Problems   []string     `json:"problems"`
	// Warnings are of what works and may not be meant, and of sessions that cannot be read.
	Warnings []string `json:"warnings,omitempty"`
}

// Key is a variable that a key is read from.
type Key struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

// Endpoint is where a model of windlass.json is asked.
type Endpoint struct {
	Model   string `json:"model"` // may have a *
	BaseURL string `json:"base_url"`
}

// Secrets is how this process keeps secrets from others of the same user.
type Secrets struct {
	Closed  bool   `json:"closed"`            // nobody but root reads its memory
	Problem string `json:"problem,omitempty"` // why its environment shows them
}

// Options say what is examined.
type Options struct {
	Config      *config.Config // never nil; an empty one when ConfigError says why it cannot be read
	ConfigError error
	Database    clickhouse.Options
	Embedder    string // the name of the embedder that runs would use
}

// Examine looks at everything. What is wrong is in the report.
func Examine(ctx context.Context, o Options) Report {
	r := Report{
		Home: o.Database.Home, Cache: o.Database.CacheDir, Config: o.Config.Path,
		Model:     cmp.Or(os.Getenv("WINDLASS_MODEL"), o.Config.DefaultModel),
		BaseURL:   hideURL(environment.Getenv("OPENAI_BASE_URL")),
		Endpoints: endpoints(o.Config),
		Embedder:  examineEmbedder(o.Config, o.Embedder, o.Database.CacheDir),
		Keys:      examineKeys(o.Config),
		Secrets:   Secrets(vault.Current()),
		Problems:  []string{},
		Warnings:  tool.RiskyTrust(o.Config.TrustedCommands),
	}
	if o.ConfigError != nil {
		r.Problems = append(r.Problems, o.ConfigError.Error())
	}
	r.Npm, _ = exec.LookPath("npm") // not finding it is an answer
	r.ClickHouse = examineClickHouse(ctx, o.Database)
	if old := r.ClickHouse.Old; old != nil {
		r.Warnings = append(r.Warnings, old.String())
	}
	files, err := examineMemory(o.Database.Home)
	if r.Memory = files; err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	backlog, unreadable, err := archive.LocalBacklog(o.Database.Home, o.Database.Address())
	r.ClickHouse.Waiting = backlog
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if err := archive.Unreadable(unreadable); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	if e := r.ClickHouse.Error; e != "" {
		r.Problems = append(r.Problems, e)
	}
	return r
}

// endpoints are those that windlass.json names, without secrets in them.
func endpoints(cfg *config.Config) (list []Endpoint) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		if base := cfg.Models[name].BaseURL; base != "" {
			list = append(list, Endpoint{name, hideURL(base)})
		}
	}
	return list
}

func hideURL(s string) string {
	if s == "" {
		return ""
	}
	return clickhouse.HideDSN(s)
}

// examineKeys lists the variables that keys are read from.
func examineKeys(cfg *config.Config) []Key {
	names := []string{"OPENAI_API_KEY"}
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		if env := cfg.Models[name].APIKeyEnv; env != "" && !slices.Contains(names, env) {
			names = append(names, env)
		}
	}
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i] = Key{Name: name, Set: environment.Getenv(name) != ""}
	}
	return keys
}
