//go:build unix

package billed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Case is a file of the project that is run, and what has to come of it.
type Case struct {
	About   string         `json:"about"`
	File    string         `json:"file"`
	Input   map[string]any `json:"input"`
	Flags   []string       `json:"flags"`
	MaxUSD  float64        `json:"max_usd"` // that the run may take; 0: any
	Answers []Rule         `json:"answers"`
	Tools   []string       `json:"tools"` // of a tree that is killed: the names that its tool is called with

	Rows bool `json:"-"` // the run is recorded in ClickHouse, too

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

// ReadCase reads a case.
func ReadCase(t testing.TB, path string) *Case {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var c Case
	require.NoError(t, json.Unmarshal(data, &c), path)
	return &c
}

// Arguments returns those of the run of a case.
func (c *Case) Arguments(id string) []string {
	args := []string{"run", c.File, "--session", id, "--json", "--progress", "plain"}
	if !c.Rows {
		args = append(args, "--no-clickhouse")
	}
	if c.MaxUSD > 0 {
		args = append(args, "--max-usd", strconv.FormatFloat(c.MaxUSD, 'f', -1, 64))
	}
	if c.Input != nil {
		data, err := json.Marshal(c.Input)
		if err != nil {
			panic(err) // it came from JSON
		}
		args = append(args, "--input-json", string(data))
	}
	return append(args, c.Flags...)
}

// resume returns the arguments that continue a run of the case.
func (c *Case) resume(id string) []string {
	return []string{"resume", id, "--json", "--progress", "plain"}
}

// Play validates, runs and verifies the file of a case, and returns all that is not as it says.
func (w *World) Play(name string, c *Case) error {
	w.T.Helper()
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if v := w.Start(nil, "validate", c.File); v.Code != 0 {
		wrong("validate: exit code %d\n%s%s", v.Code, v.Out, v.Err)
	} else if err := c.checkWarnings(v.Out + v.Err); err != nil {
		errs = append(errs, err)
	}
	ran := w.Start(nil, c.Arguments(name)...)
	if ran.Code != c.Exit {
		wrong("run: exit code %d, not %d\n%s", ran.Code, c.Exit, ran.Err)
	}
	if said := w.Provider.Wrong(); said != "" && c.Exit == 0 {
		errs = append(errs, errors.New(said))
	}
	if !w.Exists(name) {
		return errors.Join(errs...)
	}
	if c.Exit == 0 && ran.Code == 0 {
		if got, want := echo.AsText(w.Result(ran).Output), echo.AsText(c.Output); c.Output != nil && got != want {
			wrong("the output is %s, not %s", got, want)
		}
	}
	for _, text := range c.Says {
		if !strings.Contains(ran.Err, text) {
			wrong("standard error does not say %q:\n%s", text, ran.Err)
		}
	}
	if v := w.Start(nil, "verify", name); v.Code != 0 {
		wrong("verify: exit code %d\n%s%s", v.Code, v.Out, v.Err)
	}
	return errors.Join(append(errs, w.checkTree(name, c), w.checkRequests(c))...)
}

// checkWarnings holds what validate prints against what the case says it warns of.
func (c *Case) checkWarnings(said string) error {
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
func (w *World) checkTree(name string, c *Case) error {
	w.T.Helper()
	tree := w.Tree(name)
	errs := []error{tree.Agree()}
	got := tree.Statuses()
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
	for _, e := range record.Counted(tree.Root.Entries) {
		counts[e.NodeType]++
	}
	for node, n := range c.Entries {
		if counts[node] != n {
			errs = append(errs, fmt.Errorf("there are %d entries %s, not %d", counts[node], node, n))
		}
	}
	if c.Exit == 0 && !c.Failing {
		errs = append(errs, tree.Failures())
	}
	w.ShownSum(tree)
	if n := w.SettleBill(tree); n != 0 {
		errs = append(errs, fmt.Errorf("%d answers never came to a record", n))
	}
	return errors.Join(errs...)
}

func (w *World) checkRequests(c *Case) error {
	var all strings.Builder
	for _, r := range w.Provider.Requests() {
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
