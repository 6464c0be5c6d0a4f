package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// TestContextIsWhatTheProviderGot runs phases whose requests are masked, cut, summed up, refused,
// and in words, and holds what the record says was sent against the requests that the provider got,
// byte by byte: read from the journal and from ClickHouse, which must also print the same.
func TestContextIsWhatTheProviderGot(t *testing.T) {
	t.Parallel()
	const eager = `"intra_context": {"advance": "every_turn", "window": 1, "mask_observations_after": 1},`
	for name, tc := range map[string]struct {
		models, cascade, phase string
		work                   func(int, llmtest.Request) *llmtest.Answer
		window                 int
		forms                  []string // that must have been there
	}{
		"off":       {work: readParts(3, 2), forms: []string{"full no_policy"}},
		"masked":    {phase: eager, work: readParts(6, 2), forms: []string{"masked aged", "full recent"}},
		"attempts":  {phase: eager + `"rules": {"max_attempts": 4, "loop_until": "regex:All is not"},`, work: failingParts, forms: []string{"dropped retry"}},
		"in words":  {phase: eager + `"use_native_tools": false,`, work: inBlocks(readParts(6, 2)), forms: []string{"masked aged"}},
		"summed up": {models: `"*": {"context_window": 6000, "max_output_tokens": 500}`, work: talkingParts(30), window: 6000, forms: []string{"summary compacted"}},
		"refused":   {work: readParts(20, 2), window: 6000, forms: []string{"masked aged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &tightProvider{window: tc.window, work: tc.work}
			server := llmtest.Start(llmtest.Config{Key: testKey, Answer: p.answer})
			t.Cleanup(server.Close)
			db := clickhousetest.Open(t)
			l := newLab(t, clickhousetest.DSN(t, db))
			l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
			price := `"priced": {"price": {"input": 1, "cached_input": 0.1, "output": 2}}`
			l.file("windlass.json", `{"models": {`+strings.TrimSuffix(price+","+tc.models, ",")+`}}`)
			for n := range 40 {
				l.file("part"+strconv.Itoa(n)+".txt", words(n, 1500))
			}
			source := readingCascade(tc.cascade, tc.phase)
			if strings.Contains(tc.phase, `"rules"`) {
				source = strings.Replace(source, ` "rules": {"max_turns": 100}`, "", 1)
				source = strings.Replace(source, `"},}]`, `"}}]`, 1)
			}
			l.file("reading.json", source)
			code := exitOK
			if name == "attempts" {
				code = exitFailed
			}
			l.run(code, "run", "reading.json", "--session", "long", "--model", "priced", "--quiet")
			require.NoError(t, server.Refused())

			var requests []string
			for _, r := range server.Requests() {
				if !strings.HasPrefix(r.Messages[0].Text(), "You write the working notes") {
					requests = append(requests, messagesOf(t, r.Raw))
				}
			}
			local, err := inspect.New("long", l.entries())
			require.NoError(t, err)
			entries, err := db.Record(t.Context(), "long")
			require.NoError(t, err)
			remote, err := inspect.New("long", entries)
			require.NoError(t, err)
			seen := map[string]bool{}
			for _, r := range []*inspect.Record{local, remote} {
				require.Len(t, r.Calls, len(requests))
				for i := range r.Calls {
					require.Equal(t, requests[i], sentIn(t, r, &r.Calls[i], seen), "call %d", i+1)
				}
			}
			for _, f := range tc.forms {
				require.True(t, seen[f], "no message was sent %s: %v", f, seen)
			}
			requireSavings(t, db, local.Stats().Total)
			requireSameEverywhere(t, l, local, remote)
		})
	}
}

// failingParts reads two parts and then gives an answer that does not pass, again and again.
func failingParts(turn int, r llmtest.Request) *llmtest.Answer {
	if turn%3 == 0 {
		return &llmtest.Answer{Text: "Answer " + strconv.Itoa(turn) + ": " + words(turn, 900)}
	}
	return readParts(100, 1)(turn, r)
}

