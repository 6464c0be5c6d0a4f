package embedded

import (
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
)

// fakeServer is the argument that makes the test binary a stand-in for "clickhouse server". It is
// strict about how it is called and configured, and then serves with the real library: what it does
// not cover is how a real clickhouse server reads the rest of the configuration.
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
	lib, err := os.Readlink(filepath.Join(string(data[1]), "library"))
	if err != nil {
		return err
	}
	if path, err = openDefault(path, string(data[1])); err != nil {
		return err
	}
	return runLibrary(lib, localArgs(filepath.Dir(string(data[1])), path, n))
}

// openDefault writes a configuration for the library in the stand-in, whose own session is a user
// "default" without a password, and returns its path. A server has no such session.
func openDefault(path, data string) (string, error) {
	config, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	users, err := os.ReadFile(filepath.Join(filepath.Dir(path), usersFile))
	if err != nil {
		return "", err
	}
	open := regexp.MustCompile(`(?s)(<default>\s*)<password_sha256_hex>[0-9a-f]{64}</password_sha256_hex>`).ReplaceAll(users, []byte("$1<password></password>"))
	if string(open) == string(users) {
		return "", errors.New("the user default has no secret password")
	}
	ours := filepath.Join(data, "users.xml")
	if err := os.WriteFile(ours, open, 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(data, "config.xml")
	return path, os.WriteFile(path, regexp.MustCompile(`<users_config>.*</users_config>`).ReplaceAll(config, []byte("<users_config>"+ours+"</users_config>")), 0o600)
}

func TestEngineFromABinary(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	self := copyOfSelf(t, filepath.Join(bin, "server")) // a script may run what is in its own folder
	script := "#!/bin/sh\ncase \"$1\" in\nlocal) echo 'ClickHouse local version 25.8.1.1.' ;;\n*) exec '" + self + "' " + fakeServer + " \"$@\" ;;\nesac\n"
	writeProgram(t, filepath.Join(bin, "clickhouse"), script)
	engine, _, err := Find(t.Context(), Config{Path: bin}, nil)
	require.NoError(t, err)
	require.Equal(t, Engine{Kind: KindBinary, Path: filepath.Join(bin, "clickhouse")}, engine)

	dir := tempEngine(t)
	require.NoError(t, os.MkdirAll(dataPath(dir), 0o700))
	require.NoError(t, os.Symlink(realEngine(t).Path, filepath.Join(dataPath(dir), "library")))
	e, err := Start(t.Context(), dir, "", engine, nil)
	require.NoError(t, err)
	require.Error(t, loginAtPort(t, e, "default", "")) // openDefault holds that a server has no user without a password
	exec1(t, e, "CREATE TABLE default.t (a Int64) ENGINE = MergeTree ORDER BY a")
	exec1(t, e, "INSERT INTO default.t VALUES (1)")
	sendSignal(t, e, syscall.SIGTERM)
	awaitEnd(t, dir)
	_, err = net.Dial("tcp", e.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "the server has ended with its engine process")

	e, err = Start(t.Context(), dir, "", engine, nil)
	require.NoError(t, err)
	require.Equal(t, uint64(1), count(t, e))
	stopEngine(t, dir, e)
}

// copyOfSelf copies the test binary, as the sandbox takes a program for where it is, and returns
// the path of the copy.
func copyOfSelf(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(self)
	require.NoError(t, err)
	writeProgram(t, path, string(b))
	return path
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
