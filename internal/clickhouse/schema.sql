{{/* The whole schema. Every statement may be run twice, because two processes may make the database, or bring it up to date,
at the same moment and ClickHouse has no lock that both could take. A change raises a version in schema.go. The lists of columns are in Go: they also say how rows are written and read.
The statements as they run are in testdata/ddl_server.golden and testdata/ddl_cluster.golden. */ -}}

{{define "costs"}}countIf(c.effect != 'embed') AS calls,
       countIf(c.effect = 'embed') AS embedding_calls,
       countIf(c.cost_usd IS NULL) AS unknown_cost_calls,
       countIf(c.error_kind != '') AS failed_calls,
       countIf(c.scripted) AS scripted_calls,
       sum(c.tokens_in) AS tokens_in,
       sum(c.tokens_cached) AS tokens_cached,
       sum(c.tokens_out) AS tokens_out,
       sum(c.tokens_reasoning) AS tokens_reasoning,
       round(sumOrNull(c.cost_usd), 12) AS cost_usd,
       {{template "pretend"}},
       sum(c.duration_ms) AS duration_ms{{end -}}

{{/* What the calls of scripts would have cost, and at the prices of which models: nothing was paid, and no cost has it. */ -}}
{{define "pretend"}}arrayStringConcat(arraySort(groupUniqArrayIf(c.price_as, c.price_as != '')), ', ') AS price_as,
       round(sumOrNull(c.pretend_usd), 12) AS pretend_usd{{end -}}

{{define "savings"}}countIf(c.sent) AS calls,
       countIf(c.sent AND c.saved_usd IS NULL) AS unpriced_calls,
       sum(c.full_history_size) AS full_tokens,
       sum(c.context_size) AS sent_tokens,
       sum(c.tokens_saved) AS saved_tokens,
       if(calls = 0, 0, round(sumOrNullIf(c.full_usd, c.saved_usd IS NOT NULL), 12)) AS full_usd,
       if(calls = 0, 0, round(sumOrNullIf(c.sent_usd, c.saved_usd IS NOT NULL), 12)) AS sent_usd,
       if(calls = 0, 0, round(sumOrNull(c.saved_usd), 12)) AS saved_usd,
       arrayStringConcat(arraySort(groupUniqArrayIf(c.price_as, c.price_as != '')), ', ') AS price_as,
       round(sumOrNull(c.pretend_full_usd), 12) AS pretend_full_usd,
       round(sumOrNull(c.pretend_sent_usd), 12) AS pretend_sent_usd,
       round(sumOrNull(c.pretend_full_usd - c.pretend_sent_usd), 12) AS pretend_saved_usd,
       countIf(NOT c.sent) AS guard_calls,
       if(guard_calls = 0, 0, round(sumOrNullIf(c.cost_usd, NOT c.sent), 12)) AS guard_usd,
       if(calls = 0, 0, round(sumOrNullIf(c.cost_usd, c.sent), 12)) AS cost_usd,
       if(sent_tokens = 0, NULL, sum(c.shared_size) / sent_tokens) AS cached_estimated,
       if(sumIf(c.tokens_in, c.counted) = 0, NULL, sumIf(c.tokens_cached, c.counted) / sumIf(c.tokens_in, c.counted)) AS cached_reported,
       countIf(c.sent IS NULL) AS selections,
       sum(c.selection_full) AS selection_full_tokens,
       sum(c.selection_sent) AS selection_sent_tokens,
       sum(c.selection_saved) AS selection_saved_tokens,
       countIf(c.sent IS NULL AND c.selection_usd IS NULL) AS unpriced_selections,
       if(selections = 0, 0, round(sumOrNull(c.selection_usd), 12)) AS selection_saved_usd{{end -}}

{{/* What each fork has of the session that it comes from, which paid for it: its entries up to copied_upto. */ -}}
{{define "joinForks"}}LEFT JOIN
(
    SELECT session_id AS fork, any(forked_from) AS forked_from, max(forked_at) AS copied_upto
    FROM {{table "unified_logs"}} WHERE forked_at > 0 GROUP BY session_id
) AS f ON session_id = f.fork{{end -}}

{{/* The tags that the header of a journal has, which is in the start of the run. */ -}}
{{define "tags"}}arrayDistinct(arrayFilter(t -> t != '', JSONExtract(if(node_type = 'run_start', data_json, ''), 'header', 'cascade', 'tags', 'Array(String)'))){{end -}}

{{/* How the children of sessions ended, the newest end of each: one that was resumed ends again. Sums are those of the child and of
its own children; a cost is that of the calls whose cost is known. */ -}}
{{define "childEnds"}}(
    SELECT session_id AS parent, JSONExtractString(data_json, 'session') AS ended_session, at AS end_at,
           JSONExtractString(data_json, 'status') AS end_status, JSONExtractString(data_json, 'reason') AS end_reason, error AS end_error,
           JSONExtractUInt(data_json, 'model_calls') AS end_calls, JSONExtractUInt(data_json, 'unknown_costs') AS end_unknown,
           tokens_in AS end_in, tokens_cached AS end_cached, tokens_out AS end_out,
           multiIf(isNotNull(cost_usd), cost_usd, end_calls > end_unknown, JSONExtractFloat(data_json, 'known_usd'), NULL) AS end_usd,
           toBool(seq <= ifNull(f.copied_upto, 0)) AS end_copied
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'child_end'
    ORDER BY seq DESC LIMIT 1 BY parent, ended_session
){{end -}}

{{/* The choices among candidates, the newest of each. */ -}}
{{define "choices"}}(
    SELECT *, JSONExtractArrayRaw(data_json, 'standings') AS standings, JSONExtractInt(data_json, 'winner') AS winner,
           JSONExtractString(data_json, 'how') AS how, JSONExtractBool(data_json, 'tie') AS tie, JSONExtractUInt(data_json, 'pairs') AS pairs,
           JSONExtractFloat(data_json, 'confidence') AS confidence
    FROM {{table "unified_logs"}} FINAL
    WHERE node_type = 'choice'
    ORDER BY seq DESC LIMIT 1 BY session_id, key
){{end -}}

{{/* What resumed runs have set aside: a wait of them, or an answer, counts no more. */ -}}
{{define "joinAside"}}LEFT JOIN
(
    SELECT session_id AS resumed, groupUniqArrayArray(JSONExtract(data_json, 'set_aside', 'Array(UInt64)')) AS aside
    FROM {{table "unified_logs"}} WHERE node_type = 'run_resume' GROUP BY session_id
) AS r ON session_id = r.resumed{{end -}}

{{/* The id of a wait: the first 50 bits of a hash of session and key, in the characters of Crockford's base32. */ -}}
{{define "waitID"}}arrayStringConcat(arrayMap(i -> substring('0123456789abcdefghjkmnpqrstvwxyz', 1 + bitAnd(bitShiftRight(
               reinterpretAsUInt64(reverse(substring(SHA256(concat('wait\n', session_id, '\n', key)), 1, 8))), 59 - 5 * i), 31), 1), range(10))){{end -}}

