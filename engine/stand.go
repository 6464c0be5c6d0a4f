package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/bringing"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/views"
)

// continuityOf returns what goes on in a phase where its messages do not.
func continuityOf(v *visit) continuity.InForce {
	return cascade.ContinuityOf(v.run.spec.Cascade, v.Def)
}

// stands is what stands at the end of the requests of a visit. The goroutine of the visit uses it.
type stands struct {
	*core.Place
	run    *run
	tools  *ownTools         // whose session has it
	names  []string          // the values of the state that stand, in their order
	stood  map[string]bool   // those that have stood in this visit
	before map[string]string // their values before the newest answer
	wanted int               // the number of the change by which the state block is to be made anew; 0: it is not
	memos  bringing.Memos
}

func standsOf(v *visit) *stands {
	return &stands{Place: v.Place, run: v.run, tools: &v.tools.ownTools, names: standNames(continuityOf(v)), stood: map[string]bool{}, memos: bringing.Of(v.Place, v.tools.ownTools.messages.Session, continuityOf(v).Memos, memosOf(v.run))}
}

// standNames are the values of the state that stand at the end of requests, in their order there, where a phase has them.
func standNames(on continuity.InForce) (names []string) {
	if on.StateBlock {
		names = append(names, standing.StateBlock)
	}
	if on.Scratchpad {
		names = append(names, standing.Scratchpad)
	}
	return names
}

// put puts what stands at the end of the request that comes behind the history: first the memos that were brought.
func (s *stands) put(ctx context.Context) error {
	if err := s.memos.Put(ctx); err != nil {
		return err
	}
	s.before = map[string]string{}
	for _, name := range s.names {
		s.before[name] = s.text(name)
		m := standing.Message(name, s.text(name), s.stood[name])
		if m == nil {
			continue
		}
		key := s.Here().Named(echo.StepStands, name)
		m = s.Rec.Kept(key, m, false)
		s.stood[name] = true
		s.Record.History = append(s.Record.History, echo.Item{Message: m, Attempt: s.Attempt, Turn: s.Turn})
		if err := s.Rec.Message(key, m); err != nil {
			return err
		}
	}
	return nil
}

// takeBack gives what stands the values from before the newest answer, which a person has taken back.
func (s *stands) takeBack() error {
	for _, name := range s.names {
		if was := s.before[name]; was != s.text(name) {
			if err := s.tools.setState(name, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow gives what stands the values that follow from the messages which persons have left in views, where those that they
// have taken out since, or put back, make a difference.
func (s *stands) follow(before *echo.Withdrawals) error {
	if len(s.names) == 0 {
		return nil
	}
	was, is := s.valuesOf(before), s.valuesOf(s.tools.messages.Session.Withdrawals)
	for _, name := range s.names {
		if was[name] != is[name] && is[name] != s.text(name) {
			if err := s.tools.setState(name, is[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// valuesOf returns what stands by the messages of the session with some of them taken out.
func (s *stands) valuesOf(w *echo.Withdrawals) standing.Values {
	values := standing.Values{}
	for _, name := range s.names {
		if value, has := s.run.spec.State[name]; has {
			values[name] = echo.AsText(value)
		}
	}
	c := s.run.spec.Cascade
	for _, visit := range s.tools.messages.Session.Phases {
		if p := find(c, visit.Name); p != nil {
			values.Follow(cascade.ContinuityOf(c, p), echo.Present(w.Mark(visit.Name, visit.Visit, visit.History)))
		}
	}
	return values
}

// rebuild makes the state block anew from what the next request would hold, where somebody wants that.
func (s *stands) rebuild(ctx context.Context, v *views.Views) error {
	number := s.wanted
	if s.wanted = 0; number == 0 {
		return nil
	}
	if !slices.Contains(s.names, standing.StateBlock) {
		return s.Rec.Warn(s.Here().Numbered(echo.StepRebuild, number), "a person wants the state block made anew, and the phase has none")
	}
	block, _, err := views.Rebuild(ctx, v, number)
	if err != nil {
		return err
	}
	return s.tools.setState(standing.StateBlock, block)
}

// text returns a value of the session's state as text, "" for none.
func (s *stands) text(name string) string { return textOf(s.tools.messages.Session, name) }

func textOf(session *echo.Session, name string) string {
	value, has := session.State[name]
	if !has {
		return ""
	}
	return echo.AsText(value)
}

// keep takes over what an answer writes of what stands. What a person has made unreadable of it since is as recorded.
func (s *stands) keep(m *echo.Message) error {
	if len(s.names) == 0 {
		return nil
	}
	scratchpad, state, hasScratchpad, hasState := standing.In(m.Text())
	for _, name := range s.names {
		value, has := scratchpad, hasScratchpad
		if name == standing.StateBlock {
			value, has = state, hasState
		}
		key := s.Here().Named(echo.StepState, name)
		if e := s.Rec.Peek(echo.NodeState, key); e != nil && m.Redacted() != nil {
			was, err := echo.Read[echo.State](e)
			if err != nil {
				return err
			}
			value, has = echo.AsText(was.Value), true
		}
		switch {
		case !has || value == s.text(name):
			continue
		case len(value) > standing.MostBytes:
			if err := s.Rec.Warn(key, fmt.Sprintf("the %s of the answer has %d bytes and can have %d: the one before it stays", standing.Title(name), len(value), standing.MostBytes)); err != nil {
				return err
			}
			continue
		}
		if err := s.tools.setState(name, value); err != nil {
			return err
		}
	}
	return nil
}

// onScratchpad answers the call of the tool scratchpad at a key. Marks of a redaction have other sizes than what they stand for: then
// it is too long where the record says so.
func (o *ownTools) onScratchpad(key echo.Key, args json.RawMessage) (text string, failed bool, err error) {
	old, most := textOf(o.messages.Session, standing.Scratchpad), standing.MostBytes
	if e := o.Rec.Peek(echo.NodeToolCall, key); e != nil && o.Rec.SomethingRedacted(e) {
		if most = math.MaxInt; e.Message.Failed() {
			most = 0
		}
	}
	now, text, failed, err := standing.Do(args, old, most)
	if err != nil || now == old {
		return text, failed, err
	}
	return text, failed, o.setState(standing.Scratchpad, now)
}
