package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// What windlass.json switches off of auto_context when a session begins is recorded with it, and is
// kept by whoever resumes, forks or verifies it, whatever the file says by then.
func TestSwitchedOffIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "windlass.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"auto_context": {"intra_phase": false, "cards": false}}`), 0o600))
	a, err := Open(Options{Home: t.TempDir(), Dir: dir, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	const source = `{"cascade_id": "it", "auto_context": {"intra_phase": {}}, "phases": [
		{"name": "one", "instructions": "Restart {{ input.service }}.", "tackle": ["restart"]},
		{"name": "two", "instructions": "Say more.", "tackle": ["restart"], "context": {"mode": "auto"}}]}`
	r, err := a.Start(t.Context(), job(t, source), options("s1"), Watch{})
	require.NoError(t, err)
	_, err = r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	rec := a.recording(t, "s1")
	require.Contains(t, string(rec.Header.Options), `"auto_context_off":{"intra_phase":true,"cards":true}`)
	var warned []string
	seq := uint64(0)
	for _, e := range rec.Entries {
		if e.NodeType == echo.NodeWarning {
			w, err := echo.Read[echo.Warning](e)
			require.NoError(t, err)
			warned = append(warned, w.Message)
		}
		if e.NodeType == echo.NodeToolCall && seq == 0 {
			seq = e.Seq
		}
	}
	require.Equal(t, []string{"no cards are made: auto_context.cards is off in windlass.json; messages are chosen by what can be extracted from them at once"}, warned)

	require.NoError(t, os.WriteFile(file, []byte(`{}`), 0o600))
	v, err := a.Verify(t.Context(), rec, extensions())
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
	fork, err := a.Fork(t.Context(), "s1", seq, ForkOptions{SessionID: "s2", ResumeOptions: ResumeOptions{NoClickHouse: true, Extensions: extensions()}}, Watch{})
	require.NoError(t, err)
	require.Equal(t, cascade.SwitchedOff{IntraPhase: true, Cards: true}, fork.started.Off)
	_, err = fork.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, fork.Close().Err)
	require.Equal(t, echo.StatusCompleted, record.EndOf(a.recording(t, "s2").Entries).Status)
	for _, e := range a.recording(t, "s2").Entries {
		if e.NodeType == echo.NodeSelection && e.Phase == "one" {
			for _, s := range e.Selection.Spans {
				require.Equal(t, "switched_off", s.Reason)
			}
		}
	}

	fresh, err := a.Start(t.Context(), job(t, source), options("s3"), Watch{})
	require.NoError(t, err)
	require.Zero(t, fresh.started.Off)
	require.NotContains(t, string(fresh.Header().Options), "auto_context_off")
	require.NoError(t, fresh.Close().Err)
}
