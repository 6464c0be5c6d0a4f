package inspector

import (
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/inspect"
)

// runSQL is the query behind the figures of a run.
func runSQL(id string) string {
	return `SELECT phase_name, count() AS calls, sum(tokens_in + tokens_out) AS tokens, sum(c.cost_usd) AS cost_usd, sum(pretend_usd) AS pretend_usd,
       sum(tokens_cached) AS tokens_cached, countIf(isNull(c.cost_usd)) AS unknown_cost_calls, sum(duration_ms) / 1000 AS seconds
FROM model_calls AS c
WHERE session_id = ` + figures.Quoted(id) + ` AND NOT copied
GROUP BY phase_name
ORDER BY min(seq)`
}

// billSQL is the query behind what a session sent and would have sent in full, calls that a fork has copied among them: they are
// replayed, too. pretend_sent_usd and pretend_full_usd are at the prices of price_as.
func billSQL(id string) string {
	return `SELECT countIf(copied) AS copied_calls, sum(context_size) AS tokens_sent, sum(full_history_size) AS tokens_full, sum(sent_usd) AS sent_usd,
       sum(full_usd) AS full_usd, any(price_as) AS price_as, sum(pretend_sent_usd) AS pretend_sent_usd, sum(pretend_full_usd) AS pretend_full_usd,
       sum(shared_size) / sum(context_size) AS cached
FROM context_calls
WHERE session_id = ` + figures.Quoted(id)
}

// callsSQL is the query behind the list of requests.
func callsSQL(id string) string {
	return `SELECT key, phase_name, model, context_size, full_history_size, shared_size, counted, tokens_in, tokens_cached, cost_usd
FROM context_calls
WHERE session_id = ` + figures.Quoted(id) + `
ORDER BY seq`
}

// sentSQL is the query behind a request: its messages with their texts.
func sentSQL(id string, c *inspect.Call) string {
	return `SELECT position, role, form, reason, tokens, content_hash, content_text, tool_calls_json
FROM sent_messages
WHERE session_id = ` + figures.Quoted(id) + ` AND key = ` + figures.Quoted(c.Key.String()) + `
ORDER BY position`
}

// lifeSQL is the query behind the life of a message. A call that a fork has copied was paid for elsewhere.
func lifeSQL(id string, h echo.Hash) string {
	return `SELECT key, position, form, reason, tokens
FROM sent_messages
WHERE session_id = ` + figures.Quoted(id) + ` AND content_hash = ` + figures.Quoted(string(h)) + `
    AND key NOT IN (SELECT key FROM context_calls WHERE session_id = ` + figures.Quoted(id) + ` AND copied)
ORDER BY key, position`
}

// matrixSQL is the query behind the matrix: how often each message was sent in which form.
func matrixSQL(id string) string {
	return `SELECT message_seq, content_hash, form, reason, uniqExact(key) AS calls, sum(tokens) AS tokens
FROM sent_messages
WHERE session_id = ` + figures.Quoted(id) + `
GROUP BY message_seq, content_hash, form, reason
ORDER BY message_seq, form`
}

// soundingsSQL is the query behind candidates: those that fit a condition.
func soundingsSQL(id, condition string) string {
	return `SELECT key, model, mutation_mode, mutation, state, is_winner, votes, e_value, quality, worth, tokens, cost_usd, verdicts, rejections
FROM soundings
WHERE session_id = ` + figures.Quoted(id) + condition + `
ORDER BY seq`
}

// candidatesSQL are the queries behind the candidates of a visit.
func candidatesSQL(id string, sounded echo.Key) []statement {
	at := sounded.Path()
	visit := " AND phase_name = " + figures.Quoted(at.Phase) + " AND visit = " + strconv.Itoa(at.Visit)
	return []statement{
		{"The candidates, and how each ended", soundingsSQL(id, visit)},
		{"The ballots and scores", `SELECT key, step, pair, reverse, judge, shown, said, named, vote, score, e_values, why, problem, cost_usd
FROM ballots
WHERE session_id = ` + figures.Quoted(id) + visit + `
ORDER BY seq`},
		{"How often each judge turned its verdict with the order", `SELECT item, step, judge, count() AS pairs, sum(turned) AS flips, flips / pairs AS flip_rate
FROM (
    SELECT item, step, judge, pair, uniqExact(said = 'tie' ? '' : toString(named)) = 2 AS turned
    FROM ballots
    WHERE session_id = ` + figures.Quoted(id) + visit + ` AND pair > 0
    GROUP BY item, step, judge, pair
    HAVING countIf(said != '') = 2
)
GROUP BY item, step, judge
ORDER BY item, step, judge`},
	}
}

// selectionsSQL is the query behind what came into phases of earlier ones.
func selectionsSQL(id string) string {
	return `SELECT key, strategy, everything_tokens, came_in_tokens, left_out_tokens, length(anchor_hashes) AS anchors, length(selected_hashes) AS chosen,
       calls, saved_tokens, saved_usd
FROM phase_selections
WHERE session_id = ` + figures.Quoted(id) + `
ORDER BY seq`
}

// selectionSQL is the query behind one selection: what came in, with the cards by which it is compared.
func selectionSQL(id string, key echo.Key) string {
	return `SELECT hash AS content_hash, has(anchors, hash) AS anchor, c.phase_name, c.summary, c.keywords
FROM (
    SELECT anchor_hashes AS anchors, arrayJoin(arrayConcat(anchor_hashes, selected_hashes)) AS hash
    FROM phase_selections
    WHERE session_id = ` + figures.Quoted(id) + ` AND key = ` + figures.Quoted(key.String()) + `
) AS s
LEFT JOIN (SELECT * FROM context_cards WHERE session_id = ` + figures.Quoted(id) + `) AS c ON s.hash = c.content_hash`
}
