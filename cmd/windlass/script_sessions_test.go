package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	countedSession = regexp.MustCompile(`(?m)^journal [a-z_]+ ([A-Za-z0-9_-]+)|session_id = ''([A-Za-z0-9_-]+)''`)
	begunSession   = regexp.MustCompile(`--session[ =]([A-Za-z0-9_-]+)`)
)

// TestCountedSessionsAreBegunOnce: the scripts run side by side and share a database, so a session
// whose rows a script counts must be begun by that script alone.
func TestCountedSessionsAreBegunOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	counted, begun := map[string]string{}, map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range countedSession.FindAllSubmatch(text, -1) {
			counted[string(m[1])+string(m[2])] = file
		}
		seen := map[string]bool{}
		for _, m := range begunSession.FindAllSubmatch(text, -1) {
			if id := string(m[1]); !seen[id] {
				seen[id] = true
				begun[id] = append(begun[id], file)
			}
		}
	}
	require.NotEmpty(t, counted)
	for id, file := range counted {
		for _, other := range begun[id] {
			require.Equal(t, file, other, "session %s is begun by both scripts, and %s counts its rows", id, file)
		}
	}
}
