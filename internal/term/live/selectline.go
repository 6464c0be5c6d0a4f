package live

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
)

// selectionLine says what came into a phase of earlier ones, or nothing for an entry that cannot be
// read.
func selectionLine(e *echo.Entry) string {
	s, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("context by %s: %s, %d of %d candidates; %s of %s tokens", s.Strategy, term.Plural(len(s.Anchors), "anchor"),
		len(s.Chosen), s.Candidates, term.Count(s.AnchorTokens+s.Used), term.Count(s.Everything))
}
