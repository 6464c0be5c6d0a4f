package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/app"
)

// TestSelectionPage holds the page about selections, and that of measurements, to what there is: its commands and their flags,
// its snippet, the strategies and the parts of a score.
func TestSelectionPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/selection.md")
	require.NoError(t, err)
	page := string(data)
	commands, snippets := 0, 0
	for _, b := range append(blocksOf(t, "selection.md"), blocksOf(t, "measured.md")...) {
		switch b.info {
		case "sh":
			for line := range strings.Lines(b.text) {
				commands++
				if target, isMake := strings.CutPrefix(line, "make "); isMake { // bench/selection tests its flags
					requireTarget(t, strings.Fields(target)[0])
					continue
				}
				requireCommand(t, strings.TrimSpace(line))
			}
		case "json":
			snippets++
			text := `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "A."}, {"name": "b", "instructions": "B.", ` + b.text + `}]}`
			_, found, err := cascade.Parse("selection.md.json", []byte(text), app.Known())
			require.NoError(t, err)
			require.Empty(t, found)
		}
	}
	require.Equal(t, 8, commands)
	require.Equal(t, 1, snippets)
	for _, s := range []echo.Strategy{
		echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyLLM, echo.StrategyHybrid, echo.StrategyPrefilter,
	} {
		require.Contains(t, page, "`"+string(s)+"`")
	}
	var parts map[string]any
	meaning := 0.5
	encoded, err := json.Marshal(echo.Score{Callout: true, Late: true, Similarity: &meaning})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &parts))
	require.Len(t, parts, reflect.TypeFor[echo.Score]().NumField(), "every part of a score is in its JSON")
	for _, part := range []string{"keyword", "recency", "meaning", "callout", "total", "rank", "late"} {
		require.Contains(t, parts, part)
		require.Contains(t, page, "`"+part+"`")
	}
}

// requireTarget checks that the Makefile has a target.
func requireTarget(t *testing.T, name string) {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(makefile), "\n"+name+": ## ")
}

// requireCommand checks that a line is a command of windlass with flags that it has.
func requireCommand(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	require.Equal(t, "windlass", words[0], line)
	cmd, rest, err := newRootCommand(&console{}).Find(words[1:])
	require.NoError(t, err, line)
	require.NotEqual(t, "windlass", cmd.Name(), line)
	for _, w := range rest {
		if name, isFlag := strings.CutPrefix(w, "--"); isFlag {
			require.NotNil(t, cmd.Flags().Lookup(name), "%s: %s has no --%s", line, cmd.CommandPath(), name)
		}
	}
}
