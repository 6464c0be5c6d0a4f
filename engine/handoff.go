package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/windlass-run/windlass/echo"
)

// Handoff says where a run stands, for whoever goes on: a person, a model, or the run itself when it is taken up again. It
// follows from the record alone, apart from what it says of the files; no model is asked for it. It is bounded: as text
// it has at most [MaxHandoff] bytes.
type Handoff struct {
	SessionID string     `json:"session_id"`
	CascadeID string     `json:"cascade_id"`
	Phase     string     `json:"phase"` // the newest, with "~2" on its second visit; "": none has begun
	Attempt   int        `json:"attempt,omitempty"`
	Turn      int        `json:"turn,omitempty"`
	Status    Status     `json:"status"` // of the phase; of the run, once that has ended
	Reason    StopReason `json:"reason,omitempty"`

	Task     string          `json:"task"`            // of the phase, shortened
	Input    string          `json:"input,omitempty"` // of the run as JSON, shortened
	Progress HandoffProgress `json:"progress"`

	Done      []HandoffItem `json:"done"`
	Remaining []HandoffItem `json:"remaining"`
	Blocking  []HandoffItem `json:"blocking"`
	Decisions []HandoffItem `json:"decisions"`
	Written   []string      `json:"files_written"`     // by write_file, newest last
	Omitted   *Omitted      `json:"omitted,omitempty"` // what there was no room for

	Workspace    *Workspace `json:"workspace,omitempty"` // the newest reading
	Continuation string     `json:"continuation"`        // what to tell a model that goes on
}

// HandoffItem is one thing that was done, remains, blocks or was decided.
type HandoffItem struct {
	Source string `json:"source"` // "checklist", or what and which: "phase fix", "tool read_file", "state plan"
	Text   string `json:"text"`   // one line, shortened
}

// HandoffProgress is how far the work has come.
type HandoffProgress struct {
	PhasesDone int    `json:"phases_done"`    // that have ended well
	Checked    int    `json:"checked"`        // items of the checklist
	Items      int    `json:"items"`          // of the checklist in all
	Said       string `json:"said,omitempty"` // the newest words of a phase that has not ended well, shortened
}

// Omitted counts what was left out of the lists of a handoff, for its size.
type Omitted struct {
	Done      int `json:"done,omitempty"`
	Remaining int `json:"remaining,omitempty"`
	Blocking  int `json:"blocking,omitempty"`
	Decisions int `json:"decisions,omitempty"`
	Written   int `json:"files_written,omitempty"`
	Changed   int `json:"files_changed,omitempty"`
}

// Workspace is what is known of the files that a run works on: of the repository that they are in.
type Workspace struct {
	At      time.Time    `json:"at"`                // when it was read
	Branch  string       `json:"branch,omitempty"`  // "": no branch is checked out
	Head    string       `json:"head,omitempty"`    // the commit; "": there is none yet
	Files   []FileChange `json:"files"`             // that differ from the commit, by name
	More    int          `json:"more,omitempty"`    // how many more there are
	Problem string       `json:"problem,omitempty"` // why nothing else is known
}

// FileChange is a file that is not as it was committed.
type FileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, modified, deleted, untracked, unmerged, ...
}

// NodeType says which entries hold handoffs.
func (*Handoff) NodeType() echo.NodeType { return echo.NodeHandoff }

// MaxHandoff is how many bytes the text of a handoff may have.
const MaxHandoff = 8000

// Markdown returns the handoff as text.
func (h *Handoff) Markdown() string {
	m := &markdown{}
	m.line("# Handoff: %s", cmp.Or(oneLine(h.CascadeID, maxName), "a run"))
	m.line("")
	m.line("- session: %s", oneLine(h.SessionID, maxName))
	m.line("- phase: %s", h.where())
	m.line("- progress: %s", h.Progress.String())
	m.quoted("Task", h.Task)
	m.quoted("Input", h.Input)
	var o Omitted
	if h.Omitted != nil {
		o = *h.Omitted
	}
	m.list("Done", h.Done, o.Done, "[x]")
	m.list("Remaining", h.Remaining, o.Remaining, "[ ]")
	m.list("Blocking", h.Blocking, o.Blocking, "")
	m.list("Decisions", h.Decisions, o.Decisions, "")
	m.files(h, o)
	m.quoted("Last words", h.Progress.Said)
	m.quoted("To go on with", h.Continuation)
	return m.String()
}

