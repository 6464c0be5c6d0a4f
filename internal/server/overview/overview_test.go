package overview_test

import (
	"encoding/csv"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/figures/figurestest"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/overview"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/waits"
)

const seed = "../../../cmd/windlass/testdata/reports/context.jsonl"

// bench is a page with the screens, and a browser that has a login.
type bench struct {
	t      *testing.T
	page   *page.Page
	cookie string
}

// newBench makes a page over an archive, eight hours after the last session of the world began.
func newBench(t *testing.T, arc *archive.Archive) *bench {
	t.Helper()
	now := func() time.Time { return figurestest.Began.Add(21 * time.Hour) }
	p, err := page.New(page.Options{
		Desk: page.OfHome(waits.Desk{Home: arc.Home, Now: now}, func() {}), Now: now,
		Screens: []page.Screens{overview.New(overview.Options{Archive: arc, Now: now})},
	})
	require.NoError(t, err)
	b := &bench{t: t, page: p}
	r := b.ask(p.Enter())
	require.Equal(t, http.StatusSeeOther, r.Code)
	b.cookie, _, _ = strings.Cut(r.Header().Get("Set-Cookie"), ";")
	return b
}

func (b *bench) ask(target string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, target, nil)
	r.Host = "127.0.0.1:8765"
	for name, value := range map[string]string{"Cookie": b.cookie, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.page.ServeHTTP(w, r)
	return w
}

// open returns a page that is there.
func (b *bench) open(target string) string {
	b.t.Helper()
	w := b.ask(target)
	require.Equal(b.t, http.StatusOK, w.Code, "%s: %s", target, w.Body)
	return w.Body.String()
}

var (
	tag       = regexp.MustCompile(`<[^>]*>`)
	statement = regexp.MustCompile(`(?s)<p class="hint of">([^<]*)</p>.*?<pre class="code" data-copied tabindex="0">(.*?)</pre>`)
)

// statements returns the SQL of a page by its titles.
func statements(page string) map[string]string {
	out := map[string]string{}
	for _, m := range statement.FindAllStringSubmatch(page, -1) {
		out[html.UnescapeString(m[1])] = html.UnescapeString(m[2])
	}
	return out
}

// plain returns a text with blanks for all white space.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// rows returns the texts of the cells of the table with a caption.
func rows(t *testing.T, page, caption string) (out [][]string) {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<caption class="hidden">`+caption)
	require.True(t, ok, "no table %q in %s", caption, page)
	table, _, _ := strings.Cut(rest, "</table>")
	for _, tr := range strings.Split(table, "<tr")[1:] {
		var cells []string
		for _, cell := range regexp.MustCompile(`(?s)<t[hd][ >].*?</t[hd]>`).FindAllString(tr, -1) {
			cells = append(cells, plain(html.UnescapeString(tag.ReplaceAllString(cell, ""))))
		}
		out = append(out, cells)
	}
	return out
}

// column returns the cells below a head, without those of a foot.
func column(t *testing.T, table [][]string, head string) (out []string) {
	t.Helper()
	for i, h := range table[0] {
		if h == head {
			for _, row := range table[1:] {
				out = append(out, row[i])
			}
			return out
		}
	}
	require.Fail(t, "no column", "%q in %v", head, table[0])
	return nil
}

// pages are an address of each screen, and of each way to see it.
func pages() []string {
	out := []string{"/", "/?status=killed&limit=3", "/memory"}
	for _, name := range []string{"text", "cascade", "model", "tag", "status"} {
		out = append(out, "/?"+url.Values{name: {figurestest.Hostile}}.Encode())
	}
	for _, by := range clickhouse.CostBys() {
		out = append(out, "/cost?by="+string(by))
	}
	return append(out, "/cost?"+url.Values{"cascade": {figurestest.Hostile}, "tag": {figurestest.Hostile}}.Encode())
}

// TestRuns: the list has the figures of the record, marks what waits, and leads to older runs.
func TestRuns(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	arc := figurestest.World(t, t.TempDir(), seed, db)
	b := newBench(t, arc)
	text := b.open("/")
	table := rows(t, text, "Newest runs")
	require.Equal(t, "hostile-here hostile here-2 here-1 killed-1 failed-1 waits-1 script-1 fork-1 inc-5 inc-4 inc-3 inc-2 inc-1", strings.Join(column(t, table, "Session"), " "))
	require.Equal(t, "failed failed killed killed failed", strings.Join([]string{
		column(t, table, "Status")[0], column(t, table, "Status")[1], column(t, table, "Status")[2], column(t, table, "Status")[4], column(t, table, "Status")[5],
	}, " "))
	require.Equal(t, "waiting Answer", column(t, table, "Status")[6])
	require.Contains(t, text, `<a href="/waits">Answer</a>`)
	for i, id := range column(t, table, "Session") {
		d, err := arc.Detail(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, quantity.USD(*d.CostUSD), column(t, table, "Cost")[i], id)
		require.Equal(t, plain(quantity.Grouped(d.TokensIn)+" / "+quantity.Grouped(d.TokensOut)), column(t, table, "Tokens in / out")[i], id)
	}
	require.Contains(t, text, "ClickHouse does not have")
	dearer := rows(t, text, "Medians of what runs cost")
	require.Equal(t, []string{"incident", "the whole run"}, dearer[1][:2])
	require.Equal(t, []string{"2", "3"}, []string{dearer[1][4], dearer[1][6]})
	require.Contains(t, text, `role="img" aria-label="Cost of the newest 7 runs: `)
	versions, err := figures.Rows[figures.Change](t.Context(), db, statements(text)["Cascades by version"])
	require.NoError(t, err)
	i := slices.IndexFunc(versions, func(c figures.Change) bool { return c.CascadeID == "incident" && c.Phase == "" })
	require.Equal(t, []string{quantity.USD(*versions[i].NewUSD), quantity.USD(*versions[i].OldUSD)}, []string{dearer[1][3], dearer[1][5]})

	var ids []string
	for next := "/?limit=3&cascade=incident"; ; {
		text := b.open(next)
		ids = append(ids, column(t, rows(t, text, "Runs that fit"), "Session")...)
		m := regexp.MustCompile(`<a href="([^"]*)" rel="next">Older</a>`).FindStringSubmatch(text)
		if m == nil {
			break
		}
		next = html.UnescapeString(m[1])
	}
	require.Equal(t, "here-2 fork-1 inc-5 inc-4 inc-3 inc-2 inc-1", strings.Join(ids, " "))
}

