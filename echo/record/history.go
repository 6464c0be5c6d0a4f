package record

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// histories are those of the conversations of a session, by the key of [Conversation].
type histories map[echo.Key]*history

// history holds the message entries of a conversation in sending order. It only grows.
type history struct {
	entries []*echo.Entry
	open    int // where the results of the newest answer begin
	checked int // so many were compared with a selection, as they are
}

// Conversation returns the key of the visit or branch that has the history and selections of k.
func Conversation(k echo.Key) echo.Key {
	if !k.HasBranches() {
		return k.VisitKey()
	}
	p := k.Path()
	return conversation(k, &p)
}

func conversation(k echo.Key, p *echo.Path) echo.Key {
	if len(p.Branches) == 0 {
		return k.VisitKey()
	}
	place := *p
	place.Attempt, place.Turn, place.Effect = 0, 0, nil
	return place.Key()
}

// add takes an entry's message. Results of an answer enter in the order of its calls.
func (h histories) add(e *echo.Entry, p *echo.Path) {
	number, ok := partOf(e, p)
	if !ok {
		return
	}
	key := conversation(e.Key, p)
	if h[key] == nil {
		h[key] = &history{}
	}
	if !h[key].replaceTask(e, key) {
		h[key].add(e, number)
	}
}

// replaceTask puts the task of a phase in the place of that of the candidate whose messages it keeps. What the
// candidate has stays as it is.
func (h *history) replaceTask(e *echo.Entry, own echo.Key) bool {
	if e.Message.Kind() != echo.KindTask {
		return false
	}
	i := slices.IndexFunc(h.entries, func(was *echo.Entry) bool {
		return was.Message.Kind() == echo.KindTask && IsOwn(was) && Conversation(was.Key) != own
	})
	if i < 0 {
		return false
	}
	h.entries = slices.Clone(h.entries)
	h.entries[i] = e
	h.checked = min(h.checked, i)
	return true
}

// forget drops what belongs to a visit and to the branches below it.
func forget[V any](of map[echo.Key]V, visit echo.Key) {
	maps.DeleteFunc(of, func(key echo.Key, _ V) bool { return key.Under(visit) })
}

func (h *history) add(e *echo.Entry, number int) {
	at := len(h.entries)
	if number == 0 {
		h.entries = append(h.entries, e)
		h.open = len(h.entries)
		return
	}
	for at > h.open && callNumber(h.entries[at-1]) > number {
		at--
	}
	h.entries = slices.Insert(h.entries, at, e)
}

// settle ends the results of the newest answer and returns the history, which is only appended to, and from where on no selection
// was compared with it. The caller compares one with all that follows.
func (h *history) settle() (entries []*echo.Entry, fresh int) {
	if h == nil {
		return nil, 0
	}
	h.open, fresh = len(h.entries), h.checked
	h.checked = len(h.entries)
	return slices.Clip(h.entries), fresh
}

// doubt has the next selection be compared with everything.
func (h *history) doubt() {
	if h != nil {
		h.checked = 0
	}
}

// partOf reports whether an entry's message is part of a history, and the number in the answer,
// from 1, of the tool call whose result it is.
func partOf(e *echo.Entry, p *echo.Path) (number int, ok bool) {
	if e.Message == nil {
		return 0, false
	}
	switch e.NodeType {
	case echo.NodeMessage:
		return 0, e.Message.Kind() != echo.KindSummary // replaces messages of the history, and is none
	case echo.NodeModelCall:
		return 0, p.InTurn().Kind == echo.StepModel
	case echo.NodeToolCall:
		if isPhaseTool(p) {
			return 0, true
		}
		what := p.InTurn()
		return what.Number, what.Kind == echo.StepTool && what.Number > 0
	default:
		return 0, false
	}
}

func callNumber(e *echo.Entry) int {
	p := e.Key.Path()
	return p.InTurn().Number
}

// IsOwn reports whether a message of a history was not brought in from an earlier phase.
func IsOwn(e *echo.Entry) bool {
	if e.NodeType != echo.NodeMessage {
		return true
	}
	p := e.Key.Path()
	kind := p.Last().Kind
	return kind != echo.StepContext && kind != echo.StepSelect
}

// isPhaseTool reports whether a path is that of the tool of a phase without a model.
func isPhaseTool(p *echo.Path) bool {
	return p.Turn == 0 && len(p.Effect) == 1 && p.Effect[0] == echo.Step{Kind: echo.StepTool}
}
