package inspector

import "strings"

// quoted returns a text as a string of SQL.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// runSQL is the query behind the figures of a run.
func runSQL(id string) string {
	return `SELECT phase_name, count() AS calls, sum(tokens_in + tokens_out) AS tokens, sum(cost_usd) AS cost_usd,
       countIf(isNull(cost_usd)) AS unknown_cost_calls, sum(duration_ms) / 1000 AS seconds
FROM model_calls
WHERE session_id = ` + quoted(id) + ` AND NOT copied
GROUP BY phase_name
ORDER BY min(seq)`
}
