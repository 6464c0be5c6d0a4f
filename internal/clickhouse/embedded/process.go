package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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

// process is a ClickHouse that runs as a confined child of the engine process, and ends with it, so
// that no server is left behind that holds the data.
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

// clickHouseEnv is the environment of ClickHouse. Its home is its data folder: it needs nothing of
// the person's.
func clickHouseEnv(dir string) []string {
	return append(variables("PATH", "TZ", "LANG", "LC_ALL", "GOCOVERDIR"), "HOME="+dataPath(dir))
}

// openInput returns ClickHouse's standard input, a pseudo-terminal into which nothing is typed, and
// its other end, which stays open: see localArgs. Where there is none the input is empty, and the
// engine starts again after a client with a wrong password.
func openInput() (input, terminal *os.File, err error) {
	if terminal, input, err = pty.Open(); err == nil {
		return input, terminal, nil
	}
	if input, err = os.Open(os.DevNull); err != nil {
		return nil, nil, fmt.Errorf("open ClickHouse's input: %w", err)
	}
	return input, nil, nil
}

// coreWord follows [ServeCommand] in the confined process; else an absolute path does.
const coreWord = "clickhouse"

// runCore is the confined process. It tells its parent why ClickHouse has ended.
func runCore(args []string) int {
	if len(args) != 6 {
		fmt.Fprintf(os.Stderr, "engine: wrong arguments for ClickHouse: %q\n", args)
		return 1
	}
	library, dir, config := args[2], args[3], args[4]
	port, err := strconv.Atoi(args[5])
	if err != nil {
		fmt.Fprintf(os.Stderr, "engine: port: %v\n", err)
		return 1
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(lockFD)
	syscall.CloseOnExec(reasonFD)
	go endWithParent(os.NewFile(lifelineFD, "lifeline"))
	fmt.Fprint(os.NewFile(reasonFD, "reason"), runLibrary(library, localArgs(dir, config, port)))
	return 1
}

// endWithParent ends this process when the other end of the lifeline is closed.
func endWithParent(lifeline *os.File) {
	_, _ = io.Copy(io.Discard, lifeline)
	os.Exit(1)
}

// systemFiles are what ClickHouse, the C library and the Go runtime read of the system: facts about
// the machine, time zones, names; nothing of a person. /proc shows no more than to everyone.
var systemFiles = []string{
	"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage", "/sys/block",
	"/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf",
	"/dev/urandom", "/dev/random", "/dev/zero",
}

// confinement is all that ClickHouse may reach: its data, to write, its configuration and program,
// and its port. The engine's endpoint with the password is not in it.
func confinement(a serveArgs, program, config string, port int) (sandbox.Policy, error) {
	execute, libraries, err := sandbox.Loader(program)
	if err != nil {
		return sandbox.Policy{}, err
	}
	p := sandbox.Policy{
		Read:    append(append([]string{config, filepath.Join(a.dir, usersFile), a.engine.Path}, systemFiles...), libraries...),
		Write:   []string{dataPath(a.dir), os.DevNull},
		Execute: append([]string{program}, execute...),
		Listen:  []uint16{uint16(port)}, //nolint:gosec // a port
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		p.Write = append(p.Write, dir)
	}
	return p, nil
}

func dataPath(dir string) string { return filepath.Join(dir, dataDir) }
