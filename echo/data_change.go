package echo

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Withdrawn says how a person has taken a message out of the views of a session. The history keeps every message; one that is
// withdrawn is in no later request, selection, search or report.
type Withdrawn string

// How messages are withdrawn. The zero value is that of every message that is not.
const (
	InView  Withdrawn = ""
	Undone  Withdrawn = "undone"  // the newest group was taken back
	Dropped Withdrawn = "dropped" // not sent any more; a person still finds it
	Removed Withdrawn = "removed" // the same, and it is gone from lists as well
)

// ViewAction is what a person does to messages of a session.
type ViewAction string

// The actions.
const (
	ViewUndo    ViewAction = "undo"
	ViewDrop    ViewAction = "drop"
	ViewRemove  ViewAction = "remove"
	ViewRestore ViewAction = "restore" // takes each of the others back
	ViewRebuild ViewAction = "rebuild" // takes nothing: the state block is rebuilt, from what is in the views
)

// Makes returns what messages are after the action.
func (a ViewAction) Makes() Withdrawn {
	switch a {
	case ViewUndo:
		return Undone
	case ViewDrop:
		return Dropped
	case ViewRemove:
		return Removed
	default:
		return InView
	}
}

// Spot names a message of a session by its place and its content, never by its text.
type Spot struct {
	Phase string `json:"phase"`
	Visit int    `json:"visit"`
	Item  int    `json:"item,omitempty"` // of a list: the number of the element whose message it is, from 1; 0: it is that of none
	Hash  Hash   `json:"content_hash"`
	Nth   int    `json:"nth"` // of the messages of the visit, or of the element, with this hash, from 1
}

// ViewChange is what a person has taken out of the views of a session, or back into them. The changes of a session are numbered
// from 1, and each branch of a run takes all of them, in their order.
type ViewChange struct {
	Number   int        `json:"number"`
	Action   ViewAction `json:"action"`
	Messages []Spot     `json:"messages"`           // in a fork those that it has, perhaps none
	Groups   []int      `json:"groups,omitempty"`   // that the person has named; see [SessionGroups]
	Restores int        `json:"restores,omitempty"` // the number of the change that is taken back with this one as the last; 0: none is
	By       string     `json:"by,omitempty"`
	Via      Via        `json:"via,omitempty"`
	At       time.Time  `json:"at"`

	Problem string `json:"problem,omitempty"` // why changes cannot be read; "": they can
}

func (ViewChange) kind() kind { return kind{NodeValue, StepChange} }

func (c *ViewChange) check() error {
	if c.Problem == "" && c.Number < 1 {
		return errors.New("it has no number")
	}
	return nil
}

// Withdrawals say which messages of a session are withdrawn. They are never changed: [Withdrawals.With] makes others. nil: none is.
type Withdrawals struct {
	last  int                // number of the newest change
	spots map[Spot]Withdrawn // of those that are withdrawn
	texts map[Hash]Withdrawn // the same by their contents, for copies
}

// Last returns the number of the newest change; 0: there was none.
func (s *Withdrawals) Last() int {
	if s == nil {
		return 0
	}
	return s.last
}

// Whole reports whether no message is withdrawn.
func (s *Withdrawals) Whole() bool { return s == nil || len(s.spots) == 0 }

// With returns the withdrawals after a change. One that they have already, or that comes out of its order, changes nothing.
func (s *Withdrawals) With(c *ViewChange) *Withdrawals {
	if c.Problem != "" || c.Number != s.Last()+1 {
		return s
	}
	next := &Withdrawals{last: c.Number, spots: map[Spot]Withdrawn{}, texts: map[Hash]Withdrawn{}}
	if s != nil {
		maps.Copy(next.spots, s.spots)
	}
	for _, at := range c.Messages {
		if to := c.Action.Makes(); to == InView {
			delete(next.spots, at)
		} else {
			next.spots[at] = to
		}
	}
	for at, is := range next.spots {
		if was := next.texts[at.Hash]; was == InView || is > was {
			next.texts[at.Hash] = is
		}
	}
	return next
}

// Of returns how the message at a spot is withdrawn.
func (s *Withdrawals) Of(at Spot) Withdrawn {
	if s == nil {
		return InView
	}
	return s.spots[at]
}

// Says reports whether a withdrawn message of the session has a content.
func (s *Withdrawals) Says(h Hash) bool { return s != nil && s.texts[h] != InView }

// Contents returns the contents of the withdrawn messages, each once, sorted.
func (s *Withdrawals) Contents() []Hash {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.texts))
}

// Spots returns the place of each message of a visit. The spot of one that was brought in is that of its original where the item
// says it, else it has the hash alone.
func Spots(phase string, visit int, history []Item) []Spot {
	out, seen := make([]Spot, len(history)), map[Spot]int{}
	for i := range history {
		it := &history[i]
		switch at := (Spot{Phase: phase, Visit: visit, Item: it.Element, Hash: it.Message.Hash()}); {
		case it.Order > 0:
			seen[at]++
			out[i], out[i].Nth = at, seen[at]
		case it.Origin != nil:
			out[i] = *it.Origin
		default:
			out[i] = Spot{Hash: at.Hash}
		}
	}
	return out
}

