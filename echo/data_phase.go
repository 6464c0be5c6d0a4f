package echo

import "encoding/json"

// PhaseStart is what the start of a visit to a phase says.
type PhaseStart struct {
	Visit   int           `json:"visit"`
	Context *PhaseContext `json:"context,omitempty"` // of a phase with a model
}

// PhaseContext are the settings of a phase's views. With the history and the [Carry] of each
// selection they say what was sent and why.
type PhaseContext struct {
	Dialect  string          `json:"dialect"`            // native or prompted
	Policy   json.RawMessage `json:"policy"`             // everything decided, as intra_context of a cascade file
	Limit    int64           `json:"limit,omitempty"`    // tokens that a request may have
	Window   int64           `json:"window,omitempty"`   // of the model
	Reserve  int64           `json:"reserve,omitempty"`  // for the answer
	Strategy string          `json:"strategy,omitempty"` // of the token_budget
	Fixed    int64           `json:"fixed,omitempty"`    // tokens of a request without its messages
	Exact    bool            `json:"exact,omitempty"`    // tokens are counted by the model's own tokenizer
	Price    *Price          `json:"price,omitempty"`    // nil: not known
}

// PhaseEnd is what the end of a visit says. The entry has the phase's totals of usage and cost.
type PhaseEnd struct {
	Status   Status     `json:"status"`
	Reason   StopReason `json:"reason"`
	Attempts int        `json:"attempts,omitempty"`
	Turns    int        `json:"turns,omitempty"` // of all attempts
	Calls    int        `json:"model_calls"`
	Unknown  int        `json:"unknown_costs,omitempty"`  // calls whose cost is not known
	Masked   int        `json:"masked_results,omitempty"` // tool results that were not sent in full at the end
	Recalls  int        `json:"recalls,omitempty"`        // of such results
	Rereads  int        `json:"rereads,omitempty"`        // calls that were made again for such results
	Output   any        `json:"output,omitempty"`         // a string, or a value that came from JSON
	Hash     Hash       `json:"output_hash,omitempty"`    // of the output as it was, when texts were taken out of it since; see [HashOfOutput]
}

// Verdict is what a validator said.
type Verdict struct {
	Reason    string `json:"reason"`
	Valid     bool   `json:"valid"`
	Validator string `json:"validator"`

	Ward    string   `json:"ward,omitempty"`     // pre, turn or post; "": it is no ward's
	Mode    string   `json:"mode,omitempty"`     // of the ward: blocking, retry or advisory
	CostUSD *float64 `json:"cost_usd,omitempty"` // of the ward's model calls; nil: not known, or no ward
}

// Advises reports whether the verdict decides nothing: it is that of a ward whose mode is advisory.
func (d *Verdict) Advises() bool { return d.Mode == "advisory" }

// State is a value of the shared state that was set.
type State struct {
	Key   string `json:"key"`
	Value any    `json:"value"` // that came from JSON
}

// CalloutMark names a message as important: the one with the content hash of the entry.
type CalloutMark struct {
	Name string `json:"name"`
}

func (PhaseStart) kind() kind  { return kind{node: NodePhaseStart} }
func (PhaseEnd) kind() kind    { return kind{node: NodePhaseEnd} }
func (Verdict) kind() kind     { return kind{node: NodeVerdict} }
func (State) kind() kind       { return kind{node: NodeState} }
func (CalloutMark) kind() kind { return kind{node: NodeCallout} }

func (d *PhaseEnd) check() error { return d.Status.ended() }
