package doctor

import (
	"context"
	"strings"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/sandbox"
	"github.com/windlass-run/windlass/internal/term"
)

// ClickHouse is what was found of the database. It mirrors the JSON of windlass doctor.
type ClickHouse struct {
	Kind    string             `json:"kind"` // server or embedded
	DSN     string             `json:"dsn,omitempty"`
	Sources []embedded.Attempt `json:"sources,omitempty"` // of the engine, in the order in which they are asked
	Engine  string             `json:"engine,omitempty"`
	Running
	DataDir string `json:"data_dir,omitempty"`
	Versions
	Database string `json:"database,omitempty"`
	Size
	Waiting archive.Backlog `json:"waiting"`           // what is on this machine and not there
	Sandbox *Sandbox        `json:"sandbox,omitempty"` // of the embedded engine
	Answers bool            `json:"answers"`

	Reading *clickhouse.ReadingRights `json:"reading,omitempty"` // of windlass sql without --write
	Error   string                    `json:"error,omitempty"`
}

// Versions say which ClickHouse it is.
type Versions struct {
	Version string `json:"version,omitempty"`
	Release string `json:"release,omitempty"` // of the engine, as windlass version says it
}

// Running is how the database is reached.
type Running struct {
	Endpoint string `json:"endpoint,omitempty"` // of the running engine
	PID      int    `json:"pid,omitempty"`
	Client   string `json:"client,omitempty"` // the command line of ClickHouse's own client, without the password
}

// Size is how much the database holds.
type Size struct {
	Rows  uint64 `json:"rows"`
	Bytes uint64 `json:"bytes"`
	// Old has sessions of before, while there are no others.
	Old *clickhouse.OldDatabase `json:"old_database,omitempty"`
}

// Sandbox is what holds the engine, whatever SQL it is given.
type Sandbox struct {
	Confined bool     `json:"confined"`
	Required bool     `json:"required"` // by windlass.json
	Missing  []string `json:"missing"`  // what this system cannot confine
}

func examineSandbox(required bool) *Sandbox {
	missing := sandbox.Missing()
	return &Sandbox{Confined: len(missing) == 0, Required: required, Missing: append([]string{}, missing...)}
}

// examineClickHouse opens the database if that fetches nothing.
func examineClickHouse(ctx context.Context, o clickhouse.Options) (h ClickHouse) {
	if err := h.examine(ctx, o); err != nil {
		h.Error = err.Error()
	}
	return h
}

func (h *ClickHouse) examine(ctx context.Context, o clickhouse.Options) error {
	h.Kind = "server"
	if o.DSN != "" {
		h.DSN = clickhouse.HideDSN(o.DSN)
	} else {
		h.Kind, h.DataDir, h.Sandbox = "embedded", clickhouse.EngineDir(o.Home), examineSandbox(o.RequireSandbox)
		engine, attempts, err := embedded.Survey(ctx, embedded.ConfigFromEnv(o.CacheDir))
		h.Engine, h.Sources = engine.Path, attempts
		h.Release = embedded.Present(ctx, embedded.ConfigFromEnv(o.CacheDir)).Version
		if err != nil || engine.Path == "" { // the first run fetches it
			return err
		}
	}
	db, err := clickhouse.Open(ctx, o)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read from
	return h.ask(ctx, db)
}

func (h *ClickHouse) ask(ctx context.Context, db *clickhouse.DB) error {
	h.Database = db.Database()
	if e := db.Endpoint(); e != nil {
		h.Endpoint, h.PID, h.Engine = e.Addr(), e.PID, e.Engine
	}
	size, err := db.Size(ctx)
	if err == nil {
		h.Version, err = db.Version()
	}
	if err != nil {
		return err
	}
	h.Rows, h.Bytes, h.Answers = size.Rows, size.Bytes, true
	h.Client = clientLine(clickhouse.ClientOf(db))
	rights, err := db.ReadingRights(ctx)
	if err != nil {
		return err
	}
	h.Reading = &rights
	h.Old, _ = db.Old(ctx) // it answers all the same
	return nil
}

// clientLine is how ClickHouse's own client is called. That of the engine reads the password from the
// engine's file, and may only read; of a server the client asks for the password.
func clientLine(c clickhouse.Client) string {
	line := strings.Join([]string{
		"clickhouse client --host", term.ShellWord(c.Host), "--port", c.Port, "--user", term.ShellWord(c.User), "--database", c.Database,
	}, " ")
	switch {
	case c.PasswordFile != "":
		line = `CLICKHOUSE_PASSWORD="$(sed 's/.*"password":"\([^"]*\)".*/\1/' ` + term.ShellWord(c.PasswordFile) + `)" ` + line + " --readonly 2"
	case c.Password:
		line += " --ask-password"
	}
	if c.Secure {
		line += " --secure"
	}
	return line
}
