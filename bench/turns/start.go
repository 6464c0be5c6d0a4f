package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

// starts times whole one-turn runs of the command with a warm engine, from start to exit with the rows delivered. The sessions
// of the other measurements are removed first: they have no mark of delivery, so each run would spend two seconds on them.
func (b *bench) starts(ctx context.Context, w io.Writer, n int) error {
	file := filepath.Join(b.dir, "one.json")
	if err := os.WriteFile(file, []byte(`{"cascade_id":"one","phases":[{"name":"p","instructions":"Say done."}]}`), 0o600); err != nil {
		return err
	}
	walls := map[string][]float64{}
	for i := range n + 1 {
		for _, p := range b.peers {
			if p.command == "" {
				continue
			}
			if i == 0 {
				if err := os.RemoveAll(filepath.Join(p.home, "sessions")); err != nil {
					return err
				}
			}
			took, err := b.oneTurn(ctx, p, file, fmt.Sprintf("%s/start-%s-%d/1", b.url, p.name, i))
			if err != nil {
				return err
			}
			if i > 0 {
				walls[p.name] = append(walls[p.name], took)
			}
		}
	}
	t := table{{"a one-turn run of the command, warm engine", "ms"}}
	for _, p := range b.peers {
		if p.command != "" {
			s := spanOf(walls[p.name])
			t.add(p.name, fmt.Sprintf("%.0f (%.0f to %.0f)", s.median, s.from, s.to))
		}
	}
	t.print(w)
	return nil
}

func (b *bench) oneTurn(ctx context.Context, p peer, file, url string) (float64, error) {
	cmd := exec.CommandContext(ctx, p.command, "run", file, "--model", "bench")
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+p.home, "OPENAI_API_KEY=bench", "OPENAI_BASE_URL="+url)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("run one turn with the command of %s: %w\n%s", p.name, err, out)
	}
	return loop.Milliseconds(time.Since(start)), nil
}
