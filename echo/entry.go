package echo

import (
	"encoding/json"
	"time"
)

// NodeType says what an [Entry] records. The names are those of the node_type column in ClickHouse.
type NodeType string

// The node types, with the payload of each. An "effect" is the result of something
// non-deterministic or paid for: a resumed run is answered from it.
const (
	NodeRunStart    NodeType = "run_start"         // RunStart
	NodeRunEnd      NodeType = "run_end"           // RunEnd; cost and usage are the run's totals
	NodePhaseStart  NodeType = "phase_start"       // PhaseStart
	NodePhaseEnd    NodeType = "phase_end"         // PhaseEnd; cost and usage are the phase's totals
	NodeMessage     NodeType = "message"           // a system or user message that entered a phase's history; no data
	NodeSelection   NodeType = "context_selection" // Carry; what one model call is sent, by form
	NodeModelCall   NodeType = "model_call"        // ModelCall; effect, unless in the background; the message is the answer
	NodeToolCall    NodeType = "tool_call"         // effect; the message is the tool's result; no data
	NodeToolStart   NodeType = "tool_start"        // a tool begins that is not idempotent; no data
	NodeVerdict     NodeType = "verdict"           // Verdict
	NodeRoute       NodeType = "route"             // Route
	NodeState       NodeType = "state"             // State
	NodeCallout     NodeType = "callout"           // CalloutMark; content_hash of the message it marks
	NodeValue       NodeType = "value"             // effect: a reading, such as Clock, by the last step of its key
	NodeBranchStart NodeType = "branch_start"      // parallel branches begin; the key is that of a branch; no data
	NodeBranchEnd   NodeType = "branch_end"        // all of them have ended; no data
	NodeResume      NodeType = "run_resume"        // Resume
	NodeHandoff     NodeType = "handoff"           // Handoff; effect
	NodeWarning     NodeType = "warning"           // Warning
	NodeGuard       NodeType = "context_guard"     // Guard
	NodeInter       NodeType = "context_inter"     // InterSelection; effect, unless a model chose
	NodeMenu        NodeType = "context_menu"      // Menu
	NodeChildStart  NodeType = "child_start"       // ChildStart; another cascade begins, as a session of its own
	NodeChildEnd    NodeType = "child_end"         // ChildEnd; effect; cost and usage are the child's totals
	NodeCandidate   NodeType = "candidate"         // Candidate; one of several tries begins
	NodeBallot      NodeType = "ballot"            // Ballot; what a judge said of candidates
	NodeChoice      NodeType = "choice"            // Choice; which candidate is kept, and why
	NodeWait        NodeType = "wait"              // Wait; the run waits for a person or a signal
	NodeAnswer      NodeType = "answer"            // Answer; effect: how the wait ended
)

// Usage counts tokens of one model call, as the provider reported them.
type Usage struct {
	In        int64 `json:"in"`                  // tokens sent, cached ones included
	Cached    int64 `json:"cached,omitempty"`    // of In: read from the provider's prefix cache
	Out       int64 `json:"out"`                 // tokens generated, reasoning included
	Reasoning int64 `json:"reasoning,omitempty"` // of Out: reasoning tokens
	Estimated bool  `json:"estimated,omitempty"` // counted here, because the provider reported nothing
}

// Add returns the sum of two usages. The sum is estimated when either part is.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		In: u.In + v.In, Cached: u.Cached + v.Cached, Out: u.Out + v.Out,
		Reasoning: u.Reasoning + v.Reasoning, Estimated: u.Estimated || v.Estimated,
	}
}

// Pretend is what calls of a script would have cost if a model had answered them. Nothing was paid:
// no cost has it.
type Pretend struct {
	Model string  `json:"model"` // whose prices they are
	USD   float64 `json:"usd"`
}

// Failure is an error as it is recorded, without secrets.
type Failure struct {
	Kind    string `json:"kind"` // a closed set per node type, such as rate_limited, timeout, invalid_arguments
	Message string `json:"message"`
}

// ToolUse is the request that a tool_call entry answers.
type ToolUse struct {
	Name      string `json:"name"`
	CallID    string `json:"call_id"`
	Arguments string `json:"arguments"` // JSON text as the model wrote it
}

