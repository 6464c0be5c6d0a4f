-- One row per entry of a session's journal. The same entry may be delivered twice: rows are equal where
-- (session_id, seq) is, and the view "logs" shows each once.
CREATE TABLE IF NOT EXISTS {{local "unified_logs"}}{{onCluster}}
(
    session_id           String,
    seq                  UInt64,
    at                   DateTime64(6, 'UTC'),
    node_type            LowCardinality(String),
    key                  String,
    cascade_id           LowCardinality(String),
    phase_name           LowCardinality(String),
    attempt              Int32,
    turn                 Int32,
    sounding             Int32,
    role                 LowCardinality(String),
    kind                 LowCardinality(String),
    content_hash         String,
    content_json         String CODEC(ZSTD(3)),
    tool_calls_json      String CODEC(ZSTD(3)),
    tool_name            LowCardinality(String),
    tool_call_id         String,
    tool_arguments       String CODEC(ZSTD(3)),
    failed               Bool,
    model                LowCardinality(String),
    provider             LowCardinality(String),
    scripted             Bool,
    has_usage            Bool COMMENT 'false: the token counts below are unknown, not zero',
    tokens_in            Int64,
    tokens_cached        Int64,
    tokens_out           Int64,
    tokens_reasoning     Int64,
    usage_estimated      Bool,
    cost_usd             Nullable(Float64) COMMENT 'NULL: unknown, which is not zero',
    duration_ms          Float64,
    request_hash         String,
    full_history_size    Int64,
    context_size         Int64,
    tokens_saved         Int64,
    message_count        Int64,
    masked_count         Int64,
    span_from            Array(Int64),
    span_count           Array(Int64),
    span_form            Array(LowCardinality(String)),
    span_reason          Array(LowCardinality(String)),
    error_kind           LowCardinality(String),
    error                String,
    data_json            String CODEC(ZSTD(3)),
    content_text         String ALIAS if(startsWith(content_json, '"'), JSONExtractString(content_json), content_json),
    INDEX by_hash content_hash TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_time at TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(at)
ORDER BY (session_id, seq);

{{distributed "unified_logs" "cityHash64(session_id)"}}
