package figures

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Search says which runs a list has. All that is set must fit.
type Search struct {
	Cascade string // a whole id
	Status  string
	Model   string // that was called
	Text    string // in the id, the cascade's id, the input, the output or the error; case is no matter
	Tags    []string
	Least   *float64 // money of the run itself; one whose cost is not known at all does not fit
	Most    *float64
	Since   time.Time
	Until   time.Time
	After   Place // the last run of the page before
	Limit   int
}

// Place is where a run is in a list, the newest first.
type Place struct {
	At time.Time
	ID string
}

// IsZero reports whether it is before all runs.
func (p Place) IsZero() bool { return p.At.IsZero() }

// before reports whether a run is not after the place.
func (p Place) before(at time.Time, id string) bool {
	return cmp.Or(p.At.Compare(at), strings.Compare(id, p.ID)) > 0
}

// Run is a run in a list.
type Run struct {
	clickhouse.Session
	Here    bool     // its journal is on this machine
	Pending uint64   // entries that ClickHouse does not have
	Problem string   // why its journal cannot be read
	Savings *Savings // nil: not known
}

// List is a page of a list of runs.
type List struct {
	Runs   []Run
	Next   Place // where older runs begin that fit; zero: there are none
	Unread int   // sessions of this machine that were not looked at: too many would have to be read
	Away   error // why ClickHouse is not in the list
}

// statusOf is the status that ClickHouse has for one of a search: it does not see processes.
func statusOf(status string) string {
	if status == sessions.Running || status == sessions.Killed {
		return unfinished
	}
	return status
}

const unfinished = "unfinished"

// SQL returns the statement for the runs that ClickHouse has, one more than the page.
func (s *Search) SQL() string {
	var c conditions
	c.add("child_of = ''")
	if s.Cascade != "" {
		c.add("cascade_id = %s", Quoted(s.Cascade))
	}
	if s.Status != "" {
		c.add("status = %s", Quoted(statusOf(s.Status)))
	}
	for _, t := range s.Tags {
		c.add("arrayExists(t -> %s, tags)", tagIs("t", t))
	}
	if s.Model != "" {
		c.add("session_id GLOBAL IN (SELECT session_id FROM model_calls WHERE model = %s AND NOT copied)", Quoted(s.Model))
	}
	if s.Least != nil {
		c.add("cost_usd >= %s", number(*s.Least))
	}
	if s.Most != nil {
		c.add("cost_usd <= %s", number(*s.Most))
	}
	if !s.Since.IsZero() {
		c.add("started_at >= %s", moment(s.Since))
	}
	if !s.Until.IsZero() {
		c.add("started_at < %s", moment(s.Until))
	}
	if s.Text != "" {
		c = append(c, textSQL(s.Text))
	}
	if p := s.After; !p.IsZero() {
		c.add("(started_at < %s OR started_at = %s AND session_id > %s)", moment(p.At), moment(p.At), Quoted(p.ID))
	}
	return `SELECT session_id, cascade_id, status, reason, started_at, last_at, phases, calls, embedding_calls, tool_calls, unknown_cost_calls,
       scripted_calls, tokens_in, tokens_cached, tokens_out, cost_usd, ran_ms, price_as, pretend_usd, tags,
       forked_from, copied_calls, copied_unknown_cost_calls, copied_cost_usd,
       children AS children_begun, children_ended, children_unknown_cost_calls, with_children_calls, with_children_usd
FROM sessions` + c.sql() + "\nORDER BY started_at DESC, session_id\nLIMIT " + number(float64(s.Limit+1))
}

// textSQL is the condition that a run has a text. What is recorded in JSON is compared with the text as JSON has it.
func textSQL(text string) string {
	in := func(column, text string) string {
		return "positionCaseInsensitiveUTF8(" + column + ", " + Quoted(text) + ") > 0"
	}
	raw := func(node, member string) string {
		return "node_type = '" + node + "' AND " + in("JSONExtractRaw(data_json, '"+member+"')", inJSON(text))
	}
	return "(" + strings.Join([]string{
		in("session_id", text), in("cascade_id", text), in("error", text),
		"session_id GLOBAL IN (SELECT session_id FROM logs WHERE " + raw("run_start", "input") + " OR " + raw("run_end", "output") + ")",
	}, "\n    OR ") + ")"
}

// inJSON returns a text as it stands in a string of JSON.
func inJSON(text string) string {
	b := echo.AppendString(nil, text)
	return string(b[1 : len(b)-1])
}

// Runs returns the newest runs that fit: those of ClickHouse, and those of this machine that it does not have, or not whole.
func (d *Desk) Runs(ctx context.Context, s *Search) (*List, error) {
	list := &List{}
	var stored []clickhouse.Session
	stored, list.Away = ask[clickhouse.Session](ctx, d, s.SQL())
	if failure.Is(list.Away, failure.Interrupted) {
		return nil, list.Away
	}
	runs := make([]Run, len(stored))
	for i := range stored {
		if runs[i].Session = stored[i]; stored[i].ChildrenBegun == 0 {
			runs[i].Below = clickhouse.Below{}
		}
	}
	runs, err := d.withThoseHere(ctx, s, list, runs)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(a.ID, b.ID))
	})
	if len(runs) > s.Limit {
		runs = runs[:s.Limit]
		last := &runs[s.Limit-1]
		list.Next = Place{last.StartedAt, last.ID}
	}
	list.Runs = runs
	if list.Away == nil {
		list.Away = d.addSavings(ctx, runs)
	}
	return list, nil
}

// SavingsSQL returns the statement for what was saved in runs, "" for none.
func SavingsSQL(runs []Run) string {
	ids := make([]string, 0, len(runs))
	for i := range runs {
		if runs[i].Savings == nil {
			ids = append(ids, runs[i].ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return `SELECT session_id, calls, unpriced_calls, full_tokens, sent_tokens, saved_tokens, full_usd, sent_usd, saved_usd,
       price_as, pretend_full_usd, pretend_sent_usd, pretend_saved_usd, cached_estimated, cached_reported
FROM savings_by_session
WHERE session_id IN (` + quotedAll(ids) + ")"
}

// addSavings adds what was saved in those runs whose journals were not read.
func (d *Desk) addSavings(ctx context.Context, runs []Run) error {
	statement := SavingsSQL(runs)
	if statement == "" {
		return nil
	}
	rows, err := ask[struct {
		ID string `json:"session_id"`
		Savings
	}](ctx, d, statement)
	for i := range rows {
		for n := range runs {
			if runs[n].ID == rows[i].ID {
				runs[n].Savings = &rows[i].Savings
			}
		}
	}
	return err
}
