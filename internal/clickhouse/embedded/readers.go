package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
)

// readers is how many session readers can be in use at once. clickhouse-local has no place to
// create users in, so they exist from the start, each with a database of its own that only it may
// read.
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