{{define "copied"}}toBool(seq <= ifNull(f.copied_upto, 0)) AS copied{{end -}}

{{/* The calls of phases that were answered, as others were not paid for or not sent at all, and those of the guard, which
have no selection: summaries and exact counts. Selections between phases are neither: their sent is NULL. */ -}}
{{define "savingsRows"}}(
    SELECT session_id, cascade_id, phase_name, model, true AS sent, full_history_size, context_size, tokens_saved, shared_size,
           full_usd, sent_usd, saved_usd, price_as, pretend_full_usd, pretend_sent_usd, counted, tokens_in, tokens_cached, cost_usd,
           0 AS selection_full, 0 AS selection_sent, 0 AS selection_saved, NULL AS selection_usd
    FROM {{table "context_calls"}} WHERE answered AND NOT copied
    UNION ALL
    SELECT session_id, cascade_id, phase_name, model, false, 0, 0, 0, 0, NULL, NULL, NULL, '', NULL, NULL, false, 0, 0, cost_usd, 0, 0, 0, NULL
    FROM {{table "model_calls"}} WHERE effect IN ('compact', 'recount') AND NOT copied
    UNION ALL
    SELECT session_id, cascade_id, phase_name, model, NULL, 0, 0, 0, 0, NULL, NULL, NULL, '', NULL, NULL, false, 0, 0, NULL,
           full_tokens, sent_tokens, saved_tokens, saved_usd
    FROM {{table "phase_selections"}} WHERE calls > 0
){{end -}}

-- The version of the schema. Every windlass before this schema looks here, too, and refuses a version that it does not know.
CREATE TABLE IF NOT EXISTS {{local "schema_migrations"}}{{onCluster}}
(
    version    UInt32,
    name       String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{replacing}}
ORDER BY version;

{{distributed "schema_migrations" "version"}};

