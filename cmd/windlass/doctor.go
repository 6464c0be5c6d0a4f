package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/doctor"
	"github.com/windlass-run/windlass/internal/term"
)

// health is what "windlass doctor --json" prints.
type health struct {
	Version versionInfo `json:"version"`
	doctor.Report
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
	home, err := homeFolder()
	if err != nil {
		return health{}, err
	}
	cfg, wrong := config.Open(".", home)
	if wrong != nil {
		cfg = &config.Config{}
	}
	o, err := database.Options(home, "", cfg)
	if err != nil {
		return health{}, withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	return health{readVersion(), doctor.Examine(ctx, doctor.Options{
		Config: cfg, ConfigError: wrong, Database: o, Embedder: cards.EmbeddingModel(cfg),
	})}, nil
}

func (a *app) printHealth(h health) error {
	t := term.NewTable("what", "finding")
	t.Add("windlass", fmt.Sprintf("%s (%s, %s)", h.Version.Version, h.Version.Platform, h.Version.Go))
	t.Add("home", h.Home)
	t.Add("cache", h.Cache)
	t.Add("windlass.json", cmp.Or(h.Config, "none"))
	t.Add("ClickHouse", databaseFinding(h.ClickHouse))
	for _, r := range databaseRows(h.ClickHouse) {
		t.Add(r[0], r[1])
	}
	t.Add("secrets", secretsFinding(h.Secrets))
	t.Add("npm", cmp.Or(h.Npm, "not found"))
	t.Add("model", cmp.Or(h.Model, "none set (WINDLASS_MODEL, --model, or in the cascade)"))
	t.Add("endpoint of models", cmp.Or(h.BaseURL, "the provider's own"))
	t.Add("embedder", embedderFinding(h.Embedder))
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

func databaseFinding(h doctor.ClickHouse) string {
	switch {
	case h.Error != "":
		return h.Kind + ": does not answer"
	case h.Answers:
		return fmt.Sprintf("%s, version %s: answers", h.Kind, h.Version)
	}
	return h.Kind + ": not on this machine yet, the first run fetches it"
}

// databaseRows are the details of the database.
func databaseRows(h doctor.ClickHouse) [][2]string {
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
		rows = append(rows, [2]string{"  sandbox", sandboxFinding(h.Sandbox)})
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

func embedderFinding(h doctor.Embedder) string {
	switch {
	case h.Model == cards.EmbedderHashed:
		return "hashed runs of characters"
	case h.Model == cards.EmbedderWords && h.Here:
		return "word vectors: " + h.File
	case h.Model == cards.EmbedderWords && h.Error != "":
		return "hashed runs of characters, as there are " + h.Error
	case h.Model == cards.EmbedderWords:
		return "word vectors: not on this machine yet, windlass fetch or the first selection by meaning fetches them"
	case h.Error != "":
		return "cannot be asked: " + h.Error
	}
	return "model " + h.Model
}

func secretsFinding(h doctor.Secrets) string {
	memory := "this system does not close the memory of a process to others of the same user"
	if h.Closed {
		memory = "memory closed to other processes"
	}
	if h.Problem != "" {
		return h.Problem + "; " + memory
	}
	return "not in the environment of the process; " + memory
}

func sandboxFinding(s *doctor.Sandbox) string {
	if s.Confined {
		return "the kernel confines the engine to its folder and its port"
	}
	return "incomplete: the system cannot confine " + strings.Join(s.Missing, "; nor ")
}
