package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
)

// soundingForms are cascades with candidates, as files, and how each begins.
var soundingForms = map[string]map[string]string{
	"votes": {
		"top.json": `{"cascade_id": "top", "inputs_schema": {"topic": "about"}, "phases": [
			{"name": "draft", "instructions": "Write about {{ input.topic }}, where the rivers are.", "soundings": {"factor": 3, "mutation_mode": "rewrite",
				"mutations": ["Say it as a poet would.", "Say it as a lawyer would."], "validator": "max_words:40",
				"reforge": {"steps": 2, "honing_prompt": "Make it shorter than it is.", "threshold": "max_words:2"}}},
			{"name": "next", "context": {"from": [{"phase": "draft", "include": ["messages"]}]}, "instructions": "Use {{ outputs.draft }}"}]}`,
		"top.script.json": `{"phases": {"draft": [{"text": "{% if step %}refined text {{ candidate }} with more words{% else %}text number {{ candidate }} of all of them{% endif %}"}],
			"next": [{"text": "done with all of it"}]}, "rewrites": {"*": {"text": "Rewritten for number {{ candidate }}, in words of its own."}},
			"judges": {"*": {"prefer": ["refined text 2", "text number 3"], "why": "It says most, and says it best."}}}`,
	},
	"adaptive": {
		"top.json": `{"cascade_id": "top", "phases": [
			{"name": "draft", "instructions": "Write about the rivers.", "soundings": {"adaptive": {"min": 2, "max": 4}, "ballots": {"min": 2, "max": 4},
				"cost_aware_evaluation": {"show_costs_to_evaluator": true}, "mutation_mode": "augment"}},
			{"name": "next", "instructions": "Use {{ outputs.draft }}"}]}`,
		"top.script.json": `{"phases": {"draft": [{"text": "text number {{ candidate }} of all of them"}], "next": [{"text": "done with all of it"}]},
			"judges": {"*": {"prefer": ["text number"], "why": "They are all the same to me."}}}`,
	},
	"pareto": {
		"top.json": `{"cascade_id": "top", "phases": [
			{"name": "draft", "instructions": "Count the rivers.", "output_schema": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["name", "n"]},
				"soundings": {"factor": 3, "pareto_frontier": {"policy": "prefer_quality"}, "mutation_mode": "approach", "reforge": {"mutate": true, "factor_per_step": 3}}},
			{"name": "next", "instructions": "Use {{ outputs.draft.name }} {{ outputs.draft.n }}"}]}`,
		"top.script.json": `{"phases": {"draft": [{"text": "{\"name\": \"river number {{ candidate }}\", \"n\": {{ candidate }}}"}], "next": [{"text": "done with all of it"}]},
			"judges": {"*": {"points": {"number 2": 7.5, "river": 3}, "why": "It has the most rivers."}}}`,
	},
	"aggregate": {
		"top.json": `{"cascade_id": "top", "phases": [
			{"name": "draft", "instructions": "Write about the rivers.", "soundings": {"factor": 3, "mode": "aggregate", "mutation_mode": "approach", "aggregator_instructions": "Join {{ candidates | length }} of them."}},
			{"name": "joined", "instructions": "Go on with {{ outputs.draft }}", "soundings": {"factor": 2, "mode": "aggregate", "mutation_mode": "augment"}},
			{"name": "next", "instructions": "Use {{ outputs.joined }}"}]}`,
		"top.script.json": `{"phases": {"draft": [{"text": "text number {{ candidate }} of all of them"}], "joined": [{"text": "another text {{ candidate }} after that"}], "next": [{"text": "done with all of it"}]},
			"aggregates": {"*": {"text": "One text from all of them."}}}`,
	},
	"whole": {
		"top.json": `{"cascade_id": "top", "description": "Writes about rivers.", "inputs_schema": {"topic": "about"},
			"soundings": {"factor": 3, "mutation_mode": "rewrite", "mutations": ["Say it as a poet would.", "Say it as a lawyer would."], "reforge": {"honing_prompt": "Make it shorter than it is."}},
			"phases": [{"name": "draft", "instructions": "Write about {{ input.topic }}{% if input._refinement_context is defined %}, better than {{ input._refinement_context.best }}{% endif %}."},
				{"name": "end", "instructions": "Close {{ outputs.draft }}"}]}`,
		"top.script.json": `{"phases": {"draft": [{"text": "a first text"}], "end": [{"text": "{% if 'better' in input %}refined text{% elif 'number 3' in input %}text number 3 as the end{% else %}another text of {{ input | length }} bytes{% endif %}"}]},
			"rewrites": {"*": {"text": "Rewritten for number {{ candidate }}, in words of its own."}},
			"judges": {"*": {"prefer": ["refined text", "of 2"], "why": "It says most, and says it best."}}}`,
	},
	"nested": {
		"top.json": `{"cascade_id": "top", "phases": [{"name": "plan", "instructions": "Plan the rivers.", "sub_cascades": [{"ref": "below.json", "input_map": {"topic": "{{ 'the rivers of the north' }}"}}]},
			{"name": "next", "instructions": "Use {{ outputs.plan }}"}]}`,
		"below.json": `{"cascade_id": "below", "inputs_schema": {"topic": "about"}, "soundings": {"factor": 3, "mode": "aggregate", "mutation_mode": "augment", "aggregator_instructions": "Join them."},
			"phases": [{"name": "draft", "instructions": "Write about {{ input.topic }}."}]}`,
		"top.script.json":   `{"phases": {"plan": [{"text": "a plan of it"}], "next": [{"text": "done with all of it"}]}}`,
		"below.script.json": `{"phases": {"draft": [{"text": "a text of {{ input | length }} bytes"}]}, "aggregates": {"*": {"text": "One text from all of them."}}}`,
	},
}

