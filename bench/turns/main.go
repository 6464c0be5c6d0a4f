// Command turns measures the turn loop of windlass against its floors, in one interleaved run, all against the same local model
// that answers at once. Every loop is a program of its own, so that its memory is its own: openai-go, net-http and windlass.
// `make bench` runs it; docs/performance.md explains the figures.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// engineIdle is how long the engine of a home stays when the program that keeps it open has ended.
const engineIdle = time.Second

// options are what a call of the command measures.
type options struct {
	rounds, starts, journal int
	onlyJournal, growth     bool
	before                  string
}

func parse(args []string) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.IntVar(&o.rounds, "rounds", 7, "rounds that count, after one that does not")
	fs.IntVar(&o.starts, "starts", 15, "whole one-turn runs of the command")
	fs.IntVar(&o.journal, "journal", 101, "rounds of runs with and without a journal")
	fs.BoolVar(&o.onlyJournal, "only-journal", false, "measure nothing but what journaling costs")
	fs.BoolVar(&o.growth, "growth", false, "measure nothing but how a turn grows with the conversation, and with how many there are at once")
	fs.StringVar(&o.before, "before", "", "`REVISION` of the repository whose windlass takes part in every round")
	return o, fs.Parse(args)
}

func run(ctx context.Context, args []string, w io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "windlass-bench-")
	if err != nil {
		return err
	}
	defer remove(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := loadAverage()
	b, err := newBench(ctx, dir, o.before)
	if err != nil {
		return err
	}
	defer b.close()
	err = b.run(ctx, w, o)
	fmt.Fprintf(w, "\n%s\n", machine(began, loadAverage()))
	return err
}

// remove removes the temporary folder: again until it stays away, as ClickHouse makes folders until it has found that its own
// is not there any more, which its process looks for several times a second as engineIdle is short.
func remove(dir string) {
	for range 20 {
		_ = os.RemoveAll(dir) // tried again
		time.Sleep(engineIdle / 2)
		if _, err := os.Stat(dir); err != nil {
			return
		}
	}
}

func (b *bench) run(ctx context.Context, w io.Writer, o options) error {
	if !o.growth { // first, while no engine takes part of the machine
		if err := b.journaling(ctx, w, o.journal); err != nil || o.onlyJournal {
			return err
		}
	}
	for _, p := range b.peers {
		if err := b.keepOpen(ctx, p); err != nil {
			return err
		}
	}
	if o.growth {
		return b.growth(ctx, w, o.rounds)
	}
	results, err := b.turns(ctx, o.rounds)
	if err != nil {
		return err
	}
	printTurns(w, results)
	printRatios(w, results)
	if err := b.starts(ctx, w, o.starts); err != nil {
		return err
	}
	return judge(w, turnBars(results))
}

// bench is what the measurements of a call of the command share.
type bench struct {
	url   string // of the model
	dir   string // temporary, with the programs and the homes of windlass
	peers []peer
	stop  []func() // ends what runs beside the measured processes
}

// peer is one of those that take turns.
type peer struct {
	name    string
	program string
	home    string // of windlass: each has its own, as another revision may have other tables; empty: records nothing
	command string // the whole command of windlass, of which its start is measured
}

// Names of peers, as the tables have them.
const (
	nameOpenAI   = "openai-go"
	nameHTTP     = "net/http"
	nameWindlass = "windlass"
	nameBefore   = "before"
)

// newBench builds the programs below dir and starts the model. The windlass of the revision before takes part if there is one.
func newBench(ctx context.Context, dir, before string) (*bench, error) {
	programs := filepath.Join(dir, "programs")
	if err := buildPrograms(ctx, programs); err != nil {
		return nil, err
	}
	command := filepath.Join(dir, "command")
	if err := build(ctx, "..", command, "./cmd/windlass"); err != nil { // make bench runs this in the folder bench
		return nil, err
	}
	b := &bench{dir: dir, peers: []peer{
		{name: nameOpenAI, program: filepath.Join(programs, "openai-go")},
		{name: nameHTTP, program: filepath.Join(programs, "net-http")},
		{name: nameWindlass, program: filepath.Join(programs, "windlass"), home: filepath.Join(dir, "home"), command: command},
	}}
	if before != "" {
		p, err := buildBefore(ctx, "..", before, filepath.Join(dir, "before"))
		if err != nil {
			return nil, err
		}
		b.peers = append(b.peers, p)
	}
	url, err := b.startProgram(ctx, filepath.Join(programs, "server"), nil)
	b.url = url
	return b, err
}

func (b *bench) close() {
	for _, stop := range b.stop {
		stop()
	}
}
