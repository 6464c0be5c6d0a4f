package figures_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/figures/figurestest"
	"github.com/windlass-run/windlass/internal/inspect"
)

const seed = "../../cmd/windlass/testdata/reports/context.jsonl"

func idsOf(runs []figures.Run) string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	return strings.Join(ids, " ")
}

// everyRun are all runs of the world, the newest first.
const everyRun = "hostile-here hostile here-2 here-1 killed-1 failed-1 waits-1 script-1 fork-1 inc-5 inc-4 inc-3 inc-2 inc-1"

// TestRuns: a list has the runs that fit, wherever they are recorded, and pages of it have each of them once.
func TestRuns(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, db))
	for name, tt := range map[string]struct {
		search figures.Search
		want   string
	}{
		"all":                           {figures.Search{}, everyRun},
		"of a cascade":                  {figures.Search{Cascade: "release"}, "here-1 killed-1 failed-1 waits-1"},
		"with a hostile id":             {figures.Search{Cascade: figurestest.Hostile}, "hostile-here hostile"},
		"of a status":                   {figures.Search{Status: "failed"}, "hostile-here hostile failed-1"},
		"that wait":                     {figures.Search{Status: "waiting"}, "waits-1"},
		"that were killed":              {figures.Search{Status: "killed"}, "here-2 killed-1"},
		"that have not ended":           {figures.Search{Status: "unfinished"}, "here-2 killed-1"},
		"with a tag":                    {figures.Search{Tags: []string{"team=search"}}, "here-2 here-1 fork-1 inc-5 inc-4 inc-3 inc-2 inc-1"},
		"with a key of tags":            {figures.Search{Tags: []string{"team", "nightly"}}, "inc-3 inc-2 inc-1"},
		"of a model":                    {figures.Search{Model: "other-model"}, "here-1"},
		"of a hostile model":            {figures.Search{Model: figurestest.Hostile}, "hostile-here hostile"},
		"with a text in the id":         {figures.Search{Text: "INC-"}, "inc-5 inc-4 inc-3 inc-2 inc-1"},
		"in the input, as it was given": {figures.Search{Text: "\"GATES\" <north>/south\nÜ"}, "inc-4"},
		"in the input of one here":      {figures.Search{Text: "only here"}, "here-1"},
		"in the output":                 {figures.Search{Text: "the report of inc-2"}, "inc-2"},
		"in the error":                  {figures.Search{Text: "of TIDEWATER"}, "failed-1"},
		"a hostile text":                {figures.Search{Text: "<script>alert('1')</script>\"' OR 1=1 -- \\"}, "hostile-here hostile"},
		"since":                         {figures.Search{Since: figurestest.Began.Add(11 * time.Hour)}, "hostile-here hostile here-2"},
		"until":                         {figures.Search{Until: figurestest.Began.Add(2 * time.Hour)}, "inc-2 inc-1"},
		"of these":                      {figures.Search{Cascade: "incident", Tags: []string{"nightly"}, Text: "2"}, "inc-2"},
		"of none":                       {figures.Search{Cascade: "' OR ''='"}, ""},
	} {
		tt.search.Limit = 50
		list, err := desk.Runs(t.Context(), &tt.search)
		require.NoError(t, err, name)
		require.NoError(t, list.Away, name)
		require.Equal(t, tt.want, idsOf(list.Runs), name)
		require.Zero(t, list.Next, name)
	}
	var paged []string
	for s := (figures.Search{Limit: 4}); ; {
		list, err := desk.Runs(t.Context(), &s)
		require.NoError(t, err)
		paged = append(paged, idsOf(list.Runs))
		if s.After = list.Next; s.After.IsZero() {
			break
		}
	}
	require.Equal(t, everyRun, strings.Join(paged, " "))
}