// TestRedactSoundings: whichever message of a session with candidates is redacted, with its parts or without, all
// of its recording is followed: who took part, what judges said, who was kept, and what was made of that.
func TestRedactSoundings(t *testing.T) {
	t.Parallel()
	for form := range soundingForms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			l := soundingLab(t, form)
			ids, err := archive.Local(l.home)
			require.NoError(t, err)
			for _, id := range ids {
				sound := l.recording(id)
				for _, hash := range hashesOf(sound) {
					for _, parts := range []bool{false, true} {
						what := fmt.Sprintf("%s %s parts: %t", id, hash, parts)
						home := copyOfHome(t, l.home)
						_, err := archive.Redact(t.Context(), &archive.Archive{Home: home}, id, string(hash), archive.RedactOptions{Parts: parts})
						require.NoError(t, err, what)
						requireFollowed(t, home, "top", what)
						raw, err := os.ReadFile(archive.JournalPath(home, id))
						require.NoError(t, err, what)
						if text := saidIn(sound, hash); text != "" {
							assert.NotContains(t, string(raw), text, what)
						}
					}
				}
			}
		})
	}
}

// soundingLab has run one of the forms.
func soundingLab(t *testing.T, form string) *lab {
	t.Helper()
	l := newLab(t, "")
	args := []string{"run", "top.json", "--offline", "--no-clickhouse", "-q", "--session", "top", "--price-as", "gpt-5-mini"}
	for name, text := range soundingForms[form] {
		l.file(name, text)
	}
	if form == "votes" || form == "whole" {
		args = append(args, "--input", "topic=the north of the country")
	}
	l.run(exitOK, args...)
	return l
}

// hashesOf returns the content hashes of the messages of a session.
func hashesOf(rec *journal.Recording) (all []echo.Hash) {
	for _, e := range rec.Entries {
		if e.Message != nil && !slices.Contains(all, e.ContentHash) {
			all = append(all, e.ContentHash)
		}
	}
	return all
}

// saidIn returns the text of an answer of a model that is no JSON, "" for none.
func saidIn(rec *journal.Recording, hash echo.Hash) string {
	for _, e := range rec.Entries {
		if m := e.Message; m != nil && e.ContentHash == hash && m.Role() == echo.RoleAssistant && !json.Valid([]byte(m.Text())) {
			return m.Text()
		}
	}
	return ""
}

func copyOfHome(t *testing.T, home string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(to, "sessions"), os.DirFS(filepath.Join(home, "sessions"))))
	return to
}

// requireFollowed verifies a session and its children, to the last entry.
func requireFollowed(t *testing.T, home, id, what string) {
	t.Helper()
	rec, err := journal.Read(archive.JournalPath(home, id))
	require.NoError(t, err, what)
	v, err := app.VerifyTree(t.Context(), appAt(home), rec, app.Extensions{})
	require.NoError(t, err, what)
	requireAllFollowed(t, v, what)
}

func requireAllFollowed(t *testing.T, v *app.Verification, what string) {
	t.Helper()
	assert.True(t, v.Holds, "%s: %s", what, v.Difference)
	if v.Redaction != nil {
		assert.Zero(t, v.Redaction.NotMade, what)
	}
	for _, c := range v.Children {
		require.NotNil(t, c.Verification, what)
		requireAllFollowed(t, c.Verification, what)
	}
}

// TestResumeRedactedSoundings: a session that was stopped among its candidates, ballots and steps of refinement, and
// redacted then, is resumed where it was. No call is made twice.
func TestResumeRedactedSoundings(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"votes", "pareto", "whole"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			l := soundingLab(t, form)
			kept := copyOfHome(t, l.home)
			path := archive.JournalPath(l.home, "top")
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			lines := bytes.SplitAfter(whole, []byte("\n"))
			for cut := 12; cut < len(lines)-2; cut += 7 {
				what := fmt.Sprintf("%s after entry %d", form, cut)
				require.NoError(t, os.RemoveAll(filepath.Join(l.home, "sessions")))
				require.NoError(t, os.CopyFS(filepath.Join(l.home, "sessions"), os.DirFS(filepath.Join(kept, "sessions"))))
				require.NoError(t, os.WriteFile(path, bytes.Join(lines[:cut+1], nil), 0o600))
				was := l.recording("top")
				if all := hashesOf(was); len(all) > 0 {
					_, err := archive.Redact(t.Context(), &archive.Archive{Home: l.home}, "top", string(all[cut%len(all)]), archive.RedactOptions{Parts: true})
					require.NoError(t, err, what)
				}
				p := l.start("resume", "top", "-q")
				require.Equal(t, exitOK, p.wait(), "%s\n%s", what, p.err.String())
				now := l.recording("top")
				for i, e := range was.Entries {
					require.Equal(t, []any{e.NodeType, e.Key}, []any{now.Entries[i].NodeType, now.Entries[i].Key}, what)
				}
				made := map[echo.Key]bool{}
				for _, e := range now.Entries {
					require.False(t, e.NodeType == echo.NodeModelCall && made[e.Key], "%s: %s is made twice", what, e.Key)
					made[e.Key] = made[e.Key] || e.NodeType == echo.NodeModelCall
				}
				requireFollowed(t, l.home, "top", what)
			}
		})
	}
}
