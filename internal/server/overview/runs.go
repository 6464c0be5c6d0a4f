package overview

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// runsView is the screen of all runs.
type runsView struct {
	Form     runsForm
	Filtered bool
	Whole    bool   // it is the first page of all runs, or of those of a cascade
	Problem  string // what is wrong with the form
	Away     string // why runs of ClickHouse are missing
	Unread   int
	Seen     string // the stamp of the list as it is shown
	Pending  uint64 // entries of the runs on the page that ClickHouse does not have
	Runs     []runRow
	Has      columns
	Pretend  string
	pages
	cascadesOfRuns
	SQL []namedSQL
}

// cascadesOfRuns are the cascades of a list, and what became more expensive.
type cascadesOfRuns struct {
	Cascades []cascadeRow
	Dearer   []changeRow
	Compared bool // cascades were compared with their version before
}

// pages are the addresses of other pages of the list.
type pages struct {
	Newest string // "": this is it
	Older  string // "": there is none
}

// runsForm is the form as it was filled in.
type runsForm struct {
	Text, Cascade, Status, Model, From, To, Since, Until string
	Tags                                                 []string
	Statuses                                             []string
	Limit                                                string
}

// columns are those that few lists have.
type columns struct{ Pretend, Children, Embeddings bool }

// runRow is a row of the list.
type runRow struct {
	Started      time.Time
	Cascade      page.Link
	Session      page.Link
	Tags         []page.Link
	Status, Kind string // Kind is a status that the page knows
	Waits        string // the address of the waits; "": nothing waits
	Note         string
	Ran          string
	Calls        uint64
	Embeddings   uint64
	Tokens       string
	Money        money
}

// money is what a run cost, and what it did not.
type money struct {
	Cost, Below, Pretend string
	Saved                string
	SavedPretend         bool
	Cached               string // shares read from the cache: reported and estimated
}

// cascadeRow is a cascade of the list.
type cascadeRow struct {
	Cascade page.Link
	Runs    int
	Spark   *Spark
}

// changeRow is a cascade, or a phase of one, whose runs cost more since its last version.
type changeRow struct {
	Cascade          page.Link
	Phase            string
	Whole            bool
	New, Old         string
	NewRuns, OldRuns int
	Share            string
	Pretend          bool
	Began            time.Time
}

// namedSQL is the statement behind a part of a screen.
type namedSQL struct{ Title, Text string }

func (x *overview) runs(v *page.Visit) error {
	q := v.Query()
	search, err := searchOf(q, x.Now())
	view := &runsView{Form: formOf(q), Filtered: len(without(q, []string{fieldAt, fieldID, fieldLimit})) > 0}
	view.Whole = len(without(q, []string{fieldCascade, fieldLimit})) == 0
	if err != nil {
		view.Problem = err.Error()
		return v.ShowAs(http.StatusUnprocessableEntity, "runs", "Runs", view)
	}
	view.Seen = (&watch{archive: x.Archive}).stamp()
	list, err := x.desk.Runs(v.Context(), search)
	if err != nil {
		return err
	}
	if view.Away, err = away(list.Away); err != nil {
		return err
	}
	view.fill(q, search, list)
	if view.Away == "" {
		view.SQL = []namedSQL{{"The runs", search.SQL()}}
	}
	if err := x.around(v.Context(), view, search, list); err != nil {
		return err
	}
	return v.Show("runs", "Runs", view)
}

// More reports whether a field is set that is not always shown.
func (f runsForm) More() bool {
	return f.Model+f.From+f.To+f.Since+f.Until != ""
}

func formOf(q url.Values) runsForm {
	f := runsForm{
		Text: q.Get(fieldText), Cascade: q.Get(fieldCascade), Status: q.Get(fieldStatus), Model: q.Get(fieldModel), From: q.Get(fieldLeast),
		To: q.Get(fieldMost), Since: q.Get(fieldSince), Until: q.Get(fieldUntil), Tags: q[fieldTag], Statuses: statuses, Limit: q.Get(fieldLimit),
	}
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		f.Statuses = slices.Concat(statuses, []string{f.Status})
	}
	if len(f.Tags) == 0 {
		f.Tags = []string{""}
	}
	return f
}

// fill adds the rows of a list.
func (view *runsView) fill(q url.Values, s *figures.Search, list *figures.List) {
	view.Unread = list.Unread
	var pretended []string
	for i := range list.Runs {
		r := &list.Runs[i]
		view.Runs = append(view.Runs, rowOf(r))
		view.Pending += r.Pending
		view.Has.Pretend = view.Has.Pretend || r.PretendUSD != nil
		view.Has.Children = view.Has.Children || r.ChildrenBegun > 0
		view.Has.Embeddings = view.Has.Embeddings || r.EmbeddingCalls > 0
		if r.PriceAs != "" && !slices.Contains(pretended, r.PriceAs) {
			pretended = append(pretended, r.PriceAs)
		}
	}
	view.Pretend = pretendNote(pretended)
	if !s.After.IsZero() {
		view.Newest = at("/", without(q, []string{fieldAt, fieldID}))
	}
	if p := list.Next; !p.IsZero() {
		view.Older = at("/", without(q, nil, fieldAt, p.At.UTC().Format(time.RFC3339Nano), fieldID, p.ID))
	}
}

