package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
)

// damage changes a text in the journal of a session, which then does not match its checksums.
func damage(t *testing.T, home, id, old, with string) {
	t.Helper()
	path := archive.JournalPath(home, id)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600))
}

// TestListOfSome: the list of the newest few, of which only they are looked at, is the beginning of
// the list of all, also when journals say what is not true of when they began.
func TestListOfSome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range 9 {
		write(t, home, fmt.Sprintf("s%d", i), time.Duration(i*7%9)*time.Hour, i%2 == 0)
	}
	write(t, home, "same", time.Hour, true)
	write(t, home, "future", 0, true)
	damage(t, home, "future", `"started_at":"2026`, `"started_at":"2099`)
	write(t, home, "header", 20*time.Hour, true)
	damage(t, home, "header", `"cascade_id":"incident"`, `"cascade_id":"accident"`)
	write(t, home, "end", 21*time.Hour, true)
	damage(t, home, "end", "end_of_cascade", "end_of_cascadf")
	write(t, home, "old", 22*time.Hour, true)
	damage(t, home, "old", `{"windlass_journal":3`, `{"windlass_journal":2`)
	write(t, home, "short", 23*time.Hour, true)
	require.NoError(t, os.Truncate(archive.JournalPath(home, "short"), 150))
	folder := config.SessionsDir(home)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "empty"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(folder, "s1"), filepath.Join(folder, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "pipe"), 0o700))
	require.NoError(t, os.Mkdir(archive.JournalPath(home, "pipe"), 0o700))

	db := clickhousetest.Open(t)
	other := t.TempDir()
	write(t, other, "elsewhere", 30*time.Hour, true)
	write(t, other, "middle", 5*time.Hour, false)
	_, err := ship(t, with(other, db))
	require.NoError(t, err)
	_, err = ship(t, with(home, db), "s3", "s4")
	require.NoError(t, err)

	for name, a := range map[string]*archive.Archive{"here": {Home: home}, "both": with(home, db)} {
		all, away, err := a.List(t.Context(), 0, clickhouse.Filter{})
		require.NoError(t, err)
		require.NoError(t, away)
		ids := make([]string, len(all))
		for i, l := range all {
			ids[i] = l.ID
		}
		want := "end s5 s1 s6 s2 s7 s3 s8 s4 same s0 future header link old pipe short"
		if name == "both" {
			want = "elsewhere end s5 s1 s6 middle s2 s7 s3 s8 s4 same s0 future header link old pipe short"
		}
		require.ElementsMatch(t, strings.Fields(want), ids, name)
		require.Equal(t, want, strings.Join(ids, " "), name)
		for n := 1; n <= len(all); n++ {
			some, _, err := a.List(t.Context(), n, clickhouse.Filter{})
			require.NoError(t, err)
			require.Equal(t, all[:n], some, "%s: the newest %d", name, n)
		}
	}
}

// TestListOfThoseThatFit: a filter means the same for sessions here, in ClickHouse, and in both.
func TestListOfThoseThatFit(t *testing.T) {
	t.Parallel()
	home, some, all := t.TempDir(), t.TempDir(), t.TempDir()
	for i, tags := range []string{`["nightly","team=search"]`, `["team=search","team=search",""]`, `["team=sales"]`, `["team"]`, `"nightly"`, "", `["teams=search"]`} {
		cascade := fmt.Sprintf(`{"cascade_id":"c%d"}`, i%2)
		if tags != "" {
			cascade = fmt.Sprintf(`{"cascade_id":"c%d","tags":%s}`, i%2, tags)
		}
		for _, folder := range []string{home, some, all} {
			writeCascade(t, folder, fmt.Sprintf("s%d", i), time.Duration(i)*time.Hour, cascade)
		}
	}
	db, full := clickhousetest.Open(t), clickhousetest.Open(t)
	_, err := ship(t, with(some, db), "s1", "s2", "s5")
	require.NoError(t, err)
	_, err = ship(t, with(all, full))
	require.NoError(t, err)
	for want, f := range map[string]clickhouse.Filter{
		"s6 s5 s4 s3 s2 s1 s0": {},
		"s3 s2 s1 s0":          {Tags: []string{"team"}},
		"s1 s0":                {Tags: []string{"team=search"}},
		"s0":                   {Tags: []string{"team", "nightly"}},
		"s5 s3 s1":             {Cascade: "c1"},
		"s3":                   {Cascade: "c1", Tags: []string{"team"}, Since: began.Add(2 * time.Hour)},
		"s6 s5":                {Since: began.Add(5 * time.Hour)},
		"s2":                   {Session: "s2"},
		"":                     {Cascade: "c1' OR 1=1 --"},
		" ":                    {Tags: []string{"' OR 1=1 --", "?", `\`}},
	} {
		for name, a := range map[string]*archive.Archive{"here": {Home: home}, "both": with(home, db), "there": with(t.TempDir(), full)} {
			all, _, err := a.List(t.Context(), 0, f)
			require.NoError(t, err)
			var ids []string
			for _, l := range all {
				ids = append(ids, l.ID)
			}
			require.Equal(t, strings.TrimSpace(want), strings.Join(ids, " "), name)
			for n := 1; n <= len(all); n++ {
				some, _, err := a.List(t.Context(), n, f)
				require.NoError(t, err)
				require.Equal(t, all[:n], some, "%s: the newest %d", name, n)
			}
		}
	}
}

// TestByTag: a session with two tags counts for both, and once in the sum.
func TestByTag(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i, tags := range []string{`["a","b"]`, `["b"]`, `[]`} {
		writeCascade(t, home, fmt.Sprintf("s%d", i), time.Duration(i)*time.Hour, fmt.Sprintf(`{"cascade_id":"c","tags":%s}`, tags))
	}
	list, _, err := (&archive.Archive{Home: home}).List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	for i := range list {
		usd := 0.1
		list[i].CostUSD = &usd
	}
	var got []string
	for _, s := range append(archive.ByTag(list), archive.SumOf(list)) {
		got = append(got, fmt.Sprintf("%s:%d:%d:%v", s.Tag, s.Sessions, s.Completed, *s.CostUSD))
	}
	require.Equal(t, []string{":1:1:0.1", "b:2:2:0.2", "a:1:1:0.1", ":3:3:0.3"}, got)
}

// BenchmarkList lists the newest 20 of 1,000 sessions of a machine, and all of them.
func BenchmarkList(b *testing.B) {
	home := b.TempDir()
	for i := range 1000 {
		write(b, home, fmt.Sprintf("s%04d", i), time.Duration(i)*time.Minute, true)
	}
	a := &archive.Archive{Home: home}
	for _, limit := range []int{20, 0} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, _, err := a.List(b.Context(), limit, clickhouse.Filter{}); err != nil || len(list) < 20 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}
