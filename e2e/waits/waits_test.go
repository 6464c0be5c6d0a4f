//go:build unix

// Package waits proves what waits promise, with the built program and a strict server that bills: killed anywhere around
// waits, nothing is asked twice, no answer is lost, no tool runs that was not allowed or runs twice, nothing is paid for
// twice, and the record holds.
package waits

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var suite = billed.Suite{Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}}

func TestMain(m *testing.M) { suite.Main(m) }

const session = "waits"

var rules = []billed.Rule{
	billed.CallsTool("ASK for", "ask_human", `{"question":"Which colour?"}`, "asked"),
	{When: billed.When("SHIP it"), Turns: []billed.Turn{
		{Calls: []billed.Call{{Tool: "stamp", Arguments: json.RawMessage(`{"n":"a"}`)}, {Tool: "stamp", Arguments: json.RawMessage(`{"n":"b"}`)}}}, {Text: "shipped"},
	}},
	billed.Says("A person has changed", "shipped"),
	billed.Says("END ", "the end"),
}

// wait is what windlass waiting --json says of one.
type wait struct {
	ID     string          `json:"id"`
	Key    string          `json:"key"`
	Kind   string          `json:"kind"`
	Answer json.RawMessage `json:"answer"`
	Call   struct {
		Arguments struct {
			N string `json:"n"`
		} `json:"arguments"`
	} `json:"call"`
}

// round is one run with all its deaths.
type round struct {
	*billed.World
	t       *testing.T
	rand    *rand.Rand
	story   []string
	given   map[string]string // the answer that a wait has, by its key
	allowed []string          // names with which the tool may run
	deaths  int
}

// TestKills kills windlass at random places of runs that wait, of answers and of resumptions.
func TestKills(t *testing.T) {
	t.Parallel()
	var deaths, rounds atomic.Int64
	for n := uint64(1); n == 1 || int(deaths.Load()) < suite.Deaths; n++ {
		w := suite.New(t, rules)
		w.Provider.Late = billed.Lateness
		r := &round{World: w, t: t, rand: rand.New(rand.NewPCG(suite.Seed, n)), given: map[string]string{}}
		r.play()
		r.check()
		w.Provider.Close()
		deaths.Add(int64(r.deaths))
		rounds.Add(1)
	}
	if !t.Failed() {
		t.Logf("seed %d: windlass was killed %d times around waits in %d runs", suite.Seed, deaths.Load(), rounds.Load())
	}
}

func (r *round) told() string {
	return fmt.Sprintf("seed %d\n%s", suite.Seed, strings.Join(r.story, "\n"))
}

// start runs windlass, which may be killed on the way, and returns how it ended.
func (r *round) start(args ...string) *billed.Ended {
	r.t.Helper()
	var trap *crashtest.Trap
	if r.deaths < 12 {
		trap = r.trap(args[0])
	}
	e := r.Start(trap, args...)
	line := fmt.Sprintf("%s: exit code %d", strings.Join(args, " "), e.Code)
	if e.Code == -1 {
		r.deaths++
		line += fmt.Sprintf(", killed %s %d %s", trap.Kind, trap.N, trap.Wait)
	}
	r.story = append(r.story, line)
	return e
}

// trap returns one at a random place, nil for none.
func (r *round) trap(command string) *crashtest.Trap {
	switch pick := r.rand.IntN(10); {
	case pick < 3:
		return nil
	case command == "answer" || pick < 6:
		return &crashtest.Trap{Kind: crashtest.AtTime, Wait: time.Duration(r.rand.Int64N(int64(150 * time.Millisecond)))}
	case pick < 7:
		return &crashtest.Trap{Kind: crashtest.AtAnswer, N: 1 + r.rand.IntN(3)}
	case pick < 8:
		return &crashtest.Trap{Kind: crashtest.InTool, File: "dies-in-tool"}
	}
	return &crashtest.Trap{Kind: crashtest.AtMark, N: r.Marks() + 1 + r.rand.IntN(4)}
}

// play runs, answers and resumes until the run is at its end.
func (r *round) play() {
	r.t.Helper()
	begun := false
	for range 200 {
		args := []string{"resume", session, "--json", "--progress", "plain"}
		if !begun {
			args = []string{"run", "waits.json", "--session", session, "--json", "--progress", "plain", "--no-clickhouse", "--allow-commands"}
		}
		e := r.start(args...)
		switch e.Code {
		case 0:
			return
		case 7, -1:
		default:
			require.Fail(r.t, "another exit code", "%s\n%s\n%s\n%s", r.told(), e.Out, e.Err, r.Provider.Wrong())
		}
		if begun = r.Exists(session); begun {
			if r.ended() {
				return
			}
			r.holds()
			r.answer()
		}
	}
	require.Fail(r.t, "the run comes to no end", r.told())
}

