//go:build unix

// Package memories proves what banks that remember by themselves and memos promise, with the built program and a strict server
// that bills: killed anywhere, each remembered text, each file and each memo is there once, none is torn, the record holds,
// and nothing is paid for twice.
package memories

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var suite = billed.Suite{Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}}

func TestMain(m *testing.M) { suite.Main(m) }

// birds are the runs of a round, one after the other: each finds what those before it have left.
var birds = []string{"gull", "heron", "ibis"}

// rules answer the phases. The words of a task are in no memo, but for those of the phase that memos are brought to.
var rules = []billed.Rule{
	billed.Says("^ASK .*", "The harbour answers the master: $0"),
	billed.Says("^LOOK x([a-z]+) ([a-z]+)$", "At the $2 of the boat there is a nest of the $1."),
	billed.CallsTool("^WRITE x([a-z]+)$", "memory", `{"command":"create","path":"/memories/$1.md","file_text":"A $1 was seen.\n"}`, "The file of the $1 is written."),
	{When: billed.When("^TELL x([a-z]+)$"), Turns: []billed.Turn{
		{Calls: []billed.Call{
			{Tool: "save_memo", Arguments: json.RawMessage(`{"text":"The $1 nests on the cliff.","tags":["nest"]}`)},
			{Tool: "save_memo", Arguments: json.RawMessage(`{"text":"The $1 eats herring.","scope":"global"}`)},
		}},
		{Text: "Both facts about the $1 are saved."},
	}},
	{When: billed.When("^FIND x([a-z]+)$"), Turns: []billed.Turn{
		{Calls: []billed.Call{
			{Tool: "cases", Arguments: json.RawMessage(`{"query":"nest boat","limit":20}`)},
			{Tool: "retrieve_memos", Arguments: json.RawMessage(`{"query":"nests herring model"}`)},
			{Tool: "memory", Arguments: json.RawMessage(`{"command":"view","path":"/memories/$1.md"}`)},
		}},
		{Text: "All that is known about the $1 was found."},
	}},
	billed.Says("memo m[0-9a-f]{8} ", "The memos tell enough."),
}

// TestKills kills windlass at random places of runs that remember, and reports how often the process had written which
// lines into the bank and the memos by then.
func TestKills(t *testing.T) {
	t.Parallel()
	want := left(t, undisturbed(t))
	deaths, rounds, hit := 0, 0, map[string]int{}
	for n := uint64(1); n == 1 || deaths < suite.Deaths; n++ {
		w := suite.New(t, rules)
		w.Provider.Late = billed.Lateness
		w.Marked = func() int { return lines(w) }
		r := &round{World: w, t: t, rand: rand.New(rand.NewPCG(suite.Seed, n)), hit: hit}
		for _, bird := range birds {
			r.play(bird)
		}
		require.Equal(t, want, left(t, r.World), r.told())
		w.Provider.Close()
		deaths += r.deaths
		rounds++
	}
	var places strings.Builder
	for _, what := range written {
		fmt.Fprintf(&places, "\n%5d  %s", hit[what], what)
		if deaths >= 200 {
			require.Positive(t, hit[what], "no process was killed that had written %s, seed %d", what, suite.Seed)
		}
	}
	t.Logf("seed %d: windlass was killed %d times in %d runs that remember, when the process had written:%s", suite.Seed, deaths, rounds*len(birds), places.String())
}

// undisturbed returns a world in which nothing happens to the runs.
func undisturbed(t *testing.T) *billed.World {
	t.Helper()
	w := suite.New(t, rules)
	for _, bird := range birds {
		w.MustRun(0, begin(bird)...)
		w.MustRun(0, "verify", bird)
	}
	require.Empty(t, w.Provider.Wrong())
	return w
}

func begin(bird string) []string {
	input := fmt.Sprintf(`{"say":"the tide is low where the boat of %s lies","bird":%q}`, bird, bird)
	return []string{"run", "remember.json", "--session", bird, "--input-json", input, "--json", "--progress", "plain", "--no-clickhouse"}
}

