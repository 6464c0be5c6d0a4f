package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// bench is what all runs have in common.
type bench struct {
	candidates, turns int
	steps             int     // of refinement
	scale             float64 // of the tool results
	dir, program      string
}

func (b *bench) build(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "windlass-soundings-"); err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/windlass-run/windlass").Output()
	if err != nil {
		return fmt.Errorf("find the module of windlass: %w", err)
	}
	b.program = filepath.Join(b.dir, "windlass")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/windlass")
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build windlass: %w\n%s", err, out)
	}
	for i := range b.turns {
		if err := os.WriteFile(filepath.Join(b.dir, fmt.Sprintf("result%d", i)), []byte(b.result(i)), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.dir, "windlass.json"), []byte(`{"default_model":"m","models":{"*":{"context_window":1000000,"price":
		{"input":2,"cached_input":0.2,"output":8,"as_of":"2026-01-31","source":"the bench's server"}}}}`), 0o600)
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) } // a folder that stays behind fails nothing

// Sizes in bytes; a token has 8 of them to the server.
const (
	bytesOfToken = 8
	answerSize   = 400 * bytesOfToken
	thoughtSize  = 60 * bytesOfToken
)

// sizes are those of tool results: files, lists of matches, and what tests print, in tokens.
var sizes = []int{1500, 300, 800, 2500, 120, 600, 1200, 400, 2000, 250, 900, 700, 1800, 150}

// prices are those of the server, in billionths of a dollar for a token; windlass.json has the same.
var prices = llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}

// result returns what a tool says.
func (b *bench) result(i int) string {
	return filler(fmt.Sprintf("result %d", i), int(b.scale*float64(sizes[i%len(sizes)]))*bytesOfToken)
}

// filler returns a text of words of a size, another one for each name.
func filler(name string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%s has line %d of a text that says a little. ", name, n)
	}
	return b.String()[:size]
}

var approaches = []string{
	"Go through the parts one by one.", "Look for what is not there.", "Begin with what is most dear.", "Say what you are sure of first.",
}

// sum is what a server billed for some calls.
type sum struct {
	calls           int
	in, cached, out int64 // tokens; cached are of in
	usd             float64
}

func (s *sum) add(o sum) {
	s.calls, s.usd = s.calls+o.calls, s.usd+o.usd
	s.in, s.cached, s.out = s.in+o.in, s.cached+o.cached, s.out+o.out
}

// spent is what a run came to.
type spent struct {
	tried, judged sum
	said          float64 // what windlass says the shared prefix saved
}

func (s *spent) add(o spent) {
	s.tried.add(o.tried)
	s.judged.add(o.judged)
	s.said += o.said
}

// usd is all that was billed.
func (s *spent) usd() float64 { return s.tried.usd + s.judged.usd }

// row is what came of one prefix.
type row struct {
	prefix                        int
	uncached, separate            spent // five runs with their full history: without a cache, and with one inside each run
	shared, masked, maskedNoCache spent // one sounding: with full history, with masking, and that without a cache
}

func (b *bench) measure(ctx context.Context, prefix int) (*row, error) {
	r := &row{prefix: prefix}
	var errs []error
	alone := func(cache llmtest.Cache) (all spent) {
		for i := range b.candidates {
			s, err := b.one(ctx, b.cascade(prefix, i, false, false), cache)
			errs = append(errs, err)
			all.add(s)
		}
		return all
	}
	sounding := func(masks bool, cache llmtest.Cache) spent {
		s, err := b.one(ctx, b.cascade(prefix, 0, true, masks), cache)
		errs = append(errs, err)
		return s
	}
	r.uncached, r.separate = alone(llmtest.NoCache), alone(llmtest.Started)
	r.shared, r.masked = sounding(false, llmtest.Started), sounding(true, llmtest.Started)
	r.maskedNoCache = sounding(true, llmtest.NoCache)
	return r, errors.Join(errs...)
}

// cascade returns the phase, for one candidate alone or with soundings.
func (b *bench) cascade(prefix, candidate int, sounding, masks bool) map[string]any {
	instructions := "CANDIDATE work on this document:\n" + filler("The document", prefix*bytesOfToken)
	if !sounding && candidate > 0 {
		instructions += "\n\nApproach:\n" + approaches[(candidate-1)%len(approaches)]
	}
	phase := map[string]any{
		"name": "work", "instructions": instructions, "tackle": []string{"look"},
		"rules": map[string]any{"max_turns": b.turns + 1}, "max_output_tokens": 2000,
	}
	if masks {
		phase["intra_context"] = map[string]any{}
	}
	if sounding {
		soundings := map[string]any{
			"factor": b.candidates, "max_parallel": b.candidates, "mutation_mode": "approach", "mutations": approaches,
		}
		if b.steps > 0 {
			soundings["reforge"] = map[string]any{"steps": b.steps, "patience": b.steps}
		}
		phase["soundings"] = soundings
	}
	tool := map[string]any{
		"tool_id": "look", "type": "shell", "idempotent": true, "description": "Looks at a thing.",
		"inputs_schema": map[string]any{"n": "its number"}, "command": "cat result{{ n }}",
	}
	return map[string]any{"cascade_id": "bench", "tools": []any{tool}, "phases": []any{phase}}
}

