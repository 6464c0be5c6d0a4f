package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

const (
	journalTurns  = 50
	journalWarmUp = 3
	journalBar    = 10.0 // per cent that journaling may add to a turn loop whose model answers at once
)

// The variants of a run: without a journal; the same once more, which shows the noise; with one that is handed to the
// operating system and never synced, which is what windlass itself does for it; and with one as it is, which adds the disk.
const (
	noJournal = iota
	noJournalAgain
	notSynced
	withJournal
)

var journalVariants = []string{"no journal", "no journal, again", "journal, not synced", "journal"}

// unsynced is a journal that nobody waits for.
type unsynced struct{ *journal.Journal }

func (u unsynced) Commit()                    { u.Flush() }
func (u unsynced) Wait(context.Context) error { u.Flush(); return nil }

// journalTimes are what runs took, by variant and round.
type journalTimes struct {
	WallMS [][]float64 `json:"wall_ms"`
	CPUMS  [][]float64 `json:"cpu_ms"`
	Syncs  uint64      `json:"syncs"` // of all runs with a journal that count
	Bytes  int64       `json:"bytes"` // that these have written
}

// measureJournal has a process of its own measure what journaling adds to a run, and reports whether that is under the bar.
func measureJournal(ctx context.Context, w io.Writer, rounds int, url, dir string) (bool, error) {
	exe, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, exe, "journal", strconv.Itoa(rounds), url)
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+dir, "OPENAI_API_KEY=bench")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return false, err
	}
	var t journalTimes
	if err := json.Unmarshal(out, &t); err != nil {
		return false, err
	}
	return t.report(w), nil
}

// journalChild measures in this process: every round has every variant, each round in another order, so that the drift of the
// machine meets all alike.
func journalChild(args []string) error {
	rounds, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	home, err := config.Home()
	if err != nil {
		return err
	}
	c, err := benchCascade()
	if err != nil {
		return err
	}
	store := journal.NewStore(config.SessionsDir(home), config.CommitDir(home))
	n := len(journalVariants)
	t := journalTimes{WallMS: make([][]float64, n), CPUMS: make([][]float64, n)}
	for round := range journalWarmUp + rounds {
		for i := range n {
			at := (i + round) % n
			r, err := journalRun(c, store, fmt.Sprintf("%s/j%d-%d/%d", args[1], round, at, journalTurns), fmt.Sprintf("journal-%d-%d", round, at), at)
			if err != nil {
				return fmt.Errorf("a run with %s: %w", journalVariants[at], err)
			}
			if round < journalWarmUp {
				continue
			}
			t.WallMS[at], t.CPUMS[at] = append(t.WallMS[at], r.wall), append(t.CPUMS[at], r.cpu)
			if at == withJournal {
				t.Syncs, t.Bytes = t.Syncs+r.syncs, t.Bytes+r.bytes
			}
		}
	}
	return errors.Join(store.Close(), json.NewEncoder(os.Stdout).Encode(t))
}

// oneRun is what a run took, from its beginning until all of it is recorded. Making the session and closing its file are no
// part of it.
type oneRun struct {
	wall, cpu float64 // milliseconds
	syncs     uint64
	bytes     int64
}

func journalRun(c *cascade.Cascade, store *journal.Store, url, id string, variant int) (oneRun, error) {
	ctx := context.Background()
	j, err := store.Create(journal.Header{
		Rules: engine.Rules, SessionID: id, StartedAt: time.Now().UTC(), Cascade: json.RawMessage(`{}`), Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return oneRun{}, err
	}
	var durable echo.DurableSink
	switch variant {
	case notSynced:
		durable = unsynced{j}
	case withJournal:
		durable = j
	}
	log := echo.NewLog(id, nil, durable)
	model := llm.NewRouter(&config.Config{}, func(name string) string {
		return map[string]string{llm.EnvBaseURL: url, llm.EnvAPIKey: "bench"}[name]
	})
	r := engine.Runner{Model: model, Tools: lookupTool{}, DefaultModel: "bench"}
	runtime.GC() // the garbage of the run before is not this one's
	cpu, start := cpuTime(), time.Now()
	res, err := r.Run(ctx, engine.Spec{Cascade: c, Log: log})
	if err == nil {
		err = log.Wait(ctx)
	}
	out := oneRun{wall: ms(time.Since(start)), cpu: ms(cpuTime() - cpu), syncs: j.Syncs()}
	if err == nil && res.Output != "done" {
		err = fmt.Errorf("it ended with %v", res.Output)
	}
	if err = errors.Join(err, log.Close(ctx), j.Close(ctx)); err != nil {
		return out, err
	}
	info, err := os.Stat(j.Path())
	if err == nil {
		out.bytes = info.Size()
	}
	return out, err
}

// added is by how many per cent a variant took longer than the first one, round by round: the median, and the range in which
// the true median is 19 times out of 20.
type added struct{ median, from, to float64 }

func addedTo(times [][]float64, variant int) added {
	v := make([]float64, len(times[0]))
	for round := range v {
		v[round] = 100 * (times[variant][round]/times[0][round] - 1)
	}
	mid := middle(v) // which sorts them
	n := len(v)
	half := int(math.Ceil(0.98 * math.Sqrt(float64(n)))) // of the binomial distribution's ranks around the median
	return added{mid, v[max(n/2-half, 0)], v[min((n-1)/2+half, n-1)]}
}

// report prints what was found and reports whether journaling is under the bar. Noise as large as the bar is a failure, too:
// such a measurement says nothing.
func (t *journalTimes) report(w io.Writer) bool {
	rounds := len(t.WallMS[noJournal])
	fmt.Fprintf(w, "\njournaling, %d turns, a model that answers at once (medians of %d rounds; added: %% of the time without, with the range of the median)\n", journalTurns, rounds)
	fmt.Fprintf(w, "  %-20s %8s  %-28s %12s  %s\n", "", "ms/turn", "added", "cpu ms/turn", "added")
	for i, name := range journalVariants {
		wall, cpu := middle(slices.Clone(t.WallMS[i]))/journalTurns, middle(slices.Clone(t.CPUMS[i]))/journalTurns
		if i == noJournal {
			fmt.Fprintf(w, "  %-20s %8.3f  %-28s %12.3f\n", name, wall, "", cpu)
			continue
		}
		fmt.Fprintf(w, "  %-20s %8.3f  %-28s %12.3f  %s\n", name, wall, addedTo(t.WallMS, i), cpu, addedTo(t.CPUMS, i))
	}
	turns := float64(rounds * journalTurns)
	fmt.Fprintf(w, "  %.2f syncs and %.1f KiB a turn\n", float64(t.Syncs)/turns, float64(t.Bytes)/turns/1024)
	return t.judge(w)
}

// judge holds the time that journaling adds to the bar.
func (t *journalTimes) judge(w io.Writer) bool {
	a := addedTo(t.WallMS, noJournalAgain)
	passed := verdict(w, "the noise", max(-a.from, a.to))
	for _, i := range []int{notSynced, withJournal} {
		passed = verdict(w, journalVariants[i], addedTo(t.WallMS, i).median) && passed
	}
	return passed
}

func verdict(w io.Writer, what string, percent float64) bool {
	word := "passed"
	if percent > journalBar {
		word = "FAILED"
	}
	fmt.Fprintf(w, "  %s: %s, %.1f %% of the time, the bar is %.0f\n", word, what, percent, journalBar)
	return percent <= journalBar
}

func (a added) String() string { return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", a.median, a.from, a.to) }
