//go:build unix

package soundings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/crashtest"
)

var personRules = []billed.Rule{
	billed.Says(`Which answer is the best one`, `{"why": "equal", "winner": "tie"}`),
	billed.Says(`DRAFT (\d).*The best answer so far`, "better $1"),
	billed.Says(`DRAFT (\d)`, "draft $1"),
	billed.Says(`SKETCH (\d)`, "sketch $1"),
	billed.Says(`LAST (.*)\.`, "last of $1"),
}

// choices is one run with all its deaths, in which a person chooses three times.
type choices struct {
	*billed.World
	t      *testing.T
	rand   *rand.Rand
	story  []string
	chosen map[string]string // the text of the candidate that was chosen, by the key of the wait
	deaths int
}

// TestKillsAroundPersons kills windlass at random places of runs in which a person chooses among candidates: nobody is
// asked twice, no choice is lost, nothing is paid for twice, and what was chosen is what the run goes on with.
func TestKillsAroundPersons(t *testing.T) {
	t.Parallel()
	deaths, rounds := 0, 0
	for n := uint64(1); n == 1 || deaths < max(suite.Deaths/5, 4); n++ {
		w := suite.New(t, personRules)
		w.Provider.Late = billed.Lateness
		c := &choices{World: w, t: t, rand: rand.New(rand.NewPCG(suite.Seed, n)), chosen: map[string]string{}}
		c.play()
		c.check()
		w.Provider.Close()
		deaths, rounds = deaths+c.deaths, rounds+1
	}
	t.Logf("seed %d: windlass was killed %d times around choices of persons in %d runs", suite.Seed, deaths, rounds)
}

func (c *choices) told() string {
	return fmt.Sprintf("seed %d\n%s", suite.Seed, strings.Join(c.story, "\n"))
}

// start runs windlass, which may be killed on the way.
func (c *choices) start(args ...string) *billed.Ended {
	c.t.Helper()
	var trap *crashtest.Trap
	switch pick := c.rand.IntN(4); {
	case c.deaths >= 8 || pick == 0:
	case args[0] == "answer" || pick == 1:
		trap = &crashtest.Trap{Kind: crashtest.AtTime, Wait: time.Duration(c.rand.Int64N(int64(150 * time.Millisecond)))}
	default:
		trap = &crashtest.Trap{Kind: crashtest.AtMark, N: c.Marks() + 1 + c.rand.IntN(6)}
	}
	e := c.Start(trap, args...)
	if e.Code == -1 {
		c.deaths++
	}
	c.story = append(c.story, fmt.Sprintf("%s: exit code %d", strings.Join(args, " "), e.Code))
	return e
}

func (c *choices) play() {
	c.t.Helper()
	for range 100 {
		args := []string{"resume", "persons", "--progress", "plain"}
		if !c.Exists("persons") {
			args = []string{"run", "persons.json", "--session", "persons", "--progress", "plain", "--no-clickhouse"}
		}
		e := c.start(args...)
		require.Contains(c.t, []int{0, 7, -1}, e.Code, "%s\n%s\n%s", c.told(), e.Err, c.Provider.Wrong())
		if !c.Exists("persons") {
			continue
		}
		c.holds()
		if c.ended() {
			return
		}
		c.answer()
	}
	require.Fail(c.t, "the run comes to no end", c.told())
}

func (c *choices) ended() bool {
	for _, e := range c.Tree("persons").Root.Entries {
		if e.NodeType == echo.NodeRunEnd && e.Error == nil {
			return true
		}
	}
	return false
}

// holds demands that what is recorded holds, and that nothing that is recorded is paid for again.
func (c *choices) holds() {
	c.t.Helper()
	tree := c.Tree("persons")
	require.NoError(c.t, tree.Agree(), c.told())
	c.SettleBill(tree)
	v := c.Start(nil, "verify", "persons")
	require.Zero(c.t, v.Code, "%s\n%s%s", c.told(), v.Out, v.Err)
}

// awaited is what windlass waiting --json says of a choice.
type awaited struct {
	ID     string          `json:"id"`
	Key    string          `json:"key"`
	Kind   string          `json:"kind"`
	Answer json.RawMessage `json:"answer"`
	Form   echo.Form       `json:"form"`
}

func (c *choices) waiting() (list []awaited) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.MustRun(0, "waiting", "persons", "--json").Out), &list))
	return list
}

// answer chooses any candidate; a second choice is refused.
func (c *choices) answer() {
	c.t.Helper()
	for _, w := range c.waiting() {
		require.Equal(c.t, "choice", w.Kind, c.told())
		x := w.Form.Choose.Candidates[c.rand.IntN(len(w.Form.Choose.Candidates))]
		e := c.start("answer", w.ID, x.Label, "--reason", "It is "+x.Text)
		if len(w.Answer) > 0 {
			require.NotZero(c.t, e.Code, "a second choice is taken\n%s", c.told())
			continue
		}
		require.Contains(c.t, []int{0, -1}, e.Code, "%s\n%s", c.told(), e.Err)
		for _, now := range c.waiting() {
			switch {
			case now.ID != w.ID:
			case len(now.Answer) > 0:
				c.chosen[w.Key] = x.Text
			default:
				require.Equal(c.t, -1, e.Code, "a choice is lost\n%s", c.told())
			}
		}
	}
}

// check looks at a run that has ended: each choice is asked for once, answered once, and kept.
func (c *choices) check() {
	c.t.Helper()
	require.Empty(c.t, c.Provider.Wrong(), c.told())
	require.Empty(c.t, c.waiting(), c.told())
	count, output := map[string]int{}, any(nil)
	for _, e := range c.Tree("persons").Root.Entries {
		switch e.NodeType { //nolint:exhaustive // the others are no choices
		case echo.NodeRunEnd:
			d, err := echo.Read[echo.RunEnd](e)
			require.NoError(c.t, err)
			output = d.Output
		case echo.NodeWait, echo.NodeAnswer:
			count[string(e.NodeType)+" "+e.Key.String()]++
		case echo.NodeChoice:
			count[string(e.NodeType)+" "+e.Key.String()]++
			d, err := echo.Read[echo.Choice](e)
			require.NoError(c.t, err)
			require.Equal(c.t, echo.ChoicePerson, d.How, c.told())
			require.Equal(c.t, "It is "+c.chosen[e.Key.String()+"/wait"], d.Person.Why, c.told())
		}
	}
	want := map[string]int{}
	for _, key := range []string{"draft/choice", "draft/reforge1/choice", "tie/choice"} {
		want["wait "+key+"/wait"], want["answer "+key+"/wait"], want["choice "+key] = 1, 1, 1
	}
	require.Equal(c.t, want, count, c.told())
	require.Equal(c.t, "last of "+c.chosen["tie/choice/wait"], output, c.told())
}
