package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
)

// Source says where an engine can come from.
type Source string

// The sources, in the order in which they are asked. The first that has an engine is used.
const (
	SourceLibrary Source = "WINDLASS_CHDB_LIB"
	SourceBinary  Source = "clickhouse on PATH"
	SourceCache   Source = "cache"
	SourceURL     Source = "WINDLASS_ENGINE_URL"
	SourceNpm     Source = "npm"
)

// Attempt is what came of asking one source.
type Attempt struct {
	Source  Source `json:"source"`
	OK      bool   `json:"ok"`
	Outcome string `json:"outcome"` // what was found, or why nothing was
}

// Config is where to look. The zero value of a field turns its source off, except for Platform.
type Config struct {
	Library  string // path of libchdb
	URL      string // of an archive (.tar.gz) with libchdb in it, or of the library itself
	SHA256   string // of what URL gives, hexadecimal
	CacheDir string // folder for fetched engines; without one none is fetched
	Path     string // as the environment variable: where to look for clickhouse and npm
	Platform string // GOOS/GOARCH; default: this machine's
	NoFetch  bool   // only what is on this machine is found

	Gate *fetch.Gate // decides whether an engine is downloaded

	// Executable is the program that the engine process is, see [Start]; "": this one.
	Executable string
}

// ConfigFromEnv reads the configuration from the environment.
func ConfigFromEnv(cacheDir string) Config {
	return Config{
		Library:  os.Getenv(string(SourceLibrary)),
		URL:      environment.Getenv(string(SourceURL)), // it may hold a password
		SHA256:   os.Getenv("WINDLASS_ENGINE_SHA256"),
		CacheDir: cacheDir,
		Path:     os.Getenv("PATH"),
	}
}

func (c Config) platform() string {
	if c.Platform != "" {
		return c.Platform
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// NotFoundError says that there is no engine, what was tried, and how to get one.
type NotFoundError struct {
	Platform string
	Attempts []Attempt
	Err      error // the reason of the source that came closest; may be nil
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no ClickHouse engine for %s; tried:\n", e.Platform)
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "  - %s: %s\n", a.Source, a.Outcome)
	}
	b.WriteString(howToGet)
	return b.String()
}

func (e *NotFoundError) Unwrap() error { return e.Err }

const howToGet = `Get the engine in one of these ways:
  1. npm: install Node.js with npm, or set WINDLASS_ENGINE_URL and WINDLASS_ENGINE_SHA256 to an archive with libchdb
  2. chdb's own installer (github.com/chdb-io/chdb-core), then set WINDLASS_CHDB_LIB to the path of libchdb.so
  3. a clickhouse binary 25.8 or newer on PATH (clickhouse.com/docs/install), or a server: WINDLASS_CLICKHOUSE_DSN`

// errNothing is why a source that is not set up has nothing, which is no failure.
var errNothing = errors.New("not set")

// Find returns the first engine there is, fetched if need be, and what came of each source.
func Find(ctx context.Context, c Config, progress func(Progress)) (Engine, []Attempt, error) {
	return c.search(ctx, c.sources(
		func(ctx context.Context) (Engine, error) { return c.fetchURL(ctx, progress) },
		func(ctx context.Context) (Engine, error) { return c.fetchNpm(ctx, progress) }))
}

// Survey says what each source has, without fetching anything.
func Survey(ctx context.Context, c Config) (Engine, []Attempt, error) {
	return c.search(ctx, c.sources(
		func(context.Context) (Engine, error) { _, err := c.canFetchURL(); return Engine{}, err },
		func(context.Context) (Engine, error) { _, _, err := c.canFetchNpm(); return Engine{}, err }))
}

// Allow asks the gate of c at once about the download that [Find] would need. The error is that of
// the gate; what else keeps an engine from being found, Find says.
func Allow(ctx context.Context, c Config) error {
	_, _, err := c.search(ctx, c.sources(
		func(ctx context.Context) (Engine, error) { return Engine{}, c.allowURL(ctx) },
		func(ctx context.Context) (Engine, error) { return Engine{}, c.allowNpm(ctx) }))
	if fetch.IsRefused(err) || ctx.Err() != nil {
		return err
	}
	return nil
}

// offer is the download of an engine.
func (c Config) offer(size int64) fetch.Offer {
	return fetch.Offer{Name: "engine", What: "the ClickHouse engine", Size: size, Dir: c.CacheDir, Kind: failure.EngineMissing}
}

