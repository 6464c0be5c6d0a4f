package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/bench/locomo"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/recollection"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/bank"
)

// program is the cascade of one session: the model says what was said there, a turn after the other.
const program = `{"cascade_id": "talk", "memory": {"name": "talks", "remember": "messages", "recall_tool": true},
	"phases": [{"name": "talk", "instructions": "Say what was said.", "tackle": ["set_state"], "rules": {"max_turns": %d}}]}`

// speaker is a model that says the turns of a session. It calls a tool with each but the last, so that there is another turn.
type speaker struct {
	mu    sync.Mutex
	turns []string
	said  int
}

// Complete implements [effect.Model].
func (s *speaker) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said >= len(s.turns) {
		return nil, errors.New("the session has no more turns")
	}
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(s.turns[s.said])}
	if s.said++; s.said < len(s.turns) {
		d.ToolCalls = []echo.ToolCall{{ID: fmt.Sprintf("c%d", s.said), Name: "set_state", Arguments: fmt.Sprintf(`{"key":"turn","value":%d}`, s.said)}}
	}
	free := 0.0
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "script", Model: req.Model, CostUSD: &free, Usage: echo.Usage{In: 1, Out: 1}, FinishReason: "stop"}, nil
}

// remembered is a bank after all sessions of a conversation.
type remembered struct {
	c      *locomo.Conversation
	runs   int
	docs   []recollection.Document
	index  *recollection.Index
	placed map[string]int // index of a document, by its text
}

// remember runs each session of a conversation in a home of its own, and returns the bank.
func remember(ctx context.Context, c *locomo.Conversation) (out *remembered, err error) {
	home, err := os.MkdirTemp("", "windlass-bench-memory-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	folder := filepath.Join(home, "project")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	a, err := app.Open(app.Options{Home: filepath.Join(home, "home"), Dir: folder, Version: "bench"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	out = &remembered{c: c}
	for i := 0; i < len(c.Turns); out.runs++ {
		var turns []string
		for session := c.Turns[i].Session; i < len(c.Turns) && c.Turns[i].Session == session; i++ {
			turns = append(turns, c.Turns[i].Text)
		}
		if err := talk(ctx, a, folder, out.runs, turns); err != nil {
			return nil, err
		}
	}
	return out, out.look(ctx, filepath.Join(home, "home"), folder)
}

// talk runs one session.
func talk(ctx context.Context, a *app.App, folder string, number int, turns []string) error {
	file := filepath.Join(folder, "talk.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, program, len(turns)+1), 0o600); err != nil {
		return err
	}
	c, _, err := app.LoadFile(ctx, file, app.Known())
	if err != nil {
		return err
	}
	options := app.RunOptions{
		SessionID: fmt.Sprintf("session-%d", number+1), NoClickHouse: true, Models: app.Models{Default: "script"}, Extensions: app.Extensions{Model: &speaker{turns: turns}},
	}
	r, err := a.Start(ctx, app.Job{Cascade: c, File: file, Input: map[string]any{}}, options, app.Watch{})
	if err != nil {
		return err
	}
	_, err = r.Do(ctx)
	return errors.Join(err, r.Close().Err)
}

// look reads the bank as a run sees it that begins now.
func (b *remembered) look(ctx context.Context, home, folder string) error {
	store := bank.Open(home, folder, nil)
	start, err := store.Start(ctx, "talks", "asks")
	if err != nil {
		return err
	}
	err = store.Search(ctx, &memory.Search{Bank: "talks", Session: "asks", Seen: memory.Seen{Start: start.At}, Choose: func(h *memory.Holdings) []echo.MemoryVersion {
		b.docs = recollection.Documents(h)
		return nil
	}})
	b.placed = map[string]int{}
	for i := range b.docs {
		b.placed[b.docs[i].Text] = i
	}
	b.index = recollection.NewIndex(b.docs, tokens)
	return err
}

// tokens is a quarter of the characters of a text, rounded up, as of the turns of a conversation.
func tokens(text string) int64 { return int64(utf8.RuneCountInString(text)+3) / 4 }

// toolSettings are those of a search of the bank's tool, without a limit.
func toolSettings() selection.Settings { return recollection.Settings(0) }

// ask adds what is found for a question.
func (b *remembered) ask(q *locomo.Question, r *Report) {
	for i, budget := range r.Budgets {
		s := toolSettings()
		s.MaxTokens = budget
		r.Bank[i] += b.recall(q, b.index.Rank(q.Text, s))
	}
	for i, limit := range r.Limits {
		sel := b.index.Rank(q.Text, recollection.Settings(limit))
		r.Tool[i] += b.recall(q, sel)
		r.Tokens[i] += float64(sel.Used)
	}
}

// recall returns the share of the evidence of a question that was chosen. Turns with the same text are one text in the bank.
func (b *remembered) recall(q *locomo.Question, sel *echo.Selected) float64 {
	found := 0
	for _, e := range q.Evidence {
		if i, has := b.placed[strings.TrimSpace(b.c.Turns[e].Text)]; has && sel.Scores[i].Chosen {
			found++
		}
	}
	return float64(found) / float64(len(q.Evidence))
}
