package autocontext

import "github.com/windlass-run/windlass/echo"

// Form is how a message of the history appears in a request.
type Form string

// The forms.
const (
	FormFull    Form = "full"    // as it is
	FormText    Form = "text"    // calls and results written as text, nothing left out
	FormMasked  Form = "masked"  // a tool result as a placeholder that names its hash
	FormExcerpt Form = "excerpt" // head and tail of a text, with what matters between them
	FormStub    Form = "stub"    // an assistant message whose long call arguments are cut
	FormSummary Form = "summary" // told by the summary in force; the first such message carries it
	FormDropped Form = "dropped" // not sent; the history keeps it
)

// Reason says why a message has its form.
type Reason string

// The reasons.
const (
	ReasonNoPolicy    Reason = "no_policy"    // no context settings apply: full history is sent
	ReasonSwitchedOff Reason = "switched_off" // windlass.json switches context settings off: full history is sent
	ReasonRecent      Reason = "recent"       // not old enough for anything to become of it
	ReasonKept        Reason = "kept"         // system, the task, a user request, pinned, a callout
	ReasonSmall       Reason = "small"        // old enough, but what would stand for it is no shorter
	ReasonExcluded    Reason = "excluded"     // the result of a tool that is never masked
	ReasonAged        Reason = "aged"         // older than its limit of age when the frontier moved
	ReasonError       Reason = "error"        // an old failure: the lines around it are kept
	ReasonDuplicate   Reason = "duplicate"    // a later tool result has the same content
	ReasonTier        Reason = "tier"         // longer than its tier of truncation allows
	ReasonCleared     Reason = "cleared"      // clear_tool_uses
	ReasonRetry       Reason = "retry"        // of an attempt that did not pass
	ReasonRemoved     Reason = "removed"      // the guard removed this tool result
	ReasonCompacted   Reason = "compacted"    // the guard had the older messages summed up
	ReasonSlid        Reason = "slid"         // token_budget left out the oldest turns
	ReasonGroup       Reason = "group"        // its group is older than continuity.groups
	ReasonOversize    Reason = "oversize"     // a tool result that alone would not have fitted
	ReasonRetracted   Reason = "retracted"    // a person has taken the answer back
	ReasonSuperseded  Reason = "superseded"   // it stood at the end of an earlier request; a newer one does now
	ReasonStands      Reason = "stands"       // it stands at the end of every request: memos, state block, scratchpad
	ReasonUndone      Reason = "undone"       // a person has taken the group back
	ReasonDropped     Reason = "dropped"      // a person has dropped it
	ReasonRepaired    Reason = "repaired"     // changed to make the sequence valid
	ReasonOtherModel  Reason = "other_model"  // calls of another model that the model's provider refuses

	ReasonRemovedByPerson Reason = "removed_by_person" // a person has removed it

	ReasonOtherDialect Reason = "other_dialect" // calls made in the text of answers, or by the protocol, where the model does the other
	ReasonNoTools      Reason = "no_tools"      // calls for a model whose requests declare no tools
	ReasonMenu         Reason = "menu"          // of the request by which a model chooses what comes in of earlier phases
)

// Item is one message of the history and what becomes of it.
type Item struct {
	Message *echo.Message
	Form    Form
	Reason  Reason

	Sent   *echo.Message   // what is sent for it; nil: nothing
	After  []*echo.Message // what a repair adds behind it
	Tokens int64           // of what is sent for it, by [Tokens]
}

// whole reports whether nothing of a message is left out in a form.
func (f Form) whole() bool { return f == FormFull || f == FormText }

// plain reports whether the message itself is sent, and nothing else for it.
func (it *Item) plain() bool { return it.Sent == it.Message && len(it.After) == 0 }

// View is what one model call is sent: every message of the history in order, with its form. It is
// valid until the next Build of its [Builder].
type View struct {
	Items []Item

	before  int   // length of the history at the call before; 0: there was none
	touched []int // items before that index of which something was made since
	report  echo.Selection
}

// Tokens estimates a message's tokens, its overhead included, for records and decisions about
// money: a quarter of the bytes of its encoding. A redacted message keeps the tokens that it had.
func Tokens(m *echo.Message) int64 {
	if r := m.Redacted(); r != nil && r.Tokens > 0 {
		return r.Tokens
	}
	n, attached := len(m.JSON()), int64(0)
	if m.Kind() == echo.KindTask { // recorded runs follow from what other images were taken for
		for i := range m.Parts() {
			p := &m.Parts()[i]
			n -= len(p.URL)
			attached += echo.AttachmentTokens(p)
		}
	}
	return int64(n+3)/4 + attached
}
