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
)

const (
	reportFD  = 3 // the first of exec.Cmd.ExtraFiles
	stopGrace = 10 * time.Second
)

// Serve is the program behind [ServeCommand]. args are without the program's name.
func Serve(args []string) int {
	if len(args) > 1 && args[1] == coreWord {
		return runCore(args)
	}
	// The parent waits until the pipe is closed: a child must not hold it open.
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
	// The parent's terminal must not reach the engine; the pipe breaks when the parent is killed.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	lockCtx, cancelLock := context.WithTimeout(ctx, endTimeout)
	defer cancelLock()
	lock, err := lockFolder(lockCtx, filepath.Join(a.dir, runLockFile))
	if err != nil {
		return fmt.Errorf("lock the engine's folder %s: %w", a.dir, err)
	}
	// The lock ends with this process and ClickHouse's, which uses the data folder until then.
	defer runtime.KeepAlive(lock)
	removeLeftovers(a.dir)
	e, err := launch(ctx, a, lock)
	if err != nil {
		return damageError(a.dir, err)
	}
	if err := writeEndpoint(a.dir, e.endpoint); err != nil {
		e.halt()
		return err
	}
	sendReport(out, report{Endpoint: e.endpoint})
	w := watcher{dir: a.dir, endpoint: e.endpoint, idle: idle, gate: e.gate, pause: probeEvery}
	err = watch(ctx, w, e.process)
	if !w.folderIsOurs() { // gone, or another engine's by now: nothing in it may be touched any more
		e.abandon()
		return nil
	}
	// The endpoint goes first: who still finds it waits for the lock, and then starts anew.
	_ = os.Remove(filepath.Join(a.dir, endpointFile))
	e.halt()
	return err
}

// removeLeftovers deletes what a killed engine left. Only the holder of run.lock may call it.
func removeLeftovers(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, ".*.*")) // the pattern is constant but for dir; nothing depends on it
	for _, n := range append(names, filepath.Join(dir, endpointFile)) {
		_ = os.Remove(n)
	}
}

type started struct {
	process  *process
	gate     *gate
	endpoint Endpoint
	port     *os.File // keeps the port from others, see holdPort
}

func launch(ctx context.Context, a serveArgs, lock *os.File) (*started, error) {
	hold, port, err := holdPort()
	if err != nil {
		return nil, err
	}
	password := NewPassword()
	config, err := serverConfig{dir: a.dir, kind: a.engine.Kind, port: port, password: password}.write()
	if err != nil {
		return nil, err
	}
	e := &started{port: hold, endpoint: Endpoint{
		Host: listenHost, Port: port, PID: os.Getpid(), User: userName, Password: password, Engine: a.engine.Path,
	}}
	if e.process, err = startProcess(a, config, port, lock); err != nil {
		return nil, err
	}
	if err = await(ctx, e.process, e.endpoint.listens); err == nil {
		e.gate, err = openGate(ctx, a.dir, e.endpoint.Addr())
	}
	if err != nil {
		halt(e.process)
		return nil, err
	}
	e.endpoint.Socket = e.gate.path
	if err := await(ctx, e.process, e.endpoint.askVersion); err != nil {
		e.halt()
		return nil, err
	}
	return e, nil
}

func (e *Endpoint) listens(ctx context.Context) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", e.Addr())
	if err == nil {
		_ = c.Close()
	}
	return err
}

func (e *Endpoint) askVersion(ctx context.Context) error {
	c, err := connect(*e)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.QueryRow(ctx, "SELECT version()").Scan(&e.Version)
}

func await(ctx context.Context, p *process, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done():
			return fmt.Errorf("ClickHouse ended while it was starting: %w", p.err())
		case <-ctx.Done():
			return fmt.Errorf("ClickHouse does not answer: %w", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (e *started) halt() {
	_ = e.gate.close() // what it could not remove does no harm
	halt(e.process)
	runtime.KeepAlive(e.port)
}

// abandon ends ClickHouse at once, without time to write.
func (e *started) abandon() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.process.stop(ctx)
	_ = e.gate.close()
}

// halt ends ClickHouse, after a grace time by force: its parts on disk stay valid.
func halt(p *process) {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	p.stop(ctx)
}
