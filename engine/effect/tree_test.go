package effect_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// A random tree has what runs will be made of: branches in branches, each with model calls, tools,
// failures, readings and entries of its own, in a random order that its seed decides.
type treeNode struct {
	steps []treeStep
}

type treeStep struct {
	kind     stepKind
	tools    []string    // of stepTools: one call each, side by side
	branches []*treeNode // of stepFork
	branch   echo.StepKind
}

type stepKind int

const (
	stepModel stepKind = iota
	stepModelFails
	stepModelStops
	stepTools
	stepReading
	stepNoReading
	stepState
	stepFork
)

const (
	treeDepth = 3
	treeWidth = 5 // branches side by side
)

func randomTree(r *rand.Rand, depth int) *treeNode {
	n := &treeNode{}
	for range 1 + r.IntN(4) {
		kind := stepKind(r.IntN(int(stepFork)))
		if depth < treeDepth && r.IntN(3) == 0 {
			kind = stepFork
		}
		s := treeStep{kind: kind}
		switch kind {
		case stepTools:
			for range 1 + r.IntN(4) {
				s.tools = append(s.tools, []string{"read", "write", effecttest.Failing}[r.IntN(3)])
			}
		case stepFork:
			s.branch = []echo.StepKind{echo.StepItem, echo.StepSounding, echo.StepReforge, echo.StepNode}[r.IntN(4)]
			for range 1 + r.IntN(treeWidth) {
				s.branches = append(s.branches, randomTree(r, depth+1))
			}
		}
		n.steps = append(n.steps, s)
	}
	return n
}

// treeRun runs a tree through a recorder, as the engine runs a cascade.
type treeRun struct {
	rec *effect.Recorder

	mu      sync.Mutex
	digests map[echo.Key]string      // of each branch: everything that it came to
	times   map[echo.Key][]time.Time // of each branch: when it began, and at the end of each step
}

func newTreeRun(o effect.Options) *treeRun {
	return &treeRun{rec: effect.NewRecorder(o), digests: map[echo.Key]string{}, times: map[echo.Key][]time.Time{}}
}

// run runs a node at a place, which has a branch of its own.
func (r *treeRun) run(ctx context.Context, at echo.Key, n *treeNode) error {
	var seen []string
	r.came(at, "")
	for i, s := range n.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := r.step(ctx, at, at.Attempt(1).Turn(i+1), i, s)
		if err != nil {
			return err
		}
		seen = append(seen, got...)
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(seen, "\n"))))
		state := &echo.Entry{NodeType: echo.NodeState, Key: at.Attempt(1).Turn(i+1).Named(echo.StepState, "digest"), CascadeID: "tree"}
		state.Data = json.RawMessage(fmt.Sprintf(`{"key":"digest","value":%q}`, digest))
		if err := r.rec.Append(state); err != nil {
			return err
		}
		r.came(at, digest)
	}
	return nil
}

// came notes what a branch has come to, and when.
func (r *treeRun) came(at echo.Key, digest string) {
	now, _ := r.rec.Time(at.Branch())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.digests[at] = digest
	r.times[at] = append(r.times[at], now)
}

func (r *treeRun) step(ctx context.Context, at, turn echo.Key, i int, s treeStep) ([]string, error) {
	switch s.kind {
	case stepModel, stepModelFails, stepModelStops:
		model := map[stepKind]string{stepModel: "m", stepModelFails: effecttest.Failing, stepModelStops: stops}[s.kind]
		resp, err := r.rec.Model(ctx, turn.Step(echo.StepModel), effecttest.Ask(model, turn.String()))
		var me *effect.ModelError
		switch {
		case err == nil:
			return []string{resp.Message.Text()}, nil
		case errors.As(err, &me) && !effect.IsRecordError(err) && s.kind == stepModelStops:
			return nil, errStopped
		case errors.As(err, &me) && !effect.IsRecordError(err):
			return []string{me.Error()}, nil
		}
		return nil, err
	case stepTools:
		return r.tools(ctx, turn, s.tools)
	case stepReading, stepNoReading:
		raw, err := r.rec.Value(ctx, turn.Step(echo.StepClock), effect.Site{Cascade: "tree"}, func() echo.Payload {
			if s.kind == stepNoReading {
				return nil
			}
			return echo.Clock(rand.Int64N(1 << 40))
		})
		if s.kind == stepReading && raw == nil && err == nil {
			err = fmt.Errorf("the reading at %s is lost", turn)
		}
		return []string{string(raw)}, err
	case stepFork:
		return r.fork(ctx, at, i, s)
	}
	return nil, nil
}

