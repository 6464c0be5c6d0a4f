package echo

import "encoding/json"

// ChildStart says that another cascade begins as a session of its own.
type ChildStart struct {
	Session string         `json:"session"` // its id, which follows from that of the parent and the key
	Name    string         `json:"name"`    // by which the parent knows it
	How     ChildKind      `json:"how"`
	Cascade string         `json:"cascade"`         // its cascade_id
	Hash    string         `json:"hash"`            // of the cascade: 16 hexadecimal digits of its SHA-256
	File    string         `json:"file,omitempty"`  // where the cascade was read
	Input   map[string]any `json:"input"`           // whose values came from JSON
	State   map[string]any `json:"state,omitempty"` // the shared state that it begins with
	Detach  bool           `json:"detach,omitempty"`

	Candidate *Candidate `json:"candidate,omitempty"` // of a child that is one of several tries
}

// FoundCascade is a cascade that was named while a run went on, as it was read then.
type FoundCascade struct {
	Name    string          `json:"name"`
	File    string          `json:"file,omitempty"`
	Hash    string          `json:"hash,omitempty"` // as in [ChildStart]
	Cascade json.RawMessage `json:"cascade,omitempty"`
	Library json.RawMessage `json:"library,omitempty"` // what that reaches, in the form of the program that read it
	Problem string          `json:"problem,omitempty"` // why there is none; for the model
}

func (FoundCascade) kind() kind { return kind{NodeValue, StepCascade} }

// ChildKind says how a child was asked for.
type ChildKind string

// The kinds of children.
const (
	ChildSub       ChildKind = "sub"       // sub_cascades: the phase waits for it
	ChildAsync     ChildKind = "async"     // async_cascades: the end of the run waits for it
	ChildTool      ChildKind = "tool"      // a cascade in a tackle: the model waits for it
	ChildSpawn     ChildKind = "spawn"     // spawn_cascade: as async, asked for by a model
	ChildValidator ChildKind = "validator" // its output is a verdict
	ChildSounding  ChildKind = "sounding"  // one of several tries of a whole cascade
)

// ChildEnd is how a child ended, or that a detached one was left to itself. The entry has the totals
// of the child and of its own children.
type ChildEnd struct {
	Session string         `json:"session"`
	Status  Status         `json:"status"`
	Reason  StopReason     `json:"reason"`
	Output  any            `json:"output,omitempty"`      // a string, or a value that came from JSON
	Hash    Hash           `json:"output_hash,omitempty"` // as in [PhaseEnd]
	State   map[string]any `json:"state,omitempty"`       // the shared state that it ended with, where the parent takes it
	Calls   int            `json:"model_calls"`
	Unknown int            `json:"unknown_costs,omitempty"` // calls whose cost is not known
	Known   float64        `json:"known_usd,omitempty"`     // of the others, where there are such calls; else the entry has the cost

	Copied *CopiedTotals `json:"copied,omitempty"` // of the child of a fork: what the totals leave out; nil: nothing
}

// CopiedTotals is what calls took that a session has copied: it was paid for in the session that they come from.
type CopiedTotals struct {
	Calls   int      `json:"model_calls"`
	Usage   Usage    `json:"usage"`
	CostUSD float64  `json:"cost_usd"`                // of the calls whose cost is known
	Unknown int      `json:"unknown_costs,omitempty"` // calls whose cost is not known
	Pretend *Pretend `json:"pretend,omitempty"`
}

func (ChildStart) kind() kind { return kind{node: NodeChildStart} }
func (ChildEnd) kind() kind   { return kind{node: NodeChildEnd} }

func (d *ChildEnd) check() error { return d.Status.ended() }

// Stopped says that an element of a list did not begin: the one with a number, from 1, had failed.
type Stopped struct {
	Item int `json:"item"`
}

func (Stopped) kind() kind { return kind{NodeValue, StepStopped} }
