package inspector_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// TestTerms: the parts of a score are shown with their weights where they add up to the total, and as they were measured elsewhere,
// which the page says.
func TestTerms(t *testing.T) {
	t.Parallel()
	weighed, measured := 0, 0
	link := regexp.MustCompile(`<a href="(/sessions/[^"]*/selections/[^"]+)"`)
	for _, path := range inspectortest.Frozen(t, frozen) {
		home := t.TempDir()
		b := inspectortest.New(t, home, nil)
		list := b.Open("/sessions/" + inspectortest.Copy(t, home, path) + "/selections")
		for _, m := range link.FindAllStringSubmatch(list, -1) {
			page := b.Open(m[1])
			_, table, ok := strings.Cut(page, `aria-label="Candidates by rank"`)
			if !ok {
				continue
			}
			table, _, _ = strings.Cut(table, "</table>")
			has := regexp.MustCompile(`<td class="n">[\d.]+x[\d.]+`).MatchString(table)
			if strings.Contains(page, "The parts are as they were measured") {
				require.False(t, has, m[1])
				measured++
			} else if has {
				weighed++
			}
		}
	}
	require.Greater(t, weighed, 3*measured)
}
