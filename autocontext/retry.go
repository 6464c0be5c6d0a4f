package autocontext

import (
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// retried compresses attempts that did not pass: the last loop_history_limit keep their answer,
// cut to loop_output_limit, and the words that turned it down; those before keep nothing.
func retried(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	if !p.Enabled || !p.CompressLoops || n.attempt < 1 || n.attempt == m.attempt {
		return shape{}, false
	}
	oldest := m.attempt - p.LoopHistoryLimit // the first attempt whose answer is shown
	switch {
	case n.msg.Kind() == echo.KindRetry && n.attempt > max(oldest, 1):
		return shape{}, false // it says why the answer before it did not pass
	case n.attempt >= oldest && m.answers[n.attempt] == i+1:
		return shape{form: FormExcerpt, reason: ReasonRetry, limit: p.LoopOutputLimit}, true
	}
	return shape{form: FormDropped, reason: ReasonRetry}, true
}
