package suggestion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/suggestion"
)

func TestFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		from       []string
	}{
		{"instructons", "instructions", []string{"name", "instructions"}},
		{"maxTurns", "", []string{"max_attempts"}},
		{"Max-Turns", "max_turns", []string{"max_attempts", "max_turns"}},
		{"teh", "the", []string{"a", "the"}},
		{"b", "", []string{"a", "c"}},
		{"ab", "ac", []string{"xy", "ac"}},
		{"", "", []string{"a"}},
		{"日本", "日木", []string{"中国", "日木"}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, suggestion.For(tt.name, tt.from), tt.name)
	}
}
