package linediff

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func drawn(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(string(l.Op) + l.Text + "|")
	}
	return b.String()
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, changed, want string }{
		{"", "", " |"},
		{"a", "a", " a|"},
		{"a", "b", "-a|+b|"},
		{"a\nb\nc", "a\nc", " a|-b| c|"},
		{"a\nc", "a\nb\nc", " a|+b| c|"},
		{"a\nb\nc\nd", "a\nx\nc\ny", " a|-b|+x| c|-d|+y|"},
		{"a\na\na", "a", " a|-a|-a|"},
	} {
		lines := Of(tt.old, tt.changed)
		require.Equal(t, tt.want, drawn(lines), "%q to %q", tt.old, tt.changed)
		require.Equal(t, tt.old != tt.changed, Changed(lines))
	}
}

// TestLong: texts that have too many lines to compare them all are old and new as a whole between what is equal.
func TestLong(t *testing.T) {
	t.Parallel()
	lines := func(of string) string { return strings.Repeat(of+"\n", 5000) }
	got := Of("head\n"+lines("a")+"tail", "head\n"+lines("b")+"tail")
	require.Len(t, got, 10002)
	require.Equal(t, Line{Both, "head"}, got[0])
	require.Equal(t, Line{Old, "a"}, got[1])
	require.Equal(t, Line{New, "b"}, got[5001])
	require.Equal(t, Line{Both, "tail"}, got[10001])
}

func TestAround(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		old, changed string
		side         int
		want         string
	}{
		{"", "", 1, " |"},
		{"a\nb\nc", "a\nb\nc", 1, "@3 lines the same|"},
		{"a\nb\nc\nd\ne", "a\nb\nx\nd\ne", 1, " a| b|-c|+x| d| e|"},
		{"1\n2\n3\nc\n4\n5\n6", "1\n2\n3\nx\n4\n5\n6", 1, "@2 lines the same| 3|-c|+x| 4|@2 lines the same|"},
		{"a\n1\n2\n3\n4\nb", "x\n1\n2\n3\n4\ny", 1, "-a|+x| 1|@2 lines the same| 4|-b|+y|"},
		{"a\n1\nb", "x\n1\ny", 1, "-a|+x| 1|-b|+y|"},
		{"1\n2\nc", "1\n2\nx", 0, "@2 lines the same|-c|+x|"},
	} {
		require.Equal(t, tt.want, drawn(Around(Of(tt.old, tt.changed), tt.side)), "%q to %q", tt.old, tt.changed)
	}
}

// FuzzOf: the lines that are not new are the old text, those that are not old the new one.
func FuzzOf(f *testing.F) {
	f.Add("a\nb", "b\nc")
	f.Fuzz(func(t *testing.T, old, changed string) {
		var a, b []string
		for _, l := range Of(old, changed) {
			if l.Op != New {
				a = append(a, l.Text)
			}
			if l.Op != Old {
				b = append(b, l.Text)
			}
		}
		for side := range 3 {
			changes := 0
			for _, l := range Around(Of(old, changed), side) {
				if l.Op == Old || l.Op == New {
					changes++
				}
			}
			for _, l := range Of(old, changed) {
				if l.Op != Both {
					changes--
				}
			}
			require.Zero(t, changes, "a change is left out")
		}
		require.Equal(t, old, strings.Join(a, "\n"))
		require.Equal(t, changed, strings.Join(b, "\n"))
	})
}
