package overview

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// costView is the screen of costs.
type costView struct {
	Form    costForm
	Bys     []page.Link
	By      string
	Problem string
	Away    string
	CSV     string
	costTable
	Notes   []string
	Chart   *Chart
	Days    []costRow
	Saved   *savedView
	Budgets []budgetRow
	SQL     []namedSQL
}

// costTable is the report.
type costTable struct {
	Heads []string
	Rows  []costRow
	Total costRow
	Left  int // rows that are not shown
	Has   columns
}

// costForm is the form as it was filled in.
type costForm struct {
	Since, Cascade, Session string
	Tags                    []string
}

// costRow is a row of a report.
type costRow struct {
	Names    []page.Link
	Calls    uint64
	Embeds   uint64
	Scripted uint64
	Failed   uint64
	In       int64
	Cached   int64
	Out      int64
	Cost     string
	Pretend  string
	Time     string
	Width    string // the share of the row that costs most, as an attribute of SVG
}

// savedView is what sending less has saved.
type savedView struct {
	Rows  []savedRow
	Total savedRow
	Left  int
	Guard string // what the guard cost in addition; "": nothing
}

type savedRow struct {
	Names               []page.Link
	Calls, Unpriced     uint64
	Full, Sent, Saved   int64
	FullUSD, SentUSD    string
	SavedUSD            string
	Pretend             bool
	Reported, Estimated string
}

type budgetRow struct {
	Session, Cascade page.Link
	Status, Kind     string
	Limits           []string // what of each limit was spent
	Share            string
	Over             bool
}

// What a screen shows at most.
const (
	mostRows    = 200
	mostBudgets = 50
)

// asked is a report that is asked for.
type asked struct {
	by     clickhouse.CostBy
	filter clickhouse.Filter
}

// askedOf reads the query of an address.
func (x *overview) askedOf(ctx context.Context, q url.Values) (asked, error) {
	a := asked{by: clickhouse.ByCascade}
	if by := q.Get(fieldBy); by != "" {
		if a.by = clickhouse.CostBy(by); !slices.Contains(clickhouse.CostBys(), a.by) {
			a.by = clickhouse.ByCascade
			return a, fmt.Errorf("costs are not summed up by %q", by)
		}
	}
	var err error
	if a.filter, err = filterOf(q, x.Now()); err != nil {
		return a, err
	}
	if name := q.Get(fieldSession); name != "" {
		a.filter.Session, err = x.Archive.Find(ctx, name)
	}
	return a, err
}

func (x *overview) cost(v *page.Visit) error {
	q := v.Query()
	a, err := x.askedOf(v.Context(), q)
	view := &costView{By: string(a.by), Form: costForm{q.Get(fieldSince), q.Get(fieldCascade), q.Get(fieldSession), q[fieldTag]}, costTable: costTable{Heads: headsOf(a.by)}}
	if len(view.Form.Tags) == 0 {
		view.Form.Tags = []string{""}
	}
	for _, by := range clickhouse.CostBys() {
		view.Bys = append(view.Bys, page.Link{Title: string(by), Path: at(pathCost, without(q, nil, fieldBy, string(by)))})
	}
	if failure.Is(err, failure.Interrupted) {
		return err
	}
	if err != nil {
		view.Problem = err.Error()
		return v.ShowAs(http.StatusUnprocessableEntity, "cost", "Cost", view)
	}
	r, err := x.report(v.Context(), &a)
	if view.Away, err = away(err); err != nil {
		return err
	}
	if view.Away == "" {
		view.CSV = at("/cost.csv", without(q, nil))
		view.fill(&a, r)
	}
	return v.Show("cost", "Cost", view)
}

// report is all that the screen is made of.
type report struct {
	rows, days []clickhouse.CostRow
	total      clickhouse.CostTotal
	saved      []figures.SavingsRow
	savedAll   *figures.Savings
	guard      *figures.Guard
	budgets    []figures.Budget
}

