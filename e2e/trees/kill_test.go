//go:build unix

package trees

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
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

// theKilled are the trees of testdata/deep: children, lists and parallel phases, nested two deep and more.
var theKilled = []string{"deep_graph", "deep_list", "deep_mixed"}

// lateness is the longest time that an answer takes where processes are killed.
const lateness = 12 * time.Millisecond

// TestKills kills windlass at random places of trees of runs, resumes them, kills that, and so on, until each tree is at
// its end. It has to end as an undisturbed one: the same output, every entry once, no recorded answer asked for again,
// parents and children that agree, money that is the server's bill, and a record that holds, also after each death.
func TestKills(t *testing.T) {
	t.Parallel()
	k := &kills{t: t, seed: cmp.Or(*seedFlag, rand.Uint64()), target: int64(*killsFlag), began: time.Now(), traps: map[string]int{}}
	t.Cleanup(k.report)
	t.Run("trees", func(t *testing.T) {
		for _, name := range theKilled {
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

// kills is the whole test.
type kills struct {
	t      *testing.T
	seed   uint64
	target int64
	began  time.Time

	deaths, rounds, answers, unreached, entries, sessions, held atomic.Int64

	mu    sync.Mutex
	traps map[string]int
}

// share is how often each of the trees is killed, so that none is left to the end.
func (k *kills) share() int {
	return (int(k.target) + len(theKilled) - 1) / len(theKilled)
}

// undisturbed is a tree as it is when nothing happens to it.
type undisturbed struct {
	*fileCase
	name     string
	output   string
	ids      map[string]bool // of the bodies of its requests
	shape    map[string]int
	marks    int
	requests int
	took     time.Duration
	died     int // how often it was killed so far
}

func (k *kills) undisturbed(t *testing.T, name string) *undisturbed {
	t.Helper()
	u := &undisturbed{name: name, ids: map[string]bool{}}
	u.fileCase = readCase(t, "testdata/deep/"+name+".json")
	w := newWorld(t, u.Answers)
	w.server.Late = lateness
	start := time.Now()
	r := w.result(w.run(0, u.arguments(name)...))
	u.took, u.output = time.Since(start), echo.AsText(r.Output)
	require.Empty(t, w.server.wrong())
	w.run(0, "verify", name)
	tree := w.tree(name)
	require.NoError(t, tree.agree())
	require.NoError(t, tree.failures())
	require.Zero(t, w.settleBill(tree))
	bodies := map[string]string{}
	for _, r := range w.server.Requests() {
		id := llmtest.BodyID(r.Raw)
		require.Empty(t, bodies[id], "every request is another one")
		bodies[id], u.ids[id] = string(r.Raw), true
	}
	u.shape, u.marks, u.requests = tree.shape(), w.marks(), len(u.ids)
	deepest := 0
	for _, s := range tree.all {
		deepest = max(deepest, s.Header.Depth)
	}
	require.GreaterOrEqual(t, deepest, 2, "it is to be nested two deep")
	return u
}

// round is one tree with all its deaths.
type round struct {
	*world
	all    *kills
	like   *undisturbed
	t      *testing.T
	rand   *rand.Rand
	id     string
	number int
	story  []string // what happened, for when it goes wrong
}

func (k *kills) round(t *testing.T, u *undisturbed, n int) {
	t.Helper()
	h := fnv.New64a()
	fmt.Fprint(h, u.name, n)
	w := newWorld(t, u.Answers)
	w.server.Late = lateness
	defer w.server.Close()
	r := &round{world: w, all: k, like: u, t: t, rand: rand.New(rand.NewPCG(k.seed, h.Sum64())), id: u.name, number: n} // a model can see ids of children, which follow from it
	r.play()
	r.check()
	k.rounds.Add(1)
}

func (r *round) told() string {
	return fmt.Sprintf("%s %d, seed %d\n%s", r.id, r.number, r.all.seed, strings.Join(r.story, "\n"))
}

// play runs the tree to its end, with some traps on the way.
func (r *round) play() {
	args := r.like.arguments(r.id)
	for traps := 1 + r.rand.IntN(5); ; traps-- {
		var t *crashtest.Trap
		if traps > 0 {
			t = r.chooseTrap()
			r.story = append(r.story, fmt.Sprintf("%s: %s %d %s %s", args[0], t.Kind, t.N, t.File, t.Wait))
		}
		e := r.start(t, args...)
		r.story = append(r.story, fmt.Sprintf("  exit code %d", e.code))
		tree, err := readTree(r.Home, r.id)
		if e.code == 0 {
			require.NoError(r.t, err, r.told())
			require.Equal(r.t, echo.StatusCompleted, record.EndOf(tree.root.Entries).Status, r.told())
			return
		}
		if e.code != 130 || t == nil || t.Kind != crashtest.Interrupt { // Ctrl-C is a signal like others until windlass listens to it
			require.Equal(r.t, -1, e.code, "%s\n%s\n%s\n%s", r.told(), e.out, e.err, r.server.wrong())
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
		if record.EndOf(tree.root.Entries).Status == echo.StatusCompleted {
			return
		}
		args = []string{"resume", r.id, "--json", "--progress", "plain"}
	}
}

// afterDeath demands that what is recorded holds, and notes what must not be asked for again.
func (r *round) afterDeath(tree *tree) {
	r.t.Helper()
	require.NoError(r.t, tree.agree(), r.told())
	r.settleBill(tree)
	v := r.start(nil, "verify", r.id)
	require.Zero(r.t, v.code, "%s\n%s%s", r.told(), v.out, v.err)
	r.all.held.Add(1)
	last := tree.root.Entries
	if len(last) > 0 {
		r.story = append(r.story, fmt.Sprintf("  %d sessions, the root's last entry is %s", len(tree.all), last[len(last)-1].Key))
	}
}

// check holds the end of a tree against the undisturbed one.
func (r *round) check() {
	r.t.Helper()
	tree := r.tree(r.id)
	require.Empty(r.t, r.server.wrong(), r.told())
	require.NoError(r.t, tree.agree(), r.told())
	require.Equal(r.t, r.like.output, echo.AsText(record.EndOf(tree.root.Entries).Output), r.told())
	r.shownSum(tree)
	unreached := r.settleBill(tree)
	for id := range r.server.Asked() {
		require.True(r.t, r.like.ids[id], "a request is another than in the undisturbed tree\n%s", r.told())
	}
	require.Len(r.t, r.server.Asked(), len(r.like.ids), r.told())
	require.Equal(r.t, r.like.shape, tree.shape(), r.told())
	for path, status := range tree.statuses() {
		require.NotEqual(r.t, "running", status, "%s\n%s", path, r.told())
	}
	v := r.start(nil, "verify", r.id)
	require.Zero(r.t, v.code, "%s\n%s%s", r.told(), v.out, v.err)
	k := r.all
	k.held.Add(1)
	k.unreached.Add(int64(unreached))
	k.answers.Add(int64(len(r.server.Bill()) - unreached))
	k.sessions.Add(int64(len(tree.all)))
	for _, s := range tree.all {
		k.entries.Add(int64(len(s.Entries)))
	}
}

// chooseTrap returns a trap at a random place of what is left of the tree.
func (r *round) chooseTrap() *crashtest.Trap {
	answered := 0
	if tree, err := readTree(r.Home, r.id); err == nil {
		numbers, _, _ := tree.recorded()
		answered = len(numbers)
	}
	left, marks := max(r.like.requests-answered, 1), r.marks()
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

// spoil breaks the files of the children, in half of the trees where no model names one: what a tree reaches was recorded
// when it began.
func (r *round) spoil() {
	if r.like.name == "deep_list" || r.rand.IntN(2) == 0 {
		return
	}
	for _, dir := range []string{"deep", "cascades"} {
		files, err := os.ReadDir(r.Path(dir))
		require.NoError(r.t, err)
		for _, f := range files {
			r.File(filepath.Join(dir, f.Name()), "{")
		}
	}
	r.story = append(r.story, "  the files of the children are broken now")
}

func (k *kills) died(t *crashtest.Trap) {
	k.mu.Lock()
	k.traps[string(t.Kind)]++
	k.mu.Unlock()
	if t.Kind != crashtest.Interrupt {
		k.deaths.Add(1)
	}
}

// report says what came of it.
func (k *kills) report() {
	if k.t.Failed() {
		k.t.Logf("seed %d", k.seed)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var kinds []string
	for kind, n := range k.traps {
		kinds = append(kinds, fmt.Sprintf("%s: %d", kind, n))
	}
	slices.Sort(kinds)
	k.t.Logf("seed %d: windlass was killed %d times (%s); %d trees of %d sessions ended as undisturbed ones, with %d entries; "+
		"%d answers are recorded once, as billed, and %d more never reached a record; %d records held. It took %s.",
		k.seed, k.deaths.Load(), strings.Join(kinds, ", "), k.rounds.Load(), k.sessions.Load(), k.entries.Load(),
		k.answers.Load(), k.unreached.Load(), k.held.Load(), time.Since(k.began).Round(time.Second))
}
