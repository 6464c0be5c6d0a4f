package figures

import (
	"context"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/inspect"
)

// groups are the columns that a report is by, and where the row c has them.
var groups = map[clickhouse.CostBy][][2]string{
	clickhouse.ByCascade: {{"cascade_id", "c.cascade_id"}},
	clickhouse.ByPhase:   {{"cascade_id", "c.cascade_id"}, {"phase_name", "c.phase_name"}},
	clickhouse.ByModel:   {{"model", "c.model"}},
	clickhouse.BySession: {{"session_id", "c.session_id"}, {"cascade_id", "c.cascade_id"}},
	clickhouse.ByDay:     {{"day", "toString(toDate(c.at, 'UTC'))"}},
	clickhouse.ByTag:     {{"tag", "t.tag"}},
}

// grouped returns the columns of a report and their names.
func grouped(by clickhouse.CostBy, more ...[2]string) (columns, names string) {
	all := slices.Concat(groups[by], more)
	var c, n []string
	for _, g := range all {
		c, n = append(c, g[1]+" AS "+g[0]), append(n, g[0])
	}
	return strings.Join(c, ", "), strings.Join(n, ", ")
}

// tagged joins the tags of sessions to rows c, for a report by tags.
func tagged(by clickhouse.CostBy) string {
	if by != clickhouse.ByTag {
		return ""
	}
	return " LEFT JOIN session_tags AS t ON c.session_id = t.session_id"
}

// callsThatFit are the conditions of a filter on rows c of calls.
func callsThatFit(f *clickhouse.Filter) conditions {
	c := conditions{"NOT c.copied"}
	if f.Session != "" {
		c.add("c.session_id = %s", Quoted(f.Session))
	}
	if f.Cascade != "" {
		c.add("c.cascade_id = %s", Quoted(f.Cascade))
	}
	if !f.Since.IsZero() {
		c.add("c.at >= %s", moment(f.Since))
	}
	for _, t := range f.Tags {
		c.add("c.session_id GLOBAL IN (SELECT session_id FROM session_tags WHERE %s)", tagIs("tag", t))
	}
	return c
}

// CostsSQL returns the statement that has the figures of [archive.Archive.Costs].
func CostsSQL(by clickhouse.CostBy, f *clickhouse.Filter) string {
	var more [][2]string
	if by == clickhouse.ByModel {
		more = [][2]string{{"provider", "c.provider"}}
	}
	columns, names := grouped(by, more...)
	order := "ifNull(cost_usd, 0) DESC, tokens_in DESC, " + names
	if by == clickhouse.ByDay {
		order = names
	}
	return "SELECT " + columns + `,
       countIf(c.effect != 'embed') AS calls, countIf(c.effect = 'embed') AS embedding_calls,
       countIf(c.cost_usd IS NULL) AS unknown_cost_calls, countIf(c.error_kind != '') AS failed_calls,
       countIf(c.scripted) AS scripted_calls, sum(c.tokens_in) AS tokens_in, sum(c.tokens_cached) AS tokens_cached,
       sum(c.tokens_out) AS tokens_out, sum(c.tokens_reasoning) AS tokens_reasoning, round(sumOrNull(c.cost_usd), 12) AS cost_usd,
       arrayStringConcat(arraySort(groupUniqArrayIf(c.price_as, c.price_as != '')), ', ') AS price_as,
       round(sumOrNull(c.pretend_usd), 12) AS pretend_usd, sum(c.duration_ms) AS duration_ms
FROM model_calls AS c` + tagged(by) + callsThatFit(f).sql() + "\nGROUP BY " + names + "\nORDER BY " + order + "\nSETTINGS join_use_nulls = 0"
}

// Savings are what sending less has saved, of the calls of phases that were answered, as windlass context stats has it.
type Savings struct {
	Calls           uint64   `json:"calls"`
	Unpriced        uint64   `json:"unpriced_calls"` // left out of the three amounts
	FullTokens      int64    `json:"full_tokens"`
	SentTokens      int64    `json:"sent_tokens"`
	SavedTokens     int64    `json:"saved_tokens"`
	FullUSD         *float64 `json:"full_usd"`
	SentUSD         *float64 `json:"sent_usd"`
	SavedUSD        *float64 `json:"saved_usd"`
	PriceAs         string   `json:"price_as"` // the models at whose prices the next three are
	PretendFullUSD  *float64 `json:"pretend_full_usd"`
	PretendSentUSD  *float64 `json:"pretend_sent_usd"`
	PretendSavedUSD *float64 `json:"pretend_saved_usd"`
	CachedEstimated *float64 `json:"cached_estimated"` // share of what was sent that was equal to the call before
	CachedReported  *float64 `json:"cached_reported"`  // share that providers say they read from their cache
}