// Span is a stretch of consecutive messages that are sent in the same form for the same reason.
type Span struct {
	From   int     `json:"from"`   // index of the first message in the history of the visit
	Count  int     `json:"count"`  // number of messages
	Form   string  `json:"form"`   // see autocontext.Form
	Reason string  `json:"reason"` // see autocontext.Reason
	Hashes []Hash  `json:"hashes"` // of the original messages
	Tokens []int64 `json:"tokens"` // of what is sent for each; 0 when nothing is

	// Sent is what the request has for each message before it is rendered; nil when all are sent as
	// they are. An element is empty when nothing replaces the message.
	Sent [][]*Message `json:"sent,omitempty"`
}

// Selection is what one model call is sent, in tokens of autocontext.Tokens. The first of a visit
// names every message; later ones only new messages and changed forms, which echo/record joins.
type Selection struct {
	FullHistorySize int64 `json:"full_history_size"` // what the whole history would have been
	ContextSize     int64 `json:"context_size"`      // what is sent
	TokensSaved     int64 `json:"tokens_saved"`      // the difference
	MessageCount    int   `json:"message_count"`     // messages sent
	MaskedCount     int   `json:"masked_count"`      // messages of the history that are not sent in full

	// The tokens of the longest prefix that equals the request before it in the visit, message by
	// message: a prefix cache can reuse them. FullSharedSize is the same for full history.
	SharedSize     int64 `json:"shared_size"`
	FullSharedSize int64 `json:"full_shared_size"`

	// What the messages cost when the shared prefix is read from the cache, and what full history
	// would have cost then. nil: the price is not known. PriceAs names the model whose prices these
	// are when nothing was paid, see [Pretend].
	SentUSD *float64 `json:"sent_usd,omitempty"`
	FullUSD *float64 `json:"full_usd,omitempty"`
	PriceAs string   `json:"price_as,omitempty"`

	// What the guard compared: tokens of the whole request, tool schemas included, and how many it
	// may have. Zero: not known, or so far below the limit that nothing was counted.
	RequestSize int64 `json:"request_size,omitempty"`
	Limit       int64 `json:"limit,omitempty"`

	Delta bool   `json:"delta,omitempty"` // the spans are what changed since the selection before
	Spans []Span `json:"spans"`
}

// Entry is one thing that happened, immutable once appended to a [Log]: Key says where, Seq and At
// when.
type Entry struct {
	SessionID string    `json:"session_id"`
	Seq       uint64    `json:"seq"` // from 1, without gaps
	At        time.Time `json:"at"`  // UTC, microseconds
	NodeType  NodeType  `json:"node_type"`
	Key       Key       `json:"key"`

	CascadeID string `json:"cascade_id,omitempty"`

	// Parts of the key, for readers of the JSON; set by Log.Append, see SetKeyFields.
	Phase    string `json:"phase,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Turn     int    `json:"turn,omitempty"`
	Sounding int    `json:"sounding,omitempty"` // the innermost

	Message     *Message `json:"message,omitempty"`
	ContentHash Hash     `json:"content_hash,omitempty"` // set by Log.Append when Message is

	Model       string     `json:"model,omitempty"`    // as asked for
	Provider    string     `json:"provider,omitempty"` // host of the endpoint, or "scripted"
	Scripted    bool       `json:"scripted,omitempty"` // answered by a script, not by a model
	Usage       *Usage     `json:"usage,omitempty"`
	CostUSD     *float64   `json:"cost_usd,omitempty"`    // nil: unknown, which is not zero
	Pretend     *Pretend   `json:"pretend,omitempty"`     // nil: the run has no pretend prices
	DurationMS  float64    `json:"duration_ms,omitempty"` // wall time of the effect
	RequestHash string     `json:"request_hash,omitempty"`
	Tool        *ToolUse   `json:"tool,omitempty"`
	Selection   *Selection `json:"selection,omitempty"`
	Error       *Failure   `json:"error,omitempty"`

	// Data is the [Payload] as it was recorded.
	Data json.RawMessage `json:"data,omitempty"`

	invalid error // why the payload could not be encoded
}
