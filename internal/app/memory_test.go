package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/config"
)

// remembering is a model that gives one answer after the other and keeps what it was sent. A text that begins with { is the
// arguments of a call of the memory tool, one that begins with the name of a tool of memos is a call of that.
type remembering struct {
	mu      sync.Mutex
	answers []string
	sent    []string                 // the requests, as hashes of their messages
	texts   []string                 // the newest message of each
	systems []string                 // the first message of each
	before  map[int]func(*testing.T) // what happens before an answer, by its number from 0
	t       *testing.T
	asked   int
	tool    string // that is called; "": the memory tool
}

func (m *remembering) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var hashes []string
	for _, msg := range req.Messages {
		hashes = append(hashes, string(msg.Hash()))
	}
	m.sent = append(m.sent, strings.Join(hashes, " "))
	m.systems = append(m.systems, req.Messages[0].Text())
	m.texts = append(m.texts, req.Messages[len(req.Messages)-1].Text())
	if do := m.before[m.asked]; do != nil {
		do(m.t)
	}
	answer := m.answers[m.asked]
	m.asked++
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(answer)}
	if name, args, is := strings.Cut(answer, " "); is && memo.Is(name) {
		d = echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{{ID: fmt.Sprintf("c%d", m.asked), Name: name, Arguments: args}}}
	} else if strings.HasPrefix(answer, "{") {
		d = echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{{ID: fmt.Sprintf("c%d", m.asked), Name: cmp.Or(m.tool, memory.Tool), Arguments: answer}}}
	}
	cent := 0.01
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "test", Model: req.Model, CostUSD: &cent, Usage: echo.Usage{In: 10, Out: 2}, FinishReason: "stop"}, nil
}

var memoryFiles = map[string]string{
	"n.json":    `{"cascade_id": "n", "memory": "notes", "phases": [{"name": "work", "instructions": "Work on {{ input.topic }}."}]}`,
	"two.json":  `{"cascade_id": "n", "phases": [{"name": "plan", "instructions": "Plan."}, {"name": "work", "instructions": "Work."}]}`,
	"more.json": `{"cascade_id": "n", "phases": [{"name": "plan", "instructions": "Plan."}, {"name": "work", "memory": "notes", "instructions": "Work."}]}`,
}

const (
	viewNote   = `{"command":"view","path":"/memories/a.md"}`
	createNote = `{"command":"create","path":"/memories/a.md","file_text":"one\n"}`
	editNote   = `{"command":"str_replace","path":"/memories/a.md","old_str":"one","new_str":"two"}`
)

// runs runs a session to its end.
func runs(t *testing.T, a *App, job Job, id string, m *remembering) *engine.Result {
	t.Helper()
	r, err := a.Start(t.Context(), job, RunOptions{SessionID: id, NoClickHouse: true, Models: Models{Default: "m1"}, Extensions: Extensions{Model: m}}, Watch{})
	require.NoError(t, err)
	return comesToEnd(t, r)
}

