package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/term"
)

// Finding is what a person is shown of one thing that was examined.
type Finding struct {
	What    string
	Finding string
}

// Findings are the report in words, without its problems and warnings. waiting says what of it waits
// for ClickHouse, and how it is delivered.
func (r *Report) Findings(waiting string) []Finding {
	out := []Finding{
		{"home", r.Home},
		{"cache", r.Cache},
		{"windlass.json", cmp.Or(r.Config, "none")},
		{"ClickHouse", databaseFinding(r.ClickHouse)},
	}
	out = append(out, databaseFindings(r.ClickHouse, waiting)...)
	out = append(
		out,
		Finding{"secrets", secretsFinding(r.Secrets)},
		Finding{"npm", cmp.Or(r.Npm, "not found")},
		Finding{"model", cmp.Or(r.Model, "none set (WINDLASS_MODEL, --model, or in the cascade)")},
		Finding{"endpoint of models", cmp.Or(r.BaseURL, "the provider's own")},
		Finding{"embedder", embedderFinding(r.Embedder)},
	)
	for _, k := range r.Keys {
		state := "not set"
		if k.Set {
			state = "set"
		}
		out = append(out, Finding{k.Name, state})
	}
	return out
}

func databaseFinding(h ClickHouse) string {
	switch {
	case h.Error != "":
		return h.Kind + ": does not answer"
	case h.Answers:
		return fmt.Sprintf("%s, version %s: answers", h.Kind, h.Version)
	}
	return h.Kind + ": not on this machine yet, the first run fetches it"
}

// databaseFindings are the details of the database.
func databaseFindings(h ClickHouse, waiting string) []Finding {
	var rows []Finding
	if h.DSN != "" {
		rows = append(rows, Finding{"  server", h.DSN})
	}
	for _, s := range h.Sources {
		rows = append(rows, Finding{"  from " + string(s.Source), s.Outcome})
	}
	if h.Endpoint != "" {
		rows = append(rows, Finding{"  engine", fmt.Sprintf("process %d listens on %s", h.PID, h.Endpoint)})
	}
	if h.Sandbox != nil {
		rows = append(rows, Finding{"  sandbox", sandboxFinding(h.Sandbox)})
	}
	if h.DataDir != "" {
		rows = append(rows, Finding{"  data", h.DataDir})
	}
	if h.Answers {
		rows = append(rows, Finding{"  database", fmt.Sprintf("%s: %s rows, %s bytes", h.Database,
			term.Count(int64(h.Rows)), term.Count(int64(h.Bytes)))})
	}
	if h.Reading != nil {
		rows = append(rows, Finding{"  sql without --write", h.Reading.How})
		if out := h.Reading.Outward; len(out) > 0 {
			rows = append(rows, Finding{"  warning", "with --write, SQL reaches out of the server: its user has " + strings.Join(out, ", ")})
		}
	}
	return append(rows, Finding{"  waiting", waiting})
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
