package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// TestSimulatePage holds docs/simulate.md against the columns, the policies and the members of the
// lines.
func TestSimulatePage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/simulate.md")
	require.NoError(t, err)
	page := string(data)
	for _, head := range reports.SimulationTable(&simulate.Group{}).Heads()[1:] {
		require.Regexp(t, `(?m)^\| ([a-z, ]+, )?`+head+`(, [a-z ]+)? \|`, page, "the column %s", head)
	}
	for _, name := range simulate.PolicyNames() {
		require.Contains(t, page, "| `"+name+"` |")
	}
	for _, line := range []any{simulate.CallLine{}, simulate.DumpLine{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(line)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
				require.Contains(t, page, "`"+name+"`")
			}
		}
	}
	shown := 0
	for _, b := range blocksOf(t, "simulate.md") {
		if b.info != "json" {
			continue
		}
		shown++
		dec := json.NewDecoder(strings.NewReader(b.text))
		dec.DisallowUnknownFields()
		var l simulate.CallLine
		require.NoError(t, dec.Decode(&l))
		require.InDelta(t, l.Money, simulate.Prices{Input: 1, Cached: 0.1}.Money(l.Tokens, l.Shared), 1e-9)
	}
	require.Equal(t, 1, shown)
}

// What a simulation says that a run would be sent is what a run with these settings was sent, call
// by call: with native and with prompted tool calls, over attempts that did not pass.
func TestSimulationAgreesWithTheRun(t *testing.T) {
	t.Parallel()
	const settings = `{"window": 1, "mask_observations_after": 1, "advance": "every_turn"}`
	for _, native := range []string{"true", "false"} {
		t.Run("native tools "+native, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			l.file("long.txt", strings.Repeat("a line with src/file_7.go in it\n", 200))
			l.file("c.json", `{"cascade_id": "c", "phases": [{"name": "look", "instructions": "Look.", "tackle": ["read_file"],
				"use_native_tools": `+native+`, "intra_context": `+settings+`,
				"rules": {"max_attempts": 2, "loop_until": "regex:second"}}]}`)
			turn := `{"text": "I read on.", "calls": [{"tool": "read_file", "arguments": {"path": "long.txt", "limit": %d}}]}`
			var turns []string
			for n := range 5 {
				turns = append(turns, fmt.Sprintf(turn, 100+n))
			}
			reads := strings.Join(turns, ",")
			l.file("c.script.json", `{"phases": {"look": {"attempts": [[`+reads+`, {"text": "first"}], [`+reads+`, {"text": "second"}]]}}}`)
			l.run(exitOK, "run", "c.json", "--offline", "--no-clickhouse", "--session", "whole")
			l.run(exitOK, "simulate", "whole", "--policy", "same="+settings, "--calls", "calls.jsonl")

			rec, err := journal.Read(filepath.Join(l.home, "sessions", "whole", journal.File))
			require.NoError(t, err)
			var recorded, simulated [][3]int64
			saved := int64(0)
			for _, e := range rec.Entries {
				if s := e.Selection; s != nil {
					recorded = append(recorded, [3]int64{int64(len(recorded) + 1), s.ContextSize, s.SharedSize})
					saved += s.TokensSaved
				}
			}
			data, err := os.ReadFile(filepath.Join(l.dir, "calls.jsonl"))
			require.NoError(t, err)
			for line := range strings.Lines(string(data)) {
				var c simulate.CallLine
				require.NoError(t, json.Unmarshal([]byte(line), &c))
				require.Empty(t, c.Invalid)
				simulated = append(simulated, [3]int64{int64(c.Call), c.Tokens, c.Shared})
			}
			require.Len(t, recorded, 12)
			require.Equal(t, recorded, simulated)
			require.Positive(t, saved)
		})
	}
}

// An interrupted simulation prints nothing, writes nothing and has the exit code for it.
func TestInterruptedSimulation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, calls := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "calls.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errw bytes.Buffer
	code := run(ctx, []string{"simulate", file, "--calls", calls}, strings.NewReader(""), &out, &errw)
	require.Equal(t, exitInterrupted, code, errw.String())
	require.Empty(t, out.String())
	require.NoFileExists(t, calls)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestOutputThatIsNoFile: a device or a pipe is not replaced by a file.
func TestOutputThatIsNoFile(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	device := filepath.Join(l.dir, "link")
	require.NoError(t, os.Symlink(os.DevNull, device))
	require.Equal(t, "Error: write the schema: /dev/null is not a file, and would be replaced by one\nTry: check that the folder exists and can be written\n", l.run(exitFailed, "schema", "--output", device).err.String())
	_, err := simulate.CreateFile(device)
	require.EqualError(t, err, "/dev/null is not a file, and would be replaced by one")
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeDevice)
}
