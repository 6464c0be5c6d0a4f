package llm

import (
	"sync"

	"github.com/windlass-run/windlass/engine/effect"
)

// memo remembers what was computed, and forgets all of it when it holds too much. It is safe for
// concurrent use.
type memo[K comparable, V any] struct {
	most int

	mu    sync.Mutex
	known map[K]V
}

func newMemo[K comparable, V any](most int) *memo[K, V] {
	return &memo[K, V]{most: most, known: map[K]V{}}
}

func (m *memo[K, V]) get(key K, compute func() V) V {
	m.mu.Lock()
	v, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = compute()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= m.most {
		clear(m.known)
	}
	m.known[key] = v
	return v
}

// toolSet identifies tools by their slice, which never changes and is shared by a phase's requests.
type toolSet struct {
	first *effect.ToolSpec
	count int
}

// maxToolSets bounds a memo of tool sets; a run has about one for each phase.
const maxToolSets = 64

func setOf(tools []effect.ToolSpec) toolSet { return toolSet{&tools[0], len(tools)} }
