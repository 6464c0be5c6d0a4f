package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const talks = "../selection/testdata/talks.json"

func command(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n bytes.Buffer
	err = run(t.Context(), args, &o, &n)
	return o.String(), n.String(), err
}

// The sessions of a conversation are runs, and what they have said is found.
func TestMeasures(t *testing.T) {
	t.Parallel()
	out, _, err := command(t, talks)
	require.NoError(t, err)
	require.Equal(t, `1 conversations, 2 sessions as runs, 5 turns, 2 questions; 5 texts remembered

evidence found, by tokens                       1000    2000    4000
no memory                                      0.000   0.000   0.000
the conversation as one session                1.000   1.000   1.000
the same, with the settings of the tool        1.000   1.000   1.000
the bank                                       1.000   1.000   1.000

the whole history: 1.000 with 48 tokens
one search for 5 texts: 1.000 with 48 tokens
one search for 20 texts: 1.000 with 48 tokens
`, out)
	out, _, err = command(t, "-json", talks)
	require.NoError(t, err)
	var r Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, []float64{1, 1, 1}, r.Bank)
}

func TestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, _, err := command(t)
	require.EqualError(t, err, "memory needs one file, got 0: make bench-memory DATA=FILE")
	_, _, err = command(t, "nowhere.json")
	require.EqualError(t, err, "open nowhere.json: no such file or directory: give a file of conversations in the format of LoCoMo (docs/measured.md)")
	_, _, err = command(t, "../selection/testdata/broken.json")
	require.ErrorContains(t, err, "read ../selection/testdata/broken.json: ")
	_, notes, err := command(t, "-h")
	require.Error(t, err)
	require.Contains(t, notes, "memory [flags] FILE")
}
