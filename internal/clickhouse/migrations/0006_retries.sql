-- As before, with the requests that failed before the call was answered or given up: how many, and why each did.
CREATE OR REPLACE VIEW {{table "model_calls"}}{{onCluster}} AS
SELECT session_id, seq, at, key, cascade_id, phase_name, attempt, turn, sounding, model, provider, scripted,
       has_usage, tokens_in, tokens_cached, tokens_out, tokens_reasoning, usage_estimated, cost_usd, duration_ms,
       request_hash, content_hash, content_text, tool_calls_json, error_kind, error,
       JSONExtractUInt(data_json, 'retries') AS retries,
       JSONExtract(data_json, 'retry_kinds', 'Array(String)') AS retry_kinds
FROM {{table "unified_logs"}} FINAL
WHERE node_type = 'model_call';
