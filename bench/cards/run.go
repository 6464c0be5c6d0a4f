package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm/script"
)

const (
	runTurns   = 50   // of the run: each but the last calls a tool
	resultSize = 1500 // characters of a tool result, about
	answer     = "The orders service holds the connection."
)

// course is the run that is measured with cards and without: the same cascade, script and tool results, the journal on disk
// and rows on their way to ClickHouse.
type course struct {
	home    string
	db      *clickhouse.DB                                // takes the cards
	open    func(context.Context) (*clickhouse.DB, error) // another one, for the rows: it is closed with the run
	cascade *cascade.Cascade
	script  *script.Script
	tool    lookup
}

func newCourse(o clickhouse.Options, db *clickhouse.DB, delay time.Duration) (*course, error) {
	const source = `{"cascade_id": "bench", "phases": [
		{"name": "work", "instructions": "Find out which service holds the connections: look up every file.", "tackle": ["lookup"], "rules": {"max_turns": 1000}}]}`
	c, found, err := cascade.Parse("bench.json", []byte(source), cascade.Known{Tools: []string{"lookup"}})
	if err != nil || len(found) > 0 {
		return nil, fmt.Errorf("the cascade of the benchmark: %w %v", err, found)
	}
	s, err := script.Parse("bench.script.json", playing(delay))
	if err != nil {
		return nil, err
	}
	open := func(ctx context.Context) (*clickhouse.DB, error) { return clickhouse.Open(ctx, o) }
	return &course{home: o.Home, db: db, open: open, cascade: c, script: s, tool: newLookup()}, nil
}

// playing writes the script: a line of text and a call in each turn, and an answer at the end.
func playing(delay time.Duration) []byte {
	type call struct {
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
	}
	type turn struct {
		Text  string `json:"text"`
		Calls []call `json:"calls,omitempty"`
		Delay int64  `json:"delay_ms,omitempty"`
	}
	turns := make([]turn, runTurns)
	for i := range turns {
		turns[i] = turn{
			Text:  fmt.Sprintf("I look at service/orders/part%d.go next, as the connection is held there.", i),
			Calls: []call{{"lookup", map[string]any{"n": i}}}, Delay: delay.Milliseconds(),
		}
	}
	turns[runTurns-1].Text, turns[runTurns-1].Calls = answer, nil
	text, err := json.Marshal(map[string]any{"phases": map[string]any{"work": turns}})
	if err != nil {
		panic(err) // plain values
	}
	return text
}

// lookup is the tool of the run, one that only reads. Its results are prose with names in it, each another one.
type lookup []string

func newLookup() lookup {
	r := rand.New(rand.NewPCG(runTurns, resultSize))
	words := strings.Fields(prose)
	out := make(lookup, runTurns)
	for i := range out {
		var b strings.Builder
		for b.Len() < resultSize {
			fmt.Fprintf(&b, "%s in service/%s/%s.go, line %d. ", sentence(r, words, 12), words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(900))
		}
		out[i] = b.String()
	}
	return out
}

func (lookup) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{
		Name: "lookup", Description: "Look something up.", Idempotent: true,
		Parameters: json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}}}`),
	}, name == "lookup"
}

func (l lookup) Call(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	var in struct{ N int }
	if err := json.Unmarshal(req.Arguments, &in); err != nil || in.N < 0 || in.N >= len(l) {
		return effect.ToolResult{}, fmt.Errorf("the arguments %s name no result", req.Arguments)
	}
	return effect.ToolResult{Parts: echo.Text(l[in.N])}, nil
}

// took is how long a run took, in milliseconds.
type took struct {
	answer    float64 // until its answer
	delivered float64 // until its rows, and its cards if it has any, are in ClickHouse as well
	calls     float64 // of the time to the answer, in what the turn loop calls to have cards made
}

// run has the run once. With cards they are made as the command has them made, with this embedder unless it is nil. What
// is opened for the run is opened before the time is taken.
func (c *course) run(ctx context.Context, id string, withCards bool, by contextcards.Embedder) (t took, err error) {
	rows, err := c.open(ctx)
	if err != nil {
		return t, err
	}
	sink := clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) { return rows, nil }, clickhouse.SinkOptions{})
	j, err := journal.Create(config.SessionDir(c.home, id), journal.Header{
		Rules: engine.Rules, SessionID: id, StartedAt: time.Now().UTC(), Cascade: json.RawMessage(`{}`), Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return t, err
	}
	r := engine.Runner{Model: script.NewModel(c.script), Tools: c.tool, DefaultModel: "bench"}
	cards := &timedCards{}
	if withCards {
		cards.Pipeline = contextcards.Start(contextcards.Options{Embedder: by, Store: cardsOf(c.db)})
		r.Cards = cards
	}
	log := echo.NewLog(id, nil, j, sink)
	start := time.Now()
	res, err := r.Run(ctx, engine.Spec{Cascade: c.cascade, Log: log})
	t.answer, t.calls = effect.Millis(time.Since(start)), effect.Millis(cards.spent)
	if withCards { // first, as the command has it
		err = errors.Join(err, cards.Close(ctx))
	}
	err = errors.Join(err, log.Close(ctx))
	t.delivered = effect.Millis(time.Since(start))
	if err == nil && (res.Output != answer || res.Calls != runTurns) {
		err = fmt.Errorf("the run ended with %v after %d calls", res.Output, res.Calls)
	}
	return t, err
}

// timedCards adds up the time of the calls that the turn loop makes. One goroutine makes them.
type timedCards struct {
	*contextcards.Pipeline
	spent time.Duration
}

// Add implements [lookup.Cards].
func (c *timedCards) Add(s contextcards.Source) {
	start := time.Now()
	c.Pipeline.Add(s)
	c.spent += time.Since(start)
}

// prose is what tool results are made of: words that word vectors know, the first ones more often.
const prose = `the connection order database server request time open close fail error service customer payment limit queue message read
write file table value number result system process memory network client session account record price change report test version release
user data storage memory thread lock wait retry budget token model answer question phase context history decision plan review deploy cluster
region backup index query column schema migration batch worker signal channel buffer latency throughput failure recovery incident alert owner
team contract invoice refund delivery address country language document page image summary keyword vector search cache disk journal replay`