// thinks is how long a model takes until its answer begins: long enough that candidates really run beside each other.
const thinks = 15 * time.Millisecond

// answer plays the model: a call in each turn, then an answer; a judge always names the longest answer.
func (b *bench) answer(r llmtest.Request) *llmtest.Answer {
	time.Sleep(thinks) // of a model that thinks; nothing waits for it
	task, steps := "", 0
	for _, m := range r.Messages {
		switch {
		case m.Role == "user" && task == "":
			task = m.Text()
		case m.Role == "assistant":
			steps++
		}
	}
	if isJudge(&r) {
		return &llmtest.Answer{Text: fmt.Sprintf(`{"why": "it says most", "winner": %q}`, best(r.Messages[len(r.Messages)-1].Text()))}
	}
	who := "unchanged"
	if _, approach, ok := strings.Cut(task, "Approach:\n"); ok {
		who = approach
	}
	if steps < b.turns-1 {
		return &llmtest.Answer{
			Text:  filler(fmt.Sprintf("Thought %d of %q", steps, who), thoughtSize),
			Calls: []llmtest.Call{{ID: fmt.Sprintf("call_%d", steps), Name: "look", Arguments: fmt.Sprintf(`{"n": "%d"}`, steps)}},
		}
	}
	return &llmtest.Answer{Text: filler(fmt.Sprintf("The answer %q", who), answerSize)}
}

func isJudge(r *llmtest.Request) bool {
	return strings.HasPrefix(r.Messages[0].Text(), "You judge answers")
}

// best returns the label of the answer that one of the approaches has led to.
func best(judged string) string {
	for _, part := range strings.Split(judged, "\nAnswer ")[1:] {
		label, text, _ := strings.Cut(part, ":\n")
		if strings.Contains(text, approaches[0]) {
			return label
		}
	}
	return "tie"
}

// one runs a cascade against a server of its own, whose cache is empty.
func (b *bench) one(ctx context.Context, cascade map[string]any, cache llmtest.Cache) (spent, error) {
	server := llmtest.Start(llmtest.Config{Prices: &prices, Cache: cache, Answer: b.answer})
	defer server.Close()
	data, err := json.Marshal(cascade)
	if err != nil {
		return spent{}, err
	}
	if err := os.WriteFile(filepath.Join(b.dir, "bench.json"), data, 0o600); err != nil {
		return spent{}, err
	}
	home := filepath.Join(b.dir, "home")
	defer os.RemoveAll(home) //nolint:errcheck // likewise
	if _, err := b.windlass(ctx, home, server.URL, "run", "bench.json", "--session", "bench", "--no-clickhouse", "--progress", "quiet"); err != nil {
		return spent{}, errors.Join(err, server.Refused())
	}
	s := count(server)
	if s.judged.calls == 0 {
		return s, nil // a run without soundings
	}
	out, err := b.windlass(ctx, home, server.URL, "soundings", "bench", "--json")
	if err != nil {
		return spent{}, err
	}
	s.said = saved(out)
	return s, nil
}

func (b *bench) windlass(ctx context.Context, home, url string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.program, args...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Stderr = b.dir, &errs
	cmd.Env = append(os.Environ(), "WINDLASS_HOME="+home, "OPENAI_API_KEY=bench", "OPENAI_BASE_URL="+url, "WINDLASS_EMBEDDING_MODEL=hashed", "WINDLASS_CLICKHOUSE_DSN=clickhouse://127.0.0.1:9/windlass")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("windlass %s: %w\n%s", args[0], err, errs.String())
	}
	return out, nil
}

// count sums the bill of a server up.
func count(server *llmtest.Server) (s spent) {
	for _, c := range server.Bill() {
		to := &s.tried
		if isJudge(c.Request) {
			to = &s.judged
		}
		to.add(sum{1, c.In, c.Cached, c.Out, c.USD()})
	}
	return s
}

// saved returns what windlass says that the shared prefix saved.
func saved(out []byte) float64 {
	var shown []struct {
		Steps []struct {
			Choice struct {
				Prefix struct {
					SavedUSD float64 `json:"saved_usd"`
				} `json:"prefix"`
			} `json:"choice"`
		} `json:"steps"`
	}
	if json.Unmarshal(out, &shown) != nil || len(shown) == 0 {
		return 0
	}
	return shown[0].Steps[0].Choice.Prefix.SavedUSD
}
