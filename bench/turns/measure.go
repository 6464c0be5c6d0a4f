package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

// load is one workload: so many conversations at once, of so many turns each.
type load struct{ turns, conversations int }

func (l load) String() string {
	if l.conversations == 1 {
		return thousands(l.turns) + " turns"
	}
	return fmt.Sprintf("%d conversations of %d turns at once", l.conversations, l.turns)
}

// result is one workload with the samples of every peer, in the order of the rounds.
type result struct {
	load    load
	peers   []peer
	samples map[string][]loop.Sample // by the names of peers
}

// left returns how many processes of a peer left rows that were not delivered.
func (r result) left(name string) (n int) {
	for _, s := range r.samples[name] {
		if s.Undelivered != "" {
			n++
		}
	}
	return n
}

// undelivered returns a line for each peer whose rows were not all delivered.
func (r result) undelivered() (lines []string) {
	for _, p := range r.peers {
		why := ""
		for _, s := range r.samples[p.name] {
			why = cmp.Or(s.Undelivered, why)
		}
		if why != "" {
			lines = append(lines, fmt.Sprintf("%s, %s: rows were left in %d of %d processes: %s", r.load, p.name, r.left(p.name), len(r.samples[p.name]), why))
		}
	}
	return lines
}

// turnLoads are the workloads of `make bench`.
var turnLoads = []load{{50, 1}, {200, 1}, {50, 64}}

func (b *bench) turns(ctx context.Context, rounds int) ([]result, error) {
	var results []result
	for _, l := range turnLoads {
		r, err := b.measure(ctx, l, b.peers, rounds)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// A conversation of longTurns takes a minute, so it steadies itself: longRounds are enough.
const (
	longTurns  = 4000
	longRounds = 2
)

// measure runs one workload with every peer in turn, round by round, each in a process of its own, so that the drift of the
// machine meets all of them alike. A round before them warms up, unless the conversations are long.
func (b *bench) measure(ctx context.Context, l load, peers []peer, rounds int) (result, error) {
	r := result{load: l, peers: peers, samples: map[string][]loop.Sample{}}
	first := 0
	if l.turns >= longTurns {
		first, rounds = 1, min(rounds, longRounds)
	}
	for round := first; round <= rounds; round++ {
		fmt.Fprintf(os.Stderr, "bench: %s, round %d of %d\n", l, round, rounds)
		for n := range peers {
			i := (n + round) % len(peers) // none always comes after the same other
			p := peers[i]
			url := fmt.Sprintf("%s/%d-%d-%d-%d", b.url, round, i, l.turns, l.conversations)
			s, err := b.one(ctx, p, l, url)
			if err != nil {
				return r, fmt.Errorf("measure %s, %s: %w", p.name, l, err)
			}
			if round > 0 {
				r.samples[p.name] = append(r.samples[p.name], s)
			}
		}
	}
	return r, nil
}

// one has a process of its own run a workload against the model at url.
func (b *bench) one(ctx context.Context, p peer, l load, url string) (s loop.Sample, err error) {
	out, err := output(ctx, p, p.program, strconv.Itoa(l.turns), strconv.Itoa(l.conversations), url)
	if err != nil {
		return s, err
	}
	return readSample(out)
}

// output runs a program with the home of a peer and returns what it prints.
func output(ctx context.Context, p peer, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+p.home, "OPENAI_API_KEY=bench")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, nil
}

func readSample(out []byte) (s loop.Sample, err error) {
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("read the sample %q: %w", out, err)
	}
	if s.Wall <= 0 {
		return s, fmt.Errorf("read the sample %q: it took no time", out)
	}
	return s, nil
}
