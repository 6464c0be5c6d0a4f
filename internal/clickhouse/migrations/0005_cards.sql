-- What messages are chosen by: a card for each message of a session that is worth one. A card that was made later, by
-- generated_at, takes the place of the one before it. The view "context_cards" shows each once, with the embedding that it
-- was last written with. Sessions are read one at a time and in a hurry, so granules are small and texts
-- are compressed lightly.
CREATE TABLE IF NOT EXISTS {{local "unified_cards"}}{{onCluster}}
(
    session_id           String,
    content_hash         String,
    summary              String,
    keywords             Array(String),
    embedding_model      LowCardinality(String) COMMENT 'the embedder that was asked; empty: none was',
    dimensions           UInt32 COMMENT 'of the embedding; 0: there is none',
    estimated_tokens     Int64,
    role                 LowCardinality(String),
    phase_name           LowCardinality(String),
    visit                Int32,
    attempt              Int32,
    turn_number          Int32,
    message_order        Int64,
    is_anchor            Bool,
    callout_name         String,
    generated_at         DateTime64(6, 'UTC'),
    generator_model      LowCardinality(String),
    message_timestamp    DateTime64(6, 'UTC')
)
ENGINE = {{replacing "generated_at"}}
ORDER BY (session_id, content_hash)
SETTINGS index_granularity = 256;

{{distributed "unified_cards" "cityHash64(session_id)"}};

-- The embeddings of cards. Those of several embedders, which may differ in length, live side by side. They are floating-point
-- noise to a codec, so they are not compressed.
CREATE TABLE IF NOT EXISTS {{local "unified_embeddings"}}{{onCluster}}
(
    session_id           String,
    content_hash         String,
    embedding_model      LowCardinality(String),
    dimensions           UInt32,
    embedding            Array(Float32) CODEC(NONE),
    generated_at         DateTime64(6, 'UTC')
)
ENGINE = {{replacing "generated_at"}}
ORDER BY (session_id, embedding_model, content_hash)
SETTINGS index_granularity = 256;

{{distributed "unified_embeddings" "cityHash64(session_id)"}};

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
