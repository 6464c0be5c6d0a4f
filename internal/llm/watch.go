package llm

import (
	"time"

	"github.com/windlass-run/windlass/engine/effect"
)

// Call is a call for cards that has ended, for those who account for it.
type Call struct {
	Request  *effect.ModelRequest  // of an embedding: purpose and model only
	Response *effect.ModelResponse // nil when it failed; of an embedding: without a message
	Err      error
	Took     time.Duration // with all tries
}

// Watch is called when a call begins, and what it returns once when the call has ended. Both are
// called by several goroutines. A nil Watch watches nothing.
type Watch func() (ended func(Call))

func (w Watch) begin() (ended func(Call)) {
	if w == nil {
		return func(Call) {}
	}
	return w()
}
