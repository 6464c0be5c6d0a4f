package pager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "less -FRX"},
		{map[string]string{"PAGER": "more -d"}, "more -d"},
		{map[string]string{"PAGER": "more", "WINDLASS_PAGER": "most"}, "most"},
		{map[string]string{"PAGER": "more", "WINDLASS_PAGER": ""}, ""},
		{map[string]string{"PAGER": " "}, ""},
		{map[string]string{"PAGER": "cat"}, ""},
	} {
		got := Command(func(name string) (string, bool) {
			v, ok := tt.env[name]
			return v, ok
		})
		require.Equal(t, tt.want, got, tt.env)
	}
}

// A pager is a program like any other: it is given no secrets.
func TestChildEnvironment(t *testing.T) {
	t.Parallel()
	given := []string{"PATH=/bin", "OPENAI_API_KEY=x", "LESS=-S", "GITHUB_TOKEN=x", "URL=redis://:p@h", "TERM=xterm"}
	require.Equal(t, []string{"PATH=/bin", "LESS=-S", "TERM=xterm"}, childEnvironment(given))
	require.Equal(t, "OPENAI_API_KEY=x", given[1], "what is given stays as it is")
}

func TestLinesOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0, linesOf("", 80))
	require.Equal(t, 2, linesOf("one\ntwo\n", 80))
	require.Equal(t, 3, linesOf("0123456789012345678901234\n", 10), "a long line takes several")
	require.Equal(t, 1, linesOf("\x1b[2m0123456789\x1b[0m\n", 10), "a colour takes none")
}
