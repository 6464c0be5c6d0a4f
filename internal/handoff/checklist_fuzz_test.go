package handoff

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzChecklists reads checklists and decisions out of what models wrote: each is one line of
// bounded width, and reading what was found again finds as many.
func FuzzChecklists(f *testing.F) {
	f.Add("- [ ] one\n- [x] two\n  * [X] three\n1. [ ] four\nDecision: five\n**Decision:** six **\nDECISION: seven")
	f.Add("- [ ] " + strings.Repeat("x", 5000) + "\n- [] none\n- [y] none\n] [ ] x")
	f.Add("- [ ] \u202e\x1b[2J\r\n- [ ]\ta")
	f.Fuzz(func(t *testing.T, text string) {
		items := checklistIn(text)
		require.LessOrEqual(t, len(items), strings.Count(text, "\n")+1)
		var b strings.Builder
		for _, item := range items {
			require.NotContains(t, item.text, "\n")
			require.LessOrEqual(t, utf8.RuneCountInString(item.text), widest.item+3) // with dots for what was cut
			if strings.TrimSpace(item.text) != "" {
				b.WriteString("- [ ] " + item.text + "\n")
			}
		}
		require.LessOrEqual(t, len(checklistIn(b.String())), len(items))
		for _, d := range decisionsIn(text) {
			require.NotContains(t, d, "\n")
			require.Contains(t, text, d)
		}
	})
}