// report asks for everything at once.
func (x *overview) report(ctx context.Context, a *asked) (*report, error) {
	if x.Archive.Database == nil {
		return nil, figures.ErrNoDatabase
	}
	r := &report{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { r.rows, err = x.Archive.Costs(ctx, a.by, a.filter); return err })
	group.Go(func() (err error) { r.total, err = archive.CostTotal(ctx, x.Archive, a.filter); return err })
	group.Go(func() (err error) { r.days, err = x.Archive.Costs(ctx, clickhouse.ByDay, a.filter); return err })
	group.Go(func() (err error) { r.saved, err = x.desk.Saved(ctx, a.by, &a.filter); return err })
	group.Go(func() (err error) { r.savedAll, err = x.desk.SavedInAll(ctx, &a.filter); return err })
	group.Go(func() (err error) { r.guard, err = x.desk.Guard(ctx, &a.filter); return err })
	group.Go(func() (err error) { r.budgets, err = x.desk.Budgets(ctx, &a.filter, mostBudgets); return err })
	return r, group.Wait()
}

func (view *costView) fill(a *asked, r *report) {
	view.Rows, view.Left = costRows(a.by, r.rows)
	view.Days, _ = costRows(clickhouse.ByDay, r.days[max(0, len(r.days)-mostDays):])
	view.Total = rowOfUsage(&r.total.Usage, 0)
	view.Chart = newChart(r.days)
	view.Has = columns{Pretend: r.total.PretendUSD != nil, Embeddings: r.total.EmbeddingCalls > 0}
	view.Notes = notesOf(a, &r.total)
	view.Saved = savedOf(a.by, r)
	for i := range r.budgets {
		view.Budgets = append(view.Budgets, budgetOf(&r.budgets[i]))
	}
	view.SQL = []namedSQL{
		{"Costs", figures.CostsSQL(a.by, &a.filter)},
		{"Costs by day", figures.CostsSQL(clickhouse.ByDay, &a.filter)},
		{"Savings", figures.SavedSQL(a.by, &a.filter)},
		{"Savings in all", figures.SavedInAllSQL(&a.filter)},
		{"What the guard cost", figures.GuardSQL(&a.filter)},
		{"Budgets", figures.BudgetsSQL(&a.filter, mostBudgets)},
	}
}

// notesOf says what the figures lack and what is in them twice, as windlass cost does.
func notesOf(a *asked, t *clickhouse.CostTotal) (notes []string) {
	if a.by == clickhouse.ByTag && t.Several > 0 {
		notes = append(notes, fmt.Sprintf("The rows add up to more than the total: %s with several tags count for each.", quantity.Of(int(t.Several), "session")))
	}
	if t.UnknownCostCalls > 0 {
		notes = append(notes, "The cost of "+quantity.Of(int(t.UnknownCostCalls), "call")+" is not known; it is in no sum.")
	}
	if t.ScriptedCalls > 0 {
		notes = append(notes, "A script answered "+quantity.Of(int(t.ScriptedCalls), "call")+", which cost nothing.")
	}
	if t.PriceAs != "" {
		notes = append(notes, pretendNote(strings.Split(t.PriceAs, ", ")))
	}
	return notes
}

// headsOf are the heads of the columns that say what a row is about.
func headsOf(by clickhouse.CostBy) []string {
	return map[clickhouse.CostBy][]string{
		clickhouse.ByCascade: {"Cascade"}, clickhouse.ByPhase: {"Cascade", "Phase"}, clickhouse.ByModel: {"Model", "Provider"},
		clickhouse.BySession: {"Session", "Cascade"}, clickhouse.ByDay: {"Day, UTC"}, clickhouse.ByTag: {"Tag"},
	}[by]
}

func namesOf(by clickhouse.CostBy, r *clickhouse.CostRow) []page.Link {
	cascade := page.Link{Title: r.CascadeID, Path: linkTo(fieldCascade, r.CascadeID)}
	switch by {
	case clickhouse.ByPhase:
		return []page.Link{cascade, {Title: r.Phase}}
	case clickhouse.ByModel:
		return []page.Link{{Title: r.Model, Path: linkTo(fieldModel, r.Model)}, {Title: r.Provider}}
	case clickhouse.BySession:
		return []page.Link{{Title: r.SessionID, Path: pathOfSession(r.SessionID)}, cascade}
	case clickhouse.ByDay:
		return []page.Link{{Title: r.Day, Path: pathOfDay(r.Day)}}
	case clickhouse.ByTag:
		return []page.Link{{Title: tagName(r.Tag), Path: linkTo(fieldTag, r.Tag)}}
	}
	return []page.Link{cascade}
}

// pathOfDay returns the address of the runs that began on a day.
func pathOfDay(day string) string {
	from, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return at("/", url.Values{fieldSince: {day}, fieldUntil: {from.AddDate(0, 0, 1).Format(time.DateOnly)}})
}