// where names the phase, and how it stands.
func (h *Handoff) where() string {
	if h.Phase == "" {
		return "none has begun"
	}
	s := oneLine(h.Phase, maxName)
	switch {
	case h.Turn > 0:
		s += fmt.Sprintf(" (attempt %d, turn %d)", h.Attempt, h.Turn)
	case h.Attempt > 0:
		s += fmt.Sprintf(" (attempt %d)", h.Attempt)
	}
	if h.Status == StatusRunning {
		return s + ", under way"
	}
	s += ", " + strings.ReplaceAll(h.Status.String(), "_", " ")
	if h.Reason != "" && string(h.Reason) != h.Status.String() {
		s += " (" + strings.ReplaceAll(oneLine(string(h.Reason), 100), "_", " ") + ")"
	}
	return s
}

// String puts the progress into words.
func (p HandoffProgress) String() string {
	s := plural(p.PhasesDone, "phase") + " done"
	if p.Items > 0 {
		s += fmt.Sprintf(", %d of %s of the checklist", p.Checked, plural(p.Items, "item"))
	}
	return s
}

// markdown writes a handoff.
type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) head(title string) { m.line("\n## %s\n", title) }

func (m *markdown) quoted(title, text string) {
	if text == "" {
		return
	}
	m.head(title)
	for l := range strings.Lines(text) {
		m.line("%s", strings.TrimRight("> "+clean(l), " "))
	}
}

// list writes items; those of the checklist have its box before them.
func (m *markdown) list(title string, items []HandoffItem, omitted int, box string) {
	if len(items) == 0 {
		return
	}
	m.head(title)
	for _, it := range items {
		before := it.Source + ":"
		if it.Source == sourceChecklist && box != "" {
			before = box
		}
		m.line("- %s %s", before, it.Text)
	}
	if omitted > 0 {
		m.line("- and %d more", omitted)
	}
}

func (m *markdown) files(h *Handoff, o Omitted) {
	if h.Workspace == nil && len(h.Written) == 0 {
		return
	}
	m.head("Files")
	if w := h.Workspace; w != nil {
		m.line("%s", w.String())
		if len(w.Files) > 0 {
			m.line("")
		}
		for _, f := range w.Files {
			m.line("- %s %s", f.Change, f.Path)
		}
		if o.Changed > 0 {
			m.line("- and %d more", o.Changed)
		}
	}
	if len(h.Written) == 0 {
		return
	}
	if h.Workspace != nil {
		m.line("")
	}
	m.line("Written by the run: %s%s", strings.Join(h.Written, ", "), andMore(o.Written))
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}

// String says in a line what is known.
func (w *Workspace) String() string {
	at := w.At.UTC().Format("2006-01-02 15:04:05 UTC")
	problem := ""
	switch {
	case w.Problem != "" && len(w.Files) > 0:
		problem = " There are more: " + oneLine(w.Problem, maxName) + "."
	case w.Problem != "":
		return fmt.Sprintf("The repository could not be read at %s: %s.", at, oneLine(w.Problem, maxName))
	}
	on := "no branch"
	if w.Branch != "" {
		on = "branch " + oneLine(w.Branch, 100)
	}
	if w.Head != "" {
		on += " at " + w.Head[:min(len(w.Head), 12)]
	}
	return fmt.Sprintf("%s, %s not as committed (at %s).%s", strings.ToUpper(on[:1])+on[1:], plural(len(w.Files)+w.More, "file"), at, problem)
}

// oneLine puts a text into one line without control characters, cut to n bytes.
func oneLine(s string, n int) string {
	if len(s) > 4*n+64 { // what is far behind the cut is not looked at
		s = clip(s, 4*n+64)
	}
	return clip(strings.Join(strings.Fields(clean(s)), " "), n)
}

// clean leaves control characters out of a text; white space becomes blanks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}
