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
	"github.com/windlass-run/windlass/echo/record"
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
	for _, head := range reports.SimulationTable(&simulate.Group{AsRun: &simulate.Summary{}}).Heads()[1:] {
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
			requireAsRun(t, l, "same="+settings, recorded)
		})
	}
}

// requireAsRun demands that what was really sent in the session "whole" is the sum of its calls, and
// has the figures of the policy that it ran with.
func requireAsRun(t *testing.T, l *lab, same string, calls [][3]int64) {
	t.Helper()
	var report simulate.Report
	shown := l.run(exitOK, "simulate", "whole", "--policy", "full", "--policy", same, "--prices", "2:0.5", "--json")
	require.NoError(t, json.Unmarshal([]byte(shown.out.String()), &report))
	g := report.Groups[0]
	var tokens, shared int64
	for _, c := range calls {
		tokens, shared = tokens+c[1], shared+c[2]
	}
	require.Equal(t, []int64{tokens, shared}, []int64{g.AsRun.TokensSent, g.AsRun.TokensShared})
	full, equal := *g.Policies[0], *g.Policies[1]
	require.Positive(t, *full.Changed)
	require.InDelta(t, float64(full.TokensSent)/float64(tokens), *full.TokensOfRun, 1e-9)
	require.InDelta(t, full.Money/g.AsRun.Money, *full.MoneyOfRun, 1e-9)
	require.Equal(t, []float64{0, 1, 1}, []float64{float64(*equal.Changed), *equal.TokensOfRun, *equal.MoneyOfRun})
	require.NotNil(t, g.AsRun.OfBest)
	equal.Policy, equal.Changed, equal.TokensOfRun, equal.MoneyOfRun = simulate.AsRun, nil, nil, nil
	require.Equal(t, equal, *g.AsRun)

	text := l.run(exitOK, "simulate", "whole", "--policy", "full", "--policy", same, "--prices", "2:0.5").out.String()
	require.Regexp(t, `(?m)^-[- ]+\nas run +[\d,]+  +[\d.]+ %`, text, "it is the first row")
	require.Regexp(t, `(?m)^full +[\d,]+ +\+\d+\.\d % `, text)
	require.Regexp(t, `(?m)^same +[\d,]+ +0\.0 % `, text)
	require.NotContains(t, text, "No policy would")
	only := l.run(exitOK, "simulate", "whole", "--policy", "as one="+strings.TrimPrefix(same, "same=")).out.String()
	require.Contains(t, only, "\nNo policy would have sent anything else: each of 12 calls is the same under all of them.\n")
}

// What was really sent is what the record says, in every recorded session: summaries of the guard,
// branches and fallbacks as well.
func TestAsRunIsTheRecord(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/frozen/rules*/*.jsonl")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 8)
	full, _ := simulate.NamedPolicy(simulate.PolicyFull)
	prices, err := simulate.ParsePrices("0.1")
	require.NoError(t, err)
	for _, path := range paths {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		all, err := simulate.FromRecording("s", rec)
		require.NoError(t, err)
		sim := &simulate.Simulation{Policies: []simulate.Policy{full}, Prices: []simulate.Prices{prices}}
		sent := map[string]map[int]int64{} // by visit and length of the history
		for req, err := range record.RequestsOf(rec.Entries) {
			require.NoError(t, err)
			visit := record.Conversation(req.Key()).String()
			if sent[visit] == nil {
				sent[visit] = map[int]int64{}
			}
			sent[visit][len(req.History)] = req.Selection.Selection.ContextSize
		}
		calls := 0
		require.NoError(t, sim.Run(t.Context(), all, func(o *simulate.Outcome) error {
			require.Len(t, o.AsRun, 1, "%s: %s", path, o.Conversation)
			for _, c := range o.AsRun[0].Calls {
				calls++
				require.Equal(t, sent[o.Conversation.Name][c.History], c.Tokens, "%s: %s, %d", path, o.Conversation, c.History)
				require.Empty(t, c.Invalid)
			}
			return nil
		}))
		require.Positive(t, calls)
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
