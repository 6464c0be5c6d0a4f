//go:build unix

package waits

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/crashtest"
)

// wait is what windlass waiting --json says of one.
type wait struct {
	ID       string          `json:"id"`
	Session  string          `json:"session"`
	Key      string          `json:"key"`
	Kind     string          `json:"kind"`
	Deadline *time.Time      `json:"deadline"`
	Answer   json.RawMessage `json:"answer"`
	Call     struct {
		Arguments struct {
			N string `json:"n"`
		} `json:"arguments"`
	} `json:"call"`
}

func (w *wait) isAnswered() bool { return len(w.Answer) > 0 }

// round is one run with all its deaths.
type round struct {
	*billed.World
	t       *testing.T
	rand    *rand.Rand
	story   []string
	given   map[string]string // the answer that a wait has, by its id
	sent    map[string]bool   // signals by what they say; false: windlass died while it sent it
	words   map[string]bool   // what was said to the model; false: windlass died while it was said
	allowed []string          // names with which the tool may run
	deaths  int
	hit     map[string]int // how often a death came at which place
}

func (r *round) told() string {
	return fmt.Sprintf("seed %d\n%s", suite.Seed, strings.Join(r.story, "\n"))
}

// start runs windlass, which may be killed on the way, and returns how it ended.
func (r *round) start(args ...string) *billed.Ended {
	r.t.Helper()
	what := args[0]
	if args[0] == "run" && args[1] == "fire.json" || args[0] == "resume" && args[1] != session {
		what = "fire"
	}
	var trap *crashtest.Trap
	if r.deaths < 20 {
		trap = r.trap(what)
	}
	before := r.steps()
	e := r.Start(trap, args...)
	line := fmt.Sprintf("%s: exit code %d", strings.Join(args, " "), e.Code)
	if e.Code == -1 {
		r.deaths++
		line += fmt.Sprintf(", killed %s %d %s", trap.Kind, trap.N, trap.Wait)
		for _, place := range placesOf(what, before, r.steps()) {
			r.hit[place]++
			line += ", " + place
		}
	}
	r.story = append(r.story, line)
	return e
}

// trap returns one at a random place, nil for none.
func (r *round) trap(what string) *crashtest.Trap {
	within := func(most time.Duration) *crashtest.Trap {
		return &crashtest.Trap{Kind: crashtest.AtTime, Wait: time.Duration(r.rand.Int64N(int64(most)))}
	}
	switch pick := r.rand.IntN(10); {
	case pick < 3:
		return nil
	case what == "answer" && pick < 6, what == "signal" && pick < 5, what == "audible" && pick < 5: // else when its letter is there
		return &crashtest.Trap{Kind: crashtest.AtMark, N: r.Marks() + 1}
	case what == "answer", what == "signal", what == "audible", what == "fire" && pick < 8:
		return within(60 * time.Millisecond)
	case pick < 5:
		return within(150 * time.Millisecond)
	case pick < 6:
		return &crashtest.Trap{Kind: crashtest.AtAnswer, N: 1 + r.rand.IntN(3)}
	case pick < 7:
		return &crashtest.Trap{Kind: crashtest.InTool, File: "dies-in-tool"}
	}
	return &crashtest.Trap{Kind: crashtest.AtMark, N: r.Marks() + 1 + r.rand.IntN(6)}
}

// play runs, answers, signals and resumes until the run is at its end.
func (r *round) play() {
	r.t.Helper()
	if r.rand.IntN(3) == 0 {
		r.signal() // before anything waits for it
	}
	for range 200 {
		args := []string{"resume", session, "--json", "--progress", "plain"}
		if !r.Exists(session) {
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
		if r.Exists(session) {
			if r.ended() {
				return
			}
			r.holds()
			if r.rand.IntN(3) == 0 {
				r.say()
			}
			r.answer()
		}
	}
	require.Fail(r.t, "the run comes to no end", r.told())
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
		switch {
		case r.rand.IntN(4) == 0: // later
		case w.Kind == "signal":
			r.signal()
		case r.rand.IntN(5) == 0 && !w.isAnswered() && w.Deadline == nil:
			r.answerTwice(&w)
		default:
			r.answerOnce(&w)
		}
	}
}

// said chooses an answer to a wait: what it says, and the arguments of the command.
func (r *round) said(w *wait) (said string, args []string) {
	switch w.Kind {
	case "approval":
		said = []string{"allow", "deny", "edit"}[r.rand.IntN(3)]
		name := w.Call.Arguments.N
		args = []string{"answer", w.ID, said}
		if said == "edit" {
			name += "-edited"
			args = append(args, "--arguments", fmt.Sprintf(`{"n":%q}`, name))
		}
		if said != "deny" && !w.isAnswered() {
			r.allowed = append(r.allowed, name) // it may be left although windlass dies
		}
		return said, args
	case "input":
		if strings.HasPrefix(w.Key, "end") {
			return "yes", []string{"answer", w.ID, "yes"}
		}
	}
	said = []string{"blue", "red"}[r.rand.IntN(2)]
	return said, []string{"answer", w.ID, said}
}

