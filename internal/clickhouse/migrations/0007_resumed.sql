-- A selection as the journal has it, so that the journal can be made again from the rows. Rows from before have none.
{{addColumns "unified_logs" "selection_json String COMMENT 'a selection as the journal has it: what changed since the call before' CODEC(ZSTD(3))"}};

CREATE OR REPLACE VIEW {{table "logs"}}{{onCluster}} AS
SELECT * EXCEPT (span_from, span_count, span_form, span_reason, selection_json), content_text FROM {{table "unified_logs"}} FINAL;

-- As before, for runs that were taken up again: how a run stands its newest end says, unless it was taken up since.
CREATE OR REPLACE VIEW {{table "sessions"}}{{onCluster}} AS
SELECT l.session_id AS session_id,
       any(l.cascade_id) AS cascade_id,
       if(maxIf(l.seq, l.node_type = 'run_end') > maxIf(l.seq, l.node_type IN ('run_start', 'run_resume')),
          argMaxIf(JSONExtractString(l.data_json, 'status'), l.seq, l.node_type = 'run_end'), 'running or interrupted') AS status,
       if(status = 'running or interrupted', '',
          argMaxIf(JSONExtractString(l.data_json, 'reason'), l.seq, l.node_type = 'run_end')) AS reason,
       if(status = 'running or interrupted', '', argMaxIf(l.error, l.seq, l.node_type = 'run_end')) AS error,
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

-- As before, with the newest outcome of a call that was made again when its run was taken up.
CREATE OR REPLACE VIEW {{table "context_calls"}}{{onCluster}} AS
SELECT s.session_id AS session_id, s.seq AS seq, s.at AS at, s.key AS key, s.cascade_id AS cascade_id,
       s.phase_name AS phase_name, s.attempt AS attempt, s.turn AS turn, s.sounding AS sounding, s.model AS model,
       s.full_history_size AS full_history_size, s.context_size AS context_size, s.tokens_saved AS tokens_saved,
       s.message_count AS message_count, s.masked_count AS masked_count, s.shared_size AS shared_size,
       s.full_shared_size AS full_shared_size, s.full_usd AS full_usd, s.sent_usd AS sent_usd,
       s.full_usd - s.sent_usd AS saved_usd, s.request_size AS request_size, s.request_limit AS request_limit,
       c.key != '' AND c.error_kind = '' AS answered, c.has_usage AND NOT c.usage_estimated AS counted,
       c.tokens_in AS tokens_in, c.tokens_cached AS tokens_cached, c.cost_usd AS cost_usd
FROM {{table "context_selections"}} AS s
LEFT JOIN
(
    SELECT session_id, key, error_kind, has_usage, usage_estimated, tokens_in, tokens_cached, cost_usd
    FROM {{table "model_calls"}} ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS c ON s.session_id = c.session_id AND s.key = c.key;