// ask returns the engine of a source; one without a path is one that could be fetched.
type ask func(context.Context) (Engine, error)

type place struct {
	name     Source
	explicit bool // the user named it: its failure is final
	ask      ask
}

func (c Config) sources(fetchURL, fetchNpm ask) []place {
	list := []place{
		{name: SourceLibrary, explicit: c.Library != "", ask: c.findLibrary},
		{name: SourceBinary, ask: c.findBinary},
		{name: SourceCache, ask: c.findCached},
	}
	if c.NoFetch {
		return list
	}
	return append(list,
		place{name: SourceURL, explicit: c.URL != "", ask: fetchURL},
		place{name: SourceNpm, ask: fetchNpm})
}

func (c Config) search(ctx context.Context, sources []place) (Engine, []Attempt, error) {
	var attempts []Attempt
	var last error
	for _, s := range sources {
		e, err := s.ask(ctx)
		switch {
		case err == nil && e.Path == "": // a promise
			attempts = append(attempts, Attempt{Source: s.name, OK: true, Outcome: "can be fetched on first use"})
			return Engine{}, attempts, nil
		case err == nil:
			return e, append(attempts, Attempt{Source: s.name, OK: true, Outcome: e.Path}), nil
		case ctx.Err() != nil:
			return Engine{}, attempts, ctx.Err()
		case fetch.IsRefused(err): // no other source is tried in its place
			return Engine{}, attempts, err
		}
		attempts = append(attempts, Attempt{Source: s.name, Outcome: err.Error()})
		if s.explicit {
			return Engine{}, attempts, fmt.Errorf("%s: %w", s.name, err)
		}
		if !errors.Is(err, errNothing) {
			last = err
		}
	}
	return Engine{}, attempts, &NotFoundError{Platform: c.platform(), Attempts: attempts, Err: last}
}

func (c Config) findLibrary(context.Context) (Engine, error) {
	if c.Library == "" {
		return Engine{}, errNothing
	}
	if !canLoad {
		return Engine{}, ErrUnsupported
	}
	info, err := os.Stat(c.Library)
	if err != nil {
		return Engine{}, fmt.Errorf("no library: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Engine{}, fmt.Errorf("%s is not a file: give the path of libchdb.so itself", c.Library)
	}
	abs, err := filepath.Abs(c.Library)
	if err != nil {
		return Engine{}, fmt.Errorf("resolve %s: %w", c.Library, err)
	}
	return Engine{Kind: KindLibrary, Path: abs}, nil
}

func (c Config) checkCache() error {
	switch {
	case !canLoad:
		return ErrUnsupported
	case c.CacheDir == "":
		return errors.New("no cache folder is set, so nothing is fetched")
	}
	return nil
}

func (c Config) findCached(context.Context) (Engine, error) {
	if err := c.checkCache(); err != nil {
		return Engine{}, err
	}
	dir := c.cachedDir()
	if dir == "" {
		return Engine{}, errors.New("no engine that could be in it")
	}
	path := filepath.Join(dir, libraryName)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return Engine{}, fmt.Errorf("nothing at %s", path)
	}
	return Engine{Kind: KindLibrary, Path: path}, nil
}

// The oldest clickhouse binary that the tables and settings of windlass work with.
const (
	minMajor = 25
	minMinor = 8
)

var versionPattern = regexp.MustCompile(`version (\d+)\.(\d+)[.\d]*`)

func (c Config) findBinary(ctx context.Context) (Engine, error) {
	if runtime.GOOS == "windows" {
		return Engine{}, ErrUnsupported
	}
	path, err := fetch.LookPath(c.Path, "clickhouse")
	if err != nil {
		return Engine{}, err
	}
	out, err := askVersion(ctx, path)
	if err != nil {
		return Engine{}, err
	}
	if err := checkVersion(out); err != nil {
		return Engine{}, fmt.Errorf("%s: %w", path, err)
	}
	return Engine{Kind: KindBinary, Path: path}, nil
}

// askVersion returns what a clickhouse binary says of its version.
func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "local", "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	return string(out), nil
}

func checkVersion(out string) error {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("its version cannot be read from %q", strings.TrimSpace(out))
	}
	major, _ := strconv.Atoi(m[1]) // digits by the pattern
	minor, _ := strconv.Atoi(m[2])
	if major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("version %d.%d is too old, %d.%d or newer is needed", major, minor, minMajor, minMinor)
	}
	return nil
}
