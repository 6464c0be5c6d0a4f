//go:build unix

package billed

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// Kills is a test that kills windlass at random places of runs, resumes them, kills that, and so on, until each run is at
// its end. It has to end as an undisturbed one: the same output, every entry once, no recorded answer asked for again,
// parents and children that agree, money that is the server's bill, and a record that holds, also after each death.
type Kills struct {
	*Suite
	Dir     string   // of the cases
	Names   []string // of the cases
	Target  int      // how often windlass is killed in all
	Deepest int      // how many levels of children each case has at least

	Spoils func(w *World, name string) bool        // breaks what a run has read; reports whether it did; may be nil
	Ended  func(w *World, u *Undisturbed, t *Tree) // looks at a run that has ended; may be nil
	Rows   bool                                    // runs are recorded in an engine of their own, too

	t     *testing.T
	began time.Time

	deaths, rounds, answers, unreached, entries, sessions, held atomic.Int64

	mu    sync.Mutex
	traps map[string]int
}

// Lateness is the longest time that an answer takes where processes are killed.
const Lateness = 12 * time.Millisecond

// Run runs the test.
func (k *Kills) Run(t *testing.T) {
	t.Helper()
	k.t, k.began, k.traps = t, time.Now(), map[string]int{}
	t.Cleanup(k.report)
	t.Run("killed", func(t *testing.T) {
		for _, name := range k.Names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := k.undisturbed(t, name)
				for n := 1; n == 1 || u.died < k.share(); n++ {
					k.round(t, u, n)
				}
			})
		}
	})
}

// share is how often each of the cases is killed, so that none is left to the end.
func (k *Kills) share() int {
	return (k.Target + len(k.Names) - 1) / len(k.Names)
}

// Undisturbed is a run as it is when nothing happens to it.
type Undisturbed struct {
	*Case
	Name     string
	Output   string
	ids      map[string]bool // of the bodies of its requests
	shape    map[string]int
	marks    int
	requests int
	took     time.Duration
	died     int // how often it was killed so far
}

func (k *Kills) undisturbed(t *testing.T, name string) *Undisturbed {
	t.Helper()
	u := &Undisturbed{Name: name, ids: map[string]bool{}}
	u.Case = ReadCase(t, filepath.Join(k.Dir, name+".json"))
	u.Rows = k.Rows
	w := k.world(t, u)
	start := time.Now()
	r := w.Result(w.MustRun(0, u.Arguments(name)...))
	u.took, u.Output = time.Since(start), echo.AsText(r.Output)
	require.Empty(t, w.Provider.Wrong())
	w.MustRun(0, "verify", name)
	tree := w.Tree(name)
	require.NoError(t, tree.Agree())
	if !u.Failing {
		require.NoError(t, tree.Failures())
	}
	require.Zero(t, w.SettleBill(tree))
	bodies := map[string]string{}
	for _, r := range w.Provider.Requests() {
		id := llmtest.BodyID(r.Raw)
		require.Empty(t, bodies[id], "every request is another one")
		bodies[id], u.ids[id] = string(r.Raw), true
	}
	u.shape, u.marks, u.requests = tree.Shape(), w.Marks(), len(u.ids)
	deepest := 0
	for _, s := range tree.All {
		deepest = max(deepest, s.Header.Depth)
	}
	require.GreaterOrEqual(t, deepest, k.Deepest, "it is to be nested so deep")
	if k.Ended != nil {
		k.Ended(w, u, tree)
	}
	return u
}

// world returns one for a run that is killed.
func (k *Kills) world(t *testing.T, u *Undisturbed) *World {
	t.Helper()
	anew := k.New
	if k.Rows {
		anew = k.NewWithEngine
	}
	w := anew(t, u.Answers)
	w.Provider.Late = Lateness
	return w
}

// round is one tree with all its deaths.
type round struct {
	*World
	all    *Kills
	like   *Undisturbed
	t      *testing.T
	rand   *rand.Rand
	id     string
	number int
	story  []string // what happened, for when it goes wrong
}

func (k *Kills) round(t *testing.T, u *Undisturbed, n int) {
	t.Helper()
	h := fnv.New64a()
	fmt.Fprint(h, u.Name, n)
	w := k.world(t, u)
	defer w.Provider.Close()
	r := &round{World: w, all: k, like: u, t: t, rand: rand.New(rand.NewPCG(k.Seed, h.Sum64())), id: u.Name, number: n} // a model can see ids of children, which follow from it
	r.play()
	r.check()
	k.rounds.Add(1)
}

func (r *round) told() string {
	return fmt.Sprintf("%s %d, seed %d\n%s", r.id, r.number, r.all.Seed, strings.Join(r.story, "\n"))
}

