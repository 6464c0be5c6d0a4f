//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/crashtest"
)

var kills = flag.Int("kills", 0, "kill windlass so many times in TestCrash, and print what came of it; 0: a few times, silently")

// fewKills is how many there are in an ordinary run of the tests.
const fewKills = 12

// TestCrash kills windlass at random places of runs, goes on with windlass resume, kills that, and
// so on, until the run is at its end. Every run must end as an undisturbed one does, without an
// answered call that is asked again, without a tool that may do harm being run twice, with a record
// that holds, and with every entry in ClickHouse once. One group of rounds has a server; in the
// other the embedded ClickHouse is killed as well, whenever it likes.
func TestCrash(t *testing.T) {
	t.Parallel()
	dsn := clickhousetest.DSN(t, clickhousetest.Open(t))
	c := &crashes{t: t, dsn: dsn, target: int64(fewKills), began: time.Now()}
	if *kills > 0 {
		c.target, c.loud = int64(*kills), true
	}
	c.undisturbed()
	t.Run("rounds", func(t *testing.T) {
		for _, name := range []string{"server", "server again", "embedded"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.rounds(t, name)
			})
		}
	})
	c.report()
}

// crashes is one whole crash test.
type crashes struct {
	t      *testing.T
	dsn    string
	target int64 // kills
	loud   bool
	began  time.Time

	output    string          // of an undisturbed run
	ids       map[string]bool // of its answers
	requests  int
	took      time.Duration
	totals    crashTotals
	killed    atomic.Int64
	roundsRun atomic.Int64
}

// undisturbed runs the cascade once and keeps what came of it.
func (c *crashes) undisturbed() {
	r := c.newRound(c.t, newLab(c.t, c.dsn), "undisturbed")
	start := time.Now()
	r.play(0)
	c.took = time.Since(start)
	c.output, c.ids = r.output(r.entries()), map[string]bool{}
	for id, n := range r.server.Asked() {
		require.Equal(c.t, 1, n, "every request is another one")
		c.ids[id] = true
	}
	c.requests = len(c.ids)
	require.Equal(c.t, "The answer of end 2 1.2: the fox is by the well, and the crane in the meadow.", c.output)
	r.check(nil)
}

// rounds plays until there were enough kills.
func (c *crashes) rounds(t *testing.T, name string) {
	var l *lab
	if name == "embedded" {
		l = embeddedLab(t)
	} else {
		l = newLab(t, c.dsn)
	}
	id := strings.ReplaceAll(name, " ", "-")
	for n := 1; n == 1 || c.killed.Load() < c.target; n++ { // one at least, also where others are done by then
		r := c.newRound(t, l, fmt.Sprintf("%s-%d", id, n))
		stop := func() {}
		if name == "embedded" {
			stop = r.killEngines()
		}
		r.play(1 + rand.IntN(5))
		stop()
		r.check(c)
		c.roundsRun.Add(1)
	}
}

// crashRound is one session with all its deaths.
type crashRound struct {
	*lab
	all    *crashes
	t      *testing.T
	id     string
	server *crashtest.Server
	deaths int
	told   []string // what happened, for when it goes wrong
}

func (c *crashes) newRound(t *testing.T, l *lab, id string) *crashRound {
	t.Helper()
	mine := *l
	mine.t, mine.dir = t, filepath.Join(l.dir, id)
	require.NoError(t, os.Mkdir(mine.dir, 0o700))
	r := &crashRound{lab: &mine, all: c, t: t, id: id, server: startCrashServer()}
	t.Cleanup(r.server.Close)
	mine.env = append(slices.Clone(l.env), "OPENAI_BASE_URL="+r.server.URL)
	r.file("crash.json", crashText())
	return r
}

