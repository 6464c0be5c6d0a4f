package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

// Recorded is a session to be frozen.
type Recorded struct {
	Name    string              // of the test
	Cascade string              // its file, relative to that of the test
	Off     cascade.SwitchedOff // of auto_context
	Rules   int                 // of the engine that it was begun under; 0: [engine.Rules]
	Session string              // what templates saw as the id of the session
	Models  []string
	Input   map[string]any
	Match   []Aspect
	Entries []*echo.Entry // of the session, all of them
	Env     map[string]string
	Masks   []Mask // of what belongs to the machine or is secret
}

// UnfaithfulError says that a run with the answers of a session comes to something else.
type UnfaithfulError struct {
	Unanswered  *effect.UnansweredError
	Differences []Difference
}

func (e *UnfaithfulError) Error() string {
	if e.Unanswered != nil {
		return e.Unanswered.Error()
	}
	return strings.TrimSuffix(DiffText(e.Differences), "\n")
}

// Freeze makes a test of a session, with masked answers. The error is an [*UnfaithfulError] when
// the session's own cascade does not come to what is recorded, apart from the context.
func Freeze(ctx context.Context, rec Recorded, r engine.Runner, c *cascade.Cascade) (*Test, error) {
	counted := record.Counted(rec.Entries)
	entries, err := maskEntries(counted, append(slices.Clone(rec.Masks), childMasks(counted, rec.Session)...))
	if err != nil {
		return nil, err
	}
	t := &Test{
		Version: Version, Name: rec.Name, Cascade: rec.Cascade, Rules: cmp.Or(rec.Rules, engine.Rules), Off: rec.Off, Session: rec.Session, Models: rec.Models, Env: rec.Env,
		Match: rec.Match, Answers: answersOf(entries),
	}
	input, _ := mask(rec.Input, rec.Masks).(map[string]any)
	t.Input = input
	now, err := t.Run(ctx, r, c)
	if err != nil {
		return nil, err
	}
	if d := Compare(Observe(entries), now.Observed, Usual()); now.Unanswered != nil || len(d) > 0 {
		return nil, &UnfaithfulError{now.Unanswered, d}
	}
	t.Expect = now.only(t.Match)
	return t, nil
}

// answersOf returns the outcomes that a run is answered from: no clocks and budgets, no selections
// by a model and no tools of the engine, which follow from other answers.
func answersOf(entries []*echo.Entry) []Answer {
	byModel, begun, chosen := map[echo.Key]bool{}, map[echo.Key]bool{}, false
	for _, e := range entries {
		switch e.NodeType { //nolint:exhaustive // the others are no answers, or always ones
		case echo.NodeValue:
			byModel[e.Key.Parent()] = true
		case echo.NodeChoice:
			chosen = true
		case echo.NodeChildStart: // what a model is told of a child that it called follows from its end
			begun[e.Key] = true
		}
	}
	answers := []Answer{}
	for _, e := range entries {
		switch {
		case e.NodeType == echo.NodeModelCall, e.NodeType == echo.NodeChildEnd, e.NodeType == echo.NodeAnswer,
			e.NodeType == echo.NodeToolCall && e.Tool != nil && !engine.IsOwnTool(e.Tool.Name) && !begun[e.Key],
			e.NodeType == echo.NodeInter && !byModel[e.Key],
			e.NodeType == echo.NodeValue && !e.Key.IsBudgetReading():
			answers = append(answers, answerOf(e, chosen))
		}
	}
	return answers
}

// maxRounds bounds how often masks are applied: messages may name each other by their hashes.
const maxRounds = 20

// maskEntries applies masks to entries, and to the hashes by which a model named messages.
func maskEntries(entries []*echo.Entry, masks []Mask) ([]*echo.Entry, error) {
	if len(masks) == 0 {
		return entries, nil
	}
	renamed := map[echo.Hash]echo.Hash{}
	for range maxRounds {
		all := slices.Clone(masks)
		for from, to := range renamed {
			all = append(all, Mask{string(from), string(to)})
		}
		out, err := maskOnce(entries, all)
		if err != nil {
			return nil, err
		}
		now := map[echo.Hash]echo.Hash{}
		for i, e := range entries {
			if e.Message != nil && e.Message.Hash() != out[i].Message.Hash() {
				now[e.Message.Hash()] = out[i].Message.Hash()
			}
		}
		if maps.Equal(now, renamed) {
			return out, nil
		}
		renamed = now
	}
	return nil, fmt.Errorf("the hashes by which messages name each other do not settle in %d rounds", maxRounds)
}

func maskOnce(entries []*echo.Entry, masks []Mask) ([]*echo.Entry, error) {
	out := make([]*echo.Entry, len(entries))
	for i, e := range entries {
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		var v any
		if err := decode(data, &v); err != nil {
			return nil, fmt.Errorf("read entry %d: %w", e.Seq, err)
		}
		out[i] = &echo.Entry{}
		if err := json.Unmarshal(encoded(mask(v, masks)), out[i]); err != nil {
			return nil, fmt.Errorf("mask entry %d: %w", e.Seq, err)
		}
	}
	return out, nil
}
