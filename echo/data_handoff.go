package echo

import "time"

// Handoff says how far a run has come. It follows from the record, but for what it says of files.
type Handoff struct {
	SessionID string `json:"session_id"`
	CascadeID string `json:"cascade_id"`

	// GeneratedAt is when the newest entry was recorded that the handoff is made of.
	GeneratedAt time.Time `json:"generated_at,omitzero"`

	Phase   string     `json:"phase"` // the newest, with "~2" on its second visit; "": none has begun
	Attempt int        `json:"attempt,omitempty"`
	Turn    int        `json:"turn,omitempty"`
	Status  Status     `json:"status"` // of the phase; of the run, once that has ended
	Reason  StopReason `json:"reason,omitempty"`

	Task     string          `json:"task"`            // of the phase, shortened
	Input    string          `json:"input,omitempty"` // of the run as JSON, shortened
	Progress HandoffProgress `json:"progress"`

	Done      []HandoffItem `json:"done"`
	Remaining []HandoffItem `json:"remaining"`
	Blocking  []HandoffItem `json:"blocking"`
	Decisions []HandoffItem `json:"decisions"`
	Written   []string      `json:"files_written"`     // by write_file, newest last
	Omitted   *Omitted      `json:"omitted,omitempty"` // what did not fit

	Workspace    *Workspace `json:"workspace,omitempty"` // the newest reading
	Continuation string     `json:"continuation"`        // what a model is sent that resumes the work
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

	// Notes names what a model keeps itself of which the handoff was read first: "scratchpad", "state block".
	Notes []string `json:"notes,omitempty"`

	// Candidates counts those of the whole cascade that have begun, each of which is a session, and
	// CandidatesDone those of them that have ended well.
	Candidates     int `json:"candidates,omitempty"`
	CandidatesDone int `json:"candidates_done,omitempty"`
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

func (Handoff) kind() kind { return kind{node: NodeHandoff} }