func (r *round) answerOnce(w *wait) {
	r.t.Helper()
	said, args := r.said(w)
	e := r.start(args...)
	switch {
	case e.Code == -1:
	case w.isAnswered():
		require.NotZero(r.t, e.Code, "the second answer is taken\n%s", r.told())
		require.Contains(r.t, e.Err, "was answered by", r.told())
		return
	case w.Deadline != nil && e.Code != 0:
		require.Contains(r.t, e.Err, "ended without an answer at", r.told())
		return
	default:
		require.Zero(r.t, e.Code, "%s\n%s", r.told(), e.Err)
	}
	if !w.isAnswered() {
		r.note(w, said, e.Code == -1)
	}
}

// answerTwice has two processes answer at the same time: one of them wins, and the other is told.
func (r *round) answerTwice(w *wait) {
	r.t.Helper()
	var said [2]string
	var ended [2]*billed.Ended
	var both sync.WaitGroup
	for i := range ended {
		var args []string
		said[i], args = r.said(w)
		both.Go(func() { ended[i] = r.Start(nil, args...) })
	}
	both.Wait()
	r.story = append(r.story, fmt.Sprintf("two answer %s: %q, exit code %d, and %q, exit code %d", w.ID, said[0], ended[0].Code, said[1], ended[1].Code))
	winner := slices.IndexFunc(ended[:], func(e *billed.Ended) bool { return e.Code == 0 })
	require.GreaterOrEqual(r.t, winner, 0, r.told())
	loser := ended[1-winner]
	require.Equal(r.t, 1, loser.Code, "two answers are taken\n%s\n%s", r.told(), loser.Err)
	require.Contains(r.t, loser.Err, "was answered by", r.told())
	r.note(w, said[winner], false)
	if w.Kind == "approval" {
		r.disallow(w)
		r.allow(w, said[winner])
	}
}

// note keeps what a wait was answered, when the answer is there. It may be missing only where windlass died.
func (r *round) note(w *wait, said string, died bool) {
	r.t.Helper()
	for _, now := range r.waiting() {
		if now.ID != w.ID {
			continue
		}
		if now.isAnswered() {
			r.given[w.ID] = said
			return
		}
		require.True(r.t, died, "an answer is lost\n%s", r.told())
		if w.Kind == "approval" {
			r.disallow(w)
		}
	}
}

func (r *round) disallow(w *wait) {
	r.allowed = slices.DeleteFunc(r.allowed, func(n string) bool { return strings.HasPrefix(n, w.Call.Arguments.N) })
}

func (r *round) allow(w *wait, said string) {
	switch said {
	case "allow":
		r.allowed = append(r.allowed, w.Call.Arguments.N)
	case "edit":
		r.allowed = append(r.allowed, w.Call.Arguments.N+"-edited")
	}
}

// signal sends a signal that says what no other says: from a command, to the session or to whoever waits, or from another
// run, which is resumed until it has ended.
func (r *round) signal() {
	r.t.Helper()
	n := fmt.Sprint(len(r.sent))
	args := []string{"signal", "go", "--data", `{"n":"` + n + `"}`}
	switch r.rand.IntN(3) {
	case 0:
		r.fire(n)
		return
	case 1:
		if r.Exists(session) {
			args = append(args, "--session", session)
		}
	}
	e := r.start(args...)
	if e.Code != -1 {
		require.Zero(r.t, e.Code, "%s\n%s", r.told(), e.Err)
	}
	r.sent[n] = e.Code == 0
}

// say says to the model what nobody else says.
func (r *round) say() {
	r.t.Helper()
	text := fmt.Sprintf("WORD %d", len(r.words))
	args := []string{"audible", session, text}
	if r.rand.IntN(2) == 0 {
		args = append(args, "--retry")
	}
	e := r.start(args...)
	if e.Code != -1 {
		require.Zero(r.t, e.Code, "%s\n%s", r.told(), e.Err)
	}
	r.words[text] = e.Code == 0
}

// fire has another run send a signal.
func (r *round) fire(n string) {
	r.t.Helper()
	id := "fire" + n
	r.sent[n] = true
	r.Others = append(r.Others, id)
	for range 50 {
		args := []string{"resume", id, "--progress", "plain"}
		if !r.Exists(id) {
			args = []string{"run", "fire.json", "--session", id, "--input-json", `{"n":"` + n + `"}`, "--progress", "plain", "--no-clickhouse"}
		}
		e := r.start(args...)
		if e.Code == 0 {
			return
		}
		require.Equal(r.t, -1, e.Code, "%s\n%s", r.told(), e.Err)
		if r.Exists(id) && hasEnded(r.Tree(id)) {
			return
		}
	}
	require.Fail(r.t, "the run that fires comes to no end", r.told())
}
