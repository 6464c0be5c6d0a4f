package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
)

// readers is how many session readers exist, from the start: clickhouse-local cannot create users.
const readers = 16

// ErrNoReader is returned when all readers are in use.
var ErrNoReader = errors.New("all readers of the embedded engine are in use: try again when another run has ended")

// Reader is a user of the engine that may read the database with its own name, and nothing else.
type Reader struct {
	Name     string // of the user and of the database
	Password string
	slot     *flock.Flock
}

func readerName(i int) string { return userName + "_reader_" + strconv.Itoa(i) }

// ClaimReader takes a free reader for this process. Its database may hold what another left.
func ClaimReader(dir string, e Endpoint) (*Reader, error) {
	for i := 1; i <= readers; i++ {
		slot := flock.New(filepath.Join(dir, "reader"+strconv.Itoa(i)+".lock"),
			flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
		got, err := slot.TryLock()
		if err != nil {
			return nil, fmt.Errorf("take a reader of the engine: %w", err)
		}
		if got {
			name := readerName(i)
			return &Reader{Name: name, Password: derivedPassword(e.Password, name), slot: slot}, nil
		}
	}
	return nil, ErrNoReader
}

// Release gives the reader back.
func (r *Reader) Release() error { return r.slot.Unlock() }

// Limit is a setting of a session reader, by which hostile or careless SQL is bounded.
type Limit struct{ Name, Value string }

// ReaderLimits are the settings of every session reader, which a query cannot change.
func ReaderLimits() []Limit {
	return []Limit{
		{"readonly", "1"},
		{"max_result_rows", "1000"},
		{"max_result_bytes", "4194304"},
		{"max_execution_time", "10"},
		{"max_memory_usage", "268435456"},
		{"max_rows_to_read", "20000000"},
		{"max_threads", "2"},
		{"max_concurrent_queries_for_user", "4"},
		{"allow_introspection_functions", "0"},
		{"allow_ddl", "0"},
	}
}

const readonlyName = userName + "_readonly"

// ReadonlyUser returns the user that can read the tables of the engine and do nothing else.
func ReadonlyUser(e Endpoint) (name, password string) {
	return readonlyName, derivedPassword(e.Password, readonlyName)
}

// derivedPassword derives a user's password from the engine's, so one secret is stored.
func derivedPassword(password, name string) string {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil))
}

// ReadonlySettings are what a statement that may only read can set for itself: limits, and how
// joins, NULLs, sets, times and orders behave. None reaches anything outside of the database.
func ReadonlySettings() []string {
	return []string{
		"max_threads", "max_block_size", "max_execution_time", "timeout_overflow_mode", "max_memory_usage",
		"max_rows_to_read", "max_bytes_to_read", "read_overflow_mode", "max_result_rows", "max_result_bytes",
		"result_overflow_mode", "max_rows_to_group_by", "group_by_overflow_mode", "max_rows_to_sort", "sort_overflow_mode",
		"max_bytes_before_external_group_by", "max_bytes_before_external_sort", "max_rows_in_join", "max_bytes_in_join",
		"join_overflow_mode", "join_algorithm", "join_use_nulls", "any_join_distinct_right_table_keys", "group_by_use_nulls",
		"aggregate_functions_null_for_empty", "transform_null_in", "cast_keep_nullable", "union_default_mode",
		"except_default_mode", "intersect_default_mode", "final", "do_not_merge_across_partitions_select_final",
		"optimize_read_in_order", "optimize_aggregation_in_order", "optimize_move_to_prewhere", "use_skip_indexes",
		"force_primary_key", "force_index_by_date", "prefer_column_name_to_alias", "distributed_product_mode",
		"max_recursive_cte_evaluation_depth", "max_expanded_ast_elements", "max_ast_elements", "max_ast_depth",
		"max_query_size", "max_parser_depth", "session_timezone", "extremes", "limit", "offset", "log_comment",
		"short_circuit_function_evaluation", "allow_suspicious_types_in_group_by", "allow_suspicious_types_in_order_by",
	}
}

// readonlyHidden are tables with logins, rights, keys or memory, hidden from the read-only user.
func readonlyHidden() []string {
	return []string{
		"users", "roles", "grants", "role_grants", "user_directories", "settings_profiles", "settings_profile_elements",
		"row_policies", "quotas", "named_collections", "certificates", "stack_trace", "symbols", "jemalloc_profile_text",
	}
}
