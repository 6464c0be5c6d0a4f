-- What the rule about keys forbids in SQL, and what looks like it. splitByChar('/', key) in a comment is nothing.
SELECT splitByChar('/', key)[2] AS attempt,                     -- want SQL: splitByChar
       position(l.key, '/turn') AS at,                          -- want SQL: position
       extract(lower(l.key), 'turn([0-9]+)') AS turn,           -- want SQL: extract
       countIf(match(`key`, '^draft')) AS drafts,               -- want SQL: match
       replaceRegexpOne("key", 'a', 'b') AS other,              -- want SQL: replaceRegexpOne
       substring(branch FROM 2) AS rest,                        -- want SQL: substring
       l.key AS k,
       splitByString('/', k) AS parts,                          -- want SQL: splitByString
       has(['run', 'cards'], key) AS whole,                     -- want SQL: has
       CASE key WHEN 'run' THEN 1 ELSE 0 END AS run,            -- want SQL: CASE
       key || '/model' AS call,                                 -- want SQL: pasting
       concat(key, '/model') AS again,                          -- want SQL: concat
       key[1] AS first                                          -- want SQL: an index
FROM logs AS l
WHERE l.key NOT LIKE '%/attempt1'                               -- want SQL: LIKE
  AND key != 'run'                                              -- want SQL: a comparison
  AND 'run' < l.key                                             -- want SQL: a comparison
  AND key IN ('run', 'cards');                                  -- want SQL: IN

SELECT s.key AS key, uniqExactIf(l.key, l.node_type = 'phase_start') AS visits, JSONExtractString(data_json, 'key') AS name,
       any(key) AS one, key != '' AS answered, match(phase_name, 'key'), splitByChar('/', monkey), concat('at ', phase_name), l.phase_name AS p
FROM a AS s LEFT JOIN (SELECT session_id, key FROM b ORDER BY seq LIMIT 1 BY session_id, key) AS c ON s.key = c.key
WHERE l.key = ? AND l.key IN (SELECT key FROM logs) AND position(p, 'key') > 0 ORDER BY key;