// diesAnywhere goes on with a session as if its process had died after each of its entries, by a fork, whose model gives the
// answers from there on. Each comes to its end and is verified.
func diesAnywhere(t *testing.T, a *App, whole string, model func() *remembering) {
	t.Helper()
	asked := 0
	for n, e := range a.recording(t, whole).Entries {
		if n > 0 {
			id := fmt.Sprintf("dead%d", n)
			m := model()
			m.asked = asked
			r, err := a.Fork(t.Context(), whole, uint64(n), ForkOptions{SessionID: id, ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
			if err != nil {
				require.ErrorContains(t, err, "cannot be resumed", "after entry %d", n)
			} else {
				comesToEnd(t, r)
				verifyTree(t, a, id)
			}
		}
		if e.NodeType == echo.NodeModelCall {
			asked++
		}
	}
}

// forksAfterPlan forks a session where its phase plan has ended, with another cascade.
func forksAfterPlan(t *testing.T, a *App, from string, other Job, m *remembering) *engine.Result {
	t.Helper()
	var at uint64
	for _, e := range a.recording(t, from).Entries {
		if e.NodeType == echo.NodePhaseEnd && e.Phase == "plan" {
			at = e.Seq
		}
	}
	r, err := a.Fork(t.Context(), from, at, ForkOptions{SessionID: "fork", Cascade: other.Cascade, File: other.File, ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
	require.NoError(t, err)
	return comesToEnd(t, r)
}

// comesToEnd has a run come to its end.
func comesToEnd(t *testing.T, r *Run) *engine.Result {
	t.Helper()
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	return res
}

func banksOf(t *testing.T, a *App) *bank.Store {
	t.Helper()
	return bank.Open(a.home, a.dir, nil)
}

// A session finds what an earlier one has written; a session that began before sees none of it, and is told when it would
// overwrite it. Each is verified afterwards, whatever has become of the bank.
func TestMemoryOverSessions(t *testing.T) {
	t.Parallel()
	a, job := newApp(t), treeJob(t, memoryFiles, "n.json")
	runs(t, a, job, "first", &remembering{t: t, answers: []string{viewNote, createNote, "done"}})
	second := &remembering{t: t, answers: []string{viewNote, editNote, viewNote, editNote, "done"}}
	second.before = map[int]func(*testing.T){1: func(t *testing.T) { // between its reading and its writing
		t.Helper()
		third := &remembering{t: t, answers: []string{editNote, "done"}}
		runs(t, a, job, "third", third)
		require.Equal(t, "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\ttwo\n     2\t", third.texts[1])
	}}
	runs(t, a, job, "second", second)
	require.Equal(t, []string{
		"Work on sea.",
		"Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t",
		"Error: Since this run began, another one, or a person, has changed /memories/a.md, so nothing was written.\n\n" +
			"Here's the content of /memories/a.md with line numbers:\n     1\ttwo\n     2\t\n\nDecide again with what is there now.",
		"Here's the content of /memories/a.md with line numbers:\n     1\ttwo\n     2\t",
		"No replacement was performed, old_str `one` did not appear verbatim in /memories/a.md.",
	}, second.texts)
	h, err := banksOf(t, a).Read("notes")
	require.NoError(t, err)
	require.Len(t, h.Versions("/memories/a.md"), 2)
	_, err = banksOf(t, a).Forget(t.Context(), "notes", "ada", "/memories/a.md")
	require.NoError(t, err)
	for _, id := range []string{"first", "second", "third"} {
		verifyTree(t, a, id)
	}
	last := &remembering{t: t, answers: []string{viewNote, "done"}}
	runs(t, a, job, "newest", last)
	require.Equal(t, "The path /memories/a.md does not exist. Please provide a valid path.", last.texts[1])
}

// A run that died anywhere goes on with the same requests, byte for byte, and writes nothing twice, also where the bank
// had its write and the record had not.
func TestMemoryOfAResumedSession(t *testing.T) {
	t.Parallel()
	answers := []string{viewNote, createNote, editNote, viewNote, "done"}
	a, job := newApp(t), treeJob(t, memoryFiles, "n.json")
	whole := &remembering{t: t, answers: answers}
	runs(t, a, job, "whole", whole)
	diesAnywhere(t, a, "whole", func() *remembering { return &remembering{t: t, answers: answers} })
}

// A fork may use a bank that the session it comes from did not use.
func TestForkWithABank(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	runs(t, a, treeJob(t, memoryFiles, "two.json"), "plain", &remembering{t: t, answers: []string{"one", "two"}})
	m := &remembering{t: t, answers: []string{createNote, viewNote, "done"}}
	res := forksAfterPlan(t, a, "plain", treeJob(t, memoryFiles, "more.json"), m)
	require.Equal(t, "done", res.Output)
	require.Equal(t, "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t", m.texts[2])
	verifyTree(t, a, "fork")
}

// A session that has the id of a deleted one is another session, for the bank too.
func TestMemoryOfAnIDUsedAgain(t *testing.T) {
	t.Parallel()
	a, job := newApp(t), treeJob(t, memoryFiles, "n.json")
	for range 2 {
		m := &remembering{t: t, answers: []string{viewNote, createNote, "done"}}
		runs(t, a, job, "nightly", m)
		require.Equal(t, []string{"Work on sea.", "The path /memories/a.md does not exist. Please provide a valid path.", "File created successfully at: /memories/a.md"}, m.texts)
		h, err := banksOf(t, a).Read("notes")
		require.NoError(t, err)
		require.Contains(t, h.Files(h.Now()), "/memories/a.md")
		_, err = banksOf(t, a).Edit(t.Context(), "notes", bank.Edit{Person: "ada", Command: memory.Command{Command: "delete", Path: "/memories/a.md"}, Seen: h.Now()})
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(config.SessionDir(a.home, "nightly")))
	}
}

// Elements of a list that write into one file at the same time see each other's writes: none is refused, none is lost.
func TestMemoryOfParallelCalls(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := map[string]string{"each.json": `{"cascade_id": "each", "memory": "notes", "phases": [
		{"name": "make", "tool": "memory", "inputs": {"command": "create", "path": "/memories/list.md", "file_text": "end\n"}},
		{"name": "each", "tool": "memory", "inputs": {"command": "insert", "path": "/memories/list.md", "insert_line": 0, "insert_text": "{{ item }}"},
		 "for_each": {"items": ["a", "b", "c", "d", "e", "f", "g", "h"], "max_parallel": 8}}]}`}
	runs(t, a, treeJob(t, files, "each.json"), "each", &remembering{t: t})
	h, err := banksOf(t, a).Read("notes")
	require.NoError(t, err)
	v, is := h.Current("/memories/list.md")
	require.True(t, is)
	lines := strings.Fields(v.Text)
	require.Equal(t, "end", lines[8])
	require.ElementsMatch(t, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, lines[:8])
	verifyTree(t, a, "each")
}

// A bank that was removed while a run goes on is no empty bank: the model is told.
func TestMemoryOfARemovedBank(t *testing.T) {
	t.Parallel()
	a, job := newApp(t), treeJob(t, memoryFiles, "n.json")
	m := &remembering{t: t, answers: []string{createNote, viewNote, "done"}}
	m.before = map[int]func(*testing.T){1: func(t *testing.T) {
		t.Helper()
		require.NoError(t, os.RemoveAll(config.BanksDir(a.home)))
	}}
	runs(t, a, job, "gone", m)
	require.Contains(t, m.texts[2], "Error: The bank notes cannot be used now: bank ")
	require.Contains(t, m.texts[2], " is damaged at line 1: this run has seen more of it: it was cut off, or is another file")
}

// A secret is in no bank. One that a bank has, from before it was one, is in no record and in no request.
func TestBankHasNoSecret(t *testing.T) {
	a, job := newApp(t), treeJob(t, memoryFiles, "n.json")
	secret := "not-yet-a-secret"
	writes := strings.Replace(createNote, "one", secret, 1)
	runs(t, a, job, "before", &remembering{t: t, answers: []string{writes, "done"}})
	t.Setenv("SOME_TOKEN", secret)
	a = newAppAt(t, a.home, a.dir)
	m := &remembering{t: t, answers: []string{viewNote, strings.ReplaceAll(writes, "a.md", "b.md"), "done"}}
	runs(t, a, job, "after", m)
	require.Equal(t, "Here's the content of /memories/a.md with line numbers:\n     1\t[value of SOME_TOKEN]\n     2\t", m.texts[1])
	h, err := banksOf(t, a).Read("notes")
	require.NoError(t, err)
	v, is := h.Current("/memories/b.md")
	require.True(t, is)
	require.Equal(t, "[value of SOME_TOKEN]\n", v.Text)
	journal, err := os.ReadFile(filepath.Join(config.SessionDir(a.home, "after"), "journal.jsonl"))
	require.NoError(t, err)
	require.NotContains(t, string(journal), secret)
	verifyTree(t, a, "after")
}

func newAppAt(t *testing.T, home, dir string) *App {
	t.Helper()
	a, err := Open(Options{Home: home, Dir: dir, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}