-- One row per entry of a session's journal. The same entry may be delivered twice: rows are equal where
-- (session_id, seq) is, and the view "logs" shows each once.
CREATE TABLE IF NOT EXISTS {{local "unified_logs"}}{{onCluster}}
(
{{columns "unified_logs"}},
    content_text         String ALIAS if(startsWith(content_json, '"'), JSONExtractString(content_json), content_json),
    INDEX by_hash content_hash TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_time at TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(at)
ORDER BY (session_id, seq);

{{distributed "unified_logs" "cityHash64(session_id)"}};

-- One row per selection: of a model call of a phase, what became of every message of the history, with an element for each
-- in the arrays; and of what came into a phase of earlier ones (selection_type inter_phase), where these arrays are empty.
-- Rows are equal where (session_id, seq) is, and the view "context_selections" shows each once.
CREATE TABLE IF NOT EXISTS {{local "unified_selections"}}{{onCluster}}
(
{{columns "unified_selections"}}
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(at)
ORDER BY (session_id, seq);

{{distributed "unified_selections" "cityHash64(session_id)"}};

-- What messages are chosen by: a card for each message of a session that is worth one. A card that was made later, by
-- generated_at, takes the place of the one before it. The view "context_cards" shows each once, with the embedding that it
-- was last written with. Sessions are read one at a time and in a hurry, so granules are small and texts
-- are compressed lightly.
CREATE TABLE IF NOT EXISTS {{local "unified_cards"}}{{onCluster}}
(
{{columns "unified_cards"}}
)
ENGINE = {{replacing "generated_at"}}
ORDER BY (session_id, content_hash)
SETTINGS index_granularity = 256;

{{distributed "unified_cards" "cityHash64(session_id)"}};

-- The embeddings of cards. A card may have one of each embedder, and these may differ in length. They are floating-point
-- noise to a codec, so they are not compressed.
CREATE TABLE IF NOT EXISTS {{local "unified_embeddings"}}{{onCluster}}
(
{{columns "unified_embeddings"}}
)
ENGINE = {{replacing "generated_at"}}
ORDER BY (session_id, embedding_model, content_hash)
SETTINGS index_granularity = 256;

{{distributed "unified_embeddings" "cityHash64(session_id)"}};

{{addColumns}}
-- Every entry once, with the text of its message.
CREATE OR REPLACE VIEW {{table "logs"}}{{onCluster}} AS
SELECT * EXCEPT (selection_json), content_text FROM {{table "unified_logs"}} FINAL;

-- One row per model call and per request for embeddings, whose effect is 'embed'. cost_usd is NULL when the cost is unknown.
-- What a script answered cost nothing: pretend_usd is what it would have cost at the prices of price_as, see windlass run --price-as.
-- Requests that failed before the call was answered or given up are in retries and retry_kinds. What a fork has copied was
-- paid for in the session that it comes from, which has the same call: a sum over sessions is one WHERE NOT copied.
CREATE OR REPLACE VIEW {{table "model_calls"}}{{onCluster}} AS
SELECT session_id, seq, at, {{place}}, effect, effect_number, effect_name, model, provider, scripted,
       has_usage, tokens_in, tokens_cached, tokens_out, tokens_reasoning, usage_estimated, cost_usd, price_as, pretend_usd, duration_ms,
       request_hash, content_hash, content_text, tool_calls_json, error_kind, error,
       JSONExtractUInt(data_json, 'retries') AS retries,
       JSONExtract(data_json, 'retry_kinds', 'Array(String)') AS retry_kinds, {{template "copied"}}
FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
WHERE node_type = 'model_call';

-- One row per tool call.
CREATE OR REPLACE VIEW {{table "tool_calls"}}{{onCluster}} AS
SELECT session_id, seq, at, {{place}}, effect, effect_number, effect_name, tool_name, tool_call_id,
       tool_arguments, failed, duration_ms, content_hash, content_text, error_kind, error, {{template "copied"}}
FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
WHERE node_type = 'tool_call';

-- One row per decision on context. Of a call, the anchors are the messages that are sent in full whatever their age is, and
-- selected are the others of which something was sent.
CREATE OR REPLACE VIEW {{table "context_selections"}}{{onCluster}} AS
SELECT s.* EXCEPT (anchor_hashes, selected_hashes),
       concat(s.session_id, '/', toString(s.seq)) AS trace_id, 'auto_context' AS semantic_actor,
       if(s.selection_type = 'inter_phase', s.anchor_hashes, arrayFilter((h, r) -> r = 'kept', s.hash, s.reason)) AS anchor_hashes,
       if(s.selection_type = 'inter_phase', s.selected_hashes,
          arrayFilter((h, r, f) -> r != 'kept' AND f NOT IN ('dropped', 'summary'), s.hash, s.reason, s.form)) AS selected_hashes
FROM {{table "unified_selections"}} AS s FINAL;

-- What each model call was sent, message by message, in the very words: a placeholder or a summary where one stood for a
-- message of the history. message_seq and content_hash are those of that message. A validator that asks a model has no
-- selection and no rows here.
CREATE OR REPLACE VIEW {{table "sent_messages"}}{{onCluster}} AS
SELECT c.session_id AS session_id, {{placeOf "c"}},
       c.before + c.part.1 AS position, c.place AS history_position, c.message_seq AS message_seq,
       if(c.part.2 != '', JSONExtractString(c.part.2, 'role'), if(c.dialect = 'prompted' AND h.role = 'tool', 'user', h.role)) AS role,
       h.kind AS kind, c.form AS form, c.reason AS reason, c.tokens AS tokens, c.hash AS content_hash,
       if(startsWith(content_json, '"'), JSONExtractString(content_json), content_json) AS content_text,
       if(c.part.2 != '', JSONExtractRaw(c.part.2, 'content'), if(h.prompted_json != '', h.prompted_json, h.content_json)) AS content_json,
       if(c.part.2 != '', JSONExtractRaw(c.part.2, 'tool_calls'), if(c.dialect = 'prompted', '', h.tool_calls_json)) AS tool_calls_json,
       if(role != 'tool', '', if(c.part.2 != '', JSONExtractString(c.part.2, 'tool_call_id'), h.tool_call_id)) AS tool_call_id
FROM
(
    SELECT *, arrayJoin(arrayZip(arrayEnumerate(parts), parts)) AS part
    FROM
    (
        SELECT s.session_id AS session_id, {{placeOf "s"}},
               s.dialect AS dialect, place, message_seq, hash, form, reason, tokens,
               if(replacement = '', [''], JSONExtractArrayRaw(replacement)) AS parts, upto - length(parts) AS before
        FROM {{table "context_selections"}} AS s
        ARRAY JOIN arrayEnumerate(s.hash) AS place, s.message_seq AS message_seq, s.hash AS hash, s.form AS form,
                   s.reason AS reason, s.tokens AS tokens, s.sent_json AS replacement,
                   arrayCumSum(arrayMap(j -> if(j = '', 1, JSONLength(j)), s.sent_json)) AS upto
    )
) AS c
INNER JOIN
(
    SELECT l.session_id AS session_id, l.seq AS seq, l.role AS role, l.kind AS kind, l.content_json AS content_json,
           l.prompted_json AS prompted_json, l.tool_calls_json AS tool_calls_json, l.tool_call_id AS tool_call_id
    FROM {{table "unified_logs"}} AS l FINAL
    WHERE l.role != ''
) AS h ON c.session_id = h.session_id AND c.message_seq = h.seq;

-- One row per model call of a phase: the sizes of what it was sent, and what the provider counted and took. A call that was
-- made again when its run was resumed has its newest outcome.
CREATE OR REPLACE VIEW {{table "context_calls"}}{{onCluster}} AS
SELECT s.session_id AS session_id, s.seq AS seq, s.at AS at, {{placeOf "s"}},
       s.model AS model,
       s.full_history_size AS full_history_size, s.context_size AS context_size, s.tokens_saved AS tokens_saved,
       s.message_count AS message_count, s.masked_count AS masked_count, s.shared_size AS shared_size,
       s.full_shared_size AS full_shared_size, s.full_usd AS full_usd, s.sent_usd AS sent_usd,
       s.full_usd - s.sent_usd AS saved_usd, s.price_as AS price_as, s.pretend_full_usd AS pretend_full_usd,
       s.pretend_sent_usd AS pretend_sent_usd, s.request_size AS request_size, s.request_limit AS request_limit,
       c.key != '' AND c.error_kind = '' AS answered, c.has_usage AND NOT c.usage_estimated AS counted,
       c.tokens_in AS tokens_in, c.tokens_cached AS tokens_cached, c.cost_usd AS cost_usd, toBool(c.copied) AS copied
FROM {{table "context_selections"}} AS s
LEFT JOIN
(
    SELECT session_id, key, error_kind, has_usage, usage_estimated, tokens_in, tokens_cached, cost_usd, copied
    FROM {{table "model_calls"}} ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS c ON s.session_id = c.session_id AND s.key = c.key
WHERE s.selection_type = 'intra_phase'
SETTINGS join_use_nulls = 0;

-- One row per selection of what came into a phase of earlier ones, the newest of each visit. What came in is sent with every
-- call of the visit, the first time in full, later from the cache: tokens and money are those of all calls that were
-- answered, without those that a fork has copied. Money is NULL where the price is unknown.
CREATE OR REPLACE VIEW {{table "phase_selections"}}{{onCluster}} AS
SELECT d.session_id AS session_id, d.seq AS seq, d.at AS at, {{placeOf "d"}}, d.model AS model, d.strategy AS strategy, d.why AS why,
       d.full_history_size AS everything_tokens, d.context_size AS came_in_tokens, d.tokens_saved AS left_out_tokens,
       d.anchor_hashes AS anchor_hashes, d.selected_hashes AS selected_hashes, n.calls AS calls, n.copied_calls AS copied_calls,
       everything_tokens * calls AS full_tokens, came_in_tokens * calls AS sent_tokens, left_out_tokens * calls AS saved_tokens,
       if(calls = 0, NULL, if(copied_calls = 0, d.input_price + (calls - 1) * d.cached_price, calls * d.cached_price) / 1e6) AS token_usd,
       everything_tokens * token_usd AS full_usd, came_in_tokens * token_usd AS sent_usd, left_out_tokens * token_usd AS saved_usd
FROM
(
    SELECT * FROM {{table "context_selections"}} WHERE selection_type = 'inter_phase'
    ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS d
LEFT JOIN
(
    SELECT session_id, phase_name, visit, branch, toInt64(countIf(answered AND NOT copied)) AS calls, toInt64(countIf(answered AND copied)) AS copied_calls
    FROM {{table "context_calls"}} GROUP BY session_id, phase_name, visit, branch
) AS n ON d.session_id = n.session_id AND d.phase_name = n.phase_name AND d.visit = n.visit AND d.branch = n.branch
SETTINGS join_use_nulls = 0;

CREATE OR REPLACE VIEW {{table "context_embeddings"}}{{onCluster}} AS
SELECT * FROM {{table "unified_embeddings"}} FINAL;

CREATE OR REPLACE VIEW {{table "context_cards"}}{{onCluster}} AS
SELECT c.session_id AS session_id, c.content_hash AS content_hash, c.summary AS summary, c.keywords AS keywords,
       if(c.dimensions = 0, [], e.embedding) AS embedding, c.embedding_model AS embedding_model, c.dimensions AS dimensions,
       c.estimated_tokens AS estimated_tokens, c.role AS role, c.phase_name AS phase_name, c.visit AS visit,
       c.attempt AS attempt, c.turn_number AS turn_number, c.message_order AS message_order, c.is_anchor AS is_anchor,
       toBool(c.callout_name != '') AS is_callout, c.callout_name AS callout_name, c.generated_at AS generated_at,
       c.generator_model AS generator_model, c.message_timestamp AS message_timestamp
FROM (SELECT * FROM {{table "unified_cards"}} FINAL) AS c
LEFT JOIN (SELECT session_id, content_hash, embedding_model, embedding FROM {{table "unified_embeddings"}} FINAL) AS e
ON c.session_id = e.session_id AND c.content_hash = e.content_hash AND c.embedding_model = e.embedding_model;

-- The tags of each session: those that its cascade had when it began.
CREATE OR REPLACE VIEW {{table "session_tags"}}{{onCluster}} AS
SELECT session_id, arrayJoin({{template "tags"}}) AS tag
FROM {{table "unified_logs"}} FINAL
WHERE node_type = 'run_start';

-- cost_usd sums the known costs and is NULL when none is known; unknown_cost_calls says how many are left out of it. Sums of
-- money are rounded far below the price of a token, as their last digits depend on the order. Requests for embeddings are
-- no calls, and in all other sums. What a fork has copied is in the sums of the session that paid for it.
CREATE OR REPLACE VIEW {{table "cost_by_session"}}{{onCluster}} AS
SELECT c.session_id AS session_id, any(c.cascade_id) AS cascade_id, min(c.at) AS started_at, {{template "costs"}}
FROM {{table "model_calls"}} AS c WHERE NOT c.copied GROUP BY c.session_id;

CREATE OR REPLACE VIEW {{table "cost_by_cascade"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, uniqExact(c.session_id) AS sessions, {{template "costs"}}
FROM {{table "model_calls"}} AS c WHERE NOT c.copied GROUP BY c.cascade_id;

CREATE OR REPLACE VIEW {{table "cost_by_phase"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, c.phase_name AS phase_name, uniqExact(c.session_id) AS sessions, {{template "costs"}}
FROM {{table "model_calls"}} AS c WHERE NOT c.copied GROUP BY c.cascade_id, c.phase_name;

CREATE OR REPLACE VIEW {{table "cost_by_model"}}{{onCluster}} AS
SELECT c.model AS model, c.provider AS provider, uniqExact(c.session_id) AS sessions, {{template "costs"}}
FROM {{table "model_calls"}} AS c WHERE NOT c.copied GROUP BY c.model, c.provider;

CREATE OR REPLACE VIEW {{table "cost_by_day"}}{{onCluster}} AS
SELECT toDate(c.at, 'UTC') AS day, uniqExact(c.session_id) AS sessions, {{template "costs"}}
FROM {{table "model_calls"}} AS c WHERE NOT c.copied GROUP BY day;

-- A session with several tags is in the sums of each of them; the sessions without a tag have the tag ''.
CREATE OR REPLACE VIEW {{table "cost_by_tag"}}{{onCluster}} AS
SELECT t.tag AS tag, uniqExact(c.session_id) AS sessions, {{template "costs"}}
FROM {{table "model_calls"}} AS c LEFT JOIN {{table "session_tags"}} AS t ON c.session_id = t.session_id
WHERE NOT c.copied GROUP BY tag
SETTINGS join_use_nulls = 0;

-- What sending less has saved, in tokens and in money, by the calls that were answered: full_usd is what full history would
-- have cost with the same caching, sent_usd what was sent, both by the price card and without answers. Sums of money leave
-- unpriced_calls out, are 0 without calls and NULL when there are calls and no price is known; guard_usd is what summaries and
-- exact counts cost in addition.
CREATE OR REPLACE VIEW {{table "savings_by_session"}}{{onCluster}} AS
SELECT c.session_id AS session_id, any(c.cascade_id) AS cascade_id, {{template "savings"}}
FROM {{template "savingsRows"}} AS c GROUP BY c.session_id;

CREATE OR REPLACE VIEW {{table "savings_by_phase"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, c.phase_name AS phase_name, uniqExact(c.session_id) AS sessions, {{template "savings"}}
FROM {{template "savingsRows"}} AS c GROUP BY c.cascade_id, c.phase_name;

CREATE OR REPLACE VIEW {{table "savings_by_model"}}{{onCluster}} AS
SELECT c.model AS model, uniqExact(c.session_id) AS sessions, {{template "savings"}}
FROM {{template "savingsRows"}} AS c GROUP BY c.model;

-- One row per session. What became of a run its newest end says, unless it was resumed since. A run without an end is
-- unfinished: whether it is running or was killed the rows cannot tell, and windlass sessions list can where it was run. What
-- a fork has copied of the session forked_from is in copied_calls, with requests for embeddings, and copied_cost_usd, and in no
-- other figure but phases: it begins after it. ran_ms is without the time from a stop to the next resume. Children are sessions
-- of their own, so that sums over sessions have each call once: what those took that have ended, with their own children, is in
-- the columns from children on.
CREATE OR REPLACE VIEW {{table "sessions"}}{{onCluster}} AS
SELECT l.session_id AS session_id,
       any(l.cascade_id) AS cascade_id,
       if(maxIf(l.seq, l.node_type = 'run_end') > maxIf(l.seq, l.node_type IN ('run_start', 'run_resume')),
          argMaxIf(JSONExtractString(l.data_json, 'status'), l.seq, l.node_type = 'run_end'), 'unfinished') AS status,
       if(status = 'unfinished', '',
          argMaxIf(JSONExtractString(l.data_json, 'reason'), l.seq, l.node_type = 'run_end')) AS reason,
       if(status = 'unfinished', '', argMaxIf(l.error, l.seq, l.node_type = 'run_end')) AS error,
       if(countIf(NOT l.copied) > 0, minIf(l.at, NOT l.copied), min(l.at)) AS started_at,
       max(l.at) AS last_at,
       if(countIf(NOT l.copied) = 0, 0, (toUnixTimestamp64Micro(last_at) - toUnixTimestamp64Micro(started_at)
          + sumIf(toUnixTimestamp64Micro(l.at), l.stopped) - sumIf(toUnixTimestamp64Micro(l.at), l.resumed)) / 1000) AS ran_ms,
       uniqExactIf(l.key, l.node_type = 'phase_start') AS phases,
       countIf(l.is_call AND NOT l.copied AND l.effect != 'embed') AS calls,
       countIf(l.is_call AND NOT l.copied AND l.effect = 'embed') AS embedding_calls,
       countIf(l.node_type = 'tool_call' AND NOT l.copied) AS tool_calls,
       countIf(l.is_call AND NOT l.copied AND l.cost_usd IS NULL) AS unknown_cost_calls,
       countIf(l.is_call AND NOT l.copied AND l.scripted) AS scripted_calls,
       sumIf(l.tokens_in, l.is_call AND NOT l.copied) AS tokens_in,
       sumIf(l.tokens_cached, l.is_call AND NOT l.copied) AS tokens_cached,
       sumIf(l.tokens_out, l.is_call AND NOT l.copied) AS tokens_out,
       if(calls + embedding_calls = 0, 0, round(sumOrNullIf(l.cost_usd, l.is_call AND NOT l.copied), 12)) AS cost_usd,
       anyIf(l.price_as, l.is_call AND l.price_as != '') AS price_as,
       round(sumOrNullIf(l.pretend_usd, l.is_call AND NOT l.copied), 12) AS pretend_usd,
       ifNull(any(l.forked_from), '') AS forked_from,
       argMinIf(l.tags, l.seq, l.node_type = 'run_start') AS tags,
       countIf(l.is_call AND l.copied) AS copied_calls,
       countIf(l.is_call AND l.copied AND l.cost_usd IS NULL) AS copied_unknown_cost_calls,
       if(forked_from = '', NULL, if(copied_calls = 0, 0, round(sumOrNullIf(l.cost_usd, l.is_call AND l.copied), 12))) AS copied_cost_usd,
       max(l.child_of) AS child_of, max(l.child_key) AS child_key, if(max(l.root) = '', session_id, max(l.root)) AS root, max(l.depth) AS depth,
       uniqExactIf(JSONExtractString(l.data_json, 'session'), l.node_type IN ('child_start', 'child_end') AND NOT l.copied) AS children,
       ifNull(any(l.ended), 0) AS children_ended,
       ifNull(any(l.end_calls), 0) AS children_calls,
       ifNull(any(l.end_unknown), 0) AS children_unknown_cost_calls,
       ifNull(any(l.end_in), 0) AS children_tokens_in,
       ifNull(any(l.end_cached), 0) AS children_tokens_cached,
       ifNull(any(l.end_out), 0) AS children_tokens_out,
       if(children_calls = 0, 0, round(any(l.end_usd), 12)) AS children_cost_usd,
       calls + children_calls AS with_children_calls,
       if(with_children_calls + embedding_calls > 0 AND with_children_calls + embedding_calls <= unknown_cost_calls + children_unknown_cost_calls, NULL,
          round(ifNull(cost_usd, 0) + ifNull(children_cost_usd, 0), 12)) AS with_children_usd
FROM
(
    SELECT session_id, cascade_id, seq, at, node_type, key, effect, error, data_json, scripted, tokens_in, tokens_cached, tokens_out, cost_usd,
           child_of, child_key, root, depth, e.ended AS ended, e.end_calls AS end_calls, e.end_unknown AS end_unknown, e.end_in AS end_in,
           e.end_cached AS end_cached, e.end_out AS end_out, e.end_usd AS end_usd,
           price_as, pretend_usd, node_type = 'model_call' AS is_call, {{template "tags"}} AS tags, f.forked_from AS forked_from, {{template "copied"}},
           has(r.resumes, seq) AND seq > ifNull(f.copied_upto, 0) + 1 AS resumed, has(r.resumes, seq + 1) AND NOT copied AS stopped
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    LEFT JOIN
    (
        SELECT session_id AS session, groupUniqArray(seq) AS resumes FROM {{table "unified_logs"}} WHERE node_type = 'run_resume' GROUP BY session_id
    ) AS r ON session_id = r.session
    LEFT JOIN
    (
        SELECT parent, count() AS ended, sum(ends.end_calls) AS end_calls, sum(ends.end_unknown) AS end_unknown, sum(ends.end_in) AS end_in,
               sum(ends.end_cached) AS end_cached, sum(ends.end_out) AS end_out, sumOrNull(ends.end_usd) AS end_usd
        FROM {{template "childEnds"}} AS ends WHERE NOT end_copied GROUP BY parent
    ) AS e ON session_id = e.parent
) AS l
GROUP BY l.session_id;

-- One row per child: another cascade that a session has begun, which runs as a session of its own. How it ended is what its
-- parent was told; until then, or when the child was resumed since, what the child's rows say. Its own sums are NULL when it has no
-- rows; those with its own children are NULL when it has no end either.
CREATE OR REPLACE VIEW {{table "children"}}{{onCluster}} AS
WITH e.ended_session != '' AND s.last_at <= e.end_at AS told, s.session_id != '' AS known
SELECT c.session_id AS session_id, c.seq AS seq, {{placeOf "c"}}, c.child_session AS child_session, c.name AS name, c.how AS how,
       c.child_cascade AS child_cascade, c.child_file AS child_file, c.detached AS detached,
       if(p.root = '', c.session_id, p.root) AS root, p.depth + 1 AS depth,
       multiIf(told, e.end_status, known, s.status, 'unfinished') AS status,
       multiIf(told, e.end_reason, known, s.reason, '') AS reason,
       multiIf(told, e.end_error, known, s.error, '') AS error,
       c.at AS started_at, if(told, e.end_at, NULL) AS ended_at,
       if(known, s.calls, NULL) AS calls,
       if(known, s.unknown_cost_calls, NULL) AS unknown_cost_calls,
       if(known, s.cost_usd, NULL) AS cost_usd,
       multiIf(told, e.end_calls, known, s.with_children_calls, NULL) AS with_children_calls,
       multiIf(told, e.end_unknown, known, s.unknown_cost_calls + s.children_unknown_cost_calls, NULL) AS with_children_unknown_cost_calls,
       multiIf(told, round(e.end_usd, 12), known, s.with_children_usd, NULL) AS with_children_usd,
       c.copied AS copied
FROM
(
    SELECT *, JSONExtractString(data_json, 'session') AS child_session, JSONExtractString(data_json, 'name') AS name,
           JSONExtractString(data_json, 'how') AS how, JSONExtractString(data_json, 'cascade') AS child_cascade,
           JSONExtractString(data_json, 'file') AS child_file, JSONExtractBool(data_json, 'detach') AS detached, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'child_start'
    ORDER BY seq DESC LIMIT 1 BY session_id, child_session
) AS c
LEFT JOIN {{template "childEnds"}} AS e ON c.session_id = e.parent AND c.child_session = e.ended_session
LEFT JOIN
(
    SELECT session_id, root, depth FROM {{table "unified_logs"}} FINAL WHERE node_type = 'run_start'
) AS p ON c.session_id = p.session_id
LEFT JOIN
(
    SELECT * FROM {{table "sessions"}}
    WHERE session_id GLOBAL IN (SELECT JSONExtractString(data_json, 'session') FROM {{table "unified_logs"}} WHERE node_type = 'child_start')
) AS s ON c.child_session = s.session_id
SETTINGS join_use_nulls = 0;

-- One row per ballot: what a judge said of candidates that it was shown, and per score of one candidate. Candidates are named by
-- their number; 0 is the best answer of the steps before.
CREATE OR REPLACE VIEW {{table "ballots"}}{{onCluster}} AS
SELECT l.session_id AS session_id, l.seq AS seq, l.at AS at, {{placeOf "l"}},
       JSONExtractUInt(l.data_json, 'step') AS step,
       JSONExtractUInt(l.data_json, 'pair') AS pair,
       toBool(JSONExtractBool(l.data_json, 'reverse')) AS reverse,
       JSONExtractString(l.data_json, 'judge') AS judge,
       JSONExtract(l.data_json, 'order', 'Array(Int32)') AS shown,
       JSONExtract(l.data_json, 'labels', 'Array(String)') AS labels,
       JSONExtractString(l.data_json, 'said') AS said,
       JSONExtract(l.data_json, 'winner', 'Nullable(Int32)') AS named,
       JSONExtract(l.data_json, 'vote', 'Nullable(Int32)') AS vote,
       JSONExtract(l.data_json, 'score', 'Nullable(Float64)') AS score,
       JSONExtractString(l.data_json, 'why') AS why,
       JSONExtractString(l.data_json, 'problem') AS problem,
       JSONExtract(l.data_json, 'e_values', 'Array(Float64)') AS e_values,
       JSONExtract(l.data_json, 'cost_usd', 'Nullable(Float64)') AS cost_usd,
       l.copied AS copied
FROM
(
    SELECT *, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'ballot'
    ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS l;

-- One row per judge: how often it turns its verdict when the order is reversed, how often it names none, and what it cost. What a
-- fork has copied is in the sums of the session that paid for it. A pair is told by a judge when both of its ballots have a verdict.
CREATE OR REPLACE VIEW {{table "judges"}}{{onCluster}} AS
SELECT judge, uniqExact(session_id) AS sessions, sum(held) AS ballots, sum(scored) AS scores, sum(problems) AS without_verdict,
       sum(said_tie) AS ties, countIf(told) AS pairs, countIf(told AND voted) AS votes, countIf(told AND turned) AS flips,
       if(pairs = 0, NULL, flips / pairs) AS flip_rate,
       if(sum(named_any) = 0, NULL, sum(named_first) / sum(named_any)) AS first_shown_rate,
       round(sumOrNull(usd), 12) AS cost_usd, sum(unknown) AS unknown_cost_ballots
FROM
(
    SELECT judge, session_id, pair > 0 AND countIf(said != '') = 2 AS told, countIf(vote IS NOT NULL) > 0 AS voted,
           uniqExact(said = 'tie' ? '' : toString(named)) = 2 AS turned,
           countIf(pair > 0) AS held, countIf(pair = 0) AS scored, countIf(problem != '') AS problems, countIf(said = 'tie') AS said_tie,
           countIf(named IS NOT NULL) AS named_any, countIf(named IS NOT NULL AND named = shown[1]) AS named_first,
           sumOrNull(cost_usd) AS usd, countIf(cost_usd IS NULL) AS unknown
    FROM {{table "ballots"}} WHERE NOT copied
    GROUP BY judge, session_id, phase_name, visit, node, item, step, pair
)
GROUP BY judge;

-- One row per candidate: one of several tries of a phase or of a whole cascade. What became of it is in the choice of its step, and
-- is_winner says whether it was kept at the end. A candidate without a choice is unfinished.
CREATE OR REPLACE VIEW {{table "soundings"}}{{onCluster}} AS
SELECT c.session_id AS session_id, c.seq AS seq, c.at AS at, {{placeOf "c"}},
       c.candidate_index AS candidate_index, c.factor AS factor, c.candidate_model AS model,
       c.mutation_mode AS mutation_mode, c.mutation AS mutation, c.rewritten AS rewritten, c.species AS species,
       if(h.number = 0, 'unfinished', h.state) AS state,
       toBool(h.state = 'won') AS won_step,
       toBool(h.state = 'won' AND w.last_reforge = c.reforge) AS is_winner,
       h.why AS why, h.votes AS votes, h.e_value AS e_value, h.quality AS quality, h.worth AS worth, h.same_as AS same_as, h.how AS how, toBool(h.tie) AS tie,
       h.pairs AS pairs, h.confidence AS confidence, h.tokens AS tokens, h.cost_usd AS cost_usd,
       ifNull(v.verdicts, 0) AS verdicts, ifNull(v.rejections, 0) AS rejections, c.copied AS copied
FROM
(
    SELECT *, JSONExtractUInt(newest, 'index') AS candidate_index, JSONExtractUInt(newest, 'factor') AS factor,
           JSONExtractString(newest, 'model') AS candidate_model, JSONExtractString(newest, 'mutation', 'mode') AS mutation_mode,
           JSONExtractString(newest, 'mutation', 'entry') AS mutation, JSONExtractString(newest, 'mutation', 'text') AS rewritten,
           JSONExtractString(newest, 'species') AS species
    FROM
    (
        SELECT *, {{template "copied"}}, argMax(data_json, seq) OVER (PARTITION BY session_id, key) AS newest
        FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
        WHERE node_type = 'candidate'
    ) AS recorded
    ORDER BY seq LIMIT 1 BY session_id, key
) AS c
LEFT JOIN
(
    SELECT session_id, phase_name, visit, node, item, reforge, how, tie, pairs, confidence,
           JSONExtractUInt(standing, 'number') AS number, JSONExtractString(standing, 'state') AS state, JSONExtractString(standing, 'why') AS why,
           JSONExtractUInt(standing, 'votes') AS votes, JSONExtractFloat(standing, 'e_value') AS e_value, JSONExtractUInt(standing, 'same_as') AS same_as,
           JSONExtract(standing, 'quality', 'Nullable(Float64)') AS quality, JSONExtract(standing, 'value', 'Nullable(Float64)') AS worth,
           JSONExtract(standing, 'cost_usd', 'Nullable(Float64)') AS cost_usd, JSONExtractInt(standing, 'tokens') AS tokens
    FROM {{template "choices"}} ARRAY JOIN standings AS standing
) AS h ON c.session_id = h.session_id AND c.phase_name = h.phase_name AND c.visit = h.visit AND c.node = h.node AND c.item = h.item
    AND c.reforge = h.reforge AND c.sounding = h.number
LEFT JOIN
(
    SELECT session_id, phase_name, visit, node, item, max(reforge) AS last_reforge
    FROM {{template "choices"}} WHERE winner != 0 GROUP BY session_id, phase_name, visit, node, item
) AS w ON c.session_id = w.session_id AND c.phase_name = w.phase_name AND c.visit = w.visit AND c.node = w.node AND c.item = w.item
LEFT JOIN
(
    SELECT session_id, phase_name, visit, node, item, reforge, sounding, count() AS verdicts, countIf(NOT JSONExtractBool(data_json, 'valid')) AS rejections
    FROM {{table "unified_logs"}} FINAL WHERE node_type = 'verdict' AND sounding > 0
    GROUP BY session_id, phase_name, visit, node, item, reforge, sounding
) AS v ON c.session_id = v.session_id AND c.phase_name = v.phase_name AND c.visit = v.visit AND c.node = v.node AND c.item = v.item
    AND c.reforge = v.reforge AND c.sounding = v.sounding
SETTINGS join_use_nulls = 0;

-- One row per wait: what a run asked of people, or a signal that it awaited, and how that ended. A wait without an answer is open
-- as long as its run can be resumed.
CREATE OR REPLACE VIEW {{table "waits"}}{{onCluster}} AS
SELECT w.session_id AS session_id, w.seq AS seq, if(p.root = '', w.session_id, p.root) AS root, {{placeOf "w"}}, w.wait_id AS wait_id,
       multiIf(a.seq > w.seq AND a.timed_out, 'timed_out', a.seq > w.seq, 'answered', p.over, 'ended', 'open') AS status,
       JSONExtractString(w.data_json, 'kind') AS kind,
       JSONExtractString(w.data_json, 'form', 'kind') AS form,
       if(JSONHas(w.data_json, 'call'), JSONExtractString(w.data_json, 'call', 'tool'), JSONExtractString(w.data_json, 'by', 'tool')) AS tool,
       substringUTF8(if(JSONHas(w.data_json, 'form'), JSONExtractString(w.data_json, 'form', 'question'), JSONExtractString(w.data_json, 'by', 'note')), 1, 200) AS question,
       if(a.seq > w.seq AND a.signal != '', a.signal, JSONExtractString(w.data_json, 'signal')) AS signal,
       JSONExtractString(w.data_json, 'call', 'cascade') AS cascade_hash,
       JSONExtractString(w.data_json, 'shown') AS shown,
       w.at AS since,
       if(JSONExtractFloat(w.data_json, 'timeout_seconds') > 0,
          addMicroseconds(w.at, toInt64(JSONExtractFloat(w.data_json, 'timeout_seconds') * 1000000)), NULL) AS deadline,
       if(a.seq > w.seq, a.given_at, NULL) AS answered_at,
       if(a.seq > w.seq, a.at, NULL) AS taken_at,
       (toUnixTimestamp64Micro(answered_at) - toUnixTimestamp64Micro(w.at)) / 1000000 AS wait_seconds,
       if(a.seq > w.seq, a.answered_by, '') AS answered_by,
       if(a.seq > w.seq, a.via, '') AS via,
       toBool(a.seq > w.seq AND a.timed_out) AS timed_out,
       if(kind = 'approval' AND a.seq > w.seq, a.decision, '') AS decision,
       if(a.seq > w.seq, a.answer, '') AS answer,
       if(a.seq > w.seq, a.grant_scope, '') AS grant_scope,
       if(a.seq > w.seq, a.grant_id, '') AS grant_id,
       if(a.seq > w.seq, a.letter, '') AS letter,
       w.copied AS copied, toBool(a.seq > w.seq AND a.copied) AS answer_copied
FROM
(
    SELECT *, {{template "waitID"}} AS wait_id, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}} {{template "joinAside"}}
    WHERE node_type = 'wait' AND NOT has(r.aside, seq)
    ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS w
LEFT JOIN
(
    SELECT session_id, seq, at, key, parseDateTime64BestEffortOrZero(JSONExtractString(data_json, 'at'), 6, 'UTC') AS given_at,
           JSONExtractString(data_json, 'by') AS answered_by, JSONExtractString(data_json, 'via') AS via,
           JSONExtractBool(data_json, 'timed_out') AS timed_out, JSONExtractRaw(data_json, 'value') AS answer,
           JSONExtractString(data_json, 'value', 'decision') AS decision, JSONExtractString(data_json, 'signal') AS signal,
           JSONExtractString(data_json, 'grant', 'scope') AS grant_scope, JSONExtractString(data_json, 'grant', 'id') AS grant_id,
           JSONExtractString(data_json, 'letter') AS letter, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}} {{template "joinAside"}}
    WHERE node_type = 'answer' AND NOT has(r.aside, seq)
    ORDER BY seq DESC LIMIT 1 BY session_id, key
) AS a ON w.session_id = a.session_id AND w.key = a.key
LEFT JOIN
(
    SELECT session_id, max(root) AS root, maxIf(seq, node_type = 'run_end') > maxIf(seq, node_type IN ('run_start', 'run_resume'))
           AND argMaxIf(JSONExtractString(data_json, 'status'), seq, node_type = 'run_end') != 'waiting' AS over
    FROM {{table "unified_logs"}} FINAL WHERE node_type IN ('run_start', 'run_resume', 'run_end') GROUP BY session_id
) AS p ON w.session_id = p.session_id
SETTINGS join_use_nulls = 0;

-- One row per approval that counts for more than its call, with how often it has been used. What a fork has copied of uses is in those
-- of the session that it comes from.
CREATE OR REPLACE VIEW {{table "grants"}}{{onCluster}} AS
SELECT w.session_id AS session_id, w.seq AS seq, w.root AS root, {{placeOf "w"}}, w.wait_id AS grant_id, w.grant_scope AS scope, w.tool AS tool,
       w.cascade_hash AS cascade_hash, w.answered_by AS granted_by, w.via AS via, w.answered_at AS granted_at,
       u.uses AS uses, if(u.uses > 0, u.last_used_at, NULL) AS last_used_at, w.answer_copied AS copied
FROM {{table "waits"}} AS w
LEFT JOIN
(
    SELECT grant_id, count() AS uses, max(answered_at) AS last_used_at
    FROM {{table "waits"}} WHERE grant_id != '' AND via = 'grant' AND NOT answer_copied GROUP BY grant_id
) AS u ON w.wait_id = u.grant_id
WHERE w.grant_scope != '' AND w.grant_id = ''
SETTINGS join_use_nulls = 0;

-- One row per signal that a run has sent or taken. One that a person has sent and no run has taken is only in its mailbox.
CREATE OR REPLACE VIEW {{table "signals"}}{{onCluster}} AS
SELECT x.letter AS letter, max(x.signal) AS signal, max(x.from_session) AS from_session, max(x.from_key) AS from_key,
       if(from_session != '', from_session, max(x.sender)) AS sent_by, if(from_session != '', 'tool', max(x.via)) AS via,
       max(x.to_session) AS to_session, if(from_session != '', max(x.fired), max(x.given)) AS sent_at,
       max(x.payload) AS payload, max(x.problem) AS problem,
       max(x.taker) AS taken_by, max(x.taken_key) AS taken_key, max(x.taken_wait) AS taken_wait, max(x.taken) AS taken_at,
       multiIf(taken_by != '', 'taken', problem != '', 'not_sent', 'sent') AS status
FROM
(
    SELECT JSONExtractString(data_json, 'letter') AS letter, JSONExtractString(data_json, 'signal') AS signal, session_id AS from_session,
           key AS from_key, '' AS sender, '' AS via, JSONExtractString(data_json, 'session') AS to_session,
           CAST(at, 'Nullable(DateTime64(6, \'UTC\'))') AS fired, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS given,
           JSONExtractRaw(data_json, 'payload') AS payload, JSONExtractString(data_json, 'problem') AS problem, '' AS taker, '' AS taken_key, '' AS taken_wait,
           CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS taken, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'value' AND JSONHas(data_json, 'letter') AND JSONHas(data_json, 'signal')
    UNION ALL
    SELECT letter, signal, '', '', answered_by, via, '', NULL, answered_at, answer, '', session_id, key, wait_id, taken_at, answer_copied
    FROM {{table "waits"}} WHERE letter != ''
) AS x
WHERE NOT x.copied
GROUP BY x.letter;

-- One row per version of a file of a bank of memory that a run has written. What people write is only in the bank.
CREATE OR REPLACE VIEW {{table "memory_versions"}}{{onCluster}} AS
SELECT m.session_id AS session_id, m.seq AS seq, m.at AS at, {{placeOf "m"}},
       JSONExtractString(m.data_json, 'bank') AS bank, JSONExtractString(m.data_json, 'project') AS project,
       JSONExtractString(m.data_json, 'command') AS command,
       JSONExtractString(v, 'path') AS path, JSONExtractString(v, 'version') AS version,
       JSONExtractBool(v, 'gone') AS gone, JSONExtractString(v, 'from') AS renamed_from
FROM
(
    SELECT *, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'value' AND JSONHas(data_json, 'bank') AND JSONHas(data_json, 'command')
) AS m
ARRAY JOIN JSONExtractArrayRaw(m.data_json, 'wrote') AS v
WHERE NOT m.copied;

-- One row per version of a file of a bank of memory that a run was told of.
CREATE OR REPLACE VIEW {{table "memory_reads"}}{{onCluster}} AS
SELECT m.session_id AS session_id, m.seq AS seq, m.at AS at, {{placeOf "m"}},
       JSONExtractString(m.data_json, 'bank') AS bank, JSONExtractString(m.data_json, 'project') AS project,
       JSONExtractString(m.data_json, 'command') AS command,
       JSONExtractString(v, 'path') AS path, JSONExtractString(v, 'version') AS version,
       JSONExtractBool(m.data_json, 'conflict') AS conflict
FROM
(
    SELECT *, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'value' AND JSONHas(data_json, 'bank') AND JSONHas(data_json, 'command')
) AS m
ARRAY JOIN JSONExtractArrayRaw(m.data_json, 'read') AS v
WHERE NOT m.copied;

-- The messages of sessions, one row each, numbered by groups as windlass context groups does: a group is a user message with all
-- that answers it. Not active is what a person has undone, dropped or removed, or taken back with an audible.
CREATE OR REPLACE VIEW {{table "messages"}}{{onCluster}} AS
SELECT m.session_id AS session_id, m.seq AS id, if(m.heads = 0, 0, toUInt64(m.number)) AS group_id, m.role AS role, m.kind AS kind, m.text AS content,
       m.tool_name AS tool_name, m.tool_call_id AS tool_call_id,
       multiIf(c.action = 'remove', 'removed', c.action IN ('drop', 'undo') OR m.retracted, 'dropped', 'active') AS status,
       m.model AS model, m.phase_name AS phase, m.tokens AS tokens, m.at AS at, m.visit AS visit, m.content_hash AS content_hash
FROM
(
    SELECT *, row_number() OVER (PARTITION BY session_id, phase_name, visit, content_hash ORDER BY item, seq) AS nth,
           sum(head) OVER (PARTITION BY session_id ORDER BY began, item, seq ROWS UNBOUNDED PRECEDING) AS number,
           sum(head) OVER (PARTITION BY session_id, phase_name, visit, item, sounding ORDER BY seq ROWS UNBOUNDED PRECEDING) AS heads,
           minIf(seq, kind = 'retract') OVER later AS next_retract, minIf(seq, role = 'assistant') OVER later AS next_answer,
           countIf(role = 'assistant') OVER (PARTITION BY session_id, phase_name, visit, branch, attempt ORDER BY seq ROWS UNBOUNDED PRECEDING) AS answers,
           answers > 0 AND next_retract > 0 AND (next_answer = 0 OR next_retract < next_answer) AND kind NOT IN ('audible', 'retract') AS retracted
    FROM
    (
        SELECT l.*, if(l.content_json = 'null', '', l.content_text) AS text, intDiv(length(l.content_json) + length(l.tool_calls_json) + 3, 4) AS tokens,
               l.sounding = 0 AND l.kind IN ('task', 'turn_prompt', 'retry', 'audible', 'retract') AS head,
               min(l.seq) OVER (PARTITION BY l.session_id, l.phase_name, l.visit) AS began
        FROM {{table "unified_logs"}} AS l FINAL {{template "joinAside"}}
        WHERE l.role != '' AND NOT has(r.aside, l.seq)
          AND (l.node_type = 'message' AND l.kind NOT IN ('context', 'summary', 'memos', 'state_block', 'scratchpad') AND l.effect NOT IN ('context', 'select')
               OR l.node_type = 'model_call' AND l.effect = 'model' OR l.node_type = 'tool_call' AND l.effect = 'tool')
    )
    WINDOW later AS (PARTITION BY session_id, phase_name, visit, branch, attempt ORDER BY seq ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
) AS m
LEFT JOIN
(
    SELECT session_id, JSONExtractString(spot, 'phase') AS phase, JSONExtractUInt(spot, 'visit') AS visit,
           JSONExtractString(spot, 'content_hash') AS hash, JSONExtractUInt(spot, 'nth') AS nth,
           argMax(JSONExtractString(data_json, 'action'), JSONExtractUInt(data_json, 'number')) AS action
    FROM {{table "unified_logs"}} FINAL
    ARRAY JOIN JSONExtractArrayRaw(data_json, 'messages') AS spot
    WHERE node_type = 'value' AND JSONHas(data_json, 'action') AND JSONHas(data_json, 'messages')
    GROUP BY session_id, phase, visit, hash, nth
) AS c ON c.session_id = m.session_id AND c.phase = m.phase_name AND c.visit = m.visit AND c.hash = m.content_hash AND c.nth = m.nth;

-- One row per version of a memo that a run has written. What people write is only in the files of memos.
CREATE OR REPLACE VIEW {{table "memos"}}{{onCluster}} AS
SELECT m.session_id AS session_id, m.seq AS seq, m.at AS at, {{placeOf "m"}},
       JSONExtractString(v, 'memo') AS memo, JSONExtractString(v, 'version') AS version, JSONExtractString(v, 'scope') AS scope,
       JSONExtractString(m.data_json, 'project') AS project, JSONExtractString(m.data_json, 'tool') AS action,
       JSONExtract(v, 'tags', 'Array(String)') AS tags, JSONExtractString(v, 'hash') AS text_hash, JSONExtractBool(v, 'gone') AS gone
FROM
(
    SELECT *, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'value' AND JSONHas(data_json, 'tool') AND JSONHas(data_json, 'project')
) AS m
ARRAY JOIN JSONExtractArrayRaw(m.data_json, 'wrote') AS v
WHERE NOT m.copied;

-- One row per version of a memo that a run was told of: by a call of a tool, or brought to a turn by the words of a message.
CREATE OR REPLACE VIEW {{table "memo_reads"}}{{onCluster}} AS
SELECT m.session_id AS session_id, m.seq AS seq, m.at AS at, {{placeOf "m"}},
       JSONExtractString(v, 'memo') AS memo, JSONExtractString(v, 'version') AS version, JSONExtractString(v, 'scope') AS scope,
       JSONExtractString(m.data_json, 'project') AS project,
       if(JSONHas(m.data_json, 'tool'), JSONExtractString(m.data_json, 'tool'), 'brought') AS action,
       JSONExtract(v, 'tags', 'Array(String)') AS tags, JSONExtractString(v, 'hash') AS text_hash
FROM
(
    SELECT *, {{template "copied"}}
    FROM {{table "unified_logs"}} AS l FINAL {{template "joinForks"}}
    WHERE node_type = 'value' AND JSONHas(data_json, 'project') AND (JSONHas(data_json, 'tool') OR JSONHas(data_json, 'memos'))
) AS m
ARRAY JOIN arrayConcat(JSONExtractArrayRaw(m.data_json, 'read'), JSONExtractArrayRaw(m.data_json, 'memos')) AS v
WHERE NOT m.copied;