// TestRunsSQL: the statements of the list have its runs and its figures.
func TestRunsSQL(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	b := newBench(t, figurestest.World(t, t.TempDir(), seed, db))
	text := b.open("/?" + url.Values{"tag": {"team"}, "text": {"inc-"}, "from": {"0.001"}, "since": {"2026-03-01T12:30:00Z"}, "until": {"2h"}}.Encode())
	sql := statements(text)
	table := rows(t, text, "Runs that fit")
	runs, err := figures.Rows[clickhouse.Session](t.Context(), db, sql["The runs"])
	require.NoError(t, err)
	var ids, costs []string
	for _, r := range runs {
		ids, costs = append(ids, r.ID), append(costs, quantity.USD(*r.CostUSD))
	}
	require.Equal(t, "inc-5 inc-4 inc-3 inc-2", strings.Join(ids, " "))
	require.Equal(t, ids, column(t, table, "Session"))
	require.Equal(t, costs, column(t, table, "Cost"))
	saved, err := figures.Rows[figures.SavingsRow](t.Context(), db, sql["Savings and cached shares of these runs"])
	require.NoError(t, err)
	require.Len(t, saved, len(runs))
	for _, s := range saved {
		for i, id := range ids {
			if id == s.SessionID && s.CachedReported != nil {
				require.Equal(t, quantity.Share(*s.CachedReported, 1)+" / "+quantity.Share(*s.CachedEstimated, 1), column(t, table, "Cached, reported / estimated")[i])
			}
		}
	}
	for _, title := range []string{"The newest runs of these cascades"} {
		_, err := figures.Rows[map[string]any](t.Context(), db, sql[title])
		require.NoError(t, err, title)
	}
}

// TestRefusedSearch: what is wrong with a search is said above it, and nothing is listed.
func TestRefusedSearch(t *testing.T) {
	t.Parallel()
	b := newBench(t, &archive.Archive{Home: t.TempDir()})
	for query, want := range map[string]string{
		"since=soon":                        `since "soon" is no age and no date: write 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z.`,
		"until=soon":                        `until "soon" is no age and no date: write 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z.`,
		"from=much":                         `"much" is no amount of money: write 0.25.`,
		"to=NaN":                            `"NaN" is no amount of money: write 0.25.`,
		"text=" + strings.Repeat("x", 1001): `"text" has more than 1000 bytes.`,
		"limit=0":                           `a page has 1 to 200 runs, not "0".`,
		"tag=%3Dx":                          `tag "=x" has no key: write nightly, or team=search.`,
		"before=<b>":                        `"<b>" is no time at which a page begins.`,
		"since=%E2%80%AE%3Cb>":              `is no age and no date: `,
	} {
		w := b.ask("/?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, query)
		require.Contains(t, html.UnescapeString(w.Body.String()), want, query)
		require.NotContains(t, w.Body.String(), "<b>", query)
	}
	w := b.ask("/cost?by=taste")
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, html.UnescapeString(w.Body.String()), `costs are not summed up by "taste".`)
}

