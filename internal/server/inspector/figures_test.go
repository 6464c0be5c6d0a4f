package inspector_test

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// shownRun is a session that screens show, with what ClickHouse and the commands say of it.
type shownRun struct {
	t      *testing.T
	db     *clickhouse.DB
	b      *inspectortest.Browser
	base   string
	record *inspect.Record
	bills  *int // that were held against the statistics
}

// TestFigures: the screens of a session have the figures of windlass cost, of windlass context stats and of the SQL that stands below
// them. The tests of candidates and of selections do the same with windlass soundings and windlass context select.
func TestFigures(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home := t.TempDir()
	b := inspectortest.New(t, home, nil)
	seen, bills := map[string]bool{}, 0
	for _, path := range inspectortest.Frozen(t, frozen) {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		session := rec.Header.SessionID
		if seen[session] {
			continue
		}
		seen[session] = true
		inspectortest.Copy(t, home, path)
		_, entries, err := (&archive.Archive{Home: home}).Entries(context.Background(), session)
		require.NoError(t, err)
		require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
		r, err := inspect.New(session, entries)
		require.NoError(t, err)
		s := &shownRun{t: t, db: db, b: b, base: "/sessions/" + session, record: r, bills: &bills}
		s.run()
		s.requests()
		s.matrix()
	}
	require.Greater(t, len(seen), 12)
	require.Greater(t, bills, 12)
}

var (
	statementOf = regexp.MustCompile(`(?s)<pre class="code" data-copied tabindex="0">(SELECT.*?)</pre>`)
	factOf      = regexp.MustCompile(`<div><dt>([^<]*)</dt><dd>([^<]*)</dd></div>`)
	cellOf      = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	tagOf       = regexp.MustCompile(`<[^>]*>`)
)

// sql returns the rows of the statement of a page.
func (s *shownRun) sql(page string) []map[string]any {
	s.t.Helper()
	list := statementOf.FindAllStringSubmatch(page, -1)
	require.NotEmpty(s.t, list)
	rows, err := figures.Rows[map[string]any](s.t.Context(), s.db, html.UnescapeString(list[len(list)-1][1]))
	require.NoError(s.t, err, "%s: %s", s.base, list[0][1])
	return rows
}

func facts(page string) map[string]string {
	out := map[string]string{}
	for _, m := range factOf.FindAllStringSubmatch(page, -1) {
		out[html.UnescapeString(m[1])] = html.UnescapeString(m[2])
	}
	return out
}

// table returns the texts of the rows of the body of the first table of a page.
func table(page string) (out [][]string) {
	_, body, _ := strings.Cut(page, "<tbody>")
	body, _, _ = strings.Cut(body, "</tbody>")
	for _, row := range strings.Split(body, "<tr")[1:] {
		var cells []string
		for _, m := range cellOf.FindAllStringSubmatch(row, -1) {
			cells = append(cells, html.UnescapeString(tagOf.ReplaceAllString(m[1], "")))
		}
		out = append(out, cells)
	}
	return out
}

func total(rows []map[string]any, name string) (sum float64) {
	for _, r := range rows {
		v, _ := r[name].(float64) // null: not known
		sum += v
	}
	return sum
}

func number(v any) string {
	n, _ := v.(float64)
	return quantity.Grouped(int64(n))
}

// run holds the screen of the run against the view behind windlass cost, and its statement.
func (s *shownRun) run() {
	page := s.b.Open(s.base)
	is := facts(page)
	cost, err := figures.Rows[map[string]any](s.t.Context(), s.db, "SELECT * FROM cost_by_session WHERE session_id = "+figures.Quoted(s.record.ID))
	require.NoError(s.t, err)
	if len(cost) == 0 {
		require.Equal(s.t, "0", is["Model calls"], s.base)
		return
	}
	c := cost[0]
	require.Equal(s.t, []string{number(c["calls"]), number(c["tokens_in"]), number(c["tokens_cached"]), number(c["tokens_out"])},
		[]string{is["Model calls"], is["Tokens sent"], is["of them cached"], is["Tokens received"]}, s.base)
	usd, known := c["cost_usd"].(float64)
	want := "not known"
	if known {
		want = quantity.USD(usd)
	}
	require.Equal(s.t, want, is["Cost"], s.base)
	rows := s.sql(page)
	require.InDelta(s.t, c["tokens_in"].(float64)+c["tokens_out"].(float64), total(rows, "tokens"), 0.1, s.base)
	require.InDelta(s.t, usd, total(rows, "cost_usd"), 1e-9, s.base)
}

