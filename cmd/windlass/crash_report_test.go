//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/term"
)

// crashTotals are the sums of all rounds.
type crashTotals struct {
	resumes, engines, answers, requests, again, entries, unfinished, twice, held atomic.Int64

	mu     sync.Mutex
	traps  map[string]int
	places map[string]int
}

// deathPlace says where a run was when its process died, by its journal.
func deathPlace(rec *journal.Recording) string {
	if rec.Torn {
		return "in the middle of a line of the journal"
	}
	if len(rec.Entries) == 0 {
		return "before the run began"
	}
	last := lastOfRun(rec.Entries)
	switch {
	case record.EndOf(rec.Entries).Status == echo.StatusCompleted:
		return "after the end, while rows were delivered"
	case openTools(rec.Entries):
		return "in a tool that may do harm"
	case last.NodeType == echo.NodeModelCall:
		return "after an answer, before its tools"
	case last.NodeType == echo.NodeToolCall:
		return "after a tool"
	case last.NodeType == echo.NodeSelection:
		return "while a model was asked"
	case last.NodeType == echo.NodePhaseEnd, last.NodeType == echo.NodeRoute, last.NodeType == echo.NodePhaseStart:
		return "between two phases"
	}
	return "elsewhere"
}

// openTools reports whether a tool had begun whose end is not recorded.
func openTools(entries []*echo.Entry) bool {
	open := map[string]bool{}
	for _, e := range entries {
		switch e.NodeType {
		case echo.NodeToolStart:
			open[e.Key.String()] = true
		case echo.NodeToolCall:
			delete(open, e.Key.String())
		}
	}
	return len(open) > 0
}

// died counts a death, and says now and then how far the test is.
func (c *crashes) died(t *crashtest.Trap, place string) {
	c.totals.mu.Lock()
	if c.totals.traps == nil {
		c.totals.traps, c.totals.places = map[string]int{}, map[string]int{}
	}
	c.totals.traps[string(t.Kind)]++
	c.totals.places[place]++
	c.totals.mu.Unlock()
	n := c.killed.Add(1)
	if c.loud && (n%10 == 0 || n == c.target) {
		fmt.Fprintf(os.Stderr, "%4d of %d deaths, %d rounds whole, %s\n", n, c.target, c.roundsRun.Load(), time.Since(c.began).Round(time.Second))
	}
}

// report prints what came of it, when somebody asked for that.
func (c *crashes) report() {
	if !c.loud || c.t.Failed() {
		return
	}
	s := &c.totals
	places := term.NewTable("windlass died", ">times")
	for _, list := range []map[string]int{s.traps, s.places} {
		for _, k := range byCount(list) {
			places.Add(k, fmt.Sprint(list[k]))
		}
		places.Add("", "")
	}
	sums := term.NewTable("in all", ">")
	for _, row := range []struct {
		what string
		n    int64
	}{
		{"rounds, each ended as the undisturbed run", c.roundsRun.Load()},
		{"deaths of windlass", c.killed.Load()},
		{"resumes", s.resumes.Load()},
		{"deaths of ClickHouse", s.engines.Load()},
		{"different requests", s.answers.Load()},
		{"requests, with those whose answer died with the process", s.requests.Load()},
		{"answers in the journal that were asked for again", s.again.Load()},
		{"tools that may do harm cut off, and told to the model", s.unfinished.Load()},
		{"tools that may do harm run twice", s.twice.Load()},
		{"entries, each once in ClickHouse", s.entries.Load()},
		{"records that hold, after each death and at the end", s.held.Load()},
	} {
		sums.Add(row.what, fmt.Sprint(row.n))
	}
	for _, t := range []*term.Table{places, sums} {
		fmt.Fprintln(os.Stderr)
		require.NoError(c.t, t.Render(os.Stderr, term.Room{}))
	}
	fmt.Fprintf(os.Stderr, "\nNothing was lost, in %s.\n", time.Since(c.began).Round(time.Second))
}

// byCount returns the keys, the most frequent first.
func byCount(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(m[b]-m[a], cmp.Compare(a, b)) })
	return keys
}
