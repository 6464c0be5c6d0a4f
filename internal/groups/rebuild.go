package groups

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/failure"
)

// checkState says that no phase of the session has a state block that could be rebuilt.
func (s *session) checkState() error {
	if s.end.Whole && !s.end.MayResume() {
		return invalid(fmt.Sprintf("windlass resume %s --fork PHASE, then the same of the fork while it runs", s.id), "session %s has ended: no request follows for which its state block could be rebuilt", s.id)
	}
	var c cascade.Cascade
	if s.start == nil {
		return invalid("windlass context groups "+s.id, "session %s has not begun yet", s.id)
	}
	h, err := journal.HeaderOf(s.start)
	if err == nil {
		err = json.Unmarshal(h.Cascade, &c)
	}
	if err != nil {
		return failure.New(failure.Damaged, fmt.Errorf("session %s: read its cascade: %w", s.id, err), "")
	}
	has := func(p cascade.Phase) bool { return cascade.ContinuityOf(&c, &p).StateBlock }
	if !slices.ContainsFunc(c.Phases, has) {
		return invalid(`a cascade with "continuity": {"state_block": true}`, "no phase of session %s has a state block", s.id)
	}
	return nil
}