func (r *treeRun) tools(ctx context.Context, turn echo.Key, names []string) ([]string, error) {
	out := make([]string, len(names))
	branches := make([]effect.Branch, len(names))
	for i, name := range names {
		key := turn.Numbered(echo.StepTool, i+1)
		branches[i] = effect.Branch{Key: key, Run: func(ctx context.Context) error {
			m, err := r.rec.Tool(ctx, key, effect.ToolSpec{Name: name, Idempotent: name == "read"}, effecttest.Use(name, key.String()))
			if err == nil {
				out[i] = m.Text()
			}
			return err
		}}
	}
	return out, r.rec.Fork(ctx, "tree", 3, branches)
}

// fork numbers branches by their step, so that a node that forks again does not use a key twice.
func (r *treeRun) fork(ctx context.Context, at echo.Key, i int, s treeStep) ([]string, error) {
	var keys []echo.Key
	var branches []effect.Branch
	for n, child := range s.branches {
		key := branchKey(at, s.branch, 10*i+n+1)
		keys = append(keys, key)
		branches = append(branches, effect.Branch{Key: key, Run: func(ctx context.Context) error { return r.run(ctx, key, child) }})
	}
	if err := r.rec.Fork(ctx, "tree", 4, branches); err != nil {
		return nil, err
	}
	out := make([]string, len(keys))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range keys {
		out[i] = r.digests[k]
	}
	return out, nil
}

// branchKey is the key of a branch.
func branchKey(at echo.Key, kind echo.StepKind, n int) echo.Key {
	return at.Numbered(kind, n)
}

var treeRoot = echo.PhaseKey("tree", 1)

// treeLab runs one tree until it is through, in as many lives as it takes.
type treeLab struct {
	tree    *treeNode
	world   *effecttest.World
	effects func(testing.TB, effect.Model, effect.Tools, effect.Writer) effect.Effects
	store   treeStore
	steady  bool           // no model stops the run
	record  []*echo.Entry  // what the store has kept
	counts  map[string]int // how often the world had done something when its outcome was recorded
	session string
}

var errKilled = errors.New("killed")

// live lets the run live until so many entries more are kept, and reports whether it came to its
// end.
func (l *treeLab) live(t *testing.T, entries int) bool {
	t.Helper()
	log := echo.ContinueLog(l.session, uint64(len(l.record)), nil, l.store.begin(t, entries))
	var model effect.Model = stopping{l.world}
	if l.steady {
		model = l.world
	}
	o := effect.Options{Log: log, Recording: l.record, Effects: l.effects(t, model, l.world, effect.Writer{Log: log})}
	if len(l.record) > 0 {
		o.SetAside = record.SetAside(l.record)
		failed := failedLast(l.record, o.SetAside)
		for _, seq := range failed {
			o.SetAside[seq] = true
		}
		o.Resumed = func() *echo.Entry {
			return echo.NewEntry(echo.RunKey().Step(echo.StepResume), echo.Resume{SetAside: failed})
		}
	}
	run := newTreeRun(o)
	err := run.run(t.Context(), treeRoot, l.tree)
	killed := errors.Is(err, errKilled) || errors.Is(err, echo.ErrLogClosed)
	l.record = l.store.end(t, killed)
	if err != nil {
		require.True(t, killed || errors.Is(err, errStopped), "%v", err)
		return false
	}
	require.NoError(t, run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)))
	return true
}

