package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

// TestPlantedMistakes: windlass validate finds every planted mistake, with its place and a hint.
func TestPlantedMistakes(t *testing.T) {
	t.Parallel()
	planted, err := txtar.ParseFile("testdata/mistakes.txtar")
	require.NoError(t, err)
	dir := t.TempDir()
	var all strings.Builder
	counts := map[string]int{}
	for _, f := range planted.Files {
		kind, _, _ := strings.Cut(f.Name, "-")
		counts[kind]++
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.WriteFile(path, f.Data, 0o600))
		_, out, _ := commandLine(t, "", "validate", "--json", path)
		var found cascade.Diagnostics
		require.NoError(t, json.Unmarshal([]byte(out), &found))
		require.NotEmpty(t, found, f.Name)
		for _, d := range found {
			if d.File != path {
				require.Equal(t, "tree-names.yaml", f.Name, d.String()) // which names one that is not valid
				continue
			}
			require.Positive(t, d.Line)
			require.Positive(t, d.Col)
			require.Greater(t, d.EndCol, d.Col, d.String())
			require.NotEmpty(t, d.Hint, d.String())
		}
		code, _, errs := commandLine(t, "", "validate", path)
		if n, _ := found.Count(); n > 0 {
			require.Equal(t, exitInvalid, code, f.Name)
		}
		all.WriteString(strings.ReplaceAll(strings.ReplaceAll(errs, dir+string(filepath.Separator), ""), dir, "DIR"))
	}
	require.Equal(t, map[string]int{"structure": 16, "section2": 12, "tree": 9}, counts)
	golden(t, "mistakes.golden", all.String())
}

// TestExamplesAreSound: no false alarm over what is shown to people.
func TestExamplesAreSound(t *testing.T) {
	t.Parallel()
	code, out, errs := commandLine(t, "", "validate", "../../examples")
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, errs)
	require.Contains(t, out, "examples/cascades/minimal.json: ok\n")
	require.Contains(t, out, ", 0 errors, 0 warnings\n")
}
