package suggestion_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/suggestion"
)

func TestNear(t *testing.T) {
	t.Parallel()
	known := []string{"last", "pumps", "pumps_slow", "01m8367j0000000000000m9p72", "pumps"}
	for name, want := range map[string][]string{
		"las": {"last"}, "pump": {"pumps", "pumps_slow"}, "pumps_slo": {"pumps_slow"}, "9p72": {"01m8367j0000000000000m9p72"}, "pupms": {"pumps"},
		"01m8367j0000000000000m9p27": {"01m8367j0000000000000m9p72"}, "pumps": {"pumps_slow"}, "x": nil, "%": nil, "": nil, "incident": nil,
		strings.Repeat("p", 101): nil,
	} {
		require.Equal(t, want, suggestion.Near(name, known, 2), name)
	}
	require.Equal(t, []string{"pumps"}, suggestion.Near("pump", known, 1))
}
