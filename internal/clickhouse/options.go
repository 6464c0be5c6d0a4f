package clickhouse

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// DefaultDatabase is the database of the embedded engine, and of a DSN that names none.
const DefaultDatabase = "windlass_3"

const (
	dialTimeout = 3 * time.Second
	maxConns    = 32 // they are opened as they are needed; one DB may serve all runs of a process
)

// Progress is what opening the embedded engine for the first time tells.
type Progress = embedded.Progress

// Options say which database to open.
type Options struct {
	DSN      string          // of a server; empty: the embedded engine
	Home     string          // folder that the embedded engine's data is in; see config.Home
	CacheDir string          // folder that fetched engines are in; see config.CacheDir. Empty: none is fetched
	Database string          // default: the DSN's, else [DefaultDatabase]
	Progress func(Progress)  // may be nil
	Engine   embedded.Config // where to look for an engine; zero: as the environment says
	Warn     func(string)    // is told once when an engine starts that the system cannot fully confine; may be nil

	RequireSandbox bool // such an engine is not started; the error is an [UnconfinedError]
	Reading        bool // [DB.Query] without Write will be called: what it needs is opened ahead
}

type target struct {
	options  *driver.Options
	database string
	cluster  string
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) })

// parseDSN reads a DSN. Its errors never show the password.
func parseDSN(dsn, database string) (target, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return target{}, errors.New("the ClickHouse DSN is not a URL (its text is hidden because it may hold a password): " +
			"expected clickhouse://user:password@host:9000/database, with special characters percent-encoded")
	}
	if u.Scheme != "clickhouse" && u.Scheme != "tcp" && u.Scheme != "native" {
		return target{}, fmt.Errorf("the ClickHouse DSN has the scheme %q: expected clickhouse:// (the native protocol)", u.Scheme)
	}
	q := u.Query()
	t := target{cluster: q.Get("cluster")}
	q.Del("cluster") // ours; the driver would send it as a setting
	u.RawQuery = q.Encode()
	if t.options, err = driver.ParseDSN(u.String()); err != nil {
		return target{}, fmt.Errorf("read the ClickHouse DSN: %w", err) // the driver hides the password
	}
	t.database = cmp.Or(database, t.options.Auth.Database, DefaultDatabase)
	for what, name := range map[string]string{"database": t.database, "cluster": t.cluster} {
		if name != "" && !identifier().MatchString(name) {
			return target{}, fmt.Errorf("the %s name %q is not letters, digits and underscores", what, name)
		}
	}
	t.options.Auth.Database = t.database
	if !q.Has("dial_timeout") {
		t.options.DialTimeout = dialTimeout
	}
	return t, nil
}

// HideDSN returns a DSN without its password, to be shown to people.
func HideDSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return "(not a URL; hidden because it may hold a password)"
	}
	q := u.Query()
	for _, name := range []string{"password", "http_proxy"} {
		if q.Has(name) {
			q.Set(name, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

func embeddedTarget(e embedded.Endpoint, database string) target {
	t := target{database: cmp.Or(database, DefaultDatabase), options: e.Options()}
	t.options.Auth.Database = t.database
	t.options.DialTimeout = dialTimeout
	return t
}

// Check says why the DSN cannot be one. It asks nobody, and the error shows nothing of the DSN that
// may be secret.
func (o Options) Check() error {
	if o.DSN == "" {
		return nil
	}
	_, err := parseDSN(o.DSN, o.Database)
	return err
}

// Address names the database without credentials: what was delivered is noted by it.
func (o Options) Address() string {
	if o.DSN == "" {
		return "embedded/" + cmp.Or(o.Database, DefaultDatabase)
	}
	t, err := parseDSN(o.DSN, o.Database)
	if err != nil {
		return "unknown" // it cannot be opened either
	}
	hosts := slices.Sorted(slices.Values(t.options.Addr))
	return strings.Join(hosts, ",") + "/" + t.database
}

// tune sets what windlass wants of every connection and the DSN did not say.
func (t target) tune() {
	o := t.options
	o.ClientInfo.Products = append(o.ClientInfo.Products, struct{ Name, Version string }{"windlass", ""})
	if o.MaxOpenConns == 0 {
		o.MaxOpenConns = maxConns
	}
	if o.Settings == nil {
		o.Settings = driver.Settings{}
	}
}

func quoteName(s string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(s) + "`"
}

func quoteString(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(s) + "'"
}
