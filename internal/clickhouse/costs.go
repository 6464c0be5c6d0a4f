package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Filter says which sessions and calls a report is of. All that is set must fit.
type Filter struct {
	Since   time.Time // calls that were recorded then or later; sessions that began then or later
	Cascade string    // a whole id
	Session string    // a whole id
	Tags    []string  // KEY, which also fits KEY=VALUE, or KEY=VALUE
	Runs    bool      // of lists of sessions: only those that no other has begun
}

// IsZero reports whether everything fits.
func (f *Filter) IsZero() bool {
	return f.Since.IsZero() && f.Cascade == "" && f.Session == "" && len(f.Tags) == 0
}

// Fits reports whether a session fits that began at a time, with the tags of its cascade.
func (f *Filter) Fits(id, cascade string, began time.Time, tags []string) bool {
	if began.Before(f.Since) || f.Cascade != "" && f.Cascade != cascade || f.Session != "" && f.Session != id {
		return false
	}
	for _, want := range f.Tags {
		if !hasTag(tags, want) {
			return false
		}
	}
	return true
}

func hasTag(tags []string, want string) bool {
	for _, t := range tags {
		if t == want || !strings.Contains(want, "=") && strings.HasPrefix(t, want+"=") {
			return true
		}
	}
	return false
}

// conditions are parts of a WHERE, all of which must hold, with the values of their parameters.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts, c.args = append(c.parts, part), append(c.args, args...)
}

// sql returns the clause; "" for no conditions.
func (c *conditions) sql() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// addTag demands a tag of a column or an expression.
func (c *conditions) addTag(before, tag, after, want string) {
	if strings.Contains(want, "=") {
		c.add(before+tag+" = ?"+after, want)
		return
	}
	c.add(before+"("+tag+" = ? OR startsWith("+tag+", ?))"+after, want, want+"=")
}

// since is when a column of times is not before the filter.
func (f *Filter) since(c *conditions, column string) {
	if !f.Since.IsZero() {
		c.add(column+" >= fromUnixTimestamp64Micro(?, 'UTC')", f.Since.UnixMicro())
	}
}

// sessions are the conditions on rows of the view sessions.
func (f *Filter) sessions() *conditions {
	c := &conditions{}
	if f.Session != "" {
		c.add("session_id = ?", f.Session)
	}
	if f.Cascade != "" {
		c.add("cascade_id = ?", f.Cascade)
	}
	if f.Runs {
		c.add("child_of = ''")
	}
	f.since(c, "started_at")
	for _, want := range f.Tags {
		c.addTag("arrayExists(t -> ", "t", ", tags)", want)
	}
	return c
}

// calls are the conditions on rows of the view model_calls AS c, without those that a fork has copied.
func (f *Filter) calls(l layout) *conditions {
	c := &conditions{}
	c.add("NOT c.copied")
	if f.Session != "" {
		c.add("c.session_id = ?", f.Session)
	}
	if f.Cascade != "" {
		c.add("c.cascade_id = ?", f.Cascade)
	}
	f.since(c, "c.at")
	for _, want := range f.Tags {
		c.addTag("c.session_id IN (SELECT session_id FROM "+l.table("session_tags")+" WHERE ", "tag", ")", want)
	}
	return c
}

// costName is a column that a report of costs groups by.
type costName struct{ name, of string }

var costNames = map[CostBy][]costName{
	ByCascade: {{"cascade_id", "c.cascade_id"}},
	ByPhase:   {{"cascade_id", "c.cascade_id"}, {"phase_name", "c.phase_name"}},
	ByModel:   {{"model", "c.model"}, {"provider", "c.provider"}},
	BySession: {{"session_id", "c.session_id"}, {"cascade_id", "c.cascade_id"}},
	ByDay:     {{"day", "toString(toDate(c.at, 'UTC'))"}},
	ByTag:     {{"tag", "t.tag"}},
}

// costSums are the sums of the views of costs.
func costSums() (string, error) {
	t, err := currentSchema().parse(layout{}, func() string { return "" })
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.ExecuteTemplate(&out, "costs", nil)
	return out.String(), err
}

// Costs sums up what the calls that fit a filter cost, the most expensive first; days in their order.
func (db *DB) Costs(ctx context.Context, by CostBy, f Filter) ([]CostRow, error) {
	names := costNames[by]
	if names == nil {
		return nil, fmt.Errorf("costs cannot be summed up by %q", by)
	}
	sums, err := costSums()
	if err != nil {
		return nil, err
	}
	var columns, groups string
	for _, n := range names {
		columns += n.of + " AS " + n.name + ", "
		groups += ", " + n.name
	}
	from := db.layout.table("model_calls") + " AS c"
	if by == ByTag {
		from += " LEFT JOIN " + db.layout.table("session_tags") + " AS t ON c.session_id = t.session_id"
	}
	order := "ifNull(cost_usd, 0) DESC, tokens_in DESC" + groups
	if by == ByDay {
		order = "day"
	}
	where := f.calls(db.layout)
	return list[CostRow](ctx, db, "ask for the costs", "SELECT "+columns+sums+" FROM "+from+where.sql()+
		" GROUP BY "+strings.TrimPrefix(groups, ", ")+" ORDER BY "+order+" SETTINGS join_use_nulls = 0", where.args...)
}

// CostTotal is what a report of costs by tags adds up to: there a session counts once for each of its tags.
type CostTotal struct {
	Sessions uint64 `ch:"sessions"`
	Several  uint64 `ch:"several"` // sessions with several tags
	Usage
}

// CostTotal sums up all calls that fit a filter.
func (db *DB) CostTotal(ctx context.Context, f Filter) (CostTotal, error) {
	sums, err := costSums()
	if err != nil {
		return CostTotal{}, err
	}
	where := f.calls(db.layout)
	rows, err := list[CostTotal](ctx, db, "ask for the costs", "SELECT uniqExact(c.session_id) AS sessions, "+
		"uniqExactIf(c.session_id, c.session_id IN (SELECT session_id FROM "+db.layout.table("session_tags")+
		" GROUP BY session_id HAVING count() > 1)) AS several, "+sums+" FROM "+db.layout.table("model_calls")+" AS c"+where.sql(), where.args...)
	if err != nil || len(rows) == 0 {
		return CostTotal{}, err
	}
	return rows[0], nil
}
