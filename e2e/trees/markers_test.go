//go:build unix

package trees

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// marks are random words, by whom they belong to.
type marks map[string]string

func newMarks(owners ...string) marks {
	r, m := rand.New(rand.NewPCG(suite.Seed, 1)), marks{}
	for _, o := range owners {
		m[o] = fmt.Sprintf("mark%016x", r.Uint64())
	}
	return m
}

// in returns whose marks a text has, sorted.
func (m marks) in(text string) []string {
	var owners []string
	for o, mark := range m {
		if strings.Contains(text, mark) {
			owners = append(owners, o)
		}
	}
	slices.Sort(owners)
	return owners
}

// owns finds the mark in the newest task, of whatever kind: it is there whose request it is.
var owns = regexp.MustCompile(`(?s)(?:OWN|ROW \w at|LEAF at|SUM of|JUDGE|CALM\?) ?(?:.*?)(mark[0-9a-f]{16})`)

// check demands that each request has no mark but its owner's and those that it may see, and that each owner's mark, and
// each that it may see, is in some of its requests.
func (m marks) check(t testing.TB, w *billed.World, sees map[string][]string) {
	t.Helper()
	found := map[string]map[string]bool{}
	for _, r := range w.Provider.Requests() {
		owner := ""
		for i := range r.Messages {
			text := r.Messages[i].Text()
			if at := owns.FindStringSubmatch(text); r.Messages[i].Role == "user" && at != nil {
				owner = m.in(at[1])[0]
			}
			if r.Messages[i].Role == "user" && (strings.HasPrefix(text, "BLIND") || strings.HasPrefix(text, "SEES")) {
				owner = strings.ToLower(text[:4])
			}
		}
		if found[owner] == nil {
			found[owner] = map[string]bool{}
		}
		for _, o := range m.in(string(r.Raw)) {
			found[owner][o] = true
			if o != owner && !slices.Contains(sees[owner], o) {
				require.Fail(t, "a marker is where it does not belong", "a request of %q has the marker of %q:\n%s", owner, o, r.Raw)
			}
		}
	}
	for owner, list := range sees {
		for _, o := range list {
			require.True(t, found[owner][o], "%q is to see %q", owner, o)
		}
	}
	for o := range m {
		if o != "d" { // of a phase that runs a tool
			require.True(t, found[o][o], "there is no request of %q", o)
		}
	}
}

// TestItemsAreIndependent plants a marker in each element of a list. It is in no request of another element, of the children
// and validators of that, or of a later phase whose context does not name the list.
func TestItemsAreIndependent(t *testing.T) {
	t.Parallel()
	owners := []string{"1", "2", "3", "4", "5", "6"}
	m := newMarks(owners...)
	c := billed.ReadCase(t, "testdata/deep/marked_list.json")
	items := []any{}
	for _, o := range owners {
		items = append(items, m[o])
	}
	c.Input = map[string]any{"items": items}
	w := suite.New(t, c.Answers)
	w.Provider.Late = billed.Lateness
	w.MustRun(0, c.Arguments("marked")...)
	require.Empty(t, w.Provider.Wrong())
	sees := map[string][]string{"blin": nil, "sees": owners}
	m.check(t, w, sees)
	w.MustRun(0, "verify", "marked")
}

// TestPhasesAreIndependent does the same with phases of a graph: of what its context names, a phase sees the output, and of
// what it does not name, nothing.
func TestPhasesAreIndependent(t *testing.T) {
	t.Parallel()
	m := newMarks("a", "b", "c", "d", "e", "f", "g", "h")
	c := billed.ReadCase(t, "testdata/deep/marked_graph.json")
	w := suite.New(t, c.Answers)
	w.Provider.Late = billed.Lateness
	text := billed.ReadFile(t, w.Path(c.File))
	for o, mark := range m {
		text = strings.ReplaceAll(text, "MARK_"+o, mark)
	}
	w.File(c.File, text)
	w.MustRun(0, c.Arguments("marked")...)
	require.Empty(t, w.Provider.Wrong())
	m.check(t, w, map[string][]string{"e": {"a"}, "f": {"b", "c"}, "h": {"a", "b", "c", "d", "f"}})
	w.MustRun(0, "verify", "marked")
}
