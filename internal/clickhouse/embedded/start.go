package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/source"
)

const (
	startTimeout = 60 * time.Second      // a cold start from a slow disk; warm ones take 0.2 s
	endTimeout   = 15 * time.Second      // how long an engine that is ending may hold its folder
	lockPoll     = 15 * time.Millisecond // flock cannot wait and listen to a context at once
	logKeep      = 1 << 20               // a log that is larger is begun anew
)

// ErrUnsupported is returned where no engine can be run by windlass.
var ErrUnsupported = errors.New("the embedded engine does not run on " + runtime.GOOS + "/" + runtime.GOARCH)

// Start returns the endpoint of the engine in dir, and starts engine there if none runs; of several
// callers one starts it, and the others wait. The engine outlives this process. Its program is the
// file executable, which knows [ServeCommand]; "" is this program. progress may be nil.
func Start(ctx context.Context, dir, executable string, engine Engine, progress func(Progress)) (Endpoint, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Endpoint{}, fmt.Errorf("make the engine's folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // it may have been made by someone less careful
		return Endpoint{}, fmt.Errorf("protect the engine's folder: %w", err)
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(dir, startLockFile), func() { fetch.Tell(progress, Progress{Step: StepWait}) })
	if err != nil {
		return Endpoint{}, err
	}
	defer unlock()
	e, err := takeOver(ctx, dir, progress)
	if err != nil {
		return Endpoint{}, err
	}
	if e != nil {
		return *e, nil
	}
	fetch.Tell(progress, Progress{Step: StepStart})
	return spawn(ctx, executable, serveArgs{dir: dir, engine: engine})
}

// takeOver returns the engine in dir that answers, or nil once no process holds the folder. One
// that is about to end is waited for: two engines must never use one data folder.
func takeOver(ctx context.Context, dir string, progress func(Progress)) (*Endpoint, error) {
	deadline := time.Now().Add(endTimeout)
	for told := false; ; {
		alive, err := lockHeld(filepath.Join(dir, runLockFile))
		if err != nil || !alive {
			return nil, err
		}
		e, err := readEndpoint(dir) // an error may pass: who holds the lock writes it anew, or ends
		switch {
		case e == nil:
		case e.isOlder():
			endOlder(*e)
		case ping(ctx, *e) == nil:
			return e, nil
		}
		if !told {
			told = true
			fetch.Tell(progress, Progress{Step: StepWait})
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(stuckError(dir, e), err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// endOlder asks the engine of an older windlass, which holds the lock of its endpoint, to end.
func endOlder(e Endpoint) {
	if p, err := os.FindProcess(e.PID); err == nil {
		_ = p.Signal(syscall.SIGTERM) // it may have ended by itself
	}
}

func stuckError(dir string, e *Endpoint) error {
	if e == nil {
		return fmt.Errorf("an engine process holds %s but does not say where it listens: end it and try again", dir)
	}
	return fmt.Errorf("the engine process %d holds %s but does not answer on %s: end it and try again", e.PID, dir, e.Addr())
}

type report struct {
	Endpoint Endpoint `json:"endpoint"`
	Error    string   `json:"error,omitempty"`
}

func spawn(ctx context.Context, executable string, args serveArgs) (Endpoint, error) {
	logPath := filepath.Join(args.dir, logFile)
	log, err := openLog(logPath)
	if err != nil {
		return Endpoint{}, err
	}
	defer func() { _ = log.Close() }()
	r, w, err := os.Pipe()
	if err != nil {
		return Endpoint{}, fmt.Errorf("make the pipe to the engine process: %w", err)
	}
	defer func() { _ = r.Close() }()
	cmd, err := command(executable, args)
	if err != nil {
		return Endpoint{}, errors.Join(err, w.Close())
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		return Endpoint{}, fmt.Errorf("start the engine process: %w", err)
	}
	go func() { _ = cmd.Wait() }() // reaps the child if it ends before this process; its result is in the report
	return readReport(ctx, r, logPath)
}

func command(executable string, args serveArgs) (*exec.Cmd, error) {
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this executable, to start the engine process from it: %w", err)
		}
	}
	cmd := exec.Command(executable, args.list()...) //nolint:noctx // the child outlives the run that starts it
	cmd.Dir = args.dir
	cmd.Env = engineEnvironment()
	detach(cmd)
	return cmd, nil
}

func openLog(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil {
		if err := source.Readable(path, info.Mode()); err != nil {
			return nil, fmt.Errorf("open the engine's log: %w", err)
		}
		if info.Size() > logKeep {
			flags |= os.O_TRUNC
		}
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the engine's log: %w", err)
	}
	return f, nil
}

func readReport(ctx context.Context, r *os.File, logPath string) (Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })
	defer stop()
	b, err := io.ReadAll(r)
	switch {
	case ctx.Err() != nil:
		return Endpoint{}, fmt.Errorf("wait for the engine to start (its log: %s): %w", logPath, ctx.Err())
	case err != nil:
		return Endpoint{}, fmt.Errorf("wait for the engine to start: %w", err)
	case len(b) == 0:
		return Endpoint{}, fmt.Errorf("the engine process ended while it was starting%s", logTail(logPath))
	}
	var rep report
	if err := json.Unmarshal(b, &rep); err != nil {
		return Endpoint{}, fmt.Errorf("read what the engine process said: %w", err)
	}
	if rep.Error != "" {
		return Endpoint{}, fmt.Errorf("start the engine: %s", rep.Error)
	}
	rep.Endpoint.Started = true
	return rep.Endpoint, nil
}

func logTail(path string) string {
	b, err := source.ReadFile(path, 16*logKeep)
	if err != nil || len(b) == 0 {
		return " (its log " + path + " is empty)"
	}
	const keep = 600
	s := strings.TrimSpace(string(b))
	if len(s) > keep {
		s = "..." + strings.ToValidUTF8(s[len(s)-keep:], "")
	}
	return "; the end of its log " + path + ":\n" + s
}
