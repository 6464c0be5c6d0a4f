package echo

// Carry is what survives from one model call of a phase to the next. It is recorded with each
// selection, and determines the next view together with the history and the settings.
type Carry struct {
	// AsOf is the frontier: the turn, counted from 1 over all attempts, as of which the ages of
	// messages are taken. It only grows. 0: nothing is old yet.
	AsOf int `json:"as_of,omitempty"`
	// Sent is the length of the history at the call before, 0 before the first.
	Sent int `json:"sent,omitempty"`
	// Debt is what leaving the frontier in place has cost since it last moved; Paid is what all
	// calls have cost, Full with full history. In millionths of a token at full price.
	Debt int64 `json:"debt,omitempty"`
	Paid int64 `json:"paid,omitempty"`
	Full int64 `json:"full,omitempty"`

	Cleared int      `json:"cleared,omitempty"` // clear_tool_uses: results of the history before this index are masked
	Removed *Removal `json:"removed,omitempty"` // the guard's removal of tool results
	Slid    int      `json:"slid,omitempty"`    // turns up to this one are left out by a token_budget
	Summary *Summary `json:"summary,omitempty"` // the summary in force
	Cut     []Cut    `json:"cut,omitempty"`     // tool results that alone would not fit
	Warned  bool     `json:"warned,omitempty"`  // the warning was given, and the request is not below it since
	Told    bool     `json:"told,omitempty"`    // a warning has said that compact_at_tokens is too small
	Scale   int64    `json:"scale,omitempty"`   // tokens by usage for 1,000 counted; 0: not known yet
	Acting  int64    `json:"acting,omitempty"`  // size of the request at which the guard began to act; 0: it does not
	Cold    bool     `json:"cold,omitempty"`    // set by the caller: the prefix cache has expired
	Ceiling int64    `json:"ceiling,omitempty"` // a limit learned from requests that were refused as too long
	Refused int      `json:"refused,omitempty"` // how often in a row

	Summaries int `json:"summaries,omitempty"` // asks for a summary that were answered so far
	Recounts  int `json:"recounts,omitempty"`  // asks for a count that were answered so far

	Answered *Answered `json:"answered,omitempty"` // what came of the asks for the view under way
}

// BeginAnew has the next view made from the whole history again, after persons have taken messages out of views or put them back:
// what the calls before came to stays.
func (c *Carry) BeginAnew() {
	c.Sent, c.Debt, c.Refused, c.Acting, c.Warned, c.Answered = 0, 0, 0, 0, false, nil
}

// Removal is the stretch of the history in which the guard removed tool results.
type Removal struct {
	From  int `json:"from"`
	To    int `json:"to"` // exclusive
	Level int `json:"level"`
}

// Cut is a tool result that alone would not fit, and to how many characters it is cut.
type Cut struct {
	At int `json:"at"` // its index in the history
	To int `json:"to"`
}

// Summary replaces the older messages of a phase.
type Summary struct {
	Covers  int      `json:"covers"` // messages before this index, except those that always survive
	Hash    Hash     `json:"hash"`
	By      string   `json:"by"` // model or extraction
	Message *Message `json:"-"`  // recorded as an entry of its own
}

// Answered holds the answers to the asks for one view.
type Answered struct {
	Counted int64    `json:"counted,omitempty"` // the count here of the request that the provider counted
	Actual  int64    `json:"actual,omitempty"`  // what the provider counted; 0: it could not be asked
	Summary *Summary `json:"summary,omitempty"`
}

// Guard is something that the guard of a phase's context did, and that a person should see.
type Guard struct {
	Event  GuardEvent `json:"event"`
	Tokens int64      `json:"tokens"`           // of the request now
	Before int64      `json:"before,omitempty"` // compaction_complete: of the request before
	Limit  int64      `json:"limit"`
	Detail string     `json:"detail,omitempty"`
}

// GuardEvent names what the guard did.
type GuardEvent string

// The events.
const (
	GuardWarning  GuardEvent = "context_warning"     // the request is above warn_percent; once, until it is below again
	GuardActing   GuardEvent = "compacting"          // above compact_percent: the guard shortens requests
	GuardComplete GuardEvent = "compaction_complete" // it did
)

func (Carry) kind() kind { return kind{node: NodeSelection} }
func (Guard) kind() kind { return kind{node: NodeGuard} }
