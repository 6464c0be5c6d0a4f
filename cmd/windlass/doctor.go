package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/sandbox"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/vault"
)

// health is what "windlass doctor" finds. Secrets are in it only as set or not set.
type health struct {
	Version    versionInfo      `json:"version"`
	Home       string           `json:"home"`
	Cache      string           `json:"cache"`
	Config     string           `json:"config,omitempty"` // windlass.json; empty: there is none
	ClickHouse clickHouseHealth `json:"clickhouse"`
	Npm        string           `json:"npm,omitempty"` // its path; empty: not found
	Model      string           `json:"model,omitempty"`
	BaseURL    string           `json:"base_url,omitempty"`
	Embedder   embedderHealth   `json:"embedder"`
	Keys       []keyHealth      `json:"keys"`
	Secrets    secretHealth     `json:"secrets"`
	Problems   []string         `json:"problems"`
	Warnings   []string         `json:"warnings,omitempty"` // of what works and may not be meant, and of sessions that cannot be read
}

type clickHouseHealth struct {
	Kind     string             `json:"kind"` // server or embedded
	DSN      string             `json:"dsn,omitempty"`
	Sources  []embedded.Attempt `json:"sources,omitempty"` // of the engine, in the order in which they are asked
	Engine   string             `json:"engine,omitempty"`
	Endpoint string             `json:"endpoint,omitempty"` // of the running engine
	PID      int                `json:"pid,omitempty"`
	DataDir  string             `json:"data_dir,omitempty"`
	Version  string             `json:"version,omitempty"`
	Database string             `json:"database,omitempty"`
	Rows     uint64             `json:"rows"`
	Bytes    uint64             `json:"bytes"`
	Waiting  archive.Backlog    `json:"waiting"`           // what is on this machine and not there
	Sandbox  *sandboxHealth     `json:"sandbox,omitempty"` // of the embedded engine
	Answers  bool               `json:"answers"`

	Reading *clickhouse.ReadingRights `json:"reading,omitempty"` // of windlass sql without --write
	Error   string                    `json:"error,omitempty"`
}

// sandboxHealth is what holds the engine, whatever SQL it is given.
type sandboxHealth struct {
	Confined bool     `json:"confined"`
	Required bool     `json:"required"` // by windlass.json
	Missing  []string `json:"missing"`  // what this system cannot confine
}

func examineSandbox(required bool) *sandboxHealth {
	missing := sandbox.Missing()
	return &sandboxHealth{Confined: len(missing) == 0, Required: required, Missing: append([]string{}, missing...)}
}

func (s *sandboxHealth) summary() string {
	if s.Confined {
		return "the kernel confines the engine to its folder and its port"
	}
	return "incomplete: the system cannot confine " + strings.Join(s.Missing, "; nor ")
}

type keyHealth struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what windlass needs: ClickHouse, npm, keys",
		Long: "Shows where windlass keeps its files, where its ClickHouse comes from and whether it answers, and which keys are\n" +
			"set. It starts an engine that is on this machine, and fetches none. Exit code 6 when there is no\n" +
			"ClickHouse, 2 when windlass.json is wrong.",
		Example: "  windlass doctor\n  windlass doctor --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	ctx, stop := interruptible(ctx, newNotices(io.Discard))
	defer stop()
	h, err := a.examine(ctx)
	switch {
	case ctx.Err() != nil:
		return withExit(exitInterrupted, errInterrupted, "")
	case err != nil:
		return err
	}
	if asJSON {
		err = a.printJSON(h)
	} else {
		err = a.printHealth(h)
	}
	switch {
	case err != nil:
		return err
	case h.ClickHouse.Error != "":
		return &exitError{code: exitStorage, err: errors.New(h.ClickHouse.Error), silent: true}
	case len(h.Problems) > 0: // mostly windlass.json, which every other command refuses to go on with
		return &exitError{code: exitUsage, err: errors.New(h.Problems[0]), silent: true}
	}
	return nil
}

