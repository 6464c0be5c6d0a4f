package autocontext

import "github.com/windlass-run/windlass/echo"

// Most returns the most tokens, in the model's own count, that a message may take in a request of a
// phase: as it is, or written as text when its calls cannot be told apart from others there.
func (s *Settings) Most(r *Renderer, m *echo.Message) int64 {
	count := s.Count
	if count == nil {
		count = Tokens
	}
	n := count(r.message(m))
	if m.Role() == echo.RoleTool || len(m.ToolCalls()) > 0 {
		n = max(n, count(isolated(m)))
	}
	return n
}
