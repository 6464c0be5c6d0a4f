package cascade_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/schema"
)

// The tables about context in the documentation have a row for every key, with the default of the
// schema.
func TestDocumentedDefaults(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/cascade.md")
	require.NoError(t, err)
	for head, name := range map[string]string{
		"key of `context`": "Context", "key of an object in `from`": "Source", "key of `inter_phase`": "InterContext",
		"key of `cards`": "Cards", "key of `anchors`": "Anchors", "key of `selection`": "Selection",
		"key": "IntraContext", "key of `truncation`": "Truncation", "key of `clear_tool_uses`": "ClearToolUses", "key of `guard`": "Guard",
		"key of `token_budget`": "TokenBudget",
	} {
		_, section, found := strings.Cut(string(data), "\n## Context between phases\n")
		require.True(t, found)
		if head == "key" { // Other parts of the page have tables of this head, too.
			_, section, found = strings.Cut(section, "\n## Context inside a phase\n")
			require.True(t, found)
		}
		requireDefaults(t, name, tableOf(t, section, head))
	}
}

// The tables of the page about soundings have a row for every key, with the default of the schema.
func TestDocumentedDefaultsOfSoundings(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/soundings.md")
	require.NoError(t, err)
	for head, name := range map[string]string{
		"key of `soundings`": "Soundings", "key of a model": "Model", "key of `ballots`": "Ballots", "key of `cost_aware_evaluation`": "CostAware",
		"key of `pareto_frontier`": "Pareto", "key of `adaptive`": "Adaptive", "key of `reforge`": "Reforge",
		"key of `human_eval`": "HumanEval",
	} {
		requireDefaults(t, name, tableOf(t, string(data), head))
	}
}

// The tables of the page about people have a row for every key, with the default of the schema.
func TestDocumentedDefaultsOfPeople(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/people.md")
	require.NoError(t, err)
	for head, name := range map[string]string{"key of `human_input`": "HumanInput", "key of `decision_points`": "DecisionPoints", "key of an option": "Option", "key of a field": "Field", "key of `audibles`": "Audibles"} {
		requireDefaults(t, name, tableOf(t, string(data), head))
	}
}

// requireDefaults holds the rows of a table against a type of the schema.
func requireDefaults(t *testing.T, name string, rows map[string]string) {
	t.Helper()
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Default json.RawMessage `json:"default"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema.CascadeJSON(), &doc))
	properties := doc.Defs[name].Properties
	require.Len(t, rows, len(properties), name)
	for key, p := range properties {
		cell, ok := rows[key]
		require.True(t, ok, "the table of %s has no row for %s", name, key)
		if p.Default == nil {
			require.NotRegexp(t, "^`[0-9\"\\[]", cell, "%s of %s has no default in the schema", key, name)
			continue
		}
		require.Regexp(t, "^`.*`$", cell, "%s of %s", key, name)
		require.JSONEq(t, string(p.Default), strings.Trim(cell, "`"), "%s of %s", key, name)
	}
}

// tableOf returns the second cells of a table by the keys in its first.
func tableOf(t *testing.T, page, head string) map[string]string {
	t.Helper()
	_, table, found := strings.Cut(page, "| "+head+" | default | meaning |\n|---|---|---|\n")
	require.True(t, found, "there is no table with the head %q", head)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[a-z_`, ]+`) \\| (.*?) \\|").FindAllStringSubmatch(table, -1) {
		for key := range strings.SplitSeq(m[1], ", ") {
			rows[strings.Trim(key, "`")] = m[2]
		}
	}
	return rows
}
