package embedded

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	listenHost = "127.0.0.1"
	userName   = "windlass"
)

// serverConfig is the configuration of the engine, modest enough for a laptop.
type serverConfig struct {
	dir      string
	kind     Kind
	port     int
	password string
}

// NewPassword returns a random password of hexadecimal digits.
func NewPassword() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

func (c serverConfig) write() (string, error) {
	if strings.ContainsAny(c.dir, "\\") {
		return "", fmt.Errorf("ClickHouse does not run in a folder with a backslash in its path (%s): set WINDLASS_HOME to another", c.dir)
	}
	if err := writePrivate(filepath.Join(c.dir, usersFile), []byte(c.users())); err != nil {
		return "", err
	}
	for _, d := range []string{dataDir, filepath.Join(dataDir, "tmp"), filepath.Join(dataDir, "user_files")} {
		if err := os.MkdirAll(filepath.Join(c.dir, d), 0o700); err != nil {
			return "", fmt.Errorf("make the engine's data folder: %w", err)
		}
	}
	path := filepath.Join(c.dir, configFile)
	return path, writePrivate(path, []byte(c.server()))
}

// server returns the main configuration. ClickHouse's own log tables are off: they would grow
// without a limit. clickhouse-local can add no users later: all are known when the engine starts.
func (c serverConfig) server() string {
	data := filepath.Join(c.dir, dataDir)
	return `<clickhouse>
  <listen_host>` + listenHost + `</listen_host>
  <tcp_port>` + fmt.Sprint(c.port) + `</tcp_port>
  <listen_reuse_port>1</listen_reuse_port>
  <path>` + escape(data) + `/</path>
  <tmp_path>` + escape(filepath.Join(data, "tmp")) + `/</tmp_path>
  <user_files_path>` + escape(filepath.Join(data, "user_files")) + `/</user_files_path>
  <users_config>` + escape(filepath.Join(c.dir, usersFile)) + `</users_config>
  <default_profile>base</default_profile>
  <default_database>default</default_database>
  <max_server_memory_usage>2147483648</max_server_memory_usage>
  <max_concurrent_queries>64</max_concurrent_queries>
  <max_connections>256</max_connections>
  <mark_cache_size>67108864</mark_cache_size>
  <index_mark_cache_size>16777216</index_mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <index_uncompressed_cache_size>0</index_uncompressed_cache_size>
  <mmap_cache_size>100</mmap_cache_size>
  <compiled_expression_cache_size>16777216</compiled_expression_cache_size>
  <query_cache><max_size_in_bytes>16777216</max_size_in_bytes></query_cache>
  <background_pool_size>2</background_pool_size>
  <background_merges_mutations_concurrency_ratio>2</background_merges_mutations_concurrency_ratio>
  <background_schedule_pool_size>4</background_schedule_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <background_move_pool_size>1</background_move_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_buffer_flush_schedule_pool_size>1</background_buffer_flush_schedule_pool_size>
  <background_message_broker_schedule_pool_size>1</background_message_broker_schedule_pool_size>
  <background_distributed_schedule_pool_size>1</background_distributed_schedule_pool_size>
  <tables_loader_foreground_pool_size>2</tables_loader_foreground_pool_size>
  <tables_loader_background_pool_size>1</tables_loader_background_pool_size>
  <max_thread_pool_size>256</max_thread_pool_size>
  <max_thread_pool_free_size>8</max_thread_pool_free_size>
  <thread_pool_queue_size>1000</thread_pool_queue_size>
  <asynchronous_metrics_update_period_s>30</asynchronous_metrics_update_period_s>
  <access_control_improvements><table_engines_require_grant>true</table_engines_require_grant></access_control_improvements>
  <send_crash_reports><enabled>false</enabled></send_crash_reports>
  <merge_tree>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`
}