// mostTags is how many tags of a run are shown.
const mostTags = 4

func rowOf(r *figures.Run) runRow {
	row := runRow{
		Started: r.StartedAt, Cascade: page.Link{Title: r.CascadeID, Path: linkTo(fieldCascade, r.CascadeID)},
		Session: page.Link{Title: r.ID, Path: pathOfSession(r.ID)}, Status: r.Status, Note: r.Problem, Ran: millis(r.RanMS), Calls: r.Calls,
		Embeddings: r.EmbeddingCalls, Tokens: tokensOf(r), Money: moneyOfRun(r),
	}
	if slices.Contains(statuses, r.Status) {
		row.Kind = r.Status
	}
	if r.Status == "waiting" {
		row.Waits = "/waits"
	}
	for _, t := range r.Tags[:min(len(r.Tags), mostTags)] {
		row.Tags = append(row.Tags, page.Link{Title: t, Path: linkTo(fieldTag, t)})
	}
	return row
}

func tokensOf(r *figures.Run) string {
	return quantity.Grouped(r.TokensIn) + " / " + quantity.Grouped(r.TokensOut)
}

func moneyOfRun(r *figures.Run) money {
	m := money{Cost: cost(r.CostUSD, r.Calls+r.EmbeddingCalls, r.UnknownCostCalls), Pretend: pretendOf(r.Pretend)}
	if r.ChildrenBegun > 0 {
		m.Below = cost(r.WithChildrenUSD, r.WithChildren+r.EmbeddingCalls, r.UnknownCostCalls+r.ChildrenUnknown+r.ChildrenBegun-r.ChildrenEnded)
	}
	s := r.Savings
	if s == nil || s.Calls == 0 {
		return m
	}
	m.Cached = cmp.Or(share(s.CachedReported), "unknown") + " / " + cmp.Or(share(s.CachedEstimated), "unknown")
	switch {
	case s.SavedUSD != nil:
		m.Saved = cost(s.SavedUSD, s.Calls, s.Unpriced)
	case s.PretendSavedUSD != nil:
		m.Saved, m.SavedPretend = amount(s.PretendSavedUSD), true
	default:
		m.Saved = "unknown"
	}
	return m
}

// around adds what the first page of a list has besides the list.
func (x *overview) around(ctx context.Context, view *runsView, s *figures.Search, list *figures.List) error {
	var spent map[string][]figures.Spent
	var changes []figures.Change
	group, ctx := errgroup.WithContext(ctx)
	asked := view.Away == ""
	group.Go(func() (err error) {
		spent, err = x.desk.SpentOf(ctx, list.Runs)
		return ignoreAway(err)
	})
	first := asked && view.Whole
	if first {
		group.Go(func() (err error) {
			changes, err = x.desk.Dearer(ctx, s.Cascade)
			return ignoreAway(err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	cascades := figures.CascadesOf(list.Runs)
	for _, id := range cascades {
		runs := spent[id]
		view.Cascades = append(view.Cascades, cascadeRow{page.Link{Title: id, Path: linkTo(fieldCascade, id)}, len(runs), newSpark(runs)})
	}
	if asked && len(list.Runs) > 0 {
		if text := figures.SavingsSQL(notRead(list.Runs)); text != "" {
			view.SQL = append(view.SQL, namedSQL{"Savings and cached shares of these runs", text})
		}
		view.SQL = append(view.SQL, namedSQL{"The newest runs of these cascades", figures.SpentSQL(cascades, figures.EachSpent)})
	}
	if first {
		view.Compared = true
		view.SQL = append(view.SQL, namedSQL{"Cascades by version", figures.ChangesSQL(s.Cascade, figures.MostChanges)})
		view.Dearer = changeRows(changes)
	}
	return nil
}

// notRead returns the runs whose savings are those of ClickHouse, as if they were not known yet.
func notRead(runs []figures.Run) (out []figures.Run) {
	for _, r := range runs {
		if r.Pending == 0 && r.Problem == "" {
			r.Savings = nil
			out = append(out, r)
		}
	}
	return out
}

// ignoreAway forgives that ClickHouse cannot be queried: the screen says so once.
func ignoreAway(err error) error {
	_, other := away(err)
	return other
}

// mostDearer is how many rows of cascades and phases are shown.
const mostDearer = 60

func changeRows(changes []figures.Change) (rows []changeRow) {
	for i := range changes[:min(len(changes), mostDearer)] {
		c := &changes[i]
		row := changeRow{
			Cascade: page.Link{Title: c.CascadeID, Path: linkTo(fieldCascade, c.CascadeID)}, Phase: c.Phase, Whole: c.Phase == "",
			NewRuns: c.NewRuns, OldRuns: c.OldRuns, Pretend: c.Pretend, Began: c.Began,
		}
		if c.NewRuns > 0 {
			row.New = amount(c.NewUSD)
		}
		if c.OldRuns > 0 {
			row.Old = amount(c.OldUSD)
		}
		if c.NewRuns > 0 && c.OldRuns > 0 && *c.OldUSD > 0 {
			row.Share = fmt.Sprintf("%+.0f %%", 100*c.Share())
		}
		rows = append(rows, row)
	}
	return rows
}
