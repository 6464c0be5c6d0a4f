// Package loop is what the programs of the measured loops share: what every conversation is about, and how a process measures
// itself. It imports nothing that would add to the memory of the leanest of them.
package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Sample is one measured process. Times are milliseconds; the tags are how a process prints it.
type Sample struct {
	Wall      float64 `json:"wall_ms"`  // until every conversation has its answer
	Drain     float64 `json:"drain_ms"` // then, until all rows are delivered
	CPU       float64 `json:"cpu_ms"`   // user and system, of the whole process, the drain included
	Allocs    uint64  `json:"allocs"`
	AllocKB   uint64  `json:"alloc_kb"`
	StartMiB  float64 `json:"start_mib"`           // the largest resident size before the first turn
	PeakMiB   float64 `json:"peak_mib"`            // and in all
	Delivered int64   `json:"delivered,omitempty"` // rows
	// Undelivered says why not all rows were delivered. Everything else was measured, so it is no failure.
	Undelivered string `json:"undelivered,omitempty"`
}

// Loop is the loop that a program measures.
type Loop struct {
	Talk  func(ctx context.Context, n int, url string) error // has conversation n with the endpoint at url
	Drain func() (rows int64, err error)                     // delivers what is recorded; nil: nothing is
}

// Run has the conversations that a command line TURNS CONVERSATIONS URL asks for, all at once, with the loop that open returns
// for so many of them, and prints a [Sample] to w. The server at URL learns the conversation and its turns from the path.
func Run(ctx context.Context, args []string, w io.Writer, open func(ctx context.Context, conversations int) (Loop, error)) error {
	if len(args) != 3 {
		return errors.New("usage: TURNS CONVERSATIONS URL")
	}
	turns, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("read the number of turns: %w", err)
	}
	conversations, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("read the number of conversations: %w", err)
	}
	l, err := open(ctx, conversations)
	if err != nil {
		return err
	}
	s, err := l.measure(ctx, conversations, func(n int) string { return fmt.Sprintf("%s-%d/%d", args[2], n, turns) })
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(s)
}

func (l Loop) measure(ctx context.Context, conversations int, url func(n int) string) (Sample, error) {
	s := Sample{StartMiB: peakMiB()}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := CPUTime(), time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for n := range conversations {
		g.Go(func() error { return l.Talk(ctx, n, url(n)) })
	}
	if err := g.Wait(); err != nil {
		return s, err
	}
	s.Wall = Milliseconds(time.Since(start))
	if l.Drain != nil {
		start = time.Now()
		rows, err := l.Drain()
		if err != nil {
			s.Undelivered = err.Error()
		}
		s.Drain, s.Delivered = Milliseconds(time.Since(start)), rows
	}
	s.CPU = Milliseconds(CPUTime() - cpu)
	runtime.ReadMemStats(&after)
	s.Allocs, s.AllocKB = after.Mallocs-before.Mallocs, (after.TotalAlloc-before.TotalAlloc)>>10
	s.PeakMiB = peakMiB()
	return s, nil
}

// Milliseconds returns a duration as figures are printed.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// What every conversation is about: the same words in every loop.
const (
	SystemText = "You look things up."
	TaskText   = "Look up everything, one after the other."
	ToolName   = "lookup"
	ToolText   = "Look something up."
	ToolSchema = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	ResultSize = 1500 // characters of a tool result
)

// Lookup is the tool of every conversation.
func Lookup(arguments string) string {
	head := "result of " + arguments + ": "
	return head + strings.Repeat("x", ResultSize-len(head))
}

// Client returns a client that keeps a connection for each conversation.
func Client(conversations int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conversations, MaxIdleConns: conversations}}
}

// JournalTurns is how many turns a run has that journaling is measured with.
const JournalTurns = 50

// Journaling is what the program of that name prints: milliseconds of runs by variant (no journal, the same again, a journal
// that is not synced, a journal) and round.
type Journaling struct {
	Wall  [][]float64 `json:"wall_ms"`
	CPU   [][]float64 `json:"cpu_ms"`
	Syncs uint64      `json:"syncs"` // of all runs of the last variant
	Bytes int64       `json:"bytes"` // that these have written
}
