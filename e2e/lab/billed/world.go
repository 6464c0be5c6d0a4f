//go:build unix

// Package billed is what suites of runs against a strict server that bills have in common: a project and the server that
// answers by rules; the record of a run and of everything below it, held against itself and against the bill; the deaths
// of a run; and bad input, with what is said of it.
package billed

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// Suite is what all worlds of a suite have in common.
type Suite struct {
	Project string // the folder that each world has a copy of

	// Main sets these.
	Bin    string // windlass
	Deaths int    // how often it is killed in all
	Seed   uint64 // where, and which markers are planted
	Update bool   // write golden files anew

	// The prices of the project's windlass.json, and of models that have prices of their own there.
	Prices      *llmtest.Prices
	ModelPrices map[string]*llmtest.Prices

	Cache llmtest.Cache // without one, what a run costs does not depend on the order of its calls

	// Expects says how many tokens an answer is expected to have that may have more, or any number of them; else a
	// budget counts as many as it may have. May be nil.
	Expects func(*llmtest.Request) (tokens int64, ok bool)
}

// World is a copy of the project, a home, and a server of its own.
type World struct {
	*lab.World
	Provider *Provider
	Marked   func() int // what traps at marks count; nil: see Marks
	Others   []string   // sessions that are runs of their own, and no children of the one that is looked at
	suite    *Suite
}

// New returns a world whose models answer by rules.
func (s *Suite) New(t testing.TB, rules []Rule) *World {
	t.Helper()
	return s.in(lab.New(t, s.Bin), rules)
}

// NewWithEngine returns one whose runs are recorded in an engine of its own, too.
func (s *Suite) NewWithEngine(t testing.TB, rules []Rule) *World {
	t.Helper()
	return s.in(lab.NewWithEngine(t, s.Bin), rules)
}

func (s *Suite) in(in *lab.World, rules []Rule) *World {
	in.T.Helper()
	w := &World{World: in, Provider: s.startProvider(in.T, rules), suite: s}
	w.Setenv("OPENAI_BASE_URL", w.Provider.URL)
	w.Memory = 0
	require.NoError(in.T, os.CopyFS(w.Dir, os.DirFS(s.Project)))
	return w
}

// Ended is how a process ended.
type Ended struct {
	Code     int // -1: it was killed
	Out, Err string
}

// Start runs windlass under a trap.
func (w *World) Start(t *crashtest.Trap, args ...string) *Ended {
	w.T.Helper()
	w.Provider.Set(t)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(w.T.Context(), w.Bin, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.Dir, w.Env, &out, &errs, 10*time.Second
	if t != nil && t.Kind == crashtest.InTool {
		w.File(t.File, "")
		defer func() { _ = os.Remove(w.Path(t.File)) }() // it is there when the tool did not run
	}
	require.NoError(w.T, cmd.Start())
	t.Begin(cmd.Process)
	marked := w.Marked
	if marked == nil {
		marked = w.Marks
	}
	stop := t.Watch(marked)
	err := cmd.Wait()
	stop()
	w.Provider.Set(nil)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(w.T, err)
	}
	return &Ended{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errs.String()}
}

var markTypes = []string{"phase_end", "child_start", "child_end", "branch_start", "branch_end", "candidate", "ballot", "choice", "wait", "answer", "run_end"}

// Marks counts the beginnings and ends that are in the journals, and the letters in the mailboxes.
func (w *World) Marks() int {
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
	for _, mailbox := range []string{"mailbox", filepath.Join("sessions", "*", "mailbox")} {
		letters, _ := filepath.Glob(filepath.Join(w.Home, mailbox, "*.json")) // likewise
		n += len(letters)
	}
	return n
}

// MustRun runs windlass to its end, and demands the exit code.
func (w *World) MustRun(code int, args ...string) *Ended {
	w.T.Helper()
	e := w.Start(nil, args...)
	require.Equal(w.T, code, e.Code, "windlass %s\n%s\n%s\n%s", strings.Join(args, " "), e.Out, e.Err, w.Provider.Wrong())
	require.NotRegexp(w.T, `panic: |goroutine \d+ \[|error of its own`, e.Err)
	return e
}

// Result is what run --json prints, as far as it is looked at.
type Result struct {
	SessionID string  `json:"session_id"`
	Status    string  `json:"status"`
	Reason    string  `json:"reason"`
	Output    any     `json:"output"`
	CostUSD   float64 `json:"cost_usd"`
}

// Result reads what a run printed with --json.
func (w *World) Result(e *Ended) *Result {
	w.T.Helper()
	var r Result
	require.NoError(w.T, json.Unmarshal([]byte(e.Out), &r), "%s\n%s", e.Out, e.Err)
	return &r
}

// Tree reads a run with everything below it.
func (w *World) Tree(root string) *Tree {
	w.T.Helper()
	t, err := readTree(w.Home, root)
	require.NoError(w.T, err)
	t.lost = slices.DeleteFunc(t.lost, func(id string) bool { return slices.Contains(w.Others, id) })
	return t
}

// Forest is a run with everything below it, and with the others beside it: what the server has billed.
func (w *World) Forest(root string) *Tree {
	w.T.Helper()
	t := w.Tree(root)
	for _, id := range w.Others {
		if w.Exists(id) {
			t.All = append(t.All, w.Tree(id).All...)
		}
	}
	return t
}

// SettleBill holds the money that a tree has recorded against the server's bill, and returns how many answers never
// reached a record. It notes what is recorded: that must not be asked for again.
func (w *World) SettleBill(t *Tree) (unreached int) {
	w.T.Helper()
	numbers, usd, err := t.Recorded()
	require.NoError(w.T, err)
	var bill, lost int64
	for _, c := range w.Provider.Bill() {
		if numbers[c.Number] {
			bill += c.Nano
			delete(numbers, c.Number)
			continue
		}
		lost += c.Nano
		unreached++
	}
	require.Empty(w.T, numbers, "answers are recorded that the server did not bill")
	require.InDelta(w.T, float64(bill)/1e9, usd, Cent, "what is recorded is not what the server billed (%d answers for $%.9f never came to a record)", unreached, float64(lost)/1e9)
	numbers, _, _ = t.Recorded()
	w.Provider.settle(numbers)
	return unreached
}

// ShownSum demands that windlass shows the sum of a tree, with its children, as the parts of it come to.
func (w *World) ShownSum(t *Tree) {
	w.T.Helper()
	if len(t.Root.Children) == 0 {
		return
	}
	var shown struct {
		With struct {
			CostUSD float64 `json:"cost_usd"`
		} `json:"with_children"`
	}
	e := w.MustRun(0, "show", t.Root.Header.SessionID, "--json")
	require.NoError(w.T, json.Unmarshal([]byte(e.Out), &shown), e.Out)
	_, usd, err := t.Recorded()
	require.NoError(w.T, err)
	require.InDelta(w.T, usd, shown.With.CostUSD, Cent, e.Out)
}

// Exists reports whether a session's journal is there.
func (w *World) Exists(id string) bool {
	_, err := os.Stat(filepath.Join(w.Home, "sessions", id, "journal.jsonl"))
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadFile reads a file that is there.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
