package llm

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// A summary has 250 characters at most; models that reason count that as output, too.
const (
	summaryTokens = 150
	reasoningRoom = 4096
)

// Summarizer is a [contextcards.Summarizer], as safe for concurrent use as its model.
type Summarizer struct {
	Model effect.Model
	Use   string // the model's name
	Watch Watch  // of the calls, as they cost something; may be nil
}

// Name returns the model's name.
func (s *Summarizer) Name() string { return s.Use }

// Summarize asks the model once.
func (s *Summarizer) Summarize(ctx context.Context, sources []contextcards.Source) ([]string, error) {
	req := &effect.ModelRequest{
		Site: effect.Site{Purpose: echo.PurposeCards}, Model: s.Use,
		Messages: contextcards.SummaryPrompt(sources), MaxOutputTokens: summaryTokens*len(sources) + reasoningRoom,
	}
	ended, start := s.Watch.begin(), time.Now()
	resp, err := s.Model.Complete(ctx, req)
	ended(Call{Request: req, Response: resp, Err: err, Took: time.Since(start)})
	if err != nil {
		return nil, err
	}
	list, err := contextcards.ParseSummaries(resp.Message.Text(), len(sources))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Use, err)
	}
	return list, nil
}

// Call is a call for cards that has ended, for those who account for it.
type Call struct {
	Request  *effect.ModelRequest  // of an embedding: purpose and model only
	Response *effect.ModelResponse // nil when it failed; of an embedding: without a message
	Err      error
	Took     time.Duration // with all tries
}

// Watch is called when a call begins, and what it returns once when the call has ended. Both are
// called by several goroutines. A nil Watch watches nothing.
type Watch func() (ended func(Call))

func (w Watch) begin() (ended func(Call)) {
	if w == nil {
		return func(Call) {}
	}
	return w()
}
