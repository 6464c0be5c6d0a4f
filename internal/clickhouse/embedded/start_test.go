package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
)

func TestMain(m *testing.M) {
	if IsServe(os.Args[1:]) {
		serveOtherwise(os.Args[1:])
		os.Exit(Serve(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == fakeServer {
		fmt.Fprintln(os.Stderr, runFakeServer(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// realEngine returns an engine of this machine, fetched if need be.
func realEngine(t *testing.T) Engine {
	t.Helper()
	cache, err := config.CacheDir()
	require.NoError(t, err)
	e, _, err := Find(t.Context(), ConfigFromEnv(cache), nil)
	require.NoError(t, err)
	return e
}

// tempEngine returns a new engine folder and ends its engine when the test is over: the engine
// notices that its folder is gone.
func tempEngine(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "clickhouse")
}

func start(t *testing.T, dir string) Endpoint {
	t.Helper()
	e, err := Start(t.Context(), dir, "", realEngine(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { stopEngine(t, dir, e) })
	return e
}

// stopEngine ends an engine that a test started, if it still runs.
func stopEngine(t *testing.T, dir string, e Endpoint) {
	t.Helper()
	if now, err := Running(dir); err == nil && now != nil && now.PID == e.PID {
		sendSignal(t, e, syscall.SIGTERM)
	}
	awaitEnd(t, dir)
}

func sendSignal(t *testing.T, e Endpoint, s os.Signal) {
	t.Helper()
	p, err := os.FindProcess(e.PID)
	require.NoError(t, err)
	require.NoError(t, p.Signal(s))
}

func awaitEnd(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		held, err := lockHeld(filepath.Join(dir, runLockFile))
		return err == nil && !held
	}, 20*time.Second, 5*time.Millisecond, "the engine did not end")
}

func exec1(t *testing.T, e Endpoint, sql string) {
	t.Helper()
	c, err := connect(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.NoError(t, c.Exec(t.Context(), sql))
}

func count(t *testing.T, e Endpoint) uint64 {
	t.Helper()
	c, err := connect(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	var n uint64
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count() FROM default.t").Scan(&n))
	return n
}

func TestDataSurvivesTheEngine(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	first := start(t, dir)
	exec1(t, first, "CREATE TABLE default.t (a Int64) ENGINE = MergeTree ORDER BY a")
	exec1(t, first, "INSERT INTO default.t VALUES (1)")

	sendSignal(t, first, syscall.SIGKILL)
	awaitEnd(t, dir)
	e, err := Running(dir)
	require.NoError(t, err)
	require.Nil(t, e, "the endpoint of a killed engine is not trusted")

	second := start(t, dir)
	require.NotEqual(t, first.Password, second.Password)
	require.Equal(t, uint64(1), count(t, second), "what was inserted before kill -9 is there")
	exec1(t, second, "INSERT INTO default.t VALUES (2)")
	sendSignal(t, second, syscall.SIGTERM)
	awaitEnd(t, dir)
	require.NoFileExists(t, filepath.Join(dir, endpointFile))
	require.Equal(t, uint64(2), count(t, start(t, dir)))
}

func TestManyStartOne(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	engine := realEngine(t)
	pids := make([]int, 6)
	var wg sync.WaitGroup
	for i := range pids {
		wg.Go(func() {
			e, err := Start(t.Context(), dir, "", engine, nil)
			if err == nil {
				pids[i] = e.PID
			}
		})
	}
	wg.Wait()
	t.Cleanup(func() { stopEngine(t, dir, Endpoint{PID: pids[0]}) })
	for _, pid := range pids {
		require.NotZero(t, pid)
		require.Equal(t, pids[0], pid, "all use the engine that one of them started")
	}
}

func TestEngineEndsWhenIdle(t *testing.T) {
	t.Setenv(idleEnv, "400ms")
	dir := tempEngine(t)
	e := start(t, dir)
	c, err := connect(e)
	require.NoError(t, err)
	require.NoError(t, c.Ping(t.Context()))
	require.Never(t, func() bool {
		held, err := lockHeld(filepath.Join(dir, runLockFile))
		return err != nil || !held
	}, time.Second, 20*time.Millisecond, "a connected client keeps the engine")
	require.NoError(t, c.Close())
	awaitEnd(t, dir)
}

func TestEngineEndsWithItsFolder(t *testing.T) {
	t.Setenv(idleEnv, "1200ms") // the folder is looked at six times within it
	dir := tempEngine(t)
	e := start(t, dir)
	require.NoError(t, os.RemoveAll(dir))
	require.Eventually(t, func() bool { return ping(context.Background(), e) != nil }, 20*time.Second, 5*time.Millisecond)
}

// TestFolderMadeAgain deletes an engine's folder and starts another engine there before the first
// has noticed: the first ends and leaves the second alone.
func TestFolderMadeAgain(t *testing.T) {
	t.Setenv(idleEnv, "3s") // the folder is looked at every 500 ms
	dir := tempEngine(t)
	first := start(t, dir)
	require.NoError(t, os.RemoveAll(dir))
	second := start(t, dir)
	require.NotEqual(t, first.PID, second.PID)
	c, err := connect(second)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Ping(t.Context()))
	require.Eventually(t, func() bool { return ping(context.Background(), first) != nil }, 20*time.Second, 5*time.Millisecond)
	require.Never(t, func() bool {
		e, err := Running(dir)
		return err != nil || e == nil || e.PID != second.PID
	}, 1200*time.Millisecond, 20*time.Millisecond, "the second engine looks at its folder twice, and finds its own endpoint")
	require.NoError(t, c.Ping(t.Context()))
}

func TestLogStaysSmall(t *testing.T) {
	t.Setenv(idleEnv, "600ms")
	dir := tempEngine(t)
	e := start(t, dir)
	c, err := connect(e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Ping(t.Context()), "an engine with a client stays")
	path := filepath.Join(dir, logFile)
	require.NoError(t, os.WriteFile(path, make([]byte, logKeep+1), 0o600))
	require.Eventually(t, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() < logKeep
	}, 20*time.Second, 5*time.Millisecond)
}

func TestEngineKeepsOthersOut(t *testing.T) {
	t.Parallel()
	dir := tempEngine(t)
	e := start(t, dir)
	for _, name := range []string{endpointFile, configFile, usersFile, logFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	exec1(t, e, "CREATE TABLE default.t (a Int64) ENGINE = MergeTree ORDER BY a")
	exec1(t, e, "INSERT INTO default.t VALUES (1)")
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // the engine works on, and removes what it has merged
			return nil
		}
		if err == nil && info.Mode().Type() != fs.ModeSymlink && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		files++
		return err
	}))
	require.Greater(t, files, 10)

	users, err := os.ReadFile(filepath.Join(dir, usersFile))
	require.NoError(t, err)
	require.NotContains(t, string(users), e.Password, "only a hash of the password is in the configuration")

	wrong := e
	wrong.Password = "wrong"
	require.ErrorContains(t, ping(t.Context(), wrong), "Authentication failed")
	noise, err := net.Dial("tcp", e.Addr())
	require.NoError(t, err)
	_, err = noise.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	require.NoError(t, err)
	require.NoError(t, noise.Close())
	require.NoError(t, ping(t.Context(), e), "a client that may not come in does not end the engine")
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "libchdb.so")
	require.NoError(t, os.WriteFile(bad, []byte("not a library"), 0o600))
	dir := tempEngine(t)
	_, err := Start(t.Context(), dir, "", Engine{Kind: KindLibrary, Path: bad}, nil)
	require.ErrorContains(t, err, "start the engine: ClickHouse ended while it was starting: load "+bad)
	_, err = Start(t.Context(), dir, "", Engine{Kind: KindBinary, Path: "/nonexistent/clickhouse"}, nil)
	require.ErrorContains(t, err, "start the engine: run /nonexistent/clickhouse")
	awaitEnd(t, dir)
}

func TestEngineGetsNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	e := start(t, tempEngine(t))
	out, err := exec.Command("ps", "eww", "-o", "command", "-p", strconv.Itoa(e.PID)).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), ServeCommand)
	require.NotContains(t, string(out), "sk-secret")
}