// TestRunsByMoney: bounds of money are met by the costs that are shown.
func TestRunsByMoney(t *testing.T) {
	t.Parallel()
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, clickhousetest.Open(t)))
	all, err := desk.Runs(t.Context(), &figures.Search{Limit: 50})
	require.NoError(t, err)
	least, most := *all.Runs[slices.IndexFunc(all.Runs, func(r figures.Run) bool { return r.ID == "inc-3" })].CostUSD, 0.04
	list, err := desk.Runs(t.Context(), &figures.Search{Least: &least, Most: &most, Limit: 50})
	require.NoError(t, err)
	var want []figures.Run
	for _, r := range all.Runs {
		if *r.CostUSD >= least && *r.CostUSD <= most {
			want = append(want, r)
		}
	}
	require.Equal(t, idsOf(want), idsOf(list.Runs))
	require.Less(t, len(want), len(all.Runs))
	require.Contains(t, idsOf(want), "here-2")
}

// TestRunsWithoutClickHouse: the list has the runs of this machine, and says why there are no others.
func TestRunsWithoutClickHouse(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	figurestest.World(t, home, seed, clickhousetest.Open(t))
	for _, arc := range []*archive.Archive{{Home: home}, figurestest.Away(home)} {
		desk := figures.New(arc)
		list, err := desk.Runs(t.Context(), &figures.Search{Limit: 50})
		require.NoError(t, err)
		require.Error(t, list.Away)
		require.Equal(t, strings.Replace(everyRun, " inc-2", "", 1), idsOf(list.Runs))
		list, err = desk.Runs(t.Context(), &figures.Search{Limit: 50, Text: "the report of inc-3"})
		require.NoError(t, err)
		require.Equal(t, "inc-3", idsOf(list.Runs))
	}
}

// TestFiguresAreThoseOfTheRecord: a list has the figures of windlass sessions show and windlass context stats, by the rows of
// ClickHouse and by the journals.
func TestFiguresAreThoseOfTheRecord(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	arc := figurestest.World(t, home, seed, clickhousetest.Open(t))
	for _, a := range []*archive.Archive{arc, {Home: home}} {
		list, err := figures.New(a).Runs(t.Context(), &figures.Search{Limit: 50})
		require.NoError(t, err)
		require.Greater(t, len(list.Runs), 11)
		for _, r := range list.Runs {
			read, err := archive.Read(t.Context(), arc, r.ID)
			require.NoError(t, err)
			want := read.Detail.SessionFigures
			require.Empty(t, cmp.Diff(want, r.SessionFigures), r.ID)
			rec, err := inspect.New(r.ID, read.Entries)
			require.NoError(t, err)
			total := rec.Stats().Total
			s := r.Savings
			require.Equal(t, []any{uint64(total.Calls), total.FullTokens, total.SentTokens, total.SavedTokens}, []any{s.Calls, s.FullTokens, s.SentTokens, s.SavedTokens}, r.ID)
			require.Equal(t, total.CachedEstimated, s.CachedEstimated, r.ID)
			require.Equal(t, total.CachedReported, s.CachedReported, r.ID)
			if total.PriceAs == "" {
				require.Equal(t, []*float64{total.FullUSD, total.SentUSD, total.SavedUSD}, []*float64{s.FullUSD, s.SentUSD, s.SavedUSD}, r.ID)
			} else {
				require.Equal(t, []*float64{total.FullUSD, total.SentUSD, total.SavedUSD}, []*float64{s.PretendFullUSD, s.PretendSentUSD, s.PretendSavedUSD}, r.ID)
			}
		}
	}
}

// filters are those of the tests of costs.
func filters() []clickhouse.Filter {
	return []clickhouse.Filter{
		{},
		{Since: figurestest.Began.Add(4 * time.Hour)},
		{Cascade: "incident"},
		{Session: "inc-2"},
		{Tags: []string{"team", "nightly"}},
		{Tags: []string{figurestest.Hostile}},
		{Cascade: figurestest.Hostile},
		{Cascade: "none"},
	}
}

// TestCostsSQL: the statement that can be copied has the figures of windlass cost.
func TestCostsSQL(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	arc := figurestest.World(t, t.TempDir(), seed, db)
	for _, f := range filters() {
		for _, by := range clickhouse.CostBys() {
			want, err := arc.Costs(t.Context(), by, f)
			require.NoError(t, err)
			got, err := figures.Rows[clickhouse.CostRow](t.Context(), db, figures.CostsSQL(by, &f))
			require.NoError(t, err, figures.CostsSQL(by, &f))
			require.Empty(t, cmp.Diff(want, got), "%s %+v", by, f)
		}
	}
}

