package embedded

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/sandbox"
)

// serveOtherwise changes what the engine process of a test does, by files in the engine's folder:
// "serve-query" has what the library's own session runs, "read-library" lets a stand-in of a
// clickhouse binary read the library.
func serveOtherwise(args []string) {
	dir := args[1]
	if dir == coreWord {
		dir = args[3]
	}
	if q, err := os.ReadFile(filepath.Join(dir, dataDir, "serve-query")); err == nil {
		serveQuery = string(q)
	}
	if _, err := os.Stat(filepath.Join(dir, dataDir, "probe-often")); err == nil {
		probeEvery = 100 * time.Millisecond
	}
	if lib, err := os.Readlink(filepath.Join(dir, dataDir, "library")); err == nil {
		systemFiles = append(systemFiles, lib)
	}
}

// withServeQuery has the library's own session in dir run something else.
func withServeQuery(t *testing.T, dir, query string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dataPath(dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dataPath(dir), "serve-query"), []byte(query), 0o600))
}

// atPort opens a connection to ClickHouse's own port, past the gate, as any local program may.
func atPort(t *testing.T, e Endpoint, user, password string) clickhouse.Conn {
	t.Helper()
	c, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{e.Addr()}, Auth: clickhouse.Auth{Username: user, Password: password},
		DialTimeout: 10 * time.Second, MaxOpenConns: 1,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func loginAtPort(t *testing.T, e Endpoint, user, password string) error {
	t.Helper()
	return atPort(t, e, user, password).Ping(t.Context())
}

// defaultNames could lead to the user that has no password: its own spellings, and the markers by
// which the protocol tells other ways to log in.
var defaultNames = []string{
	"default", "", "Default", "default ", " default", "DEFAULT", "default\x00", "`default`",
	" INTERSERVER SECRET ", " SSH KEY AUTHENTICATION default", " JWT AUTHENTICATION ", " JWT AUTHENTICATION default",
}

func TestNobodyLogsInAsDefault(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"while it starts and serves":        "",
		"after an error of its own session": "SYSTEM START LISTEN TCP; SELECT throwIf(1)",
		"when its own session has no query": "SYSTEM START LISTEN TCP",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempEngine(t)
			if query != "" {
				withServeQuery(t, dir, query)
			}
			stop := flood(t, dir)
			e := start(t, dir)
			for _, user := range defaultNames {
				require.Error(t, loginAtPort(t, e, user, ""), "user %q", user)
			}
			tried, in := stop(1500)
			require.Zero(t, in, "logins that were let in of %d", tried)
			require.NoError(t, ping(t.Context(), e), "windlass itself still gets in")
		})
	}
}

// flood logs in as the engine's own user again and again, on eight connections at once, from before
// the port is open. The function that it returns waits for so many attempts at the open port, ends
// it, and says how many there were and got in.
func flood(t *testing.T, dir string) func(atLeast int64) (tried, in int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var tried, in, refused atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				addr := portInConfig(dir)
				if addr == "" {
					continue
				}
				c, err := clickhouse.Open(&clickhouse.Options{Addr: []string{addr}, Auth: clickhouse.Auth{Username: "default"}, MaxOpenConns: 1})
				if err != nil {
					return
				}
				var one uint8
				err = c.QueryRow(ctx, "SELECT 1").Scan(&one)
				var op *net.OpError
				switch {
				case err == nil:
					in.Add(1)
				case errors.As(err, &op) && op.Op == "dial":
					refused.Add(1)
				default:
					tried.Add(1)
				}
				_ = c.Close()
			}
		})
	}
	return func(atLeast int64) (int64, int64) {
		require.Eventually(t, func() bool { return tried.Load() >= atLeast || in.Load() > 0 }, 2*time.Minute, 5*time.Millisecond)
		cancel()
		wg.Wait()
		require.Positive(t, refused.Load(), "it begins before the port is open")
		return tried.Load(), in.Load()
	}
}

// portInConfig reads the port from the configuration, which is written before ClickHouse starts.
func portInConfig(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "<tcp_port>")
	port, _, ok := strings.Cut(rest, "</tcp_port>")
	if !ok {
		return ""
	}
	return net.JoinHostPort(listenHost, port)
}

