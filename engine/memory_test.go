package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memory"
)

// shelfOf is a bank whose files only this run changes. Branches of a run call it in parallel; mu is held for a whole call.
type shelfOf struct {
	mu     sync.Mutex
	files  memory.Files
	asked  []string // the commands and how much of the bank their runs see
	broken error
	at     uint64

	texts   []memory.Text // that it has remembered
	project map[string]string
}

func (s *shelfOf) Start(_ context.Context, bank, session string) (*echo.MemoryStart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "start "+bank+" "+session)
	return &echo.MemoryStart{At: s.at, Files: len(s.files)}, s.broken
}

func (s *shelfOf) Call(_ context.Context, r *memory.Request) (*echo.MemoryCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	res := r.Command.Run(s.files)
	seen, _ := json.Marshal(r.Seen)
	s.asked = append(s.asked, r.Key.String()+" "+r.Command.Command+" "+string(seen))
	out := r.Told(&res)
	for _, c := range res.Changes {
		s.at++
		out.Wrote = append(out.Wrote, echo.MemoryVersion{Path: c.Path, Version: "v"})
		out.Seen = append(out.Seen, echo.MemorySeen{Path: c.Path, At: s.at})
	}
	s.files = s.files.With(res.Changes)
	return out, nil
}

const remembers = `{"cascade_id":"c","memory":"notes","phases":[
	{"name":"work","instructions":"Work."},
	{"name":"read","tool":"memory","memory":"shared:style","inputs":{"command":"view","path":"/memories/a.md"},"on_error":"none"},
	{"name":"none","instructions":"None.","memory":false}]}`

func remembering() []answerFunc {
	return []answerFunc{
		call("memory", `{"command":"create","path":"/memories/a.md","file_text":"one\n"}`, "memory", `{"command":"view","path":"/memories/b.md"}`),
		call("memory", `{"command":"view","path":"/memories/a.md"}`, "memory", `{"command":"view"}`),
		say("worked"), say("end"),
	}
}

// The memory tool is offered where there is a bank, and its calls are recorded: what a run sees of a bank follows from its record.
func TestMemory(t *testing.T) {
	t.Parallel()
	b, bank := setup(t, remembering()...), &shelfOf{files: memory.Files{}, at: 7}
	b.runner.Banks = bank
	res, err := b.run(remembers, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	require.Equal(t, []string{
		"start notes s1", "start shared:style s1",
		`work/attempt1/turn1/tool1 create {"Start":7,"Paths":null}`, `work/attempt1/turn1/tool2 view {"Start":7,"Paths":{"/memories/a.md":8}}`,
		`work/attempt1/turn2/tool1 view {"Start":7,"Paths":{"/memories/a.md":8}}`,
		`read/attempt1/tool view {"Start":7,"Paths":null}`,
	}, bank.asked)
	require.Equal(t, "memory", b.model.requests[0].Tools[0].Name)
	require.Empty(t, b.model.requests[3].Tools)
	results := b.model.requests[1].Messages
	require.Equal(t, "File created successfully at: /memories/a.md", results[2].Text())
	require.Equal(t, "The path /memories/b.md does not exist. Please provide a valid path.", results[3].Text())
	require.True(t, results[3].Failed())
	results = b.model.requests[2].Messages
	require.Equal(t, "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t", results[5].Text())
	require.Equal(t, "Error: The command view needs the argument path", results[6].Text())
}

// Calls of one answer to what keeps texts run one after the other, beside the other tools.
func TestMemoryCallsRunInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		b := setup(t,
			call("memory", `{"command":"create","path":"/memories/a.md","file_text":"a\n"}`,
				"memory", `{"command":"str_replace","path":"/memories/a.md","old_str":"a","new_str":"b"}`,
				"memory", `{"command":"insert","path":"/memories/a.md","insert_line":1,"insert_text":"c"}`,
				"memory", `{"command":"view","path":"/memories/a.md"}`),
			call("memory", `{"command":"delete","path":"/memories/a.md"}`, "memory", `{"command":"create","path":"/memories/a.md","file_text":"new\n"}`),
			say("done"))
		bank := &shelfOf{files: memory.Files{}}
		b.runner.Banks = bank
		_, err := b.run(`{"cascade_id":"c","memory":"notes","phases":[{"name":"work","instructions":"Work."}]}`, nil)
		require.NoError(t, err)
		require.Equal(t, memory.Files{"/memories/a.md": "new\n"}, bank.files)
		for _, m := range b.model.requests[2].Messages {
			require.False(t, m.Failed(), m.Text())
		}
		require.Contains(t, b.model.requests[1].Messages[5].Text(), "1\tb\n     2\tc")
	}
}

// A run that resumes anywhere sees what its record says, and asks the bank for nothing that is recorded.
func TestMemoryOfAResumedRun(t *testing.T) {
	t.Parallel()
	b := setup(t, remembering()...)
	b.runner.Banks = &shelfOf{files: memory.Files{}, at: 7}
	_, err := b.run(remembers, nil)
	require.NoError(t, err)
	whole, resumed := b.entries.asRead(t), 0
	for n := 1; n < len(whole); n++ {
		if CheckResumable(whole[:n]) != nil {
			continue
		}
		bank := &shelfOf{files: memory.Files{"/memories/a.md": "one\n"}, at: 8}
		again := setup(t, remembering()[calls(whole[:n]):]...)
		again.runner.Banks, again.entries = bank, &inMemory{list: whole[:n:n]}
		res, err := again.goesOn(remembers)
		require.NoError(t, err, "after entry %d", n)
		require.Equal(t, "end", res.Output)
		for _, e := range whole[:n] {
			if e.NodeType == echo.NodeValue && strings.HasSuffix(e.Key.String(), "/memory") {
				for _, asked := range bank.asked {
					require.NotContains(t, asked, strings.TrimSuffix(e.Key.String(), "/memory")+" ", "after entry %d", n)
				}
			}
		}
		resumed++
	}
	require.Greater(t, resumed, 10)
}

// A bank that cannot be opened ends a run before it asks a model; one that fails later is told to the model.
func TestBrokenBank(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	for want, bank := range map[string]memory.Banks{"the disk is full": &shelfOf{broken: broken}, "this program keeps no memory": nil} {
		b := setup(t)
		b.runner.Banks = bank
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(remembers), c))
		_, err := b.runner.Run(t.Context(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, b.entries)})
		require.EqualError(t, err, "the run's record cannot be written: open the bank notes: "+want)
		require.Empty(t, b.entries.of(echo.NodeRunEnd), "it can be resumed")
	}

	bank := &shelfOf{files: memory.Files{}}
	b := setup(t, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		bank.broken = broken
		return call("memory", `{"command":"view","path":"/memories"}`)(req)
	}, say("worked"), say("end"))
	b.runner.Banks = bank
	_, err := b.run(remembers, nil)
	require.NoError(t, err)
	last := b.model.requests[1].Messages
	require.Equal(t, "Error: The bank notes cannot be used now: the disk is full", last[len(last)-1].Text())
}
