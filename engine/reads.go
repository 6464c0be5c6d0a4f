package engine

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// ContextFigures say what became of a phase's context.
type ContextFigures struct {
	FullSize      int64 `json:"-"`                        // tokens that all requests would have had with full history, estimated
	SentSize      int64 `json:"-"`                        // tokens that they had; the record has both for each call
	MaskedResults int   `json:"masked_results,omitempty"` // tool results that the last view did not hold whole
	Recalls       int   `json:"recalls,omitempty"`        // calls of recall that found their message
	Rereads       int   `json:"rereads,omitempty"`        // repeated calls, with the same result, of which the first result was masked
}

// saw adds what one request was.
func (f *ContextFigures) saw(s *echo.Selection) {
	f.FullSize += s.FullHistorySize
	f.SentSize += s.ContextSize
}

// Add returns the sum of two sets of figures.
func (f ContextFigures) Add(g ContextFigures) ContextFigures {
	return ContextFigures{
		FullSize: f.FullSize + g.FullSize, SentSize: f.SentSize + g.SentSize,
		MaskedResults: f.MaskedResults + g.MaskedResults, Recalls: f.Recalls + g.Recalls, Rereads: f.Rereads + g.Rereads,
	}
}

// reads counts what a model reads again because a view did not hold it.
type reads struct {
	figures *ContextFigures
	again   map[echo.Hash]bool // masked results that were read again, each once
	tools   []string           // whose results they are, in order, each once
}

func newReads(into *ContextFigures) reads { return reads{figures: into, again: map[echo.Hash]bool{}} }

// recalled counts a recall. That of a message in view is no sign of eager masking.
func (r *reads) recalled(h echo.Hash, masked func(echo.Hash) bool) {
	r.figures.Recalls++
	if masked(h) {
		r.again[h] = true
	}
}

// repeated counts a call that was made again because its result is masked.
func (r *reads) repeated(tool string, h echo.Hash) {
	r.figures.Rereads++
	r.again[h] = true
	if !slices.Contains(r.tools, tool) {
		r.tools = append(r.tools, tool)
	}
}

// Masking is too eager when so many results, and this share of the masked, were read again.
const (
	eagerResults = 5
	eagerShare   = 5 // a fifth
)