func (a *app) examine(ctx context.Context) (health, error) {
	h := health{Version: readVersion(), Problems: []string{}}
	home, err := config.Home()
	if err != nil {
		return h, withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	cfg, err := config.Open(".", home)
	if err != nil {
		h.Problems = append(h.Problems, err.Error())
		cfg = &config.Config{}
	}
	o, err := database.Options(home, cfg)
	if err != nil {
		return h, withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	h.Warnings = tool.RiskyTrust(cfg.TrustedCommands)
	h.Home, h.Cache, h.Config = home, o.CacheDir, cfg.Path
	h.Npm, _ = exec.LookPath("npm") // not finding it is an answer
	h.Model, h.BaseURL = os.Getenv("WINDLASS_MODEL"), hideURL(vault.Getenv("OPENAI_BASE_URL"))
	if h.Model == "" {
		h.Model = cfg.DefaultModel
	}
	h.Secrets = examineSecrets(vault.Current())
	h.Keys, h.Embedder = examineKeys(cfg), examineEmbedder(cfg, o.CacheDir)
	h.ClickHouse = examineClickHouse(ctx, o)
	var unreadable []error
	if h.ClickHouse.Waiting, unreadable, err = archive.LocalBacklog(home, o.Address()); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	if err := unreadableJournals(unreadable); err != nil {
		h.Warnings = append(h.Warnings, err.Error())
	}
	if e := h.ClickHouse.Error; e != "" {
		h.Problems = append(h.Problems, e)
	}
	return h, nil
}

func hideURL(s string) string {
	if s == "" {
		return ""
	}
	return clickhouse.HideDSN(s)
}

// examineKeys lists the variables that keys are read from.
func examineKeys(cfg *config.Config) []keyHealth {
	keys := []keyHealth{{Name: "OPENAI_API_KEY", Set: vault.Getenv("OPENAI_API_KEY") != ""}}
	seen := map[string]bool{"OPENAI_API_KEY": true, "": true}
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		m := cfg.Models[name]
		if !seen[m.APIKeyEnv] {
			seen[m.APIKeyEnv] = true
			keys = append(keys, keyHealth{Name: m.APIKeyEnv, Set: vault.Getenv(m.APIKeyEnv) != ""})
		}
	}
	return keys
}

// examineClickHouse opens the database if that fetches nothing.
func examineClickHouse(ctx context.Context, o clickhouse.Options) clickHouseHealth {
	h := clickHouseHealth{Kind: "server"}
	if o.DSN != "" {
		h.DSN = clickhouse.HideDSN(o.DSN)
	} else {
		h.Kind, h.DataDir, h.Sandbox = "embedded", clickhouse.EngineDir(o.Home), examineSandbox(o.RequireSandbox)
		engine, attempts, err := embedded.Survey(ctx, embedded.ConfigFromEnv(o.CacheDir))
		h.Engine, h.Sources = engine.Path, attempts
		if err != nil {
			h.Error = err.Error()
			return h
		}
		if engine.Path == "" {
			return h // it will be fetched by the first run
		}
	}
	db, err := clickhouse.Open(ctx, o)
	if err != nil {
		h.Error = err.Error()
		return h
	}
	defer func() { _ = db.Close() }()
	h.ask(ctx, db)
	return h
}

func (h *clickHouseHealth) ask(ctx context.Context, db *clickhouse.DB) {
	h.Database = db.Database()
	if e := db.Endpoint(); e != nil {
		h.Endpoint, h.PID, h.Engine = e.Addr(), e.PID, e.Engine
	}
	size, err := db.Size(ctx)
	if err == nil {
		h.Version, err = db.Version()
	}
	if err != nil {
		h.Error = err.Error()
		return
	}
	h.Rows, h.Bytes, h.Answers = size.Rows, size.Bytes, true
	rights, err := db.ReadingRights(ctx)
	if err != nil {
		h.Error = err.Error()
		return
	}
	h.Reading = &rights
}

func (a *app) printHealth(h health) error {
	t := term.NewTable("what", "finding")
	t.Add("windlass", fmt.Sprintf("%s (%s, %s)", h.Version.Version, h.Version.Platform, h.Version.Go))
	t.Add("home", h.Home)
	t.Add("cache", h.Cache)
	t.Add("windlass.json", orElse(h.Config, "none"))
	t.Add("ClickHouse", h.ClickHouse.summary())
	for _, r := range h.ClickHouse.rows() {
		t.Add(r[0], r[1])
	}
	t.Add("secrets", h.Secrets.summary())
	t.Add("npm", orElse(h.Npm, "not found"))
	t.Add("model", orElse(h.Model, "none set (WINDLASS_MODEL, --model, or in the cascade)"))
	t.Add("endpoint of models", orElse(h.BaseURL, "the provider's own"))
	t.Add("embedder", h.Embedder.summary())
	for _, k := range h.Keys {
		state := "not set"
		if k.Set {
			state = "set"
		}
		t.Add(k.Name, state)
	}
	if err := t.Render(a.out, 0); err != nil { // nothing here may be cut: it is read for details
		return err
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(a.err, "Warning: %s\n", term.Clean(w))
	}
	for _, p := range h.Problems {
		fmt.Fprintf(a.out, "\nProblem: %s\n", p)
	}
	return nil
}

func (h clickHouseHealth) summary() string {
	switch {
	case h.Error != "":
		return h.Kind + ": does not answer"
	case h.Answers:
		return fmt.Sprintf("%s, version %s: answers", h.Kind, h.Version)
	}
	return h.Kind + ": not on this machine yet, the first run fetches it"
}

func (h clickHouseHealth) rows() [][2]string {
	var rows [][2]string
	if h.DSN != "" {
		rows = append(rows, [2]string{"  server", h.DSN})
	}
	for _, s := range h.Sources {
		rows = append(rows, [2]string{"  from " + string(s.Source), s.Outcome})
	}
	if h.Endpoint != "" {
		rows = append(rows, [2]string{"  engine", fmt.Sprintf("process %d listens on %s", h.PID, h.Endpoint)})
	}
	if h.Sandbox != nil {
		rows = append(rows, [2]string{"  sandbox", h.Sandbox.summary()})
	}
	if h.DataDir != "" {
		rows = append(rows, [2]string{"  data", h.DataDir})
	}
	if h.Answers {
		rows = append(rows, [2]string{"  database", fmt.Sprintf("%s: %s rows, %s bytes", h.Database,
			term.Count(int64(h.Rows)), term.Count(int64(h.Bytes)))})
	}
	if h.Reading != nil {
		rows = append(rows, [2]string{"  sql without --write", h.Reading.How})
		if out := h.Reading.Outward; len(out) > 0 {
			rows = append(rows, [2]string{"  warning", "with --write, SQL reaches out of the server: its user has " + strings.Join(out, ", ")})
		}
	}
	return append(rows, [2]string{"  waiting", backlogText(h.Waiting)})
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