// TestNoUserReachesOut tries what leads out of ClickHouse as each user that can log in, at the port
// itself.
func TestNoUserReachesOut(t *testing.T) {
	t.Parallel()
	require.Empty(t, sandbox.Missing(), "this test needs a kernel that can confine everything")
	dir := tempEngine(t)
	e := start(t, dir)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("a secret"), 0o600))
	made := filepath.Join(t.TempDir(), "made")
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	var called atomic.Int64
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			called.Add(1)
			_ = c.Close()
		}
	}()
	inFolder := filepath.Join(dataPath(dir), "user_files", "made")
	doors := []string{
		"SELECT file('" + secret + "')",
		"SELECT file('" + filepath.Join(dir, endpointFile) + "')",
		"SELECT file('" + filepath.Join(dir, "reader1.lock") + "', '')  || file('" + secret + "')",
		"SELECT file('/etc/passwd')",
		"SELECT file('/proc/" + strconv.Itoa(e.PID) + "/environ')",
		"SELECT file('/proc/" + strconv.Itoa(os.Getpid()) + "/environ')",
		"SELECT * FROM file('" + secret + "', 'LineAsString')",
		"SELECT * FROM default.`" + secret + "`",
		"SELECT * FROM fileCluster('x', '" + secret + "', 'LineAsString')",
		"INSERT INTO FUNCTION file('" + made + "', 'LineAsString', 'a String') VALUES ('x')",
		"INSERT INTO FUNCTION file('" + inFolder + "', 'LineAsString', 'a String') VALUES ('x')",
		"SELECT * FROM url('http://" + server.Addr().String() + "/', 'LineAsString', 'a String')",
		"INSERT INTO FUNCTION url('http://" + server.Addr().String() + "/', 'LineAsString', 'a String') VALUES ('x')",
		"SELECT * FROM s3('http://" + server.Addr().String() + "/b/k', 'LineAsString')",
		"SELECT * FROM remote('" + server.Addr().String() + "', 'system.one')",
		"SELECT * FROM mysql('" + server.Addr().String() + "', 'd', 't', 'u', 'p')",
		"SELECT * FROM postgresql('" + server.Addr().String() + "', 'd', 't', 'u', 'p')",
		"SELECT * FROM sqlite('" + secret + "', 't')",
		"SELECT * FROM executable('id', 'LineAsString', 'a String')",
		"CREATE TABLE default.f (a String) ENGINE = File(LineAsString, '" + made + "')",
		"CREATE TABLE default.u (a String) ENGINE = URL('http://" + server.Addr().String() + "/', LineAsString)",
		"CREATE DATABASE f ENGINE = Filesystem('/')",
		"CREATE DATABASE s ENGINE = SQLite('" + secret + "')",
		"CREATE DATABASE m ENGINE = MySQL('" + server.Addr().String() + "', 'd', 'u', 'p')",
		"CREATE DICTIONARY default.d (k UInt64, a String) PRIMARY KEY k SOURCE(FILE(path '" + secret + "' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
		"CREATE FUNCTION f AS x -> x",
		"CREATE NAMED COLLECTION c AS a = 1",
		"CREATE USER u",
		"GRANT ALL ON *.* TO " + userName,
		"BACKUP DATABASE system TO File('" + made + "')",
		"RESTORE DATABASE d FROM File('" + made + "')",
		"SYSTEM STOP LISTEN TCP",
		"SYSTEM START LISTEN HTTP",
		"SYSTEM SHUTDOWN",
		"SYSTEM RELOAD CONFIG",
		"KILL QUERY WHERE user = 'default' OR user = '' SYNC",
	}
	r, err := ClaimReader(dir, e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Release()) })
	readonly, readonlyPassword := ReadonlyUser(e)
	for user, password := range map[string]string{e.User: e.Password, r.Name: r.Password, readonly: readonlyPassword} {
		c := atPort(t, e, user, password)
		require.NoError(t, c.Ping(t.Context()))
		for _, sql := range doors {
			rows, err := c.Query(t.Context(), sql)
			if err == nil {
				for rows.Next() {
				}
				err = errors.Join(rows.Err(), rows.Close())
			}
			if strings.HasPrefix(sql, "KILL") {
				continue // there is nothing that it may see; what matters is below
			}
			require.Error(t, err, "%s as %s", sql, user)
		}
	}
	require.NoFileExists(t, made)
	require.NoFileExists(t, inFolder)
	require.Zero(t, called.Load(), "connections that ClickHouse made")
	require.NoError(t, ping(t.Context(), e))
	require.Error(t, loginAtPort(t, e, "default", ""), "its own session still has its place")
}