// replay runs the record again with nothing else, and returns what the tree came to.
func (l *treeLab) replay(t *testing.T) string {
	t.Helper()
	run := newTreeRun(effect.Options{Recording: l.record, SetAside: record.SetAside(l.record)})
	require.NoError(t, run.run(t.Context(), treeRoot, l.tree))
	require.NoError(t, run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)))
	return run.digests[treeRoot]
}

// check holds what a record must be, however often its run was killed.
func (l *treeLab) check(t *testing.T) {
	t.Helper()
	outcomes := map[string]int{}
	aside := record.SetAside(l.record)
	for i, e := range l.record {
		require.Equal(t, uint64(i+1), e.Seq)
		if aside[e.Seq] {
			continue
		}
		switch e.NodeType {
		case echo.NodeModelCall, echo.NodeToolCall, echo.NodeValue, echo.NodeState, echo.NodeBranchStart, echo.NodeBranchEnd:
			outcomes[string(e.NodeType)+" "+e.Key.String()]++
		}
		if e.NodeType == echo.NodeBranchStart || e.NodeType == echo.NodeBranchEnd {
			require.Len(t, e.Key.Path().Effect, 1, "%s: of a tool, request and result say that", e.Key)
		}
		if e.NodeType == echo.NodeToolCall && e.Tool.Name != "read" {
			require.LessOrEqual(t, l.world.Done(e.Tool.Arguments), 1, "%s may do harm when it is run twice", e.Key)
		}
	}
	for what, n := range outcomes {
		require.Equal(t, 1, n, what)
	}
}

// TestBranchTrees kills runs of random trees of branches at random entries and resumes them, until
// they are through: each outcome is recorded once and none is asked for again, no tool is run twice
// that may do harm, and the record proves itself: it can be replayed in any order of its branches,
// and not when something in it was changed. Some models fail the first time, which stops the run:
// when it is resumed, that call is set aside and made again. A third of the runs has a journal, of
// which a death takes whatever was not synced.
func TestBranchTrees(t *testing.T) {
	t.Parallel()
	live := func(_ testing.TB, m effect.Model, tools effect.Tools, w effect.Writer) effect.Effects {
		return effect.NewLive(m, tools, w, nil)
	}
	var mu sync.Mutex
	records := map[string][]*echo.Entry{}
	torn := 0
	t.Run("trees", func(t *testing.T) {
		for seed := range uint64(200) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 7))
				l := &treeLab{tree: randomTree(r, 1), world: &effecttest.World{}, effects: live, session: fmt.Sprint("tree", seed), store: &inMemory{}}
				if seed%3 == 0 {
					l.store = &inFile{dir: filepath.Join(t.TempDir(), l.session), session: l.session, r: r}
				}
				if seed%4 == 0 {
					l.effects = func(t testing.TB, m effect.Model, tools effect.Tools, w effect.Writer) effect.Effects {
						return effecttest.StartForeign(t, m, tools, nil, w)
					}
				}
				deaths := 0
				for {
					before := len(l.record)
					whole := l.live(t, 1+r.IntN(20+len(l.record)/2))
					l.notAskedAgain(t, before)
					if whole {
						break
					}
					deaths++
					require.Less(t, deaths, 1000, "the run comes to no end")
				}
				l.check(t)
				digest := l.replay(t)
				l.provesItself(t, r)
				if l.unfinished() == 0 && deterministic(l.tree) {
					// No model stops this one: a stop ends the tools beside it, and what is unfinished then depends on time.
					undisturbed := &treeLab{session: l.session, tree: l.tree, world: &effecttest.World{}, effects: live, store: &inMemory{}, steady: true}
					require.True(t, undisturbed.live(t, 1<<30))
					require.Equal(t, undisturbed.replay(t), digest, "after %d deaths", deaths)
				}
				mu.Lock()
				defer mu.Unlock()
				records[l.session] = l.record
				if f, ok := l.store.(*inFile); ok {
					torn += f.torn
				}
			})
		}
	})
	exercised(t, records, torn)
	checkInClickHouse(t, records)
}