// leftover is what commands show of banks and memos, without times and without ids that follow from these.
type leftover struct {
	Texts, Files, Memos []said
	Calls               []string // what the runs were told of their calls, by key
}

type said struct {
	Text    string   `json:"text"`
	Hash    string   `json:"hash"`
	Path    string   `json:"path"`
	Command string   `json:"command"`
	Role    string   `json:"role"`
	Session string   `json:"session"`
	Key     string   `json:"key"`
	Scope   string   `json:"scope"`
	Tags    []string `json:"tags"`
	Bytes   int      `json:"bytes"`
	Current bool     `json:"current"`
	ReadBy  []string `json:"read_by"`
}

// left returns what the runs have left, each version of it, and demands what must be there in any case.
func left(t *testing.T, w *billed.World) (l leftover) {
	t.Helper()
	read := func(into *[]said, args ...string) {
		e := w.MustRun(0, append(args, "--json")...)
		require.NoError(t, json.Unmarshal([]byte(e.Out), into), e.Out)
		require.NotEmpty(t, *into)
	}
	read(&l.Texts, "memory", "show", "cases", "--remembered")
	read(&l.Files, "memory", "history", "cases")
	read(&l.Memos, "memos", "history")
	hashes := map[string]bool{}
	for _, s := range l.Texts {
		require.False(t, hashes[s.Hash], "%s is remembered twice", s.Text)
		hashes[s.Hash] = true
	}
	texts := map[string]bool{}
	for _, s := range l.Memos {
		require.False(t, texts[s.Text], "%s is saved twice", s.Text)
		texts[s.Text] = true
	}
	require.Len(t, l.Files, len(birds))
	require.Len(t, l.Memos, 3*len(birds))
	sortElements(l.Texts)
	sortElements(l.Memos)
	l.Calls = calls(w)
	return l
}

