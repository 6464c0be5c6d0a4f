package record

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// session records what a run would, with random answers, parallel tools, failures, stops and
// resumptions.
type session struct {
	t       *testing.T
	rng     *rand.Rand
	log     *echo.Log
	entries []*echo.Entry
	calls   int // in the background
	visits  map[string]int
}

func (s *session) Write(e *echo.Entry) error {
	s.entries = append(s.entries, e)
	return nil
}

func (s *session) Close(context.Context) error { return nil }

// ticking returns a clock that advances by a second whenever it is read.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func newSession(t *testing.T, seed uint64) *session {
	t.Helper()
	s := &session{t: t, rng: rand.New(rand.NewPCG(seed, 5)), visits: map[string]int{}}
	s.log = echo.NewLog("s1", ticking(), nil, s)
	return s
}

// add records an entry that says p.
func (s *session) add(key echo.Key, p echo.Payload, more ...func(*echo.Entry)) *echo.Entry {
	return s.put(echo.NewEntry(key, p), more...)
}

func (s *session) put(e *echo.Entry, more ...func(*echo.Entry)) *echo.Entry {
	s.t.Helper()
	e.CascadeID = "c"
	for _, m := range more {
		m(e)
	}
	require.NoError(s.t, s.log.Append(e))
	if s.rng.IntN(8) == 0 { // from the background, whenever that is done
		s.calls++
		s.bill(echo.CardsKey().Numbered(echo.StepCall, s.calls), nil)
	}
	return e
}

func failed(kind string) func(*echo.Entry) {
	return func(e *echo.Entry) { e.Error = &echo.Failure{Kind: kind, Message: kind + " at " + e.Key.String()} }
}

// bill records a model call of a random cost.
func (s *session) bill(key echo.Key, m *echo.Message) *echo.Entry {
	e := echo.NewEntry(key, echo.ModelCall{Model: "m"})
	e.Message, e.Model, e.Usage = m, "m", &echo.Usage{In: s.rng.Int64N(100), Out: s.rng.Int64N(10)}
	e.Scripted = s.rng.IntN(9) == 0
	if s.rng.IntN(5) > 0 {
		usd := float64(s.rng.IntN(64)) / 64 // sums of these are exact
		e.CostUSD = &usd
	}
	if e.Background() {
		require.NoError(s.t, s.log.Append(e))
		return e
	}
	return s.put(e)
}

func (s *session) text(role echo.Role, kind echo.Kind) *echo.Message {
	return echo.NewText(role, kind, fmt.Sprint("message ", len(s.entries)))
}

func (s *session) message(key echo.Key, kind echo.Kind) {
	s.put(&echo.Entry{NodeType: echo.NodeMessage, Key: key, Message: s.text(echo.RoleUser, kind)})
}

// outcome is how a part of a run ended.
type outcome int

const (
	well     outcome = iota
	badly            // a call failed
	refused          // no answer passed
	stopping         // somebody stopped the run
)

// run records a run to its end.
func (s *session) run() outcome {
	s.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{Input: map[string]any{"n": 1}, Budget: &echo.Budget{MaxUSD: 100}})
	return s.resume(nil)
}

// resume records that a run is resumed, without some entries, and how it ends then.
func (s *session) resume(aside []uint64) outcome {
	if aside != nil {
		s.add(echo.RunKey().Step(echo.StepResume), echo.Resume{SetAside: aside, Budget: &echo.Budget{MaxUSD: 200}})
	}
	o := well
	from := ""
	for range 1 + s.rng.IntN(3) {
		phase := []string{"look", "work", "run"}[s.rng.IntN(3)]
		s.route(from, phase)
		if o = s.visit(phase); o != well {
			break
		}
		from = phase
	}
	end := echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "done"}
	if o != well {
		end.Status, end.Reason = endOfOutcome(o)
		s.add(echo.RunKey().Step(echo.StepEnd), end, failed(string(end.Reason)))
		return o
	}
	s.route(from, "")
	s.add(echo.RunKey().Step(echo.StepEnd), end)
	return o
}

func (s *session) route(from, to string) {
	key := echo.RunKey().Step(echo.StepRoute)
	if from != "" {
		key = echo.PhaseKey(from, s.visits[from]).Step(echo.StepRoute)
	}
	s.add(key, echo.Route{From: from, To: to, Reason: "first handoff"})
}

func endOfOutcome(o outcome) (echo.Status, echo.StopReason) {
	switch o {
	case badly:
		return echo.StatusFailed, echo.StopError
	case refused:
		return echo.StatusFailed, echo.StopExhausted
	case stopping:
		return echo.StatusInterrupted, echo.StopInterrupted
	default:
		return echo.StatusCompleted, echo.StopAnswered
	}
}