// SpotsBefore returns the places as changes had them before they named elements of lists; nil: the visit has none.
func SpotsBefore(phase string, visit int, history []Item) []Spot {
	if !HasElements(history) {
		return nil
	}
	whole := slices.Clone(history)
	for i := range whole {
		whole[i].Element = 0
	}
	return Spots(phase, visit, whole)
}

// HasElements reports whether a history has messages of elements of a list.
func HasElements(history []Item) bool {
	return slices.ContainsFunc(history, func(it Item) bool { return it.Element > 0 })
}

// Mark returns the history of a visit with what is withdrawn of it: the history itself where nothing is. A call goes with its
// results. The list of the answers of elements goes with the last of these. What stands at the end of requests is no message to take
// out.
func (s *Withdrawals) Mark(phase string, visit int, history []Item) []Item {
	return s.mark(phase, visit, history, tellsOfAll)
}

// MarkWithLookups is [Withdrawals.Mark] as it was under the rules before [RulesKeepLookups]: what was looked up goes with each
// message whose hash is in it.
func (s *Withdrawals) MarkWithLookups(phase string, visit int, history []Item) []Item {
	return s.mark(phase, visit, history, s.shown)
}

func (s *Withdrawals) mark(phase string, visit int, history []Item, with func(*Message) Withdrawn) []Item {
	if s.Whole() {
		return history
	}
	var out []Item
	set := func(i int, to Withdrawn) {
		if out == nil {
			out = slices.Clone(history)
		}
		out[i].Withdrawn = to
	}
	before := SpotsBefore(phase, visit, history)
	for i, at := range Spots(phase, visit, history) {
		is := s.spots[at]
		if is == InView && before != nil {
			is = s.spots[before[i]]
		}
		if at.Nth == 0 {
			is = s.texts[at.Hash]
		}
		if is == InView {
			is = with(history[i].Message)
		}
		if is != InView && !history[i].Message.Kind().Stands() {
			set(i, is)
		}
	}
	if out == nil {
		return history
	}
	WithResults(out)
	if before != nil {
		withElements(out)
	}
	return out
}

// ResumedHead begins the notice which tells a model how far its work had come when its run was stopped.
const ResumedHead = "This run was stopped here"

// The tools that show messages of the session again.
const (
	ToolRecall = "recall"
	ToolSearch = "search_context"
)

// RulesKeepLookups is the number of the rules of the engine since which a lookup that shows what was withdrawn stays, and is sent
// without that.
const RulesKeepLookups = 7

// LooksUp reports whether a message is the result of a tool that shows messages of the session again.
func LooksUp(m *Message) bool {
	return m.Role() == RoleTool && (m.Tool() == ToolRecall || m.Tool() == ToolSearch)
}

// tellsOfAll returns how a message is withdrawn that goes with any other: a notice of a resumption tells of all messages before it.
func tellsOfAll(m *Message) Withdrawn {
	if m.Kind() == KindNotice && strings.HasPrefix(m.Text(), ResumedHead) {
		return Dropped
	}
	return InView
}

// shown returns how a message is withdrawn that goes with any other, or that a lookup has.
func (s *Withdrawals) shown(m *Message) Withdrawn {
	is := tellsOfAll(m)
	if !LooksUp(m) {
		return is
	}
	text := m.Text()
	for h, how := range s.texts {
		if how > is && strings.Contains(text, string(h)) {
			is = how
		}
	}
	return is
}

// WithResults withdraws an answer that calls tools, and the results that follow it, as the first of them is that is withdrawn.
func WithResults(items []Item) {
	for at := 0; at < len(items); at++ {
		if len(items[at].Message.ToolCalls()) == 0 {
			continue
		}
		end, is := at+1, items[at].Withdrawn
		for ; end < len(items) && items[end].Message.Role() == RoleTool; end++ {
			if is == InView {
				is = items[end].Withdrawn
			}
		}
		if is == InView {
			continue
		}
		for i := at; i < end; i++ {
			if items[i].Withdrawn == InView {
				items[i].Withdrawn = is
			}
		}
	}
}

// withElements withdraws the list of the answers of elements when none of them is in view.
func withElements(items []Item) {
	is := InView
	for i := range items {
		it := &items[i]
		switch {
		case it.Order == 0 || it.Message.Kind() != KindAnswer && it.Message.Kind() != KindToolResult:
		case it.Element > 0 && it.Withdrawn == InView:
			return
		case it.Element > 0:
			is = max(is, it.Withdrawn)
		case it.Withdrawn == InView:
			it.Withdrawn = is
		}
	}
}

// Marked returns the history of a visit of the session with what is withdrawn of it, see [Withdrawals.Mark].
func (s *Session) Marked(visit *PhaseRecord) []Item {
	if s.KeepsValues {
		return s.Withdrawals.MarkWithLookups(visit.Name, visit.Visit, visit.History)
	}
	return s.Withdrawals.Mark(visit.Name, visit.Visit, visit.History)
}

// Present returns the messages of a visit of the session that are in its views: those that no person has taken out.
func (s *Session) Present(visit *PhaseRecord) []Item { return Present(s.Marked(visit)) }
