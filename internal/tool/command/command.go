// Package command runs a shell command line of which nothing remains, with bounded output and only
// the environment that it is given. Its process group is killed when it, its time or the context
// ends. On Linux, processes that left the group are found by a mark in their environment; those
// that cleared it too are out of reach, as are all that left it elsewhere.
//
// The package imports nothing else of windlass.
package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DefaultMaxOutput is how many bytes are kept of each stream of a command.
const DefaultMaxOutput = 64 << 10

// grace is the time between the request to end and the kill.
const grace = 2 * time.Second

// mark is the environment variable by which the processes of a command are known.
const mark = "WINDLASS_COMMAND"

// drainTime bounds reading after the last kill: only a process out of reach holds the pipe longer.
const drainTime = 500 * time.Millisecond

// ErrUnsupported is returned where there is no POSIX shell to run commands with.
var ErrUnsupported = errors.New("running commands is not supported on this system")

// Spec is a command to run.
type Spec struct {
	Line      string        // for /bin/sh -c
	Dir       string        // the working directory
	Env       []string      // the whole environment, as NAME=value
	Stdin     string        // empty: no input
	Timeout   time.Duration // 0: until the context ends
	MaxOutput int           // bytes kept of each stream; 0: [DefaultMaxOutput]
	Combined  bool          // write both streams into Stdout, in the order they came
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr Capture
	ExitCode       int    // -1 when a signal ended it
	Signal         string // the signal that ended it, or empty
	TimedOut       bool
	LeftBehind     int // processes that were still running when the command had ended, and were killed
}

// Run runs a command and returns when nothing of it is left. Failure and timeout are a Result. The
// error is that of ctx, [ErrUnsupported], or why it did not start.
func Run(ctx context.Context, s Spec) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if strings.IndexByte(s.Line, 0) >= 0 {
		return Result{}, errors.New("start command: it holds a NUL character")
	}
	s.MaxOutput = cmp.Or(s.MaxOutput, DefaultMaxOutput)
	id := ownMark() + rand.Text()
	cmd, err := newCommand(s.Line)
	if err != nil {
		return Result{}, err
	}
	cmd.Dir = s.Dir
	cmd.Env = slices.Concat(s.Env, []string{mark + "=" + id})
	p := &process{cmd: cmd, id: id, spec: s}
	if err := p.start(); err != nil {
		return Result{}, fmt.Errorf("start command: %w", err)
	}
	return p.wait(ctx)
}

// ownMark begins the marks of all commands of this process.
func ownMark() string { return strconv.Itoa(os.Getpid()) + "-" }

// KillAll kills the processes of all running commands of this process, on Linux only, without
// waiting for their ends. It is for a program that exits in haste.
func KillAll() { killStrays(ownMark()) }

// process belongs to the goroutine of Run, each Capture to its reader until readers is done.
type process struct {
	cmd  *exec.Cmd
	id   string
	spec Spec

	stdout, stderr Capture
	pipes          []*os.File // the ends that this side reads
	readers        sync.WaitGroup
}

func (p *process) start() (err error) {
	defer func() {
		if err != nil {
			p.closePipes()
		}
	}()
	stdin, err := p.stdin()
	if err != nil {
		return err
	}
	defer stdin.Close() //nolint:errcheck // the child has its own copy of each of these files
	out, err := p.pipe(&p.stdout)
	if err != nil {
		return err
	}
	defer out.Close() //nolint:errcheck // as above
	errs := out
	if !p.spec.Combined {
		if errs, err = p.pipe(&p.stderr); err != nil {
			return err
		}
		defer errs.Close() //nolint:errcheck // as above
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, out, errs
	return p.cmd.Start()
}

// stdin returns a file without a name: no goroutine has to feed a command that does not read.
func (p *process) stdin() (*os.File, error) {
	if p.spec.Stdin == "" {
		return os.Open(os.DevNull)
	}
	f, err := os.CreateTemp("", "windlass-stdin-")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(p.spec.Stdin)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// pipe returns the end that the command writes, and reads the other one into c.
func (p *process) pipe(c *Capture) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.limit = p.spec.MaxOutput
	p.pipes = append(p.pipes, r)
	p.readers.Go(func() {
		_, _ = io.Copy(c, r) // an error is the end: the pipe was closed or its time was up
	})
	return w, nil
}

// closePipes ends the readers.
func (p *process) closePipes() {
	for _, r := range p.pipes {
		_ = r.Close()
	}
	p.readers.Wait()
}

// wait waits for the end of the command, brings it about when it has to, and clears up.
func (p *process) wait(ctx context.Context) (Result, error) {
	exited := make(chan error, 1)
	go func() { exited <- p.cmd.Wait() }()
	var timeUp <-chan time.Time
	if p.spec.Timeout > 0 {
		timeUp = time.After(p.spec.Timeout)
	}
	var res Result
	var waitErr, ctxErr error
	select {
	case waitErr = <-exited:
	case <-timeUp:
		res.TimedOut = true
		waitErr = p.end(exited)
	case <-ctx.Done():
		ctxErr = ctx.Err()
		waitErr = p.end(exited)
	}
	res.LeftBehind = killStrays(p.id)
	kill(p.cmd.Process.Pid)
	p.drain()
	res.Stdout, res.Stderr = p.stdout, p.stderr
	res.ExitCode, res.Signal = p.cmd.ProcessState.ExitCode(), signalOf(p.cmd.ProcessState)
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) && ctxErr == nil {
		return res, fmt.Errorf("wait for command: %w", waitErr)
	}
	return res, ctxErr
}

// end asks the group to end, and kills it when it does not.
func (p *process) end(exited <-chan error) error {
	terminate(p.cmd.Process.Pid)
	select {
	case err := <-exited:
		return err
	case <-time.After(grace):
	}
	kill(p.cmd.Process.Pid)
	return <-exited
}

// drain reads the rest of the output.
func (p *process) drain() {
	for _, r := range p.pipes {
		_ = r.SetReadDeadline(time.Now().Add(drainTime)) // pipes have deadlines wherever commands run
	}
	p.readers.Wait()
	p.closePipes()
}
