package main

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// selectionOf reads what a context_inter entry says, nil when it cannot be read.
func selectionOf(e *echo.Entry) *echo.InterSelection {
	s, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return nil
	}
	return &s
}

// selectionLine says what came into a phase of earlier ones, or nothing for an entry that cannot be read.
func selectionLine(e *echo.Entry) string {
	s := selectionOf(e)
	if s == nil {
		return ""
	}
	return fmt.Sprintf("context by %s: %s, %d of %d candidates; %s of %s tokens", s.Strategy, plural(len(s.Anchors), "anchor"),
		len(s.Chosen), s.Candidates, formatCount(s.AnchorTokens+s.Used), formatCount(s.Everything))
}
