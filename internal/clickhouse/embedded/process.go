package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"

	"github.com/windlass-run/windlass/internal/sandbox"
)

// What ClickHouse's process inherits beside its standard streams.
const (
	lifelineFD = 3 // a pipe that ends with the engine process
	lockFD     = 4 // the engine's folder stays locked until both processes have ended
	reasonFD   = 5 // where the library's process writes why it ends
)

const (
	maxReason  = 16 << 10
	reasonTime = time.Second
)

// process is a ClickHouse that runs as a confined child of the engine process, which stays to watch
// it. It dies with the engine process, so that a killed one never leaves a server behind that holds
// the data.
type process struct {
	cmd      *exec.Cmd
	lifeline *os.File      // this process's end of the pipe; it closes when this process ends, however that happens
	terminal *os.File      // the other end of ClickHouse's standard input; nil: it has none
	ended    chan struct{} // closed by the goroutine of startProcess
	result   error         // valid when ended is closed
}

func (p *process) done() <-chan struct{} { return p.ended }
func (p *process) err() error            { return p.result }

// stop asks ClickHouse to end, and kills it at the end of ctx. Answered inserts are on disk.
func (p *process) stop(ctx context.Context) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended, which is what is wanted
	select {
	case <-p.ended:
	case <-ctx.Done():
		_ = p.cmd.Process.Kill()
	}
}

// startProcess starts ClickHouse, confined. lock is the locked file of the folder.
func startProcess(a serveArgs, config string, port int, lock *os.File) (*process, error) {
	cmd, err := clickHouseCommand(a, config, port)
	if err != nil {
		return nil, err
	}
	policy, err := confinement(a, cmd.Path, config, port)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.engine.Path, err)
	}
	input, terminal, err := openInput()
	if err != nil {
		return nil, err
	}
	theirs, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to ClickHouse: %w", err)
	}
	reason, said, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to ClickHouse: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{theirs, lock, said}
	cmd.Dir, cmd.Env = dataPath(a.dir), clickHouseEnv(a.dir)
	dieWithParent(cmd)
	exited, err := sandbox.Start(cmd, policy)
	for _, f := range []*os.File{input, theirs, said} {
		_ = f.Close() // the child has its own
	}
	if err != nil {
		for _, f := range []*os.File{terminal, lifeline, reason} {
			_ = f.Close()
		}
		return nil, fmt.Errorf("run %s: %w", a.engine.Path, err)
	}
	p := &process{cmd: cmd, lifeline: lifeline, terminal: terminal, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.result = ending(a.engine.Path, <-exited, reason)
	}()
	return p, nil
}

// ending says why ClickHouse has ended: what it said itself, else how its process ended.
func ending(path string, status error, reason *os.File) error {
	defer func() { _ = reason.Close() }()
	// What ClickHouse may have started holds the pipe open, so it is read as far as it is filled.
	_ = reason.SetReadDeadline(time.Now().Add(reasonTime))
	text, _ := io.ReadAll(io.LimitReader(reason, maxReason))
	switch {
	case len(text) > 0:
		return errors.New(string(text))
	case status != nil:
		return fmt.Errorf("%s: %w", path, status)
	}
	return fmt.Errorf("%s ended", path)
}

// clickHouseCommand runs ClickHouse: this executable with the library, or a binary.
func clickHouseCommand(a serveArgs, config string, port int) (*exec.Cmd, error) {
	switch a.engine.Kind {
	case KindLibrary:
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this executable, to run ClickHouse in it: %w", err)
		}
		return exec.Command(exe, ServeCommand, coreWord, a.engine.Path, a.dir, config, strconv.Itoa(port)), nil //nolint:noctx // stop ends it
	case KindBinary:
		return exec.Command(a.engine.Path, "server", "--config-file="+config), nil //nolint:noctx // stop ends it, with time to write
	default:
		return nil, fmt.Errorf("unknown kind of engine %q", a.engine.Kind)
	}
}

// clickHouseEnv is the environment of ClickHouse, with its data folder as home.
func clickHouseEnv(dir string) []string {
	return append(variables("PATH", "TZ", "LANG", "LC_ALL", "GOCOVERDIR"), "HOME="+dataPath(dir))
}

// openInput returns ClickHouse's standard input, a pseudo-terminal into which nothing is ever
// typed, and its other end, which must stay open: see localArgs. Without pseudo-terminals the input
// is empty, and the engine starts again after a client with a wrong password.
func openInput() (input, terminal *os.File, err error) {
	if terminal, input, err = pty.Open(); err == nil {
		return input, terminal, nil
	}
	if input, err = os.Open(os.DevNull); err != nil {
		return nil, nil, fmt.Errorf("open ClickHouse's input: %w", err)
	}
	return input, nil, nil
}
