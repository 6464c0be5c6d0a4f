//go:build unix

package trees

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/internal/crashtest"
)

const project = "testdata/project"

// world is a copy of the project, a home, and a server of its own.
type world struct {
	*lab.World
	t      testing.TB
	server *provider
}

func newWorld(t testing.TB, rules []rule) *world {
	t.Helper()
	w := &world{World: lab.New(t, theBinary), t: t, server: startProvider(t, rules)}
	w.Setenv("OPENAI_BASE_URL", w.server.URL)
	w.Memory = 0
	require.NoError(t, os.CopyFS(w.Dir, os.DirFS(project)))
	return w
}

// ended is how a process ended.
type ended struct {
	code     int // -1: it was killed
	out, err string
}

// start runs windlass under a trap.
func (w *world) start(t *crashtest.Trap, args ...string) *ended {
	w.t.Helper()
	w.server.Set(t)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(w.t.Context(), w.Bin, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.Dir, w.Env, &out, &errs, 10*time.Second
	if t != nil && t.Kind == crashtest.InTool {
		w.File(t.File, "")
		defer func() { _ = os.Remove(w.Path(t.File)) }() // it is there when the tool did not run
	}
	require.NoError(w.t, cmd.Start())
	t.Begin(cmd.Process)
	stop := t.Watch(w.marks)
	err := cmd.Wait()
	stop()
	w.server.Set(nil)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(w.t, err)
	}
	return &ended{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
}

var markTypes = []string{"phase_end", "child_start", "child_end", "branch_start", "branch_end", "run_end"}

// marks counts the beginnings and ends that are in the journals.
func (w *world) marks() int {
	n := 0
	paths, _ := filepath.Glob(filepath.Join(w.Home, "sessions", "*", "journal.jsonl")) // the pattern is a good one
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it is being made
		}
		for _, kind := range markTypes {
			n += bytes.Count(data, []byte(`"node_type":"`+kind+`"`))
		}
	}
	return n
}

// run runs windlass to its end, and demands the exit code.
func (w *world) run(code int, args ...string) *ended {
	w.t.Helper()
	e := w.start(nil, args...)
	require.Equal(w.t, code, e.code, "windlass %s\n%s\n%s\n%s", strings.Join(args, " "), e.out, e.err, w.server.wrong())
	require.NotRegexp(w.t, `panic: |goroutine \d+ \[|error of its own`, e.err)
	return e
}

// result is what run --json prints, as far as it is looked at.
type result struct {
	SessionID string  `json:"session_id"`
	Status    string  `json:"status"`
	Reason    string  `json:"reason"`
	Output    any     `json:"output"`
	CostUSD   float64 `json:"cost_usd"`
}

func (w *world) result(e *ended) *result {
	w.t.Helper()
	var r result
	require.NoError(w.t, json.Unmarshal([]byte(e.out), &r), "%s\n%s", e.out, e.err)
	return &r
}

func (w *world) tree(root string) *tree {
	w.t.Helper()
	t, err := readTree(w.Home, root)
	require.NoError(w.t, err)
	return t
}

// settleBill holds the money that a tree has recorded against the server's bill, and returns how many answers never
// reached a record. It notes what is recorded: that must not be asked for again.
func (w *world) settleBill(t *tree) (unreached int) {
	w.t.Helper()
	numbers, usd, err := t.recorded()
	require.NoError(w.t, err)
	var bill, lost int64
	for _, c := range w.server.Bill() {
		if numbers[c.Number] {
			bill += c.Nano
			delete(numbers, c.Number)
			continue
		}
		lost += c.Nano
		unreached++
	}
	require.Empty(w.t, numbers, "answers are recorded that the server did not bill")
	require.InDelta(w.t, float64(bill)/1e9, usd, cent, "what is recorded is not what the server billed (%d answers for $%.9f never came to a record)", unreached, float64(lost)/1e9)
	numbers, _, _ = t.recorded()
	w.server.settle(numbers)
	return unreached
}

// shownSum demands that windlass shows the sum of a tree, with its children, as the parts of it come to.
func (w *world) shownSum(t *tree) {
	w.t.Helper()
	if len(t.root.children) == 0 {
		return
	}
	var shown struct {
		With struct {
			CostUSD float64 `json:"cost_usd"`
		} `json:"with_children"`
	}
	e := w.run(0, "show", t.root.Header.SessionID, "--json")
	require.NoError(w.t, json.Unmarshal([]byte(e.out), &shown), e.out)
	_, usd, err := t.recorded()
	require.NoError(w.t, err)
	require.InDelta(w.t, usd, shown.With.CostUSD, cent, e.out)
}

// exists reports whether a session's journal is there.
func (w *world) exists(id string) bool {
	_, err := os.Stat(filepath.Join(w.Home, "sessions", id, "journal.jsonl"))
	return !errors.Is(err, fs.ErrNotExist)
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
