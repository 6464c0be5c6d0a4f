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
	"strings"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
)

// readers is how many session readers can be in use at once. clickhouse-local has no place to create users in, so they
// exist from the start, each with a database of its own that only it may read.
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

// readerPassword derives a reader's password from the engine's, so that one secret is stored.
func readerPassword(password string, i int) string {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte(readerName(i)))
	return hex.EncodeToString(mac.Sum(nil))
}

// ClaimReader takes a reader for this process. A reader of a process that died is free again. Its database may hold what
// that process left.
func ClaimReader(dir string, e Endpoint) (*Reader, error) {
	for i := 1; i <= readers; i++ {
		slot := flock.New(filepath.Join(dir, "reader"+strconv.Itoa(i)+".lock"),
			flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
		got, err := slot.TryLock()
		if err != nil {
			return nil, fmt.Errorf("take a reader of the engine: %w", err)
		}
		if got {
			return &Reader{Name: readerName(i), Password: readerPassword(e.Password, i), slot: slot}, nil
		}
	}
	return nil, ErrNoReader
}

// Release gives the reader back.
func (r *Reader) Release() error { return r.slot.Unlock() }

// readerUsers returns the readers' part of the users file.
func readerUsers(password string) string {
	var b strings.Builder
	for i := 1; i <= readers; i++ {
		sum := sha256.Sum256([]byte(readerPassword(password, i)))
		fmt.Fprintf(&b, `    <%[1]s>
      <password_sha256_hex>%[2]x</password_sha256_hex>
      <networks><ip>%[3]s</ip></networks>
      <profile>reader</profile>
      <quota>default</quota>
      <grants><query>GRANT SELECT ON %[1]s.*</query></grants>
    </%[1]s>
`, readerName(i), sum, listenHost)
	}
	return b.String()
}

// Limit is a setting of a session reader, by which hostile or careless SQL is bounded.
type Limit struct{ Name, Value string }

// ReaderLimits are the settings of every session reader, on the embedded engine and on servers. With readonly = 1 the
// server lets a query change none of them.
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

// readerProfile returns the readers' settings as a part of the users file.
func readerProfile() string {
	var b strings.Builder
	for _, l := range ReaderLimits() {
		fmt.Fprintf(&b, "      <%[1]s>%[2]s</%[1]s>\n", l.Name, l.Value)
	}
	return b.String()
}
