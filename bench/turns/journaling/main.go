// Command journaling measures for `make bench` what journaling adds to a run, in one process: runs without a journal; the same
// once more, which shows the noise; with a journal that is handed to the operating system and never synced, which is what
// windlass itself does for it; and with one as it is, which adds the disk. There is no ClickHouse in it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/bench/turns/loop"
	"github.com/windlass-run/windlass/bench/turns/product"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

const warmUp = 3 // rounds that do not count

// The variants of a run, in the order of [loop.Journaling].
const (
	noJournal = iota
	noJournalAgain
	notSynced
	withJournal
	variants
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "journaling:", err)
		os.Exit(1)
	}
}

// run takes the arguments ROUNDS and URL and prints a [loop.Journaling].
func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: ROUNDS URL")
	}
	rounds, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("read the number of rounds: %w", err)
	}
	home, err := config.Home()
	if err != nil {
		return err
	}
	c, err := product.Cascade()
	if err != nil {
		return err
	}
	store := journal.NewStore(config.SessionsDir(home), config.CommitDir(home))
	m := measurement{cascade: c, store: store, url: args[1]}
	err = m.rounds(ctx, rounds)
	return errors.Join(err, store.Close(), json.NewEncoder(os.Stdout).Encode(m.out))
}

// unsynced is a journal that nobody waits for.
type unsynced struct{ *journal.Journal }

func (u unsynced) Commit()                    { u.Flush() }
func (u unsynced) Wait(context.Context) error { u.Flush(); return nil }

type measurement struct {
	cascade *cascade.Cascade
	store   *journal.Store
	url     string
	out     loop.Journaling
}

// rounds has every variant in every round, each round in another order, so that the drift of the machine meets all alike.
func (m *measurement) rounds(ctx context.Context, rounds int) error {
	m.out.Wall, m.out.CPU = make([][]float64, variants), make([][]float64, variants)
	for round := range warmUp + rounds {
		for i := range variants {
			variant := (i + round) % variants
			r, err := m.one(ctx, round, variant)
			if err != nil {
				return err
			}
			if round >= warmUp {
				m.add(variant, r)
			}
		}
	}
	return nil
}

func (m *measurement) add(variant int, r oneRun) {
	m.out.Wall[variant], m.out.CPU[variant] = append(m.out.Wall[variant], r.wall), append(m.out.CPU[variant], r.cpu)
	if variant == withJournal {
		m.out.Syncs, m.out.Bytes = m.out.Syncs+r.syncs, m.out.Bytes+r.bytes
	}
}

// oneRun is what a run took, from its beginning until all of it is recorded. Making the session and closing its file are no
// part of it.
type oneRun struct {
	wall, cpu float64 // milliseconds
	syncs     uint64
	bytes     int64
}

func (m *measurement) one(ctx context.Context, round, variant int) (oneRun, error) {
	id := fmt.Sprintf("journal-%d-%d", round, variant)
	j, err := m.store.Create(ctx, product.Header(id))
	if err != nil {
		return oneRun{}, err
	}
	log := echo.NewLog(id, nil, durable(j, variant))
	runtime.GC() // the garbage of the run before is not this one's
	cpu, start := loop.CPUTime(), time.Now()
	err = product.Run(ctx, m.cascade, log, fmt.Sprintf("%s/%s/%d", m.url, id, loop.JournalTurns))
	if err == nil {
		err = log.Wait(ctx)
	}
	out := oneRun{wall: loop.Milliseconds(time.Since(start)), cpu: loop.Milliseconds(loop.CPUTime() - cpu), syncs: j.Syncs()}
	if err = errors.Join(err, log.Close(ctx), j.Close(ctx)); err != nil {
		return out, err
	}
	info, err := os.Stat(j.Path())
	if err == nil {
		out.bytes = info.Size()
	}
	return out, err
}

// durable returns what a variant waits for, or nil.
func durable(j *journal.Journal, variant int) echo.DurableSink {
	switch variant {
	case notSynced:
		return unsynced{j}
	case withJournal:
		return j
	}
	return nil
}
