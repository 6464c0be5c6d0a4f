package figures

// MemorySQL is the statement for how often runs have written each file of each bank, and were told of it. What people write
// is only in the banks.
const MemorySQL = `SELECT bank, project, path, sum(wrote) AS versions, sum(told) AS readings, max(at) AS last
FROM
(
    SELECT bank, project, path, at, 1 AS wrote, 0 AS told FROM memory_versions
    UNION ALL
    SELECT bank, project, path, at, 0 AS wrote, 1 AS told FROM memory_reads
)
GROUP BY bank, project, path
ORDER BY bank, project, path`

// BankSQL returns the statement for what runs have written into a bank, and how many sessions were told of each version.
func BankSQL(bank, project string) string {
	is := "bank = " + Quoted(bank) + " AND project = " + Quoted(project)
	return `SELECT v.at AS at, v.session_id AS session_id, v.key AS key, v.command AS command, v.path AS path, v.version AS version, v.gone AS gone,
       v.renamed_from AS renamed_from, r.readers AS readers
FROM memory_versions AS v
LEFT JOIN (SELECT version, uniqExact(session_id) AS readers FROM memory_reads WHERE ` + is + ` GROUP BY version) AS r ON v.version = r.version
WHERE v.` + "bank = " + Quoted(bank) + " AND v.project = " + Quoted(project) + `
ORDER BY at DESC, path
SETTINGS join_use_nulls = 0`
}

// MemosSQL returns the statement for what runs have written into the memos of a scope, and how many sessions were told of
// each version. project is "" for the global ones.
func MemosSQL(scope, project string) string {
	c := conditions{"v.scope = " + Quoted(scope)}
	if project != "" {
		c.add("v.project = %s", Quoted(project))
	}
	return `SELECT v.at AS at, v.session_id AS session_id, v.key AS key, v.action AS action, v.memo AS memo, v.version AS version, v.gone AS gone, v.tags AS tags,
       r.readers AS readers
FROM memos AS v
LEFT JOIN (SELECT version, uniqExact(session_id) AS readers FROM memo_reads GROUP BY version) AS r ON v.version = r.version` + c.sql() + `
ORDER BY at DESC, memo
SETTINGS join_use_nulls = 0`
}
