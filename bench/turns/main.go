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
	// First, while no engine takes part of the machine.
	cheap, err := measureJournal(ctx, os.Stdout, *pairs, url, dir)
	if err == nil && !*only {
		err = measureTurns(ctx, *rounds, *starts, url, dir)
	}
	if err == nil && !cheap {
		err = errors.New("journaling costs more than it may, or the noise was too large to say")
	}
	return err
}

// measureTurns measures the product against its floors, and whole runs of the command.
func measureTurns(ctx context.Context, rounds, starts int, url, dir string) error {
	db, err := openDatabase(ctx, dir)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was written through it
	for _, l := range []load{{50, 1}, {200, 1}, {50, 64}} {
		r, err := measure(ctx, l, rounds, url, dir)
		if err != nil {
			return err
		}
		printResult(os.Stdout, r)
	}
	return measureStart(ctx, starts, url, dir)
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

// measure runs one workload. The first round warms up and is thrown away.
func measure(ctx context.Context, l load, rounds int, url, dir string) (result, error) {
	r := result{load: l, samples: map[string][]sample{}}
	for round := range rounds + 1 {
		for _, v := range variants {
			s, err := runChild(ctx, v, l, fmt.Sprintf("%s/r%d%s%d", url, round, v, l.turns*1000+l.conversations), dir)
			if err != nil {
				return r, fmt.Errorf("%s, %s: %w", v, l, err)
			}
			if round > 0 {
				r.samples[v] = append(r.samples[v], s)
			}
		}
	}
	return r, nil
}

func runChild(ctx context.Context, variant string, l load, url, dir string) (sample, error) {
	exe, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	cmd := exec.CommandContext(ctx, exe, "child", variant, strconv.Itoa(l.turns), strconv.Itoa(l.conversations), url)
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+dir, "OPENAI_API_KEY=bench")
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
