package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/simulate"
)

func some(v float64) *float64 { return &v }

// good is a report that reaches every bar.
func good() *simulate.Report {
	r := &simulate.Report{}
	for _, p := range prices {
		r.Groups = append(r.Groups, &simulate.Group{File: savedFile, Prices: p, Calls: 10, Policies: []*simulate.Summary{
			{Policy: "default", Saved: leastSaved, KeptShare: some(leastKept), OfBest: some(mostAtHalf), Worst: mostOfFull, WorstAt: 3},
		}})
	}
	return r
}

func missed(bars []bar) (names []string) {
	for _, b := range bars {
		if !b.passed {
			names = append(names, b.name+": "+b.found)
		}
	}
	return names
}

// Every bar can be missed, and says by what.
func TestBars(t *testing.T) {
	t.Parallel()
	require.Empty(t, missed(barsOf(good())))
	require.Len(t, barsOf(good()), 5)
	for want, spoil := range map[string]func(*simulate.Report){
		"no invalid request: 2 of 30, the first: why": func(r *simulate.Report) {
			r.Groups[1].Policies[0].Invalid, r.Groups[1].Policies[0].FirstInvalid = 2, "why"
		},
		"nothing cached, swe-mini-public.jsonl: at least 45 % fewer tokens at 94 % of the references: 44.9 % fewer, 94.0 % kept": func(r *simulate.Report) {
			r.Groups[0].Policies[0].Saved = 0.449
		},
		"nothing cached, swe-mini-public.jsonl: at least 45 % fewer tokens at 94 % of the references: 45.0 % fewer, 93.9 % kept": func(r *simulate.Report) {
			r.Groups[0].Policies[0].KeptShare = some(0.939)
		},
		"nothing cached, swe-mini-public.jsonl: at least 45 % fewer tokens at 94 % of the references: the file is not there": func(r *simulate.Report) {
			r.Groups[0].File = "other.jsonl"
		},
		"cached at 0.1, swe-mini-public.jsonl: the default costs at most 1.07 of the best in hindsight: 1.071": func(r *simulate.Report) {
			r.Groups[1].Policies[0].OfBest = some(1.071)
		},
		"cached at 0.1, swe-mini-public.jsonl: no conversation above 1.20 of full history: 1.201 in line 3": func(r *simulate.Report) {
			r.Groups[1].Policies[0].Worst = 1.201
		},
		"cached at 0.5, swe-mini-public.jsonl: the default costs at most 1.03 of the best in hindsight: 1.031": func(r *simulate.Report) {
			r.Groups[2].Policies[0].OfBest = some(1.031)
		},
	} {
		r := good()
		spoil(r)
		require.Equal(t, []string{want}, missed(barsOf(r)))
	}
	empty := &simulate.Report{}
	require.Len(t, missed(barsOf(empty)), len(barsOf(empty)), "nothing measured is nothing reached")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func retryLines(records, attempts int) string {
	var b strings.Builder
	for r := range records {
		for a := range attempts {
			fmt.Fprintf(&b, `{"record_id":%d,"attempt":%d,"review":"a review","transferred_review":"%s","feedback":"no"}`+"\n", r, a, strings.Repeat("an answer ", 80))
		}
	}
	return b.String()
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var out bytes.Buffer
	_, err := measure(t.Context(), &out, data)
	require.EqualError(t, err, data+" has no transcripts/*.jsonl")
	write(t, filepath.Join(data, "transcripts", "small.jsonl"), `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`)
	_, err = measure(t.Context(), &out, data)
	require.EqualError(t, err, data+" has no retry/*.jsonl")
	write(t, filepath.Join(data, "retry", "r.jsonl"), retryLines(2, 6))
	passed, err := measure(t.Context(), &out, data)
	require.NoError(t, err)
	require.False(t, passed, "the file of a bar is not there")
	require.Contains(t, out.String(), "small.jsonl: 1 conversations, 1 calls, ")
	require.Contains(t, out.String(), "\npass  no invalid request: 0 of 15\n")
	require.Contains(t, out.String(), "\nFAIL  nothing cached, swe-mini-public.jsonl: ")
	require.Regexp(t, `\npass  retry/r.jsonl: no request longer than full history, none invalid: 0 longer and 0 invalid of 36; [1-9]\d?\.\d % fewer tokens\n`, out.String())
}

// A record becomes a conversation as the engine writes it: the task, then answers, and between them the request to try again.
func TestReadRetries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	write(t, path, retryLines(2, 3))
	all, err := readRetries(path)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, 3, all[1].Calls())
	require.Equal(t, 4, all[1].Number)
	items := all[0].Items
	require.Len(t, items, 6)
	require.Equal(t, []int{0, 1, 2, 2, 3, 3}, []int{items[0].Attempt, items[1].Attempt, items[2].Attempt, items[3].Attempt, items[4].Attempt, items[5].Attempt})
	require.Contains(t, items[2].Message.Text(), "Your answer was not accepted: no")

	write(t, path, "")
	_, err = readRetries(path)
	require.ErrorIs(t, err, errNoRecords)
	write(t, path, `{"record_id":1,"attempt":2}`+"\n"+`{"record_id":1,"attempt":2}`)
	_, err = readRetries(path)
	require.EqualError(t, err, path+":2: attempt 2 of record 1 comes after attempt 2")
	write(t, path, "{")
	_, err = readRetries(path)
	require.ErrorContains(t, err, path+":1: ")
}
