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

// billSQL is the query behind what a session sent and would have sent in full.
func billSQL(id string) string {
	return `SELECT sum(context_size) AS tokens_sent, sum(full_history_size) AS tokens_full, sum(sent_usd) AS sent_usd,
       sum(full_usd) AS full_usd, sum(shared_size) / sum(context_size) AS cached
FROM context_calls
WHERE session_id = ` + quoted(id) + ` AND NOT copied`
}
