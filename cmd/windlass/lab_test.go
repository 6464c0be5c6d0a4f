package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// deadline is how long a test waits for something that happens at once on an idle machine.
const deadline = 30 * time.Second

// The exit codes, as tests write them.
const (
	exitOK          = exit.OK
	exitFailed      = exit.Failed
	exitUsage       = exit.Usage
	exitInvalid     = exit.Invalid
	exitProvider    = exit.Provider
	exitBudget      = exit.Budget
	exitStorage     = exit.Storage
	exitWaiting     = exit.Waiting
	exitInterrupted = exit.Interrupted
)

// lab runs the real binary in a folder and a home of its own, against a provider of its own.
type lab struct {
	t        *testing.T
	dir      string
	home     string
	provider *llmtest.Server
	env      []string
}

// newLab returns a lab that uses the ClickHouse of a DSN; without one it is the embedded engine in
// the lab's home.
func newLab(t *testing.T, dsn string) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir(), provider: startProvider()}
	t.Cleanup(l.provider.Close)
	l.home = filepath.Join(l.dir, "windlass")
	t.Cleanup(func() { requireAllHold(t, l.home) })
	_, cache := clickhousetest.Home(t)
	l.env = append(testEnvironment(l.dir, cache, dsn, l.provider.URL), "PATH="+os.Getenv("PATH"))
	return l
}

func (l *lab) file(name, text string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600))
}

// process is a started windlass.
type process struct {
	*exec.Cmd
	t        *testing.T
	out, err output
}

// output is what a process has written so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (l *lab) start(args ...string) *process {
	l.t.Helper()
	p := &process{Cmd: exec.Command("windlass", args...), t: l.t}
	l.begin(p)
	return p
}

func (l *lab) begin(p *process) {
	l.t.Helper()
	p.Dir, p.Env, p.Stdout, p.Stderr = l.dir, l.env, &p.out, &p.err
	require.NoError(l.t, p.Start())
	l.t.Cleanup(func() { _ = p.Process.Kill() }) // it has ended, unless the test failed
}

// wait returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	err := p.Wait()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		require.NoError(p.t, err)
	}
	return p.ProcessState.ExitCode()
}

// run runs windlass and demands an exit code.
func (l *lab) run(code int, args ...string) *process {
	l.t.Helper()
	p := l.start(args...)
	require.Equal(l.t, code, p.wait(), "%s\n%s", p.out.String(), p.err.String())
	return p
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, deadline, 5*time.Millisecond, what)
}
