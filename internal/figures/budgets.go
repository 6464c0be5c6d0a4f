package figures

import (
	"context"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Budget is what a run may take, as it began or was last resumed, and what it has taken with its children.
type Budget struct {
	ID         string    `json:"session_id"`
	CascadeID  string    `json:"cascade_id"`
	Status     string    `json:"status"`
	StartedAt  time.Time `json:"started_at"`
	MaxUSD     float64   `json:"max_usd"` // 0: no limit, as of the next two
	MaxTokens  int64     `json:"max_tokens"`
	MaxSeconds float64   `json:"max_seconds"`
	USD        *float64  `json:"with_children_usd"` // nil: not known
	Tokens     int64     `json:"tokens"`
	Seconds    float64   `json:"seconds"`
	Share      float64   `json:"share"` // the largest share of a limit
}

// BudgetsSQL returns the statement for the runs that are nearest to a limit of theirs.
func BudgetsSQL(f *clickhouse.Filter, limit int) string {
	var c conditions
	if f.Session != "" {
		c.add("s.session_id = %s", Quoted(f.Session))
	}
	if f.Cascade != "" {
		c.add("s.cascade_id = %s", Quoted(f.Cascade))
	}
	if !f.Since.IsZero() {
		c.add("s.started_at >= %s", moment(f.Since))
	}
	for _, t := range f.Tags {
		c.add("arrayExists(t -> %s, s.tags)", tagIs("t", t))
	}
	return `SELECT s.session_id AS session_id, s.cascade_id AS cascade_id, s.status AS status, s.started_at AS started_at,
       b.max_usd AS max_usd, b.max_tokens AS max_tokens, b.max_seconds AS max_seconds, s.with_children_usd AS with_children_usd,
       s.tokens_in + s.tokens_out + toInt64(s.children_tokens_in + s.children_tokens_out) AS tokens, s.ran_ms / 1000 AS seconds,
       greatest(if(max_usd > 0, ifNull(with_children_usd, 0) / max_usd, 0), if(max_tokens > 0, tokens / max_tokens, 0),
                if(max_seconds > 0, seconds / max_seconds, 0)) AS share
FROM sessions AS s
INNER JOIN
(
    SELECT session_id, argMax(JSONExtractFloat(data_json, 'budget', 'max_usd'), seq) AS max_usd,
           argMax(JSONExtractInt(data_json, 'budget', 'max_tokens'), seq) AS max_tokens,
           argMax(JSONExtractFloat(data_json, 'budget', 'max_seconds'), seq) AS max_seconds
    FROM logs WHERE node_type IN ('run_start', 'run_resume')
    GROUP BY session_id HAVING max_usd > 0 OR max_tokens > 0 OR max_seconds > 0
) AS b ON s.session_id = b.session_id` + c.sql() + "\nORDER BY share DESC, started_at DESC, session_id\nLIMIT " + strconv.Itoa(limit)
}

// Budgets returns the runs that are nearest to a limit of theirs, or above it.
func (d *Desk) Budgets(ctx context.Context, f *clickhouse.Filter, limit int) ([]Budget, error) {
	return ask[Budget](ctx, d, BudgetsSQL(f, limit))
}