// users returns the users file. All users but one have random passwords, and none may reach files,
// the network or programs.
//
// The library's own session is the user "default", without a password, as which every local client
// could log in. So this user may have one session: its own, which is there before the port opens.
// If another came in all the same, it could do nothing but open the port.
func (c serverConfig) users() string {
	return `<clickhouse>
  <profiles>
    <base></base>
    <default>
      <max_sessions_for_user>1</max_sessions_for_user>
      <max_threads>1</max_threads>
      <max_memory_usage>134217728</max_memory_usage>
      <log_queries>0</log_queries>
      <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
      <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
    </default>
    <` + userName + `>
      <max_threads>4</max_threads>
      <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
      <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
      <log_queries>0</log_queries>
      <max_memory_usage>1610612736</max_memory_usage>
    </` + userName + `>
    <reader>
` + readerSettings() + `    </reader>
    <readonly>
      <readonly>1</readonly>
      <constraints>
` + readonlyConstraints() + `      </constraints>
    </readonly>
  </profiles>
  <quotas><default></default></quotas>
  <users>
` + c.userList() + `  </users>
</clickhouse>
`
}

func readerSettings() string {
	var b strings.Builder
	for _, l := range ReaderLimits() {
		fmt.Fprintf(&b, "      <%[1]s>%[2]s</%[1]s>\n", l.Name, l.Value)
	}
	return b.String()
}

func readonlyConstraints() string {
	var b strings.Builder
	for _, name := range ReadonlySettings() {
		fmt.Fprintf(&b, "        <%[1]s><changeable_in_readonly/></%[1]s>\n", name)
	}
	return b.String()
}

func (c serverConfig) userList() string {
	defaultPassword := "<password></password>"
	if c.kind != KindLibrary {
		defaultPassword = hashed(NewPassword())
	}
	list := userEntry("default", defaultPassword, "default", "GRANT SYSTEM LISTEN ON *.*") +
		userEntry(userName, hashed(c.password), userName, "GRANT "+strings.Join(fullGrants, ", ")+" ON *.*",
			"GRANT TABLE ENGINE ON "+strings.Join(tableEngines, ", TABLE ENGINE ON "))
	for i := 1; i <= readers; i++ {
		name := readerName(i)
		list += userEntry(name, hashed(derivedPassword(c.password, name)), "reader", "GRANT SELECT ON "+name+".*")
	}
	rights := []string{"GRANT SELECT, CHECK ON *.*"}
	for _, table := range readonlyHidden() {
		rights = append(rights, "REVOKE SELECT ON system."+table)
	}
	return list + userEntry(readonlyName, hashed(derivedPassword(c.password, readonlyName)), "readonly", rights...)
}

// userEntry returns a user's part of the users file. Rights are SQL, granted in their order.
func userEntry(name, password, profile string, rights ...string) string {
	return fmt.Sprintf(`    <%[1]s>
      %[2]s
      <networks><ip>%[3]s</ip></networks>
      <profile>%[4]s</profile>
      <quota>default</quota>
      <grants><query>%[5]s</query></grants>
    </%[1]s>
`, name, password, listenHost, profile, strings.Join(rights, "</query><query>"))
}

func hashed(password string) string {
	return fmt.Sprintf("<password_sha256_hex>%x</password_sha256_hex>", sha256.Sum256([]byte(password)))
}

// fullGrants are the rights of windlass's own user. Above all it has no sources (files, URLs, other
// servers), backups, functions, dictionaries, named collections or users, and of SYSTEM only what
// keeps its own tables: merges, caches, logs.
var fullGrants = []string{
	"SHOW", "SELECT", "INSERT", "ALTER", "CREATE DATABASE", "CREATE TABLE", "CREATE VIEW", "CREATE TEMPORARY TABLE",
	"DROP DATABASE", "DROP TABLE", "DROP VIEW", "UNDROP TABLE", "TRUNCATE", "OPTIMIZE", "CHECK", "SYSTEM MERGES", "SYSTEM DROP CACHE", "SYSTEM FLUSH LOGS",
	"SYSTEM SYNC FILE CACHE",
}

// tableEngines keep their rows in the engine's own folder or in memory.
var tableEngines = []string{
	"MergeTree", "ReplacingMergeTree", "SummingMergeTree", "AggregatingMergeTree", "CollapsingMergeTree",
	"VersionedCollapsingMergeTree", "CoalescingMergeTree", "GraphiteMergeTree", "Memory", "Null", "Set", "Join", "Log", "TinyLog",
	"StripeLog", "Buffer", "Merge", "GenerateRandom",
	"Atomic", // of databases
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}