// calls returns what runs have recorded of their calls: a call that is made again is told what it was told before.
func calls(w *billed.World) (out []string) {
	for _, bird := range birds {
		for _, e := range record.Counted(w.Tree(bird).Root.Entries) {
			if c, err := echo.Read[echo.MemoryCall](e); err == nil {
				out = append(out, fmt.Sprintf("%s %s: %s wrote %d, read %d, failed %t", bird, e.Key, c.Command, len(c.Wrote), len(c.Read), c.Failed))
			}
			if c, err := echo.Read[echo.MemoCall](e); err == nil {
				out = append(out, fmt.Sprintf("%s %s: %s wrote %d, read %d, failed %t", bird, e.Key, c.Tool, len(c.Wrote), len(c.Read), c.Failed))
			}
			if b, err := echo.Read[echo.MemosBrought](e); err == nil {
				out = append(out, fmt.Sprintf("%s %s: brought %d", bird, e.Key, len(b.Memos)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// sortElements sorts what the elements of a list, which run at the same time, and tools of one turn, have left in any order.
func sortElements(list []said) {
	slices.SortStableFunc(list, func(a, b said) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
}

// round is some runs with all their deaths.
type round struct {
	*billed.World
	t      *testing.T
	rand   *rand.Rand
	story  []string
	deaths int
	hit    map[string]int // how often a process that died had written what, by the command of the line
}

func (r *round) told() string {
	return fmt.Sprintf("seed %d\n%s", suite.Seed, strings.Join(r.story, "\n"))
}

// play runs and resumes until a run is at its end.
func (r *round) play(bird string) {
	r.t.Helper()
	for traps := 2 + r.rand.IntN(5); ; traps-- {
		args := []string{"resume", bird, "--json", "--progress", "plain"}
		if !r.Exists(bird) {
			args = begin(bird)
		}
		var trap *crashtest.Trap
		if traps > 0 {
			trap = r.trap()
		}
		if ended := r.start(trap, args...); ended {
			break
		}
		if r.Exists(bird) {
			r.holds(bird)
			if record.EndOf(r.Tree(bird).Root.Entries).Status == echo.StatusCompleted {
				break
			}
		}
	}
	r.holds(bird)
	require.Empty(r.t, r.Provider.Wrong(), r.told())
	r.Others = append(r.Others, bird)
}

// start runs windlass until it ends or is killed, and reports whether it came to its end.
func (r *round) start(trap *crashtest.Trap, args ...string) (ended bool) {
	r.t.Helper()
	before := r.commands()
	e := r.Start(trap, args...)
	if e.Code == 0 {
		r.story = append(r.story, args[0]+" "+args[1]+": ended")
		return true
	}
	require.Equal(r.t, -1, e.Code, "%s\n%s\n%s\n%s", r.told(), e.Out, e.Err, r.Provider.Wrong())
	r.deaths++
	r.story = append(r.story, fmt.Sprintf("%s %s: killed %s %d %s", args[0], args[1], trap.Kind, trap.N, trap.Wait))
	wrote := false
	for command, n := range r.commands() {
		if n > before[command] {
			r.hit[command]++
			wrote = true
		}
	}
	if !wrote {
		r.hit[nothing]++
	}
	return false
}

// nothing is what a process has written that left no line in a bank or in memos.
const nothing = "nothing"

// written are the commands of the lines that such runs write.
var written = []string{nothing, "open", "remember", "create", "recall", "view", "save_memo", "brought", "retrieve_memos"}

var command = regexp.MustCompile(`"command":"([a-z_]+)"`)

// commands counts the lines of banks and of memos by their commands.
func (r *round) commands() map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for _, path := range files(r.World) {
		for _, m := range command.FindAllStringSubmatch(billed.ReadFile(r.t, path), -1) {
			out[m[1]]++
		}
	}
	return out
}

// trap returns one at a random place.
func (r *round) trap() *crashtest.Trap {
	switch pick := r.rand.IntN(10); {
	case pick < 3:
		return &crashtest.Trap{Kind: crashtest.AtTime, Wait: time.Duration(r.rand.Int64N(int64(250 * time.Millisecond)))}
	case pick < 5:
		return &crashtest.Trap{Kind: crashtest.AtAnswer, N: 1 + r.rand.IntN(8)}
	case pick < 6:
		return &crashtest.Trap{Kind: crashtest.AtRequest, N: 1 + r.rand.IntN(8)}
	}
	return &crashtest.Trap{Kind: crashtest.AtMark, N: lines(r.World) + 1 + r.rand.IntN(16), Wait: atOnce}
}

// atOnce is how often a trap looks for a line that a process has just written: before the process can record that it has.
const atOnce = 20 * time.Microsecond

// lines counts the lines of banks and of memos.
func lines(w *billed.World) (n int) {
	for _, path := range files(w) {
		if data, err := os.ReadFile(path); err == nil { // else it is being replaced
			n += bytes.Count(data, []byte("\n"))
		}
	}
	return n
}

// files returns the files of banks and of memos.
func files(w *billed.World) (all []string) {
	for _, pattern := range []string{"banks/*/*.bank", "memos/*.memos"} {
		found, _ := filepath.Glob(filepath.Join(w.Home, pattern)) // the patterns are good ones
		all = append(all, found...)
	}
	return all
}

// holds demands that what is recorded holds, that nothing is paid for again, and that the bank and the memos can be read.
func (r *round) holds(bird string) {
	r.t.Helper()
	require.NoError(r.t, r.Tree(bird).Agree(), r.told())
	r.SettleBill(r.Forest(bird))
	for _, args := range [][]string{{"verify", bird}, {"memos", "list"}} {
		e := r.Start(nil, args...)
		require.Zero(r.t, e.Code, "%s\n%s%s", r.told(), e.Out, e.Err)
	}
	var banks []struct {
		Error string `json:"error"`
	}
	e := r.MustRun(0, "memory", "list", "--json")
	require.NoError(r.t, json.Unmarshal([]byte(e.Out), &banks), e.Out)
	for _, b := range banks {
		require.Empty(r.t, b.Error, r.told())
	}
}