// TestWithoutClickHouse: each screen says what it lacks, and has the rest.
func TestWithoutClickHouse(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	figurestest.World(t, home, seed, clickhousetest.Open(t))
	for why, arc := range map[string]*archive.Archive{
		"This server runs without ClickHouse.": {Home: home},
		"ClickHouse cannot be queried: ":       figurestest.Away(home),
	} {
		b := newBench(t, arc)
		text := b.open("/")
		require.Contains(t, text, why)
		require.Len(t, rows(t, text, "Newest runs"), 14)
		require.Empty(t, statements(text))
		text = b.open("/cost")
		require.Contains(t, text, why)
		require.NotContains(t, text, "/cost.csv")
		require.Equal(t, http.StatusServiceUnavailable, b.ask("/cost.csv").Code)
		b.open("/memory")
	}
	b := newBench(t, &archive.Archive{Home: t.TempDir()})
	require.Contains(t, b.open("/"), "No runs yet.")
	require.Contains(t, b.open("/memory"), "There are no banks here.")
}

// TestCosts: every report has the figures of windlass cost, and so has its SQL.
func TestCosts(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	arc := figurestest.World(t, t.TempDir(), seed, db)
	b := newBench(t, arc)
	for _, by := range clickhouse.CostBys() {
		for _, f := range []struct {
			query  url.Values
			filter clickhouse.Filter
		}{
			{url.Values{}, clickhouse.Filter{}},
			{url.Values{"cascade": {"incident"}, "tag": {"team=search"}, "since": {"18h"}}, clickhouse.Filter{Cascade: "incident", Tags: []string{"team=search"}, Since: figurestest.Began.Add(3 * time.Hour)}},
			{url.Values{"session": {"inc-2"}}, clickhouse.Filter{Session: "inc-2"}},
		} {
			f.query.Set("by", string(by))
			text := b.open("/cost?" + f.query.Encode())
			want, err := arc.Costs(t.Context(), by, f.filter)
			require.NoError(t, err)
			total, err := archive.CostTotal(t.Context(), arc, f.filter)
			require.NoError(t, err)
			table := rows(t, text, "Costs by "+string(by))
			require.Len(t, table, len(want)+2)
			for i, r := range want {
				require.Equal(t, quantity.USD(*r.CostUSD), column(t, table, "Cost")[i])
				require.Equal(t, plain(quantity.Grouped(r.TokensIn)), column(t, table, "Tokens in")[i])
			}
			require.Contains(t, table[len(table)-1], quantity.USD(*total.CostUSD))
			sql := statements(text)
			got, err := figures.Rows[clickhouse.CostRow](t.Context(), db, sql["Costs"])
			require.NoError(t, err)
			require.Equal(t, want, got)
			savings, err := figures.Rows[figures.SavingsRow](t.Context(), db, sql["Savings"])
			require.NoError(t, err)
			require.Len(t, rows(t, text, "What was saved"), len(savings)+2)
			for _, title := range []string{"Costs by day", "Savings in all", "What the guard cost", "Budgets"} {
				_, err := figures.Rows[map[string]any](t.Context(), db, sql[title])
				require.NoError(t, err, title)
			}
		}
	}
	require.Contains(t, b.open("/cost?by=tag"), "with several tags count for each.")
	require.Equal(t, []string{"inc-5", "inc-1"}, column(t, rows(t, b.open("/cost"), "Runs with a budget"), "Session"))
	require.Contains(t, b.open("/cost?by=day"), `<rect x="`)
}

// TestCSV: the export has every row with every digit, and no cell that a spreadsheet takes for a formula.
func TestCSV(t *testing.T) {
	t.Parallel()
	arc := figurestest.World(t, t.TempDir(), seed, clickhousetest.Open(t))
	b := newBench(t, arc)
	for _, by := range clickhouse.CostBys() {
		w := b.ask("/cost.csv?by=" + string(by))
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, `attachment; filename="windlass-cost-by-`+string(by)+`.csv"`, w.Header().Get("Content-Disposition"))
		read := csv.NewReader(w.Body)
		table, err := read.ReadAll()
		require.NoError(t, err)
		want, err := arc.Costs(t.Context(), by, clickhouse.Filter{})
		require.NoError(t, err)
		require.Len(t, table, len(want)+1)
		for _, row := range table {
			for _, cell := range row {
				require.NotRegexp(t, `^[=+\-@\t\r]`, cell)
			}
		}
	}
	require.Contains(t, b.ask("/cost.csv?by=tag").Body.String(), "'=SUM(A1)")
	require.Equal(t, http.StatusUnprocessableEntity, b.ask("/cost.csv?by=taste").Code)
}

// TestHostileTexts: what a model, a file or an address says is text on every page, and no page has a script or a style of its
// own.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t, figurestest.World(t, t.TempDir(), seed, clickhousetest.Open(t)))
	for _, target := range pages() {
		text := b.open(target)
		shown := regexp.MustCompile(`value="[^"]*"`).ReplaceAllString(text, "") // what a person has filled in stays
		for _, bad := range []string{"<script>alert", " style=", "\x1b", "\u202e", "\u200b"} {
			require.False(t, strings.Contains(shown, bad), "%q in %s", bad, target)
		}
		require.False(t, regexp.MustCompile(`(?i)<[^>]*\son\w+=`).MatchString(text), target)
		require.Less(t, len(text), 400<<10, "the bytes of %s", target)
	}
}