// killEngines kills the embedded ClickHouse at random until it is stopped.
func (r *crashRound) killEngines() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(rand.N(2 * r.all.took)):
				if r.killEngine() != 0 {
					r.all.totals.engines.Add(1)
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// play runs the session to its end, with so many traps on the way.
func (r *crashRound) play(traps int) {
	args := []string{"run", "crash.json", "--model", "thinker", "--session", r.id}
	for {
		var t *crashtest.Trap
		if traps--; traps >= 0 {
			t = r.chooseTrap()
		}
		p, code := r.try(args, t)
		rec, err := journal.Read(r.journal())
		switch {
		case code == exitOK:
			require.NoError(r.t, err, r.story())
			require.Equal(r.t, echo.StatusCompleted, record.EndOf(rec.Entries).Status, r.story())
			return
		case code == exitStorage && t != nil && t.Kind == crashtest.NoRoom:
			require.Regexp(r.t, diskFullText, p.err.String(), r.story())
		default:
			require.Equal(r.t, -1, code, "%s\n%s\n%s", r.story(), p.out.String(), p.err.String())
		}
		r.deaths++
		if errors.Is(err, os.ErrNotExist) {
			r.all.died(t, "before the session was made")
			continue
		}
		require.NoError(r.t, err, r.story())
		r.all.died(t, deathPlace(rec))
		r.afterDeath(rec)
		if record.EndOf(rec.Entries).Status == echo.StatusCompleted {
			return
		}
		args = []string{"resume", r.id}
	}
}

// try starts a process and waits for its end.
func (r *crashRound) try(args []string, t *crashtest.Trap) (*process, int) {
	r.server.Set(t)
	p := &process{Cmd: exec.Command("windlass", args...), t: r.t}
	r.told = append(r.told, strings.Join(args, " "))
	switch {
	case t == nil:
	case t.Kind == crashtest.NoRoom:
		p.Cmd = exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d; exec windlass "$@"`, t.N), "sh"}, args...)...)
	case t.Kind == crashtest.InTool:
		r.file(t.File, "")
	}
	if t != nil {
		r.told = append(r.told, fmt.Sprintf("  trap: %s %d %s %s", t.Kind, t.N, t.Wait, t.File))
	}
	r.begin(p)
	t.Begin(p.Process)
	if args[0] == "resume" {
		r.all.totals.resumes.Add(1)
	}
	stop := t.Watch(r.ends)
	code := p.wait()
	stop()
	if t != nil && t.File != "" {
		_ = os.Remove(filepath.Join(r.dir, t.File)) // it may have sprung
	}
	r.told = append(r.told, fmt.Sprintf("  exit code %d", code))
	return p, code
}

// ends counts the ends of phases and runs that are in the journal.
func (r *crashRound) ends() int {
	data, _ := os.ReadFile(r.journal()) // it may not be there yet
	return bytes.Count(data, []byte(`"node_type":"phase_end"`)) + bytes.Count(data, []byte(`"node_type":"run_end"`))
}

// chooseTrap returns a trap at a random place of what is left of the run.
func (r *crashRound) chooseTrap() *crashtest.Trap {
	calls, ends, tools := 0, 0, map[string]bool{}
	if rec, err := journal.Read(r.journal()); err == nil {
		for _, e := range rec.Entries {
			switch e.NodeType {
			case echo.NodeModelCall:
				calls++
			case echo.NodePhaseEnd:
				ends++
			case echo.NodeToolCall:
				tools[toolNumber(e)] = true
			}
		}
	}
	left := max(r.all.requests-calls, 1)
	switch pick := rand.IntN(12); {
	case pick < 2:
		return &crashtest.Trap{Kind: crashtest.AtRequest, N: 1 + rand.IntN(left)}
	case pick < 4:
		return &crashtest.Trap{Kind: crashtest.AtHalf, N: 1 + rand.IntN(left)}
	case pick < 6:
		return &crashtest.Trap{Kind: crashtest.AtAnswer, N: 1 + rand.IntN(left)}
	case pick < 8:
		open := slices.DeleteFunc(slices.Clone(crashTools), func(n string) bool { return tools[n] })
		if len(open) > 0 {
			return &crashtest.Trap{Kind: crashtest.InTool, File: []string{diesBefore, diesAfter}[rand.IntN(2)] + open[rand.IntN(len(open))]}
		}
	case pick < 9:
		const phases = 7 // visits
		return &crashtest.Trap{Kind: crashtest.AtMark, N: ends + 1 + rand.IntN(phases+1-min(ends, phases))}
	case pick < 10 && !r.isEmbedded():
		return &crashtest.Trap{Kind: crashtest.NoRoom, N: 1 + rand.IntN(120)}
	}
	return &crashtest.Trap{Kind: crashtest.AtTime, Wait: rand.N(r.all.took + r.all.took/4)}
}

// isEmbedded reports whether the lab has an engine of its own, whose files must not be limited.
func (r *crashRound) isEmbedded() bool {
	return slices.Contains(r.env, "WINDLASS_ENGINE_IDLE=1s")
}

// toolNumber returns what a call's tool knows it by.
func toolNumber(e *echo.Entry) string {
	var args struct{ N any }
	if json.Unmarshal([]byte(e.Tool.Arguments), &args) != nil || args.N == nil {
		return ""
	}
	return e.Tool.Name[:1] + fmt.Sprint(args.N)
}

func (r *crashRound) journal() string {
	return filepath.Join(r.home, "sessions", r.id, journal.File)
}

func (r *crashRound) entries() []*echo.Entry {
	r.t.Helper()
	rec, err := journal.Read(r.journal())
	require.NoError(r.t, err, r.story())
	require.False(r.t, rec.Torn, r.story())
	return rec.Entries
}

func (r *crashRound) story() string { return r.id + "\n" + strings.Join(r.told, "\n") }

// afterDeath notes what the journal has, and demands that it holds.
func (r *crashRound) afterDeath(rec *journal.Recording) {
	r.t.Helper()
	r.server.Settle(answersIn(rec.Entries)...)
	v, err := appAt(r.home).Verify(context.Background(), rec, app.Extensions{})
	require.NoError(r.t, err, r.story())
	require.True(r.t, v.Holds, "%s\n%s", v.Difference, r.story())
	r.all.totals.held.Add(1)
	r.told = append(r.told, fmt.Sprintf("  %d entries, %s", len(rec.Entries), deathPlace(rec)))
}

// answersIn returns the names of the answers that are recorded.
func answersIn(entries []*echo.Entry) []string {
	var ids []string
	for _, e := range entries {
		if call, err := echo.Read[echo.ModelCall](e); err == nil && e.Error == nil {
			ids = append(ids, call.Model)
		}
	}
	return ids
}

// output returns the output that is recorded at the end.
func (r *crashRound) output(entries []*echo.Entry) string {
	r.t.Helper()
	last := lastOfRun(entries)
	require.Equal(r.t, echo.NodeRunEnd, last.NodeType, r.story())
	end, err := echo.Read[echo.RunEnd](last)
	require.NoError(r.t, err)
	return echo.AsText(end.Output)
}

// lastOfRun returns the last entry that is the run's own.
func lastOfRun(entries []*echo.Entry) *echo.Entry {
	for _, e := range slices.Backward(entries) {
		if !e.Background() {
			return e
		}
	}
	return &echo.Entry{}
}

// check holds the end of a round against the undisturbed run; nil: it is that run.
func (r *crashRound) check(c *crashes) {
	r.t.Helper()
	entries := r.entries()
	unfinished := r.checkTools(entries)
	again := r.server.Again()
	r.all.totals.again.Add(int64(len(again)))
	require.Empty(r.t, again, "answers that were in the journal were asked for again\n%s", r.story())
	require.NoError(r.t, r.server.Refused(), r.story())
	r.run(exitOK, "ship", r.id)
	r.checkRows(entries)
	r.run(exitOK, "verify", r.id)
	r.all.totals.held.Add(1)
	if c == nil {
		return
	}
	require.Equal(r.t, c.output, r.output(entries), r.story())
	if unfinished == 0 {
		for id := range r.server.Asked() {
			require.True(r.t, c.ids[id], "a request is another than in the undisturbed run\n%s", r.story())
		}
		require.ElementsMatch(r.t, answersIn(entries), keysOf(c.ids), r.story())
	}
	for _, n := range r.server.Asked() {
		c.totals.answers.Add(1)
		c.totals.requests.Add(int64(n))
	}
	c.totals.entries.Add(int64(len(entries)))
	c.totals.unfinished.Add(int64(unfinished))
}

// checkTools demands that every tool that may do harm has run once, or perhaps not and its model
// was told. It returns how many are such.
func (r *crashRound) checkTools(entries []*echo.Entry) int {
	r.t.Helper()
	told, ended := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		if e.NodeType == echo.NodeToolCall {
			ended[toolNumber(e)]++
			if e.Error != nil && e.Error.Kind == "unfinished" {
				told[toolNumber(e)] = true
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "written.txt"))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(r.t, err)
	}
	written := map[string]int{}
	for _, n := range strings.Fields(string(data)) {
		written[n]++
	}
	for _, n := range crashTools {
		require.Equal(r.t, 1, ended[n], "the tool %s has one end\n%s", n, r.story())
		if n[0] == 'w' && written[n] > 1 {
			r.all.totals.twice.Add(1)
		}
		switch {
		case n[0] != 'w':
			require.False(r.t, told[n], "%s may be run again\n%s", n, r.story())
		case told[n]:
			require.LessOrEqual(r.t, written[n], 1, "%s\n%s", n, r.story())
		default:
			require.Equal(r.t, 1, written[n], "%s\n%s", n, r.story())
		}
	}
	return len(told)
}

// checkRows demands that every entry is in ClickHouse once.
func (r *crashRound) checkRows(entries []*echo.Entry) {
	r.t.Helper()
	rows := r.ask("SELECT count() AS n, uniqExact(seq) AS numbers, min(seq) AS first, max(seq) AS last FROM logs WHERE session_id = '" + r.id + "'")
	n := json.Number(fmt.Sprint(len(entries)))
	require.Equal(r.t, []map[string]any{{"n": n, "numbers": n, "first": json.Number("1"), "last": n}}, rows, r.story())
}

func keysOf(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
