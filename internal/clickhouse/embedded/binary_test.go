package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
)

// fakeServer is the argument that makes the test binary a stand-in for "clickhouse server". It is strict about how it is
// called and configured, and then serves with the real library: what it does not cover is how a real clickhouse server
// reads the rest of the configuration.
const fakeServer = "__fake_clickhouse"

// runFakeServer is the stand-in. It returns when it cannot run; else it ends with a signal.
func runFakeServer(args []string) error {
	if len(args) != 2 || args[0] != "server" {
		return fmt.Errorf("called with %q", args)
	}
	path, ok := strings.CutPrefix(args[1], "--config-file=")
	if !ok {
		return fmt.Errorf("called with %q", args)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	port := regexp.MustCompile(`<tcp_port>(\d+)</tcp_port>`).FindSubmatch(b)
	host := regexp.MustCompile(`<listen_host>127\.0\.0\.1</listen_host>`).Find(b)
	data := regexp.MustCompile(`<path>(.+)/</path>`).FindSubmatch(b)
	if port == nil || host == nil || data == nil || strings.Contains(string(b), "http_port") {
		return errors.New("the configuration is not that of a private engine")
	}
	if cwd, err := os.Getwd(); err != nil || cwd != string(data[1]) {
		return fmt.Errorf("started in %s, not in its data folder: %w", cwd, err)
	}
	n, err := strconv.Atoi(string(port[1]))
	if err != nil {
		return err
	}
	cache, err := config.CacheDir()
	if err != nil {
		return err
	}
	c := ConfigFromEnv(cache)
	lib, err := c.findCached(context.Background())
	if err != nil {
		return err
	}
	r, err := startLibrary(lib.Path, localArgs(filepath.Dir(path), path, n))
	if err != nil {
		return err
	}
	<-r.done()
	return r.err()
}

func TestEngineFromABinary(t *testing.T) {
	t.Parallel()
	realEngine(t) // the stand-in needs the library in the cache
	self, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$1\" in\nlocal) echo 'ClickHouse local version 25.8.1.1.' ;;\n*) exec '" + self + "' " + fakeServer + " \"$@\" ;;\nesac\n"
	writeProgram(t, filepath.Join(bin, "clickhouse"), script)
	engine, _, err := Find(t.Context(), Config{Path: bin}, nil)
	require.NoError(t, err)
	require.Equal(t, Engine{Kind: KindBinary, Path: filepath.Join(bin, "clickhouse")}, engine)

	dir := tempEngine(t)
	e, err := Start(t.Context(), dir, engine, nil)
	require.NoError(t, err)
	exec1(t, e, "CREATE TABLE default.t (a Int64) ENGINE = MergeTree ORDER BY a")
	exec1(t, e, "INSERT INTO default.t VALUES (1)")
	sendSignal(t, e, syscall.SIGTERM)
	awaitEnd(t, dir)
	_, err = net.Dial("tcp", e.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "the server has ended with its engine process")

	e, err = Start(t.Context(), dir, engine, nil)
	require.NoError(t, err)
	require.Equal(t, uint64(1), count(t, e))
	stopEngine(t, dir, e)
}

func TestBinaryThatIsTooOld(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'ClickHouse local version 24.3.1.1.'\n"
	writeProgram(t, filepath.Join(bin, "clickhouse"), script)
	_, attempts, err := Find(t.Context(), Config{Path: bin, Platform: "plan9/mips"}, nil)
	require.ErrorContains(t, err, "version 24.3 is too old, 25.8 or newer is needed")
	require.Equal(t, SourceBinary, attempts[1].Source)
}
