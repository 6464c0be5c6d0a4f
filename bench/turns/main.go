// Command bench measures the turn loop of windlass against its floors, in one interleaved run: a bare loop over
// openai-go and a bare loop over net/http that encodes each message once, all against the same local server, which answers
// at once. `make bench` runs it; docs/performance.md explains the figures.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
)

func main() {
	if embedded.IsServe(os.Args[1:]) {
		os.Exit(embedded.Serve(os.Args[1:]))
	}
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		err = serve()
	case len(os.Args) > 1 && os.Args[1] == "child":
		err = child(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "journal":
		err = journalChild(os.Args[2:])
	default:
		err = orchestrate(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// load is one workload: so many conversations at once, of so many turns each.
type load struct{ turns, conversations int }

func (l load) String() string {
	if l.conversations == 1 {
		return fmt.Sprintf("%d turns", l.turns)
	}
	return fmt.Sprintf("%d conversations x %d turns", l.conversations, l.turns)
}

// orchestrate runs every variant of every workload in turn, round by round, each in a process of its own, so that
// memory and CPU are its own, and the drift of the machine meets all of them alike.
func orchestrate(args []string) error {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := fs.Int("rounds", 7, "rounds that count, after one that does not")
	starts := fs.Int("starts", 15, "whole one-turn runs of the command")
	pairs := fs.Int("journal", 101, "rounds of runs with and without a journal")
	only := fs.Bool("only-journal", false, "measure nothing but what journaling costs")
	growth := fs.Bool("growth", false, "measure nothing but how a turn grows with the conversation, and with how many there are at once")
	before := fs.String("before", "", "`REVISION` of the repository whose windlass takes part in every round")
	if err := fs.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "windlass-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	url, err := startServer(ctx)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, url, dir, *before)
	if err != nil {
		return err
	}
	if *growth {
		return b.growth(ctx, os.Stdout, *rounds)
	}
	// First, while no engine takes part of the machine.
	cheap, err := measureJournal(ctx, os.Stdout, *pairs, url, dir)
	if err == nil && !*only {
		err = b.turns(ctx, *rounds, *starts)
	}
	if err == nil && !cheap {
		err = errors.New("journaling costs more than it may, or the noise was too large to say")
	}
	return err
}

// bench is what the measurements of a call of the command share.
type bench struct {
	url   string // of the model server
	dir   string // home of windlass, with sessions and ClickHouse
	peers []peer
}

// peer is one of those that take turns: a variant, and the program that runs it.
type peer struct{ name, variant, program string }

// newBench has this program run the floors and windlass, and the one of the revision before, if there is one, its windlass.
func newBench(ctx context.Context, url, dir, before string) (*bench, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{url: url, dir: dir}
	for _, v := range []string{variantOpenAI, variantHTTP, variantWindlass} {
		b.peers = append(b.peers, peer{v, v, exe})
	}
	if before != "" {
		program, err := buildBefore(ctx, before, dir)
		if err != nil {
			return nil, err
		}
		b.peers = append(b.peers, peer{"before", variantWindlass, program})
	}
	return b, nil
}

// turns measures the product against its floors, and whole runs of the command.
func (b *bench) turns(ctx context.Context, rounds, starts int) error {
	db, err := openDatabase(ctx, b.dir)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was written through it
	for _, l := range []load{{50, 1}, {200, 1}, {50, 64}} {
		r, err := b.measure(ctx, l, b.peers, rounds)
		if err != nil {
			return err
		}
		printResult(os.Stdout, r)
	}
	return measureStart(ctx, starts, b.url, b.dir)
}

// openDatabase opens ClickHouse with its data below home. The first process to do so starts the engine, which the others
// share.
func openDatabase(ctx context.Context, home string) (*clickhouse.DB, error) {
	cache, err := config.CacheDir()
	if err != nil {
		return nil, err
	}
	return clickhouse.Open(ctx, clickhouse.Options{DSN: os.Getenv("WINDLASS_CLICKHOUSE_DSN"), Home: home, CacheDir: cache})
}

// startServer starts the model server in a process of its own and returns its address. It ends with ctx.
func startServer(ctx context.Context) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, exe, "serve")
	if _, err := cmd.StdinPipe(); err != nil { // the server ends when this pipe does
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var url string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		return "", fmt.Errorf("start the model server: %w", err)
	}
	return url, nil
}

// measure runs one workload with every peer in turn. The first round warms up and is thrown away.
func (b *bench) measure(ctx context.Context, l load, peers []peer, rounds int) (result, error) {
	r := result{load: l, peers: peers, samples: map[string][]sample{}}
	for round := range rounds + 1 {
		for _, p := range peers {
			s, err := b.child(ctx, p, l, fmt.Sprintf("%s/r%d%s%d", b.url, round, p.name, l.turns*1000+l.conversations))
			if err != nil {
				return r, fmt.Errorf("%s, %s: %w", p.name, l, err)
			}
			if round > 0 {
				r.samples[p.name] = append(r.samples[p.name], s)
			}
		}
	}
	return r, nil
}

// child has a process of its own run a workload against the server at url.
func (b *bench) child(ctx context.Context, p peer, l load, url string) (sample, error) {
	cmd := exec.CommandContext(ctx, p.program, "child", p.variant, strconv.Itoa(l.turns), strconv.Itoa(l.conversations), url)
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+b.dir, "OPENAI_API_KEY=bench")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return sample{}, err
	}
	var s sample
	return s, json.Unmarshal(out, &s)
}

// buildCommand builds the windlass binary that whole runs are measured with.
func buildCommand(ctx context.Context, dir string) (string, error) {
	bin := filepath.Join(dir, "windlass")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/windlass")
	cmd.Dir = ".." // make bench runs this in the folder bench
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build windlass: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return bin, nil
}