// TestSaved: what was saved by session is what the view has, and every way to sum up has the same sum.
func TestSaved(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, db))
	view, err := figures.Rows[figures.SavingsRow](t.Context(), db, "SELECT * FROM savings_by_session WHERE session_id = 'inc-4'")
	require.NoError(t, err)
	got, err := desk.Saved(t.Context(), clickhouse.BySession, &clickhouse.Filter{Session: "inc-4"})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(view, got))
	for _, f := range filters() {
		total, err := desk.SavedInAll(t.Context(), &f)
		require.NoError(t, err)
		for _, by := range clickhouse.CostBys() {
			rows, err := desk.Saved(t.Context(), by, &f)
			require.NoError(t, err)
			var sum int64
			for _, r := range rows {
				sum += r.SavedTokens
			}
			if by != clickhouse.ByTag {
				require.Equal(t, total.SavedTokens, sum, "%s %+v", by, f)
			}
			require.GreaterOrEqual(t, sum, total.SavedTokens)
		}
	}
}

// TestBudgets: runs with limits, those nearest to one first.
func TestBudgets(t *testing.T) {
	t.Parallel()
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, clickhousetest.Open(t)))
	list, err := desk.Budgets(t.Context(), &clickhouse.Filter{}, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{"inc-5", "inc-1"}, []string{list[0].ID, list[1].ID})
	require.InDelta(t, *list[0].USD/0.02, list[0].Share, 1e-9)
	list, err = desk.Budgets(t.Context(), &clickhouse.Filter{Tags: []string{"nightly"}, Cascade: "incident", Since: figurestest.Began}, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, int64(100_000), list[0].MaxTokens)
}

// TestDearer: the newest version of a cascade is compared with the one before, by completed runs that are no forks.
func TestDearer(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, db))
	list, err := desk.Dearer(t.Context(), "")
	require.NoError(t, err)
	require.NotEmpty(t, list)
	costs, err := figures.Rows[clickhouse.CostRow](t.Context(), db, figures.CostsSQL(clickhouse.BySession, &clickhouse.Filter{Cascade: "incident"}))
	require.NoError(t, err)
	of := map[string]float64{}
	for _, r := range costs {
		of[r.SessionID] = *r.CostUSD
	}
	require.Equal(t, "incident", list[0].CascadeID)
	require.Equal(t, []int{2, 3}, []int{list[0].NewRuns, list[0].OldRuns}, "without the fork, and what is only here")
	require.InDelta(t, (of["inc-4"]+of["inc-5"])/2, *list[0].NewUSD, 1e-12)
	require.InDelta(t, of["inc-2"], *list[0].OldUSD, 1e-12)
	require.Equal(t, figurestest.Began.Add(3*time.Hour), list[0].Began)
	require.Equal(t, []string{"", "report", "research"}, []string{list[0].Phase, list[1].Phase, list[2].Phase})
	require.InDelta(t, 1.5, list[2].Share(), 1e-9)
}

// TestSpentOf: a line of costs has the newest runs of each cascade, those that only this machine has among them.
func TestSpentOf(t *testing.T) {
	t.Parallel()
	desk := figures.New(figurestest.World(t, t.TempDir(), seed, clickhousetest.Open(t)))
	list, err := desk.Runs(t.Context(), &figures.Search{Limit: 50})
	require.NoError(t, err)
	of, err := desk.SpentOf(t.Context(), list.Runs[:4])
	require.NoError(t, err)
	var ids []string
	for _, s := range of["incident"] {
		ids = append(ids, s.ID)
	}
	require.Equal(t, "inc-1 inc-2 inc-3 inc-4 inc-5 fork-1 here-2", strings.Join(ids, " "))
	require.Len(t, of[figurestest.Hostile], 2)
	text, err := json.Marshal(of["release"])
	require.NoError(t, err)
	require.NotContains(t, string(text), "null", "every cost is known")
}