// play runs the tree to its end, with some traps on the way.
func (r *round) play() {
	args := r.like.Arguments(r.id)
	for traps := 1 + r.rand.IntN(5); ; traps-- {
		var t *crashtest.Trap
		if traps > 0 {
			t = r.chooseTrap()
			r.story = append(r.story, fmt.Sprintf("%s: %s %d %s %s", args[0], t.Kind, t.N, t.File, t.Wait))
		}
		e := r.Start(t, args...)
		r.story = append(r.story, fmt.Sprintf("  exit code %d", e.Code))
		tree, err := readTree(r.Home, r.id)
		if e.Code == 0 {
			require.NoError(r.t, err, r.told())
			require.Equal(r.t, echo.StatusCompleted, record.EndOf(tree.Root.Entries).Status, r.told())
			return
		}
		if e.Code != 130 || t == nil || t.Kind != crashtest.Interrupt { // Ctrl-C is a signal like others until windlass listens to it
			require.Equal(r.t, -1, e.Code, "%s\n%s\n%s\n%s", r.told(), e.Out, e.Err, r.Provider.Wrong())
		}
		r.all.died(t)
		if t.Kind != crashtest.Interrupt {
			r.like.died++
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(r.t, err, r.told())
		r.afterDeath(tree)
		r.spoil()
		if record.EndOf(tree.Root.Entries).Status == echo.StatusCompleted {
			return
		}
		args = r.like.resume(r.id)
	}
}

// afterDeath demands that what is recorded holds, and notes what must not be asked for again.
func (r *round) afterDeath(tree *Tree) {
	r.t.Helper()
	require.NoError(r.t, tree.Agree(), r.told())
	r.SettleBill(tree)
	r.within(tree)
	v := r.Start(nil, "verify", r.id)
	require.Zero(r.t, v.Code, "%s\n%s%s", r.told(), v.Out, v.Err)
	r.all.held.Add(1)
	last := tree.Root.Entries
	if len(last) > 0 {
		r.story = append(r.story, fmt.Sprintf("  %d sessions, the root's last entry is %s", len(tree.All), last[len(last)-1].Key))
	}
}

// within demands that what is recorded is within the budget.
func (r *round) within(tree *Tree) {
	r.t.Helper()
	if r.like.MaxUSD > 0 {
		require.LessOrEqual(r.t, tree.Root.WithChildren().CostUSD, r.like.MaxUSD+Cent, r.told())
	}
}

// check holds the end of a tree against the undisturbed one.
func (r *round) check() {
	r.t.Helper()
	tree := r.Tree(r.id)
	require.Empty(r.t, r.Provider.Wrong(), r.told())
	require.NoError(r.t, tree.Agree(), r.told())
	require.Equal(r.t, r.like.Output, echo.AsText(record.EndOf(tree.Root.Entries).Output), r.told())
	r.ShownSum(tree)
	r.within(tree)
	unreached := r.SettleBill(tree)
	for id := range r.Provider.Asked() {
		require.True(r.t, r.like.ids[id], "a request is another than in the undisturbed tree\n%s", r.told())
	}
	require.Len(r.t, r.Provider.Asked(), len(r.like.ids), r.told())
	require.Equal(r.t, r.like.shape, tree.Shape(), r.told())
	for path, status := range tree.Statuses() {
		require.NotEqual(r.t, "running", status, "%s\n%s", path, r.told())
	}
	v := r.Start(nil, "verify", r.id)
	require.Zero(r.t, v.Code, "%s\n%s%s", r.told(), v.Out, v.Err)
	k := r.all
	if k.Ended != nil {
		k.Ended(r.World, r.like, tree)
	}
	k.held.Add(1)
	k.unreached.Add(int64(unreached))
	k.answers.Add(int64(len(r.Provider.Bill()) - unreached))
	k.sessions.Add(int64(len(tree.All)))
	for _, s := range tree.All {
		k.entries.Add(int64(len(s.Entries)))
	}
}

// chooseTrap returns a trap at a random place of what is left of the tree.
func (r *round) chooseTrap() *crashtest.Trap {
	answered := 0
	if tree, err := readTree(r.Home, r.id); err == nil {
		numbers, _, _ := tree.Recorded()
		answered = len(numbers)
	}
	left, marks := max(r.like.requests-answered, 1), r.Marks()
	switch pick := r.rand.IntN(12); {
	case pick < 2:
		return &crashtest.Trap{Kind: crashtest.AtRequest, N: 1 + r.rand.IntN(left)}
	case pick < 4:
		return &crashtest.Trap{Kind: crashtest.AtHalf, N: 1 + r.rand.IntN(left)}
	case pick < 6:
		return &crashtest.Trap{Kind: crashtest.AtAnswer, N: 1 + r.rand.IntN(left)}
	case pick < 8:
		return &crashtest.Trap{Kind: crashtest.InTool, File: []string{"dies-before-", "dies-after-"}[r.rand.IntN(2)] + r.like.Tools[r.rand.IntN(len(r.like.Tools))]}
	case pick < 10:
		return &crashtest.Trap{Kind: crashtest.AtMark, N: marks + 1 + r.rand.IntN(max(r.like.marks-marks, 1))}
	}
	kind := crashtest.AtTime
	if r.rand.IntN(4) == 0 {
		kind = crashtest.Interrupt
	}
	return &crashtest.Trap{Kind: kind, Wait: time.Duration(r.rand.Int64N(int64(r.like.took + r.like.took/4)))}
}

// spoil breaks what the run has read: what it reaches was recorded when it began.
func (r *round) spoil() {
	if r.all.Spoils != nil && r.rand.IntN(2) == 1 && r.all.Spoils(r.World, r.like.Name) {
		r.story = append(r.story, "  files that the run has read are broken now")
	}
}

func (k *Kills) died(t *crashtest.Trap) {
	k.mu.Lock()
	k.traps[string(t.Kind)]++
	k.mu.Unlock()
	if t.Kind != crashtest.Interrupt {
		k.deaths.Add(1)
	}
}

// report says what came of it.
func (k *Kills) report() {
	if k.t.Failed() {
		k.t.Logf("seed %d", k.Seed)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var kinds []string
	for kind, n := range k.traps {
		kinds = append(kinds, fmt.Sprintf("%s: %d", kind, n))
	}
	slices.Sort(kinds)
	k.t.Logf("seed %d: windlass was killed %d times (%s); %d runs of %d sessions ended as undisturbed ones, with %d entries; "+
		"%d answers are recorded once, as billed, and %d more never reached a record; %d records held. It took %s.",
		k.Seed, k.deaths.Load(), strings.Join(kinds, ", "), k.rounds.Load(), k.sessions.Load(), k.entries.Load(),
		k.answers.Load(), k.unreached.Load(), k.held.Load(), time.Since(k.began).Round(time.Second))
}
