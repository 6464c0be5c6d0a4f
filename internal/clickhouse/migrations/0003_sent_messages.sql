-- What each model call was sent, message by message: the history of the phase's visit up to the call, in its order, in
-- the form that the call's selection names. Results of tools that ran in parallel stand in the order of their calls, not
-- in that in which they ended. The content is the original's: what a form other than full made of it is not stored.
-- A validator that asks a model has no selection and no rows here.
CREATE VIEW IF NOT EXISTS {{table "sent_messages"}}{{onCluster}} AS
SELECT c.session_id AS session_id, c.call_key AS key, c.cascade_id AS cascade_id, c.phase_name AS phase_name,
       c.attempt AS attempt, c.turn AS turn, h.place AS position, h.seq AS message_seq, h.role AS role, h.kind AS kind,
       c.span_form[arrayFirstIndex((f, n) -> h.place > f AND h.place <= f + n, c.span_from, c.span_count)] AS form,
       c.span_reason[arrayFirstIndex((f, n) -> h.place > f AND h.place <= f + n, c.span_from, c.span_count)] AS reason,
       h.content_hash AS content_hash, h.text AS content_text, h.content_json AS content_json,
       h.tool_calls_json AS tool_calls_json, h.tool_call_id AS tool_call_id
FROM
(
    SELECT l.session_id AS session_id, splitByChar('/', l.key)[1] AS visit, l.seq AS seq,
           replaceRegexpOne(l.key, '/context$', '/model') AS call_key, l.cascade_id AS cascade_id,
           l.phase_name AS phase_name, l.attempt AS attempt, l.turn AS turn,
           l.span_from AS span_from, l.span_count AS span_count, l.span_form AS span_form, l.span_reason AS span_reason
    FROM {{table "unified_logs"}} AS l FINAL
    WHERE l.node_type = 'context_selection'
) AS c
INNER JOIN
(
    SELECT *, row_number() OVER (PARTITION BY session_id, visit ORDER BY entered, tool) AS place
    FROM
    (
        SELECT m.session_id AS session_id, splitByChar('/', m.key)[1] AS visit, m.seq AS seq,
               if(m.node_type = 'tool_call',
                  min(m.seq) OVER (PARTITION BY m.session_id, visit, m.attempt, m.turn, m.node_type), m.seq) AS entered,
               toUInt32OrZero(extract(m.key, '/tool([0-9]+)$')) AS tool,
               m.role AS role, m.kind AS kind, m.content_hash AS content_hash, m.content_text AS text,
               m.content_json AS content_json, m.tool_calls_json AS tool_calls_json, m.tool_call_id AS tool_call_id
        FROM {{table "unified_logs"}} AS m FINAL
        WHERE m.node_type IN ('message', 'model_call', 'tool_call') AND m.role != '' AND m.key NOT LIKE '%/validate/%'
    )
) AS h ON c.session_id = h.session_id AND c.visit = h.visit
WHERE h.seq < c.seq AND form != 'dropped';

-- As before, with the error that ended the run, and a phase that was visited twice counted twice.
CREATE OR REPLACE VIEW {{table "sessions"}}{{onCluster}} AS
SELECT l.session_id AS session_id,
       any(l.cascade_id) AS cascade_id,
       if(maxIf(l.seq, l.node_type = 'run_end') > maxIf(l.seq, l.node_type = 'run_start'),
          argMaxIf(JSONExtractString(l.data_json, 'status'), l.seq, l.node_type = 'run_end'), 'running or interrupted') AS status,
       argMaxIf(JSONExtractString(l.data_json, 'reason'), l.seq, l.node_type = 'run_end') AS reason,
       argMaxIf(l.error, l.seq, l.node_type = 'run_end') AS error,
       min(l.at) AS started_at,
       max(l.at) AS last_at,
       uniqExactIf(l.key, l.node_type = 'phase_start') AS phases,
       countIf(l.node_type = 'model_call') AS calls,
       countIf(l.node_type = 'tool_call') AS tool_calls,
       countIf(l.node_type = 'model_call' AND l.cost_usd IS NULL) AS unknown_cost_calls,
       countIf(l.node_type = 'model_call' AND l.scripted) AS scripted_calls,
       sumIf(l.tokens_in, l.node_type = 'model_call') AS tokens_in,
       sumIf(l.tokens_cached, l.node_type = 'model_call') AS tokens_cached,
       sumIf(l.tokens_out, l.node_type = 'model_call') AS tokens_out,
       sumOrNullIf(l.cost_usd, l.node_type = 'model_call') AS cost_usd
FROM {{table "unified_logs"}} AS l FINAL
GROUP BY l.session_id;
