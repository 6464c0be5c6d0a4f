// Package upkeep keeps what stands at the end of the requests of a visit: scratchpad, state block and memos.
package upkeep

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/bringing"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/views"
)

// Stands is what stands at the end of the requests of a visit. The goroutine of the visit uses it.
type Stands struct {
	*core.Place
	Cascade *cascade.Cascade
	Base    map[string]any                                  // the state that the session began with
	Set     func(at echo.Key, name string, value any) error // sets a value of the session's state, and records it
	Memos   bringing.Memos
	Wanted  int // the number of the change by which the state block is to be rebuilt; 0: it is not

	names  []string          // the values of the state that stand, in their order
	stood  map[string]bool   // those that have stood in this visit
	before map[string]string // their values before the newest answer
}

// Begin is called once, before the first request.
func (s *Stands) Begin() *Stands {
	s.names, s.stood = standNames(cascade.ContinuityOf(s.Cascade, s.Def)), map[string]bool{}
	return s
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

// Put puts what stands at the end of the request that comes behind the history: first the memos that were brought.
func (s *Stands) Put(ctx context.Context) error {
	if err := s.Memos.Put(ctx); err != nil {
		return err
	}
	s.before = map[string]string{}
	for _, name := range s.names {
		s.before[name] = s.text(name)
		m := standing.Message(name, s.text(name), s.stood[name])
		if m == nil {
			continue
		}
		s.stood[name] = true
		if err := s.Stand(name, m); err != nil {
			return err
		}
	}
	return nil
}

// TakeBack gives what stands the values from before the newest answer, which a person has taken back.
func (s *Stands) TakeBack() error {
	for _, name := range s.names {
		if was := s.before[name]; was != s.text(name) {
			if err := s.Set(s.written(name), name, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// Follow gives what stands the values that follow from the messages which persons have left in views, where those that they
// have taken out since, or put back, make a difference.
func (s *Stands) Follow(before *echo.Withdrawals) error {
	if len(s.names) == 0 {
		return nil
	}
	was, is := s.valuesOf(before), s.valuesOf(s.Session.Withdrawals)
	for _, name := range s.names {
		if was[name] == is[name] {
			continue
		}
		if is[name] != s.text(name) {
			if err := s.Set(s.written(name), name, is[name]); err != nil {
				return err
			}
		}
		if s.before != nil { // where the newest answer is taken back with that, it has nothing more to give back
			s.before[name] = is[name]
		}
	}
	return nil
}

// valuesOf returns what stands by the messages of the session with some of them taken out.
func (s *Stands) valuesOf(w *echo.Withdrawals) standing.Values {
	values := standing.Values{}
	for _, name := range s.names {
		if value, has := s.Base[name]; has {
			values[name] = echo.AsText(value)
		}
	}
	c, session := s.Cascade, *s.Session
	session.Withdrawals = w
	for _, visit := range session.Phases {
		if p := phaseOf(c, visit.Name); p != nil {
			on := cascade.ContinuityOf(c, p)
			on.Lenient = !s.Rec.Rules.ChecksNotes()
			values.Follow(on, session.Present(visit))
		}
	}
	return values
}

// Rebuild makes the state block anew from what the next request would hold, where somebody wants that.
func (s *Stands) Rebuild(ctx context.Context, v *views.Views) error {
	number := s.Wanted
	if s.Wanted = 0; number == 0 {
		return nil
	}
	if !slices.Contains(s.names, standing.StateBlock) {
		return s.Rec.Warn(s.Here().Numbered(echo.StepRebuild, number), "a person wants the state block rebuilt, and the phase has none")
	}
	block, _, err := views.Rebuild(ctx, v, number)
	if err != nil {
		return err
	}
	return s.Set(s.written(standing.StateBlock), standing.StateBlock, block)
}

// written is the key of what is set here of what stands: another one than that of a call in the same turn.
func (s *Stands) written(name string) echo.Key {
	return s.Here().Named(echo.StepStands, name).Named(echo.StepState, name)
}

// text returns a value of the session's state as text, "" for none.
func (s *Stands) text(name string) string { return TextOf(s.Session, name) }

// TextOf returns a value of the state of a session as text, "" for none.
func TextOf(session *echo.Session, name string) string {
	value, has := session.State[name]
	if !has {
		return ""
	}
	return echo.AsText(value)
}

// Keep takes over what an answer writes of what stands, and warns of what it does not take. What a person has made unreadable of
// it since is as recorded.
func (s *Stands) Keep(m *echo.Message) error {
	if len(s.names) == 0 {
		return nil
	}
	scratchpad, state, hasScratchpad, hasState := standing.In(m.Text())
	for _, name := range s.names {
		value, has := scratchpad, hasScratchpad
		if name == standing.StateBlock {
			value, has = state, hasState
		}
		key := s.written(name)
		if e := s.Rec.Peek(echo.NodeState, key); e != nil && m.Redacted() != nil {
			was, err := echo.Read[echo.State](e)
			if err != nil {
				return err
			}
			value, has = echo.AsText(was.Value), true
		}
		if has && value == s.text(name) {
			continue
		}
		if warning := s.untaken(name, value, has, m.Text()); warning != "" || !has {
			if err := s.Rec.Remark(key, warning); err != nil {
				return err
			}
			continue
		}
		if err := s.Set(key, name, value); err != nil {
			return err
		}
	}
	return nil
}

// untaken says why what an answer writes of a value is not taken; "" where it writes nothing, or that can be taken.
func (s *Stands) untaken(name, value string, has bool, answer string) string {
	strict := s.Rec.Rules.ChecksNotes()
	title := standing.Title(name)
	if has {
		if why := standing.Unfit(value, continuity.InForce{Lenient: !strict}); why != "" {
			return fmt.Sprintf("the %s of the answer %s: the one before it stays", title, why)
		}
		return ""
	}
	if why := standing.Missed(answer, name); why != "" && strict {
		return fmt.Sprintf("the answer has no %s that could be taken, so the one before it stays: %s", title, why)
	}
	return ""
}

func phaseOf(c *cascade.Cascade, name string) *cascade.Phase {
	for i := range c.Phases {
		if c.Phases[i].Name == name {
			return &c.Phases[i]
		}
	}
	return nil
}