// requests holds the list of requests, some of them and the bill against their statements and windlass context stats.
func (s *shownRun) requests() {
	page := s.b.Open(s.base + "/calls")
	list, rows := table(page), s.sql(page)
	if len(s.record.Calls) == 0 {
		return
	}
	require.Len(s.t, list, len(rows), s.base)
	for i, r := range rows {
		require.Equal(s.t, []string{number(r["context_size"]), number(r["full_history_size"])}, list[i][3:5], s.base)
		sent, full, shared := r["context_size"].(float64), r["full_history_size"].(float64), r["shared_size"].(float64)
		require.Equal(s.t, []string{quantity.Share(full-sent, full), quantity.Share(shared, sent)}, list[i][5:7], s.base)
		require.Equal(s.t, r["counted"] == true, list[i][7] != "", s.base)
		if usd, known := r["cost_usd"].(float64); known {
			require.Equal(s.t, quantity.USD(usd), list[i][8], s.base)
		} else {
			require.Equal(s.t, "not known", list[i][8], s.base)
		}
	}
	for i := 0; i < len(s.record.Calls); i += 1 + len(s.record.Calls)/4 {
		s.request(&s.record.Calls[i])
	}
	stats := s.record.Stats()
	page = s.b.Open(s.base + "/bill")
	sums := s.sql(page)[0]
	if stats.Total.Calls > 0 && !slices.ContainsFunc(s.record.Calls, func(c inspect.Call) bool { return !c.Answered || c.Copied }) {
		*s.bills++
		require.EqualValues(s.t, stats.Total.FullTokens, sums["tokens_full"], s.base)
		require.EqualValues(s.t, stats.Total.SentTokens, sums["tokens_sent"], s.base)
	}
}

var messageAt = regexp.MustCompile(`(?s)<li class="message[^"]*" id="m(\d+)">.*?; ([\d\x{202f}]+) tokens; <a href="([^"]*)">`)

// request holds a request, and the life of its last message, against their statements.
func (s *shownRun) request(c *inspect.Call) {
	page := s.b.Open(s.base + "/calls/" + c.Key.String())
	rows := s.sql(page)
	at := map[string]string{}
	for _, r := range rows {
		if p := fmt.Sprint(r["position"]); p != "0" && at[p] == "" {
			at[p] = number(r["tokens"])
		}
	}
	list := messageAt.FindAllStringSubmatch(page, -1)
	for _, m := range list {
		require.Equal(s.t, at[m[1]], m[2], "%s %s message %s", s.base, c.Key, m[1])
	}
	if len(list) == 0 {
		return
	}
	life := s.b.Open(list[len(list)-1][3])
	keys := map[any]bool{}
	for _, r := range s.sql(life) {
		keys[r["key"]] = true
	}
	require.Equal(s.t, fmt.Sprint(len(keys)), facts(life)["In requests"], "%s %s", s.base, list[len(list)-1][3])
}

// matrix holds the matrix against its statement: what was sent in all.
func (s *shownRun) matrix() {
	m, err := s.record.Matrix()
	require.NoError(s.t, err)
	sent := 0.0
	for _, x := range m.Strips {
		sent += float64(x.Tokens) * float64(x.Last-x.First+1)
	}
	require.InDelta(s.t, sent, total(s.sql(s.b.Open(s.base+"/matrix")), "tokens"), 0.1, s.base)
}
