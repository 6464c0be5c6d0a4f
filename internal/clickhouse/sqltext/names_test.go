package sqltext

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNameClassesDoNotMeet holds that a name that is refused is not also one that is allowed. The
// names of functions and of table functions may meet, as those of aggregate functions may: "file"
// is both, and both are refused.
func TestNameClassesDoNotMeet(t *testing.T) {
	t.Parallel()
	classes := nameClasses()
	require.ElementsMatch(t, []nameClass{
		nameScalar, nameHigher, nameAggregate, nameCombinator, nameTable, nameServer, nameOutward, nameSource, nameEngine, nameOutEngine,
	}, slices.Collect(maps.Keys(classes)))
	for _, closed := range []nameClass{nameServer, nameOutward, nameSource} {
		for _, open := range []nameClass{nameScalar, nameHigher, nameAggregate, nameTable} {
			for name := range classes[closed] {
				require.False(t, classes[open][name], "%s is %s and %s", name, closed, open)
			}
		}
	}
	for name := range classes[nameOutEngine] {
		require.False(t, classes[nameEngine][name] || isHarmless(name), name)
	}
}

func TestCombinedAggregates(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sumIf", "quantileExactStateOrNull", "countDistinctIf", "argMinIf", "sumMap", "groupArrayArrayIf"} {
		require.True(t, isHarmless(name), name)
	}
	for _, name := range []string{"fileIf", "urlState", "lowerIf", "newFunction", ""} {
		require.False(t, isHarmless(name), name)
	}
}

// TestTakeSettings takes SETTINGS off the end of a statement where they stand beside readonly = 1,
// and nowhere else.
func TestTakeSettings(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]struct {
		sql      string
		settings map[string]any
	}{
		"SELECT 1 SETTINGS max_threads = 1": {"SELECT 1", map[string]any{"max_threads": "1"}},
		"SELECT 1\nsettings max_threads=1,session_timezone='UTC' , max_execution_time = 0.5 -- why\n": {
			"SELECT 1", map[string]any{"max_threads": "1", "session_timezone": "UTC", "max_execution_time": "0.5"},
		},
		"SELECT 1 SETTINGS readonly = 0":                        {"SELECT 1 SETTINGS readonly = 0", map[string]any{}},
		"SELECT 1 SETTINGS max_threads = 1, readonly = 0":       {"SELECT 1 SETTINGS max_threads = 1, readonly = 0", map[string]any{}},
		"SELECT 1 SETTINGS max_threads = f(1)":                  {"SELECT 1 SETTINGS max_threads = f(1)", map[string]any{}},
		"SELECT 1 SETTINGS session_timezone = 'a\\'b'":          {"SELECT 1 SETTINGS session_timezone = 'a\\'b'", map[string]any{}},
		"SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)":     {"SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)", map[string]any{}},
		"SELECT * FROM (SELECT 1 SETTINGS max_threads = 1), a":  {"SELECT * FROM (SELECT 1 SETTINGS max_threads = 1), a", map[string]any{}},
		"SELECT 1 AS settings":                                  {"SELECT 1 AS settings", map[string]any{}},
		"SELECT settings, a = 1 FROM t SETTINGS max_threads= 2": {"SELECT settings, a = 1 FROM t", map[string]any{"max_threads": "2"}},
		"SETTINGS": {"SETTINGS", map[string]any{}},
	} {
		st, err := Parse(sql)
		require.NoError(t, err)
		bare, settings := st.TakeSettings([]string{"max_threads", "session_timezone", "max_execution_time"})
		require.Equal(t, want.sql, bare.SQL, sql)
		require.Equal(t, want.settings, settings, sql)
	}
}

// FuzzJudge gives the judge any text as the canonical form: it may refuse it, and must come to an
// end.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{
		"SELECT 1 SETTINGS a = 1, b.c = 'x', d = disk(type = s3), e = {'a': 1}", "SELECT arrayMap((file AS f), [1])",
		"SELECT * APPLY x -> f(x)", "WITH t(a) AS (SELECT 1) SELECT ((", "CREATE TABLE t ENGINE = ", "SETTINGS", "ATTACH FROM '", "SETTINGS a = (",
		"PARALLEL WITH", "INTO OUTFILE 'x'", "SETTINGS a = -", "f(", "AS (", "!0",
	} {
		f.Add(s, byte(0))
		f.Add(s, byte(7))
	}
	f.Fuzz(func(t *testing.T, text string, rights byte) {
		tokens := tokenize(text)
		if len(tokens) == 0 {
			return
		}
		g := Guard{Write: rights&1 != 0, Embedded: rights&2 != 0, Guest: rights&4 != 0}
		if err := g.judge(text, tokens); err == nil && g.Embedded && strings.HasPrefix(text, "SELECT file(") {
			t.Fatalf("%q is let through", text)
		}
	})
}
