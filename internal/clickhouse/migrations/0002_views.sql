-- Every entry once, with the text of its message.
CREATE VIEW IF NOT EXISTS {{table "logs"}}{{onCluster}} AS
SELECT *, content_text FROM {{table "unified_logs"}} FINAL;

-- One row per model call. cost_usd is NULL when the cost is unknown.
CREATE VIEW IF NOT EXISTS {{table "model_calls"}}{{onCluster}} AS
SELECT session_id, seq, at, key, cascade_id, phase_name, attempt, turn, sounding, model, provider, scripted,
       has_usage, tokens_in, tokens_cached, tokens_out, tokens_reasoning, usage_estimated, cost_usd, duration_ms,
       request_hash, content_hash, content_text, tool_calls_json, error_kind, error
FROM {{table "unified_logs"}} FINAL
WHERE node_type = 'model_call';

-- One row per tool call.
CREATE VIEW IF NOT EXISTS {{table "tool_calls"}}{{onCluster}} AS
SELECT session_id, seq, at, key, cascade_id, phase_name, attempt, turn, sounding, tool_name, tool_call_id,
       tool_arguments, failed, duration_ms, content_hash, content_text, error_kind, error
FROM {{table "unified_logs"}} FINAL
WHERE node_type = 'tool_call';

-- What each model call was sent. The sizes are in tokens.
CREATE VIEW IF NOT EXISTS {{table "context_selections"}}{{onCluster}} AS
SELECT session_id, seq, at, key, cascade_id, phase_name, attempt, turn, sounding, full_history_size, context_size,
       tokens_saved, message_count, masked_count, span_from, span_count, span_form, span_reason
FROM {{table "unified_logs"}} FINAL
WHERE node_type = 'context_selection';

-- cost_usd sums the known costs and is NULL when none is known; unknown_cost_calls says how many are left out of it.
CREATE VIEW IF NOT EXISTS {{table "cost_by_session"}}{{onCluster}} AS
SELECT c.session_id AS session_id, any(c.cascade_id) AS cascade_id, min(c.at) AS started_at, {{costs}}
FROM {{table "model_calls"}} AS c GROUP BY c.session_id;

CREATE VIEW IF NOT EXISTS {{table "cost_by_cascade"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, uniqExact(c.session_id) AS sessions, {{costs}}
FROM {{table "model_calls"}} AS c GROUP BY c.cascade_id;

CREATE VIEW IF NOT EXISTS {{table "cost_by_phase"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, c.phase_name AS phase_name, uniqExact(c.session_id) AS sessions, {{costs}}
FROM {{table "model_calls"}} AS c GROUP BY c.cascade_id, c.phase_name;

CREATE VIEW IF NOT EXISTS {{table "cost_by_model"}}{{onCluster}} AS
SELECT c.model AS model, c.provider AS provider, uniqExact(c.session_id) AS sessions, {{costs}}
FROM {{table "model_calls"}} AS c GROUP BY c.model, c.provider;

CREATE VIEW IF NOT EXISTS {{table "cost_by_day"}}{{onCluster}} AS
SELECT toDate(c.at, 'UTC') AS day, uniqExact(c.session_id) AS sessions, {{costs}}
FROM {{table "model_calls"}} AS c GROUP BY day;

-- One row per session. A session whose last start has no end is running or was interrupted: the rows cannot tell.
CREATE VIEW IF NOT EXISTS {{table "sessions"}}{{onCluster}} AS
SELECT l.session_id AS session_id,
       any(l.cascade_id) AS cascade_id,
       if(maxIf(l.seq, l.node_type = 'run_end') > maxIf(l.seq, l.node_type = 'run_start'),
          argMaxIf(JSONExtractString(l.data_json, 'status'), l.seq, l.node_type = 'run_end'), 'running or interrupted') AS status,
       argMaxIf(JSONExtractString(l.data_json, 'reason'), l.seq, l.node_type = 'run_end') AS reason,
       min(l.at) AS started_at,
       max(l.at) AS last_at,
       uniqExactIf(l.phase_name, l.node_type = 'phase_start') AS phases,
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