// savingsOf returns the sums of a session that was read.
func savingsOf(t *inspect.Sums) *Savings {
	s := &Savings{
		Calls: uint64(t.Calls), Unpriced: uint64(t.Unpriced), FullTokens: t.FullTokens, SentTokens: t.SentTokens, SavedTokens: t.SavedTokens,
		CachedEstimated: t.CachedEstimated, CachedReported: t.CachedReported,
	}
	if t.PriceAs == "" {
		s.FullUSD, s.SentUSD, s.SavedUSD = t.FullUSD, t.SentUSD, t.SavedUSD
		return s
	}
	s.PriceAs, s.PretendFullUSD, s.PretendSentUSD, s.PretendSavedUSD = t.PriceAs, t.FullUSD, t.SentUSD, t.SavedUSD
	return s
}

// SavingsRow is one line of a report of what was saved. Of the names only those that the report is by are set.
type SavingsRow struct {
	SessionID string `json:"session_id"`
	CascadeID string `json:"cascade_id"`
	Phase     string `json:"phase_name"`
	Model     string `json:"model"`
	Day       string `json:"day"`
	Tag       string `json:"tag"`
	Savings
}

// SavedSQL returns the statement for what was saved, by what costs are summed up by.
func SavedSQL(by clickhouse.CostBy, f *clickhouse.Filter) string {
	columns, names := grouped(by)
	where := append(callsThatFit(f), "c.answered")
	order := "ifNull(saved_usd, 0) DESC, saved_tokens DESC, " + names
	if by == clickhouse.ByDay {
		order = names
	}
	return "SELECT " + columns + ", " + savedSums + "\nFROM context_calls AS c" + tagged(by) + where.sql() +
		"\nGROUP BY " + names + "\nORDER BY " + order + "\nSETTINGS join_use_nulls = 0"
}

// savedSums are the sums of the views of savings, over rows c of calls that were answered.
const savedSums = `count() AS calls, countIf(c.saved_usd IS NULL) AS unpriced_calls,
       sum(c.full_history_size) AS full_tokens, sum(c.context_size) AS sent_tokens, sum(c.tokens_saved) AS saved_tokens,
       round(sumOrNullIf(c.full_usd, c.saved_usd IS NOT NULL), 12) AS full_usd,
       round(sumOrNullIf(c.sent_usd, c.saved_usd IS NOT NULL), 12) AS sent_usd, round(sumOrNull(c.saved_usd), 12) AS saved_usd,
       arrayStringConcat(arraySort(groupUniqArrayIf(c.price_as, c.price_as != '')), ', ') AS price_as,
       round(sumOrNull(c.pretend_full_usd), 12) AS pretend_full_usd, round(sumOrNull(c.pretend_sent_usd), 12) AS pretend_sent_usd,
       round(sumOrNull(c.pretend_full_usd - c.pretend_sent_usd), 12) AS pretend_saved_usd,
       if(sent_tokens = 0, NULL, sum(c.shared_size) / sent_tokens) AS cached_estimated,
       if(sumIf(c.tokens_in, c.counted) = 0, NULL, sumIf(c.tokens_cached, c.counted) / sumIf(c.tokens_in, c.counted)) AS cached_reported`

// Saved returns what was saved in calls that fit a filter.
func (d *Desk) Saved(ctx context.Context, by clickhouse.CostBy, f *clickhouse.Filter) ([]SavingsRow, error) {
	return ask[SavingsRow](ctx, d, SavedSQL(by, f))
}

// SavedInAllSQL returns the statement for the sum of [Desk.Saved].
func SavedInAllSQL(f *clickhouse.Filter) string {
	return "SELECT " + savedSums + "\nFROM context_calls AS c" + append(callsThatFit(f), "c.answered").sql()
}

// SavedInAll returns what was saved in all calls that fit a filter. A session with several tags counts once.
func (d *Desk) SavedInAll(ctx context.Context, f *clickhouse.Filter) (*Savings, error) {
	rows, err := ask[Savings](ctx, d, SavedInAllSQL(f))
	if err != nil || len(rows) == 0 {
		return &Savings{}, err
	}
	return &rows[0], nil
}

// Guard is what the guard of requests cost in addition: calls for summaries and exact counts.
type Guard struct {
	Calls   uint64   `json:"calls"`
	Unknown uint64   `json:"unknown_cost_calls"`
	CostUSD *float64 `json:"cost_usd"`
}

// GuardSQL returns the statement for what the guard cost.
func GuardSQL(f *clickhouse.Filter) string {
	return "SELECT count() AS calls, countIf(c.cost_usd IS NULL) AS unknown_cost_calls, round(sumOrNull(c.cost_usd), 12) AS cost_usd\nFROM model_calls AS c" +
		append(callsThatFit(f), "c.effect IN ('compact', 'recount')").sql()
}

// Guard returns what the guard cost by the calls that fit a filter.
func (d *Desk) Guard(ctx context.Context, f *clickhouse.Filter) (*Guard, error) {
	rows, err := ask[Guard](ctx, d, GuardSQL(f))
	if err != nil || len(rows) == 0 {
		return &Guard{}, err
	}
	return &rows[0], nil
}