// messagesOf returns the messages of a request's body as they stand there.
func messagesOf(t *testing.T, body []byte) string {
	t.Helper()
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(body, &request))
	var b strings.Builder
	for _, m := range request.Messages {
		b.Write(m)
		b.WriteByte('\n')
	}
	return b.String()
}

// sentIn returns what the record says of the messages of a call, and notes the forms that it has
// seen.
func sentIn(t *testing.T, r *inspect.Record, c *inspect.Call, seen map[string]bool) string {
	t.Helper()
	shown, err := r.Show(c)
	require.NoError(t, err)
	var b strings.Builder
	for _, f := range shown.Forms {
		seen[string(f.Form)+" "+string(f.Reason)] = true
		for _, m := range f.Sent {
			b.Write(m.JSON())
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// requireSavings holds the view of savings against the sums that the command makes of the record.
func requireSavings(t *testing.T, db *clickhouse.DB, want inspect.Sums) {
	t.Helper()
	rows, err := queryRows(db, `SELECT toJSONString(map('calls', toFloat64(calls), 'unpriced', toFloat64(unpriced_calls),
		'full', toFloat64(full_tokens), 'sent', toFloat64(sent_tokens), 'saved', toFloat64(saved_tokens), 'full_usd', full_usd,
		'sent_usd', sent_usd, 'saved_usd', saved_usd, 'guard', toFloat64(guard_calls), 'guard_usd', guard_usd, 'cost', cost_usd,
		'estimated', cached_estimated, 'reported', cached_reported)) FROM savings_by_session WHERE session_id = 'long'`)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	got := map[string]*float64{}
	require.NoError(t, json.Unmarshal([]byte(rows[0][0].String()), &got))
	number := func(n int64) *float64 { v := float64(n); return &v }
	for name, v := range map[string]*float64{
		"calls": number(int64(want.Calls)), "unpriced": number(int64(want.Unpriced)), "full": number(want.FullTokens),
		"sent": number(want.SentTokens), "saved": number(want.SavedTokens), "full_usd": want.FullUSD, "sent_usd": want.SentUSD,
		"saved_usd": want.SavedUSD, "guard": number(int64(want.Guard.Calls)), "guard_usd": want.Guard.CostUSD, "cost": want.CostUSD,
		"estimated": want.CachedEstimated, "reported": want.CachedReported,
	} {
		if v == nil || got[name] == nil {
			require.Nil(t, v, name)
			require.Nil(t, got[name], name)
			continue
		}
		require.Less(t, math.Abs(*v-*got[name]), 1e-9, "%s: %v and %v", name, *v, *got[name])
	}
}

// requireSameEverywhere runs the commands with the journal and without it.
func requireSameEverywhere(t *testing.T, l *lab, local, remote *inspect.Record) {
	t.Helper()
	require.Equal(t, local.Calls, remote.Calls)
	hashes, err := local.Messages()
	require.NoError(t, err)
	var some string
	for h, m := range hashes {
		if m.Role() == echo.RoleTool && string(h) > some {
			some = string(h)
		}
	}
	last := strconv.Itoa(len(local.Calls))
	commands := [][]string{
		{"context", "stats", "long"},
		{"context", "stats", "long", "--json"},
		{"context", "show", "long"},
		{"context", "show", "long", "--json"},
		{"context", "diff", "long", "2", last},
		{"context", "diff", "long", "2", last, "--json"},
		{"context", "why", "long", some},
		{"context", "why", "long", some, "--json"},
	}
	var outputs []string
	for _, c := range commands {
		outputs = append(outputs, l.run(exitOK, c...).out.String())
	}
	require.NoError(t, os.Remove(filepath.Join(config.SessionDir(l.home, "long"), journal.File)))
	for i, c := range commands {
		require.Equal(t, outputs[i], l.run(exitOK, c...).out.String(), "%v", c)
	}
}
