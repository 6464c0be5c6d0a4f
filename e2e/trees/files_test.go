//go:build unix

package trees

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// fewestFiles is how many files of every key, alone and combined, there are to be at least.
const fewestFiles = 40

// fileCase is a file of testdata/project that is run, and what has to come of it.
type fileCase struct {
	About   string         `json:"about"`
	File    string         `json:"file"`
	Input   map[string]any `json:"input"`
	Flags   []string       `json:"flags"`
	Answers []rule         `json:"answers"`
	Tools   []string       `json:"tools"` // of a tree that is killed: the names that its tool is called with

	Exit     int                   `json:"exit"`
	Output   any                   `json:"output"`   // nil: any
	Children map[string]string     `json:"children"` // by path, with their status; nil: any that complete
	Entries  map[echo.NodeType]int `json:"entries"`  // how many the root has of a type
	Failing  bool                  `json:"failing"`  // a tool fails; else none does in a run that completes
	Sent     []string              `json:"sent"`     // each is in some request
	Unsent   []string              `json:"unsent"`   // none is in any
	Says     []string              `json:"says"`     // each is in what the run writes to standard error
	Warns    []string              `json:"warns"`    // each is in what validate writes; else it warns of nothing
}

func readCase(t testing.TB, path string) *fileCase {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var c fileCase
	require.NoError(t, json.Unmarshal(data, &c), path)
	return &c
}

func caseNames(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/cases/*.json")
	require.NoError(t, err)
	names := map[string]string{}
	for _, path := range paths {
		names[strings.TrimSuffix(filepath.Base(path), ".json")] = path
	}
	return names
}

// TestFiles validates, runs and verifies every file, and holds what came of it against its case.
func TestFiles(t *testing.T) {
	t.Parallel()
	cases := caseNames(t)
	require.GreaterOrEqual(t, len(cases), fewestFiles)
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := readCase(t, path)
			w := newWorld(t, c.Answers)
			require.NoError(t, w.play(name, c))
		})
	}
}

// arguments returns those of the run of a case.
func (c *fileCase) arguments(id string) []string {
	args := []string{"run", c.File, "--session", id, "--no-clickhouse", "--json", "--progress", "plain"}
	if c.Input != nil {
		data, err := json.Marshal(c.Input)
		if err != nil {
			panic(err) // it came from JSON
		}
		args = append(args, "--input-json", string(data))
	}
	return append(args, c.Flags...)
}

// play validates, runs and verifies the file of a case, and returns all that is not as it says.
func (w *world) play(name string, c *fileCase) error {
	w.t.Helper()
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if v := w.start(nil, "validate", c.File); v.code != 0 {
		wrong("validate: exit code %d\n%s%s", v.code, v.out, v.err)
	} else if err := c.checkWarnings(v.out + v.err); err != nil {
		errs = append(errs, err)
	}
	ran := w.start(nil, c.arguments(name)...)
	if ran.code != c.Exit {
		wrong("run: exit code %d, not %d\n%s", ran.code, c.Exit, ran.err)
	}
	if said := w.server.wrong(); said != "" && c.Exit == 0 {
		errs = append(errs, errors.New(said))
	}
	if !w.exists(name) {
		return errors.Join(errs...)
	}
	if c.Exit == 0 && ran.code == 0 {
		if got, want := echo.AsText(w.result(ran).Output), echo.AsText(c.Output); c.Output != nil && got != want {
			wrong("the output is %s, not %s", got, want)
		}
	}
	for _, text := range c.Says {
		if !strings.Contains(ran.err, text) {
			wrong("standard error does not say %q:\n%s", text, ran.err)
		}
	}
	if v := w.start(nil, "verify", name); v.code != 0 {
		wrong("verify: exit code %d\n%s%s", v.code, v.out, v.err)
	}
	return errors.Join(append(errs, w.checkTree(name, c), w.checkRequests(c))...)
}

// checkWarnings holds what validate prints against what the case says it warns of.
func (c *fileCase) checkWarnings(said string) error {
	if len(c.Warns) == 0 && !strings.Contains(said, "0 warnings") {
		return fmt.Errorf("validate warns:\n%s", said)
	}
	for _, text := range c.Warns {
		if !strings.Contains(said, text) {
			return fmt.Errorf("validate does not warn of %q:\n%s", text, said)
		}
	}
	return nil
}

// checkTree holds the record against the case, its parts against each other, and its money against the bill.
func (w *world) checkTree(name string, c *fileCase) error {
	w.t.Helper()
	tree := w.tree(name)
	errs := []error{tree.agree()}
	got := tree.statuses()
	if c.Children == nil && c.Exit == 0 {
		for path, status := range got {
			if status != echo.StatusCompleted.String() {
				errs = append(errs, fmt.Errorf("the child %q is %q", path, status))
			}
		}
	}
	if c.Children != nil {
		for path, status := range c.Children {
			if got[path] != status {
				errs = append(errs, fmt.Errorf("the child %q is %q, not %q; there are %v", path, got[path], status, got))
			}
		}
		if len(got) != len(c.Children) {
			errs = append(errs, fmt.Errorf("there are the children %v, not %v", got, c.Children))
		}
	}
	counts := map[echo.NodeType]int{}
	for _, e := range record.Counted(tree.root.Entries) {
		counts[e.NodeType]++
	}
	for node, n := range c.Entries {
		if counts[node] != n {
			errs = append(errs, fmt.Errorf("there are %d entries %s, not %d", counts[node], node, n))
		}
	}
	if c.Exit == 0 && !c.Failing {
		errs = append(errs, tree.failures())
	}
	w.shownSum(tree)
	if n := w.settleBill(tree); n != 0 {
		errs = append(errs, fmt.Errorf("%d answers never came to a record", n))
	}
	return errors.Join(errs...)
}

func (w *world) checkRequests(c *fileCase) error {
	var all strings.Builder
	for _, r := range w.server.Requests() {
		all.Write(r.Raw)
	}
	var errs []error
	for _, text := range c.Sent {
		if !strings.Contains(all.String(), inJSON(text)) {
			errs = append(errs, fmt.Errorf("no request has %q", text))
		}
	}
	for _, text := range c.Unsent {
		if strings.Contains(all.String(), inJSON(text)) {
			errs = append(errs, fmt.Errorf("a request has %q", text))
		}
	}
	return errors.Join(errs...)
}

// inJSON returns a text as it stands in a string of JSON, one with quotes as it is.
func inJSON(text string) string {
	if strings.Contains(text, `"`) {
		return text
	}
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts can be encoded
	}
	return strings.Trim(string(data), `"`)
}