// exercised holds that the runs came to what they are made for.
func exercised(t *testing.T, records map[string][]*echo.Entry, torn int) {
	t.Helper()
	aside, children := 0, 0
	for _, entries := range records {
		aside += len(record.SetAside(entries))
		for _, e := range entries {
			if b := e.Key.Path().Branches; e.NodeType == echo.NodeBranchStart && b[len(b)-1].Kind == echo.StepNode {
				children++
			}
		}
	}
	require.Greater(t, min(aside, children, torn), 50, "%d calls are set aside, %d branches are children, %d journals were torn", aside, children, torn)
}

// checkInClickHouse delivers records, twice, and holds that each entry is there once, with the
// columns of its branch.
func checkInClickHouse(t *testing.T, records map[string][]*echo.Entry) {
	t.Helper()
	db := clickhousetest.Open(t)
	branches, entries := 0, 0
	for session, list := range records {
		require.NoError(t, clickhousetest.Insert(t.Context(), db, list))
		require.NoError(t, clickhousetest.Insert(t.Context(), db, list[:len(list)/2]))
		back, err := db.Record(t.Context(), session)
		require.NoError(t, err)
		want, err := json.Marshal(list)
		require.NoError(t, err)
		got, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
		entries += len(list)
		seen := map[echo.Key]bool{}
		for _, e := range list {
			if b := e.Key.Branch(); !b.IsZero() && !seen[b] {
				seen[b] = true
				branches++
			}
		}
	}
	rows, err := db.Query(t.Context(), `SELECT count(), uniqExact(session_id, seq), uniqExactIf((session_id, branch), branch != ''),
		countIf(item > 0 AND NOT match(key, '/item[0-9]+')), countIf(sounding > 0 AND NOT match(key, '/sounding[0-9]+')),
		countIf(effect = 'tool' AND effect_number > 0 AND branch != key AND NOT startsWith(key, branch || '/')) FROM logs`, clickhouse.QueryOptions{})
	require.NoError(t, err)
	require.True(t, rows.Next())
	row, err := rows.Row()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(entries, entries, branches, 0, 0, 0), strings.Trim(fmt.Sprint(row), "[]"))
	require.NoError(t, rows.Close())
}

// notAskedAgain holds that nothing whose outcome was recorded before this life was asked for in it:
// the world counts.
func (l *treeLab) notAskedAgain(t *testing.T, before int) {
	t.Helper()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	aside := record.SetAside(l.record)
	for i, e := range l.record {
		what := askedBy(e)
		if what == "" || aside[e.Seq] {
			continue
		}
		if i < before {
			require.Equal(t, l.counts[what], l.world.Done(what), "%s was asked for again", e.Key)
		}
		l.counts[what] = l.world.Done(what)
	}
}

// askedBy is what the world counts for an outcome.
func askedBy(e *echo.Entry) string {
	switch e.NodeType {
	case echo.NodeModelCall:
		return e.Key.Place().String()
	case echo.NodeToolCall:
		return e.Tool.Arguments
	}
	return ""
}

// unfinished counts the tools whose end nobody knows.
func (l *treeLab) unfinished() int {
	n := 0
	for _, e := range l.record {
		if e.Error != nil && e.Error.Kind == effect.KindUnfinished {
			n++
		}
	}
	return n
}

// deterministic reports whether a tree takes no readings, which differ from run to run.
func deterministic(n *treeNode) bool {
	for _, s := range n.steps {
		if s.kind == stepReading {
			return false
		}
		for _, b := range s.branches {
			if !deterministic(b) {
				return false
			}
		}
	}
	return true
}
