//go:build unix

// Package attack attacks the built program. An attempt prepares a world of its own, does what an attacker would, and
// says how it got in; when it did not, it returns nil. Every group of attempts has one mutant: windlass with the check
// taken out that the group is about. A group that no mutant gets past proves nothing.
package attack

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

var (
	mutantsFlag = flag.String("mutants", "", "also run the groups against windlass with their check taken out: all, or names with commas between them")
	boundFlag   = flag.Duration("bound", lab.Bound, "after what time a program is taken for one that does not end")
	tableFlag   = flag.String("table", "", "write the table of groups to this file")
)

// attempt is one attack. try returns how it got in.
type attempt struct {
	name string
	try  func(w *lab.World) error
}

// group is the attempts on one surface.
type group struct {
	name   string
	mutant mutant
	// attempts lists them. What they have in common, such as a server of the binary, is started here and ends with t.
	attempts func(t *testing.T, bin string) []attempt
}

// mutant is windlass with a check taken out.
type mutant struct {
	without string // the check
	edits   []lab.Edit
}

var (
	theBinary string
	results   = &ledger{rows: map[string]*row{}}
)

func TestMain(m *testing.M) {
	flag.Parse()
	lab.Bound = *boundFlag
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "attack-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
	if theBinary, err = lab.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := results.print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestAttacks runs every attempt against windlass as it is.
func TestAttacks(t *testing.T) {
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			attempts := g.attempts(t, theBinary)
			requireDistinct(t, attempts)
			for _, a := range attempts {
				g.run(t, theBinary, a, func(t *testing.T, err error) {
					results.attempt(g.name, err == nil)
					if err != nil {
						t.Errorf("got in: %v", err)
					}
				})
			}
		})
	}
}

// run runs one attempt as a test of its own and tells how it went.
func (g group) run(t *testing.T, bin string, a attempt, tell func(*testing.T, error)) {
	t.Helper()
	t.Run(a.name, func(t *testing.T) {
		t.Parallel()
		tell(t, a.try(lab.New(t, bin)))
	})
}

func requireDistinct(t *testing.T, attempts []attempt) {
	t.Helper()
	const least = 10
	seen := map[string]bool{}
	for _, a := range attempts {
		if seen[a.name] {
			t.Errorf("there are two attempts with the name %q", a.name)
		}
		seen[a.name] = true
	}
	if len(seen) < least {
		t.Errorf("%d attempts; a surface has at least %d", len(seen), least)
	}
}

// TestMutants runs each group against windlass without the group's check: at least one attempt has to get in. With
// -mutants "" it only checks that every mutant's text is still there to be taken out.
func TestMutants(t *testing.T) {
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if *mutantsFlag != "all" && !slices.Contains(strings.Split(*mutantsFlag, ","), g.name) {
				requireApplies(t, g.mutant)
				return
			}
			bin, err := lab.Build(t.TempDir(), g.mutant.edits...)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var in []string
			t.Run("attempts", func(t *testing.T) {
				for _, a := range g.attempts(t, bin) {
					g.run(t, bin, a, func(t *testing.T, err error) {
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							in = append(in, a.name)
							t.Logf("got in: %v", err)
						}
					})
				}
			})
			results.mutant(g.name, g.mutant.without, in)
			if len(in) == 0 {
				t.Errorf("no attempt notices that windlass is without %s", g.mutant.without)
			}
		})
	}
}

// requireApplies demands that a mutant's edits can be made.
func requireApplies(t *testing.T, m mutant) {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.edits {
		data, err := os.ReadFile(filepath.Join(root, e.File))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), e.Old); n != 1 {
			t.Errorf("%s has the text that the mutant replaces %d times, not once:\n%s", e.File, n, e.Old)
		}
	}
}

// ledger counts what came of the attempts. It is safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	attempts, held int
	without        string
	caught         []string
}

func (l *ledger) row(name string) *row {
	if l.rows[name] == nil {
		l.rows[name] = &row{}
	}
	return l.rows[name]
}

func (l *ledger) attempt(group string, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.row(group)
	r.attempts++
	if held {
		r.held++
	}
}

func (l *ledger) mutant(group, without string, caught []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.row(group)
	r.without, r.caught = without, caught
}

// print writes the table of groups.
func (l *ledger) print() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rows) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %8s %6s  %s\n", "group", "attempts", "held", "mutant: without ..., caught by")
	var attempts, held int
	for _, name := range sortedKeys(l.rows) {
		r := l.rows[name]
		attempts, held = attempts+r.attempts, held+r.held
		caught := "not run"
		switch {
		case len(r.caught) > 0:
			slices.Sort(r.caught)
			caught = fmt.Sprintf("%s: %d, such as %s", r.without, len(r.caught), r.caught[0])
		case r.without != "":
			caught = r.without + ": by none"
		}
		fmt.Fprintf(&b, "%-12s %8d %6d  %s\n", name, r.attempts, r.held, caught)
	}
	fmt.Fprintf(&b, "%-12s %8d %6d\n", "all", attempts, held)
	fmt.Print(b.String())
	if *tableFlag == "" {
		return nil
	}
	return os.WriteFile(*tableFlag, []byte(b.String()), 0o600)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
