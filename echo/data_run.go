package echo

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// RunStart is what the start of a run says.
type RunStart struct {
	Input   map[string]any  `json:"input"`
	WorkDir string          `json:"work_dir"`
	Header  json.RawMessage `json:"header,omitempty"` // of the session's journal
	Budget  *Budget         `json:"budget,omitempty"` // in force; nil: there is none
}

// Budget limits what a run may take. A limit of 0 is none.
type Budget struct {
	MaxUSD     float64 `json:"max_usd,omitempty"`
	MaxTokens  int64   `json:"max_tokens,omitempty"` // in and out together
	MaxSeconds float64 `json:"max_seconds,omitempty"`
}

// RunEnd is what the end of a run says. The entry has the run's totals of usage and cost.
type RunEnd struct {
	Status  Status     `json:"status"`
	Reason  StopReason `json:"reason"`
	Calls   int        `json:"model_calls"`
	Unknown int        `json:"unknown_costs,omitempty"` // calls whose cost is not known
	Output  any        `json:"output,omitempty"`        // a string, or a value that came from JSON
}

// Resume is what is recorded when a run is resumed.
type Resume struct {
	Budget   *Budget  `json:"budget,omitempty"` // in force from now on; nil: there is none
	SetAside []uint64 `json:"set_aside"`        // numbers of entries: its stop, a call that is made again
}

// Route says which phase follows which, and why.
type Route struct {
	From   string `json:"from"` // "": the run begins
	Reason string `json:"reason"`
	To     string `json:"to"` // "": the run ends
}

// Warning is something that a person should know and that does not stop the run.
type Warning struct {
	Message  string    `json:"message"`
	Fallback *Fallback `json:"fallback,omitempty"` // nil: the warning is of something else
}

// Fallback says that another model is asked for the rest of a visit. The entry names that model.
type Fallback struct {
	From    string         `json:"from"`
	To      string         `json:"to"`
	Kind    ModelErrorKind `json:"kind"`    // why From could not be asked
	Context *PhaseContext  `json:"context"` // in force from now on
}

func (RunStart) kind() kind { return kind{node: NodeRunStart} }
func (RunEnd) kind() kind   { return kind{node: NodeRunEnd} }
func (Resume) kind() kind   { return kind{node: NodeResume} }
func (Route) kind() kind    { return kind{node: NodeRoute} }
func (Warning) kind() kind  { return kind{node: NodeWarning} }

func (d *RunEnd) check() error { return d.Status.ended() }

// SetHeader replaces the header of a journal in the start of a run. Everything else that the entry
// says stays, also what [RunStart] does not know.
func (e *Entry) SetHeader(header json.RawMessage) error {
	if _, err := Read[RunStart](e); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &members); err != nil {
		return fmt.Errorf("read entry %d (%s): %w", e.Seq, e.Key, err)
	}
	members["header"] = header
	data, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("put a header into entry %d (%s): %w", e.Seq, e.Key, err)
	}
	e.Data = data
	return nil
}

// Origin says of which session a fork has the first entries, and up to which. The zero value is that
// of a session that is no fork.
type Origin struct {
	Session string `json:"parent"`
	Upto    uint64 `json:"parent_seq"` // number of the last entry that it was to have of it
}

// Has reports whether an entry of the session was copied.
func (o *Origin) Has(e *Entry) bool { return o.Upto > 0 && e.Seq <= o.Upto }

// OriginOf returns the origin of the session that a run_start begins, as the header in it says.
func OriginOf(start *Entry) Origin {
	var o Origin
	if !bytes.Contains(start.Data, []byte(`"parent_seq"`)) { // most are no forks, and a header has a whole cascade
		return o
	}
	d, err := Read[RunStart](start)
	if err != nil || json.Unmarshal(d.Header, &o) != nil || o.Session == "" {
		return Origin{}
	}
	return o
}

// Clock is a reading of the clock: for how many seconds the run has been active.
type Clock float64

// BackgroundTotals is what background calls have taken since the reading before.
type BackgroundTotals struct {
	Calls        int     `json:"model_calls"`
	Usage        Usage   `json:"usage"`
	CostUSD      float64 `json:"cost_usd"`      // of the calls whose cost is known
	UnknownCosts int     `json:"unknown_costs"` // calls whose cost is not known
	Scripted     bool    `json:"scripted,omitempty"`
	Limited      bool    `json:"limited_usd,omitempty"` // the budget limited the cost when the reading was taken
}

// Idle is how long a phase has sent no request, read when a provider's prefix cache has expired.
type Idle struct {
	Seconds float64 `json:"idle_seconds"`
}

// Similarity is how similar messages of the session are to a query, by their embeddings.
type Similarity struct {
	Embedder string           `json:"embedder,omitempty"`
	Messages map[Hash]float64 `json:"similarity,omitempty"`
	Problem  string           `json:"problem,omitempty"` // why nothing could be compared
}

func (Clock) kind() kind            { return kind{NodeValue, StepClock} }
func (BackgroundTotals) kind() kind { return kind{NodeValue, StepBackground} }
func (Idle) kind() kind             { return kind{NodeValue, StepIdle} }
func (Similarity) kind() kind       { return kind{NodeValue, StepSimilarity} }
