-- What else a selection says of a call; the sizes of the whole request are in tokens of the model, the others estimated.
-- span_from to span_reason hold what windlass wrote before this migration and are not written any more: selections are
-- recorded as changes, and unified_selections holds them whole.
{{addColumns "unified_logs"
    "prompted_json String COMMENT 'how a model without tool calling is sent the content; empty: as it is' CODEC(ZSTD(3))"
    "shared_size Int64" "full_shared_size Int64" "sent_usd Nullable(Float64)" "full_usd Nullable(Float64)"
    "request_size Int64" "request_limit Int64"}};

CREATE OR REPLACE VIEW {{table "logs"}}{{onCluster}} AS
SELECT * EXCEPT (span_from, span_count, span_form, span_reason), content_text FROM {{table "unified_logs"}} FINAL;

-- One row per model call of a phase: what became of every message of the history. The arrays have an element for each.
-- Rows are equal where (session_id, seq) is, and the view "context_selections" shows each once.
CREATE TABLE IF NOT EXISTS {{local "unified_selections"}}{{onCluster}}
(
    session_id           String,
    seq                  UInt64,
    at                   DateTime64(6, 'UTC'),
    key                  String COMMENT 'of the model call',
    cascade_id           LowCardinality(String),
    phase_name           LowCardinality(String),
    attempt              Int32,
    turn                 Int32,
    sounding             Int32,
    model                LowCardinality(String),
    dialect              LowCardinality(String),
    message_seq          Array(UInt64) COMMENT 'the entry that has the message',
    hash                 Array(String) CODEC(ZSTD(3)),
    form                 Array(LowCardinality(String)),
    reason               Array(LowCardinality(String)),
    tokens               Array(Int64),
    sent_json            Array(String) COMMENT 'a JSON array of the messages sent in place of the message; empty: the message itself' CODEC(ZSTD(3)),
    full_history_size    Int64,
    context_size         Int64,
    tokens_saved         Int64,
    message_count        Int64,
    masked_count         Int64,
    shared_size          Int64,
    full_shared_size     Int64,
    sent_usd             Nullable(Float64),
    full_usd             Nullable(Float64),
    request_size         Int64,
    request_limit        Int64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(at)
ORDER BY (session_id, seq);

{{distributed "unified_selections" "cityHash64(session_id)"}};

CREATE OR REPLACE VIEW {{table "context_selections"}}{{onCluster}} AS
SELECT * FROM {{table "unified_selections"}} FINAL;

-- What each model call was sent, message by message, in the very words: a placeholder or a summary where one stood for a
-- message of the history. message_seq and content_hash are those of that message. A validator that asks a model has no
-- selection and no rows here.
CREATE OR REPLACE VIEW {{table "sent_messages"}}{{onCluster}} AS
SELECT c.session_id AS session_id, c.key AS key, c.cascade_id AS cascade_id, c.phase_name AS phase_name,
       c.attempt AS attempt, c.turn AS turn, c.before + c.part.1 AS position, c.place AS history_position,
       c.message_seq AS message_seq,
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
        SELECT s.session_id AS session_id, s.key AS key, s.cascade_id AS cascade_id, s.phase_name AS phase_name,
               s.attempt AS attempt, s.turn AS turn, s.dialect AS dialect, place, message_seq, hash, form, reason, tokens,
               if(stands = '', [''], JSONExtractArrayRaw(stands)) AS parts, upto - length(parts) AS before
        FROM {{table "context_selections"}} AS s
        ARRAY JOIN arrayEnumerate(s.hash) AS place, s.message_seq AS message_seq, s.hash AS hash, s.form AS form,
                   s.reason AS reason, s.tokens AS tokens, s.sent_json AS stands,
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

-- One row per model call of a phase: the sizes of what it was sent, and what the provider counted and took.
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
LEFT JOIN {{table "model_calls"}} AS c ON s.session_id = c.session_id AND s.key = c.key;

-- What sending less has saved, in tokens and in money, by the calls that were answered: full_usd is what full history would have cost with the same
-- caching, sent_usd what was sent, both by the price card and without answers. Sums of money leave unpriced_calls out and
-- are NULL when nothing is left; guard_usd is what summaries and recounts cost besides.
CREATE OR REPLACE VIEW {{table "savings_by_session"}}{{onCluster}} AS
SELECT c.session_id AS session_id, any(c.cascade_id) AS cascade_id, {{savings}}
FROM {{savingsRows}} AS c GROUP BY c.session_id;

CREATE OR REPLACE VIEW {{table "savings_by_phase"}}{{onCluster}} AS
SELECT c.cascade_id AS cascade_id, c.phase_name AS phase_name, uniqExact(c.session_id) AS sessions, {{savings}}
FROM {{savingsRows}} AS c GROUP BY c.cascade_id, c.phase_name;

CREATE OR REPLACE VIEW {{table "savings_by_model"}}{{onCluster}} AS
SELECT c.model AS model, uniqExact(c.session_id) AS sessions, {{savings}}
FROM {{savingsRows}} AS c GROUP BY c.model;