func TestEngineThatDoesNotListenEnds(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	withServeQuery(t, dir, "SYSTEM START LISTEN TCP; SELECT sleepEachRow(1) FROM numbers(2) FORMAT Null; SYSTEM STOP LISTEN TCP; "+
		"SELECT sleepEachRow(3) FROM numbers(1000000000) SETTINGS max_block_size = 1 FORMAT Null")
	e := start(t, dir)
	require.Eventually(t, func() bool {
		_ = ping(t.Context(), e) // whoever would use it finds out
		held, err := lockHeld(filepath.Join(dir, runLockFile))
		return err == nil && !held
	}, 30*time.Second, 20*time.Millisecond, "the engine did not end")
	require.NoFileExists(t, filepath.Join(dir, endpointFile))
	b, err := os.ReadFile(filepath.Join(dir, logFile))
	require.NoError(t, err)
	require.Contains(t, string(b), "engine: ClickHouse does not listen on its port any more")
	require.NoError(t, os.Remove(filepath.Join(dataPath(dir), "serve-query")))
	require.NoError(t, ping(t.Context(), start(t, dir)), "the next one starts anew")
}

// TestEngineThatDoesNotAnswerEnds stops ClickHouse's process: it takes connections and answers
// none.
func TestEngineThatDoesNotAnswerEnds(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	require.NoError(t, os.MkdirAll(dataPath(dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dataPath(dir), "probe-often"), nil, 0o600))
	e := start(t, dir)
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(e.PID)).Output()
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(child, syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		held, err := lockHeld(filepath.Join(dir, runLockFile))
		return err == nil && !held
	}, 2*time.Minute, 20*time.Millisecond, "the engine did not end")
	b, err := os.ReadFile(filepath.Join(dir, logFile))
	require.NoError(t, err)
	require.Contains(t, string(b), "engine: ClickHouse does not answer any more")
}

func TestPortIsHeld(t *testing.T) {
	t.Parallel()
	hold, port, err := holdPort()
	require.NoError(t, err)
	addr := net.JoinHostPort(listenHost, strconv.Itoa(port))
	_, err = new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	require.ErrorContains(t, err, "address already in use")
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.ErrorContains(t, err, "connection refused")
	require.NoError(t, hold.Close())
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestSocketOfALongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30), "clickhouse")
	e := start(t, dir)
	require.NotContains(t, e.Socket, "long")
	info, err := os.Stat(filepath.Dir(e.Socket))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, ping(t.Context(), e))
	stopEngine(t, dir, e)
	require.NoDirExists(t, filepath.Dir(e.Socket))
}

// TestEngineOfAnOlderWindlass: it has no socket; whoever needs an engine ends it and starts one.
func TestEngineOfAnOlderWindlass(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	old := start(t, dir)
	older := old
	older.Socket = ""
	require.NoError(t, writeEndpoint(dir, older))
	e, err := Running(dir)
	require.NoError(t, err)
	require.Nil(t, e)
	next := start(t, dir)
	require.NotEqual(t, old.PID, next.PID)
	require.NoError(t, ping(t.Context(), next))
}

// TestKilledEngineLeavesNothing kills the engine process alone: ClickHouse ends with it, and only
// then is the folder free.
func TestKilledEngineLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	e := start(t, dir)
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(e.PID)).Output()
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	sendSignal(t, e, os.Kill)
	awaitEnd(t, dir)
	// It gives back the lock and the data before the system has ended it.
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 20*time.Second, 5*time.Millisecond, "ClickHouse's process goes on")
}