func costRows(by clickhouse.CostBy, rows []clickhouse.CostRow) (out []costRow, left int) {
	dearest := 0.0
	for i := range rows {
		if usd := rows[i].CostUSD; usd != nil {
			dearest = max(dearest, *usd)
		}
	}
	for i := range rows[:min(len(rows), mostRows)] {
		row := rowOfUsage(&rows[i].Usage, dearest)
		row.Names = namesOf(by, &rows[i])
		out = append(out, row)
	}
	return out, len(rows) - len(out)
}

// barWidth is how wide the bar of the row that costs most is, in pixels.
const barWidth = 80

func rowOfUsage(u *clickhouse.Usage, dearest float64) costRow {
	row := costRow{
		Calls: u.Calls, Embeds: u.EmbeddingCalls, Scripted: u.ScriptedCalls, Failed: u.FailedCalls, In: u.TokensIn, Cached: u.TokensCached, Out: u.TokensOut,
		Cost: cost(u.CostUSD, u.Calls+u.EmbeddingCalls, u.UnknownCostCalls), Pretend: pretendOf(u.Pretend), Time: millis(u.DurationMS),
	}
	if u.CostUSD != nil && dearest > 0 {
		row.Width = fmt.Sprintf("%.1f", barWidth**u.CostUSD/dearest)
	}
	return row
}

func savedOf(by clickhouse.CostBy, r *report) *savedView {
	view := &savedView{Total: savedRowOf(r.savedAll), Left: max(0, len(r.saved)-mostRows)}
	for i := range r.saved[:min(len(r.saved), mostRows)] {
		s := &r.saved[i]
		row := savedRowOf(&s.Savings)
		row.Names = namesOf(by, &clickhouse.CostRow{SessionID: s.SessionID, CascadeID: s.CascadeID, Phase: s.Phase, Model: s.Model, Day: s.Day, Tag: s.Tag})
		if by == clickhouse.ByModel {
			row.Names = row.Names[:1]
		}
		view.Rows = append(view.Rows, row)
	}
	if g := r.guard; g.Calls > 0 {
		view.Guard = fmt.Sprintf("Summaries and exact counts, which keep requests short, cost %s in %s; this is not taken off.", cost(g.CostUSD, g.Calls, g.Unknown), quantity.Of(int(g.Calls), "call"))
	}
	return view
}

func savedRowOf(s *figures.Savings) savedRow {
	row := savedRow{
		Calls: s.Calls, Unpriced: s.Unpriced, Full: s.FullTokens, Sent: s.SentTokens, Saved: s.SavedTokens,
		Reported: share(s.CachedReported), Estimated: share(s.CachedEstimated),
	}
	full, sent, saved := s.FullUSD, s.SentUSD, s.SavedUSD
	if saved == nil && s.PretendSavedUSD != nil {
		row.Pretend, full, sent, saved = true, s.PretendFullUSD, s.PretendSentUSD, s.PretendSavedUSD
	}
	if s.Calls > 0 {
		row.FullUSD, row.SentUSD, row.SavedUSD = amount(full), amount(sent), amount(saved)
	}
	return row
}

func budgetOf(b *figures.Budget) budgetRow {
	row := budgetRow{
		Session: page.Link{Title: b.ID, Path: pathOfSession(b.ID)}, Cascade: page.Link{Title: b.CascadeID, Path: linkTo(fieldCascade, b.CascadeID)},
		Status: b.Status, Share: quantity.Share(b.Share, 1), Over: b.Share > 1,
	}
	if slices.Contains(statuses, b.Status) {
		row.Kind = b.Status
	}
	if b.MaxUSD > 0 {
		row.Limits = append(row.Limits, amount(b.USD)+" of "+quantity.USD(b.MaxUSD))
	}
	if b.MaxTokens > 0 {
		row.Limits = append(row.Limits, quantity.Grouped(b.Tokens)+" of "+quantity.Grouped(b.MaxTokens)+" tokens")
	}
	if b.MaxSeconds > 0 {
		row.Limits = append(row.Limits, millis(1000*b.Seconds)+" of "+millis(1000*b.MaxSeconds))
	}
	return row
}

// SavedHeads are the heads of the columns that say what a row of savings is about.
func (view *costView) SavedHeads() []string {
	if view.By == string(clickhouse.ByModel) {
		return view.Heads[:1]
	}
	return view.Heads
}
