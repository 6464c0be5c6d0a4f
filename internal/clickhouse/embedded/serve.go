package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	reportFD  = 3 // the first of exec.Cmd.ExtraFiles
	stopGrace = 10 * time.Second
)

// runner is a started ClickHouse. done is closed when it has ended, for whatever reason, and then err says why.
type runner interface {
	done() <-chan struct{}
	err() error
	// stop ends it, and waits for that as long as ctx allows.
	stop(ctx context.Context)
}

// Serve is the engine process: the whole program behind [ServeCommand]. args are the command line without the
// program's name. It returns the exit code when the engine has ended.
func Serve(args []string) int {
	// The parent waits until the pipe is closed, so a clickhouse server started from here must not hold it open.
	syscall.CloseOnExec(reportFD)
	out := os.NewFile(reportFD, "report")
	if err := serve(args, out); err != nil {
		fmt.Fprintf(os.Stderr, "engine: %v\n", err)
		sendReport(out, report{Error: err.Error()})
		return 1
	}
	return 0
}

// sendReport tells the parent, if it still listens. A parent that is gone is no reason not to run.
func sendReport(out io.WriteCloser, r report) {
	if b, err := json.Marshal(r); err == nil {
		_, _ = out.Write(b)
	}
	_ = out.Close()
}

func serve(args []string, out io.WriteCloser) error {
	a, err := parseServeArgs(args)
	if err != nil {
		return err
	}
	idle, err := idleTime()
	if err != nil {
		return err
	}
	restrictFiles()
	// The parent's terminal must not reach the engine; the pipe may break when the parent is killed.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	run := flock.New(filepath.Join(a.dir, runLockFile), flock.SetPermissions(0o600))
	lockCtx, cancelLock := context.WithTimeout(ctx, endTimeout)
	defer cancelLock()
	// Others look at the lock by taking it for an instant, so one failure proves nothing.
	if _, err := run.TryLockContext(lockCtx, lockPoll); err != nil {
		return fmt.Errorf("lock the engine's folder %s: %w", a.dir, err)
	}
	// The lock is never given back: it ends with the process, because the library holds the data folder until then.
	defer runtime.KeepAlive(run)
	removeLeftovers(a.dir)
	r, e, err := launch(ctx, a)
	if err != nil {
		return err
	}
	if err := writeEndpoint(a.dir, e); err != nil {
		halt(r)
		return err
	}
	sendReport(out, report{Endpoint: e})
	w := watcher{dir: a.dir, endpoint: e, idle: idle}
	watch(ctx, w, r.done())
	if !w.folderIsOurs() { // gone, or another engine's by now: nothing in it may be touched any more
		abandon(r)
		return nil
	}
	// The endpoint goes first: who still finds it waits for the lock, and then starts anew.
	_ = os.Remove(filepath.Join(a.dir, endpointFile))
	halt(r)
	return nil
}

// removeLeftovers deletes what a killed engine left. Only the holder of run.lock may call it.
func removeLeftovers(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, ".*.*")) // the pattern is constant but for dir; nothing depends on it
	for _, n := range append(names, filepath.Join(dir, endpointFile)) {
		_ = os.Remove(n)
	}
}

// launch starts ClickHouse on a free port and waits until it answers. A port may be taken by someone else between the
// moment it was found free and the moment ClickHouse binds it, so it is tried more than once.
func launch(ctx context.Context, a serveArgs) (runner, Endpoint, error) {
	var err error
	for range 3 {
		var r runner
		var e Endpoint
		if r, e, err = launchOnce(ctx, a); err == nil {
			return r, e, nil
		}
		if a.engine.Kind == KindLibrary {
			break // a library can be started once per process
		}
	}
	return nil, Endpoint{}, err
}

func launchOnce(ctx context.Context, a serveArgs) (runner, Endpoint, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, Endpoint{}, err
	}
	password := newPassword()
	config, err := serverConfig{dir: a.dir, port: port, password: password}.write()
	if err != nil {
		return nil, Endpoint{}, err
	}
	e := Endpoint{Host: listenHost, Port: port, PID: os.Getpid(), User: userName, Password: password, Engine: a.engine.Path}
	r, err := startEngine(a, config, port)
	if err != nil {
		return nil, Endpoint{}, err
	}
	e.Version, err = awaitAnswer(ctx, r, e)
	if err != nil {
		halt(r)
		return nil, Endpoint{}, err
	}
	return r, e, nil
}

func startEngine(a serveArgs, config string, port int) (runner, error) {
	switch a.engine.Kind {
	case KindLibrary:
		return startLibrary(a.engine.Path, localArgs(a.dir, config, port))
	case KindBinary:
		return startBinary(a.engine.Path, config, filepath.Join(a.dir, dataDir))
	default:
		return nil, fmt.Errorf("unknown kind of engine %q", a.engine.Kind)
	}
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(listenHost, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on TCP
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}

// awaitAnswer returns ClickHouse's version as soon as it answers as the private user: that proves that the listener on
// the port is ours, because nobody else knows the password.
func awaitAnswer(ctx context.Context, r runner, e Endpoint) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		version, err := askVersion(ctx, e)
		if err == nil {
			return version, nil
		}
		select {
		case <-r.done():
			return "", fmt.Errorf("ClickHouse ended while it was starting: %w", r.err())
		case <-ctx.Done():
			return "", fmt.Errorf("ClickHouse does not answer: %w", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func askVersion(ctx context.Context, e Endpoint) (string, error) {
	c, err := connect(e)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	var v string
	err = c.QueryRow(ctx, "SELECT version()").Scan(&v)
	return v, err
}

// abandon ends ClickHouse at once, without time to write.
func abandon(r runner) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.stop(ctx)
}

// halt ends ClickHouse. After the grace time the process ends anyway: ClickHouse's parts on disk are complete or ignored.
func halt(r runner) {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	r.stop(ctx)
}
