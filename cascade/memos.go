package cascade

import (
	"slices"

	"github.com/windlass-run/windlass/engine/memo"
)

// UsesMemos reports whether a phase of a cascade uses memos: by its settings, or by a tool that it offers or runs.
func UsesMemos(c *Cascade) bool {
	uses := func(p *Phase) bool {
		return ContinuityOf(c, p).Memos || memo.Is(p.Tool) || slices.ContainsFunc(p.Tackle, memo.Is)
	}
	return slices.ContainsFunc(c.Phases, func(p Phase) bool {
		return uses(&p) || p.OnError != nil && p.OnError.Inline != nil && uses(p.OnError.Inline)
	})
}
