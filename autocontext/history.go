package autocontext

import "github.com/windlass-run/windlass/echo"

// history is what was read of the messages of a visit. It only grows.
type history struct {
	nodes       []node
	turns       []int // index of the node with which each turn begins; turns[0] is turn 1
	results     []int // tool results before each turn
	toolResults int
	newest      map[echo.Hash]int // index of the newest tool result with a hash
	full        int64             // tokens of all messages as they are
	images      int
	cut         int // the first message that was taken back since the call before; -1: none was
}

func (h *history) add(it echo.Item, size int64) {
	i := len(h.nodes)
	m := it.Message
	n := node{msg: m, attempt: it.Attempt, pinned: it.Pinned, foreign: it.Foreign, kept: it.Kept, size: size}
	switch {
	case m.Role() == echo.RoleAssistant && it.Attempt > 0:
		h.turns = append(h.turns, i)
		h.results = append(h.results, h.toolResults)
	case m.Role() == echo.RoleTool:
		h.newest[m.Hash()] = i
		h.toolResults++
		n.result = h.toolResults
	}
	if it.Attempt > 0 {
		n.turn = len(h.turns)
	}
	h.full += size
	h.images += imagesIn(m)
	h.nodes = append(h.nodes, n)
}

// resize has a message count with the tokens that it always has when it is sent.
func (h *history) resize(n *node, size int64) {
	h.full += size - n.size
	n.size = size
}

func (h *history) resultsBefore(turn int) int {
	switch {
	case turn < 1:
		return 0
	case turn <= len(h.results):
		return h.results[turn-1]
	}
	return h.toolResults
}

// coming is the turn that the call to be made begins.
func (h *history) coming() int { return len(h.turns) + 1 }

// endOf returns the index of the first message after a turn.
func (h *history) endOf(turn int) int {
	if turn < len(h.turns) {
		return h.turns[turn]
	}
	return len(h.nodes)
}