func (s *session) visit(phase string) outcome {
	s.visits[phase]++
	key := echo.PhaseKey(phase, s.visits[phase])
	s.add(key.Step(echo.StepStart), echo.PhaseStart{Visit: s.visits[phase]}, func(e *echo.Entry) { e.Model = "m" })
	if s.visits[phase] > 1 {
		s.message(key.Numbered(echo.StepContext, 1), echo.KindContext)
	}
	s.message(key.Step(echo.StepTask), echo.KindTask)
	o := s.attempts(key)
	if o == well && s.rng.IntN(3) == 0 {
		o = s.fork(key)
	}
	end := echo.PhaseEnd{Output: "out"}
	end.Status, end.Reason = endOfOutcome(o)
	s.add(key.Attempt(1).Step(echo.StepHandoff), echo.Handoff{Status: end.Status, Reason: end.Reason})
	if o != well {
		end.Output = nil
		s.add(key.Step(echo.StepEnd), end, failed(string(end.Reason)))
		return o
	}
	s.put(echo.NewEntry(key.Named(echo.StepCallout, "output"), echo.CalloutMark{Name: "good"}), func(e *echo.Entry) { e.ContentHash = "h" })
	s.add(key.Step(echo.StepEnd), end)
	return well
}

func (s *session) attempts(key echo.Key) outcome {
	o := refused
	for attempt := 1; attempt <= 2 && o == refused; attempt++ {
		if attempt > 1 {
			s.message(key.Attempt(attempt).Step(echo.StepRetry), echo.KindRetry)
		}
		o = s.attempt(key.Attempt(attempt))
	}
	return o
}

// fork records branches that run at the same time. All go on until they end or fail; the first
// failure is that of the visit.
func (s *session) fork(key echo.Key) outcome {
	keys := make([]echo.Key, 2+s.rng.IntN(2))
	for i := range keys {
		keys[i] = key.Numbered(echo.StepItem, i+1)
		s.put(&echo.Entry{NodeType: echo.NodeBranchStart, Key: keys[i].Step(echo.StepStart)})
	}
	o := well
	var open [][]*echo.Entry // what each branch is still to record
	for _, k := range keys {
		branch := &session{t: s.t, rng: s.rng, calls: s.calls}
		branch.log = echo.NewLog("s1", nil, nil, branch)
		branch.message(k.Step(echo.StepTask), echo.KindTask)
		end := branch.attempts(k)
		if end == well || end == refused {
			finish := echo.PhaseEnd{Output: fmt.Sprint("of ", k)}
			if finish.Status, finish.Reason = endOfOutcome(end); end == refused {
				finish.Output = nil
			}
			require.NoError(s.t, branch.log.Append(echo.NewEntry(k.Step(echo.StepFinish), finish)))
		}
		if o == well {
			o = end
		}
		s.calls = branch.calls
		open = append(open, branch.entries)
	}
	for len(open) > 0 {
		i := s.rng.IntN(len(open))
		e := *open[i][0]
		require.NoError(s.t, s.log.Append(&e))
		if open[i] = open[i][1:]; len(open[i]) == 0 {
			open = append(open[:i], open[i+1:]...)
		}
	}
	if o != well {
		return o
	}
	for _, k := range keys {
		s.put(&echo.Entry{NodeType: echo.NodeBranchEnd, Key: k.Step(echo.StepEnd)})
	}
	return o
}

func (s *session) attempt(key echo.Key) outcome {
	for turn := 1; ; turn++ {
		at := key.Turn(turn)
		s.put(&echo.Entry{NodeType: echo.NodeSelection, Key: at.Step(echo.StepContext), Selection: &echo.Selection{}})
		switch s.rng.IntN(12) {
		case 0:
			s.add(at.Step(echo.StepModel), echo.ModelCall{}, failed("server"))
			return badly
		case 1:
			return stopping
		}
		if s.rng.IntN(2) == 0 {
			s.tools(at)
			continue
		}
		s.bill(at.Step(echo.StepModel), s.text(echo.RoleAssistant, echo.KindAnswer))
		s.bill(at.Named(echo.StepValidate, "fair").Step(echo.StepModel), s.text(echo.RoleAssistant, echo.KindAnswer))
		passes := s.rng.IntN(3) > 0
		s.add(at.Named(echo.StepVerdict, "fair"), echo.Verdict{Validator: "fair", Valid: passes, Reason: "why"})
		if !passes {
			return refused
		}
		return well
	}
}

// tools records an answer with calls, and their results in any order.
func (s *session) tools(at echo.Key) {
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	for i := range 1 + s.rng.IntN(4) {
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: fmt.Sprint(at, i), Name: "read", Arguments: "{}"})
	}
	s.bill(at.Step(echo.StepModel), echo.Seal(d))
	for _, i := range s.rng.Perm(len(d.ToolCalls)) {
		key := at.Numbered(echo.StepTool, i+1)
		if s.rng.IntN(2) == 0 {
			s.put(&echo.Entry{NodeType: echo.NodeToolStart, Key: key})
		}
		s.put(&echo.Entry{NodeType: echo.NodeToolCall, Key: key, Message: echo.NewToolResult(d.ToolCalls[i], echo.Text("result"), false)})
	}
	if s.rng.IntN(3) == 0 {
		name := []string{"a", "b"}[s.rng.IntN(2)]
		s.add(at.Named(echo.StepState, name), echo.State{Key: name, Value: fmt.Sprint(len(s.entries))})
	}
}

// randomSession records a run that is resumed as often as it can be, three times at most.
func randomSession(t *testing.T, seed uint64) []*echo.Entry {
	t.Helper()
	s := newSession(t, seed)
	s.run()
	for range 3 {
		if r := ResumptionOf(s.entries); r.Possible {
			s.resume(append([]uint64{}, r.SetAside()...))
		}
	}
	return s.entries
}
