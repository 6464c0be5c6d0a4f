package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/term"
)

// Findings adds the report to a table of two columns, without problems and warnings. waiting says
// what waits for ClickHouse.
func (r *Report) Findings(t *term.Table, waiting string) {
	t.Add("home", r.Home)
	t.Add("cache", r.Cache)
	t.Add("windlass.json", cmp.Or(r.Config, "none"))
	t.Add("ClickHouse", databaseFinding(r.ClickHouse))
	databaseFindings(t, r.ClickHouse)
	t.Add("  waiting", waiting)
	memoryFindings(t, r.Memory)
	t.Add("secrets", secretsFinding(r.Secrets))
	t.Add("npm", cmp.Or(r.Npm, "not found"))
	t.Add("model", cmp.Or(r.Model, "none set (WINDLASS_MODEL, --model, or in the cascade)"))
	own := cmp.Or(r.BaseURL, "the provider's own")
	if len(r.Endpoints) > 0 {
		own += ", but for those below"
	}
	t.Add("endpoint of models", own)
	for _, e := range r.Endpoints {
		t.Add("  of "+e.Model, e.BaseURL)
	}
	t.Add("embedder", embedderFinding(r.Embedder))
	for _, k := range r.Keys {
		state := "not set"
		if k.Set {
			state = "set"
		}
		t.Add(k.Name, state)
	}
}

func databaseFinding(h ClickHouse) string {
	switch {
	case h.Error != "":
		return h.Kind + ": does not answer"
	case h.Answers && h.Release != "" && h.Release != h.Version:
		return fmt.Sprintf("%s, version %s, which says %s itself: answers", h.Kind, h.Release, h.Version)
	case h.Answers:
		return fmt.Sprintf("%s, version %s: answers", h.Kind, h.Version)
	}
	return h.Kind + ": not on this machine yet, the first run fetches it"
}

// databaseFindings adds the details of the database.
func databaseFindings(t *term.Table, h ClickHouse) {
	if h.DSN != "" {
		t.Add("  server", h.DSN)
	}
	for _, s := range h.Sources {
		t.Add("  from "+string(s.Source), s.Outcome)
	}
	if h.Endpoint != "" {
		t.Add("  engine", fmt.Sprintf("process %d listens on %s", h.PID, h.Endpoint))
	}
	if h.Sandbox != nil {
		t.Add("  sandbox", sandboxFinding(h.Sandbox))
	}
	if h.DataDir != "" {
		t.Add("  data", h.DataDir)
	}
	if h.Answers {
		t.Add("  database", fmt.Sprintf("%s: %s rows, %s bytes", h.Database, term.Count(int64(h.Rows)), term.Count(int64(h.Bytes))))
	}
	if h.Reading != nil {
		t.Add("  sql without --write", h.Reading.How)
		if out := h.Reading.Outward; len(out) > 0 {
			t.Add("  warning", "with --write, SQL reaches out of the server: its user has "+strings.Join(out, ", "))
		}
	}
}

func embedderFinding(h Embedder) string {
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

func secretsFinding(h Secrets) string {
	memory := "this system does not close the memory of a process to others of the same user"
	if h.Closed {
		memory = "memory closed to other processes"
	}
	if h.Problem != "" {
		return h.Problem + "; " + memory
	}
	return "not in the environment of the process; " + memory
}

func sandboxFinding(s *Sandbox) string {
	if s.Confined {
		return "the kernel confines the engine to its folder and its port"
	}
	return "incomplete: the system cannot confine " + strings.Join(s.Missing, "; nor ")
}