func (r *round) ended() bool {
	for _, e := range r.Tree(session).Root.Entries {
		if e.NodeType == echo.NodeRunEnd && e.Error == nil {
			return true
		}
	}
	return false
}

// holds demands that what is recorded holds, and that nothing that is recorded is paid for again.
func (r *round) holds() {
	r.t.Helper()
	tree := r.Tree(session)
	require.NoError(r.t, tree.Agree(), r.told())
	r.SettleBill(tree)
	v := r.Start(nil, "verify", session)
	require.Zero(r.t, v.Code, "%s\n%s%s", r.told(), v.Out, v.Err)
	r.stamps()
}

func (r *round) waiting() (list []wait) {
	r.t.Helper()
	e := r.MustRun(0, "waiting", session, "--json")
	require.NoError(r.t, json.Unmarshal([]byte(e.Out), &list), e.Out)
	return list
}

// answer answers some of what waits; who comes second is refused.
func (r *round) answer() {
	r.t.Helper()
	for _, w := range r.waiting() {
		if r.rand.IntN(4) == 0 {
			continue // later
		}
		args := []string{"answer", w.ID}
		var said string
		switch w.Kind {
		case "approval":
			said = []string{"allow", "deny", "edit"}[r.rand.IntN(3)]
			args = append(args, said)
			name := w.Call.Arguments.N
			if said == "edit" {
				name += "-edited"
				args = append(args, "--arguments", fmt.Sprintf(`{"n":%q}`, name))
			}
			if said != "deny" && len(w.Answer) == 0 {
				r.allowed = append(r.allowed, name) // it may have been left although windlass died
			}
		case "input":
			said = "yes"
			args = append(args, said)
		default:
			said = []string{"blue", "red"}[r.rand.IntN(2)]
			args = append(args, said)
		}
		e := r.start(args...)
		taken := len(w.Answer) > 0
		switch {
		case e.Code == -1:
		case taken:
			require.NotZero(r.t, e.Code, "the second answer is taken\n%s", r.told())
			require.Contains(r.t, e.Err, "was answered by", r.told())
			continue
		default:
			require.Zero(r.t, e.Code, "%s\n%s", r.told(), e.Err)
		}
		for _, now := range r.waiting() {
			if now.ID != w.ID || taken {
				continue
			}
			if len(now.Answer) > 0 {
				r.given[w.Key] = said
			} else {
				require.Equal(r.t, -1, e.Code, "an answer is lost\n%s", r.told())
				r.allowed = slices.DeleteFunc(r.allowed, func(n string) bool { return strings.HasPrefix(n, w.Call.Arguments.N) && w.Kind == "approval" })
			}
		}
	}
}

// stamps demands that the tool has run with what was allowed, and with each once at most, and returns with what.
func (r *round) stamps() []string {
	r.t.Helper()
	data, err := os.ReadFile(r.Path("stamps"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(r.t, err)
	lines := strings.Fields(string(data))
	for _, name := range lines {
		require.Contains(r.t, r.allowed, name, "it was not allowed\n%s", r.told())
	}
	require.Len(r.t, slices.Compact(slices.Sorted(slices.Values(lines))), len(lines), "it has run twice\n%s", r.told())
	return lines
}

// check looks at a run that has ended.
func (r *round) check() {
	r.t.Helper()
	r.holds()
	require.Empty(r.t, r.Provider.Wrong(), r.told())
	require.Empty(r.t, r.waiting(), r.told())
	ran := r.stamps()
	waits, answers := map[string]int{}, map[string]int{}
	for _, e := range r.Tree(session).Root.Entries {
		switch e.NodeType { //nolint:exhaustive // the others are no waits
		case echo.NodeWait:
			waits[e.Key.String()]++
		case echo.NodeAnswer:
			answers[e.Key.String()]++
			a, err := echo.Read[echo.Answer](e)
			require.NoError(r.t, err)
			said := r.given[e.Key.String()]
			switch v := a.Value.(type) {
			case bool:
				require.True(r.t, v && said == "yes", r.told())
			case string:
				require.Equal(r.t, said, v, r.told())
			case map[string]any:
				require.Equal(r.t, said, v["decision"], r.told())
			default:
				require.Fail(r.t, "another answer", "%v\n%s", v, r.told())
			}
		case echo.NodeToolCall:
			if e.Tool != nil && e.Tool.Name == "stamp" && e.Error == nil {
				var args struct{ N string }
				require.NoError(r.t, json.Unmarshal([]byte(e.Tool.Arguments), &args))
				require.Contains(r.t, ran, args.N, r.told())
			}
		}
	}
	require.Len(r.t, waits, 4, r.told())
	require.Equal(r.t, waits, answers, "each is asked once and answered once\n%s", r.told())
	for key, n := range waits {
		require.Equal(r.t, 1, n, "%s\n%s", key, r.told())
	}
}
