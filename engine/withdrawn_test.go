package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// changeList has what people take out of the views of a session.
type changeList struct {
	mu   sync.Mutex
	list []*echo.ViewChange
	err  error
}

func (l *changeList) After(_ context.Context, number int) (*echo.ViewChange, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || number >= len(l.list) {
		return nil, l.err
	}
	return l.list[number], nil
}

func (l *changeList) add(action echo.ViewAction, spots ...echo.Spot) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, &echo.ViewChange{
		Number: len(l.list) + 1, Action: action, Messages: spots, By: "ada", Via: echo.ViaCommand, At: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC),
	})
	return len(l.list)
}

// withdrawnSession is a session of which somebody takes a group of messages out at some request, and perhaps puts it back later.
// Each message of it has a mark that no other one has, unless it was looked up there.
type withdrawnSession struct {
	t        *testing.T
	rng      *rand.Rand
	source   string
	sink     *inMemory
	changes  *changeList
	cancel   context.CancelFunc
	requests []*effect.ModelRequest
	marks    int

	action    echo.ViewAction
	single    bool   // a message alone is taken out
	inPhase   string // the last answer of the phase before is taken out when this one begins, whatever takeAt says; "": takeAt counts
	takeAt    int    // the request during which the group is taken out
	restoreAt int    // and put back; 0: it is not
	stopAt    int    // and the run is stopped; 0: it is not

	spots    []echo.Spot
	hashes   []echo.Hash       // of these messages, but for the task
	gone     map[string]string // marks that are out, with the phase whose task has it, or ""
	from     int               // requests from this one on have none of them
	until    int               // before this one; 0: to the end
	number   int               // of the change that takes them out
	restored int               // of the one that puts them back; 0: none
	last     string            // what recall said at the end
	asked    echo.Hash         // what it was asked for
	found    bool              // marks that were put back were in a request
}

const withdrawnSource = `{"cascade_id":"c","validators":{"fair":{"instructions":"Is it fair?"}},"phases":[
	{"name":"research","instructions":"Look around for mktask1x.","tackle":["look","search_context","recall"],
		"rules":{"max_turns":14,"max_attempts":3,"on_exhausted":"continue","loop_until":"fair"TURNS},"intra_context":INTRA},
	{"name":"draft","instructions":"Draft it, mktask2x.DRAFT","tackle":["look","search_context","recall"],"context":CONTEXT,
		"rules":{"max_turns":8,"max_attempts":2,"on_exhausted":"continue","loop_until":"fair"PROMPT},"intra_context":INTRA},
	{"name":"check","instructions":"Check it, mktask3x.CHECK","context":{"from":["all"]}},
	{"name":"close","instructions":"Close it, mktask4x.CLOSE","tackle":["recall"],"context":{"from":[{"phase":"research","include":["messages"]},"draft"]},"rules":{"max_turns":3}}]}`

func newWithdrawnSession(t *testing.T, seed uint64) *withdrawnSession {
	s := &withdrawnSession{
		t: t, rng: rand.New(rand.NewPCG(seed, 5)), sink: &inMemory{}, changes: &changeList{}, gone: map[string]string{}, //nolint:gosec // not for secrets
	}
	one := func(of ...string) string { return of[s.rng.IntN(len(of))] }
	s.source = strings.NewReplacer(
		"TURNS", one("", `,"turn_prompt":"Go on with history {{ history | length }}."`),
		"DRAFT", one("", " {{ outputs.research }}", " {{ lineage[0].output }}"), "PROMPT", one("", `,"turn_prompt":"Go on with {{ state.output_research }}."`),
		"CHECK", one("", " {{ outputs }}"), "CLOSE", one("", " {{ state }}", " {{ outputs.draft }} {{ outputs.check }}"),
		"INTRA", one(`{"enabled":false,"guard":{"summarizer_model":"cheap"}}`, `{"enabled":false,"guard":{}}`, `{"window":2,"advance":"every_turn","guard":{"summarizer_model":"cheap"}}`),
		"CONTEXT", one(`{"from":["research"]}`, `{"from":[{"phase":"research","include":["output","messages"]}]}`, `{"mode":"auto","selection":{"max_messages":6}}`,
			`{"mode":"auto","anchors":{"window":1,"from_phases":["research"],"include":["output","errors"]},"selection":{"strategy":"llm","selector_model":"cheap"}}`),
	).Replace(withdrawnSource)
	s.action = []echo.ViewAction{echo.ViewUndo, echo.ViewDrop, echo.ViewRemove}[s.rng.IntN(3)]
	s.takeAt = 3 + s.rng.IntN([]int{14, 60}[s.rng.IntN(2)])
	s.single = s.action == echo.ViewDrop && s.rng.IntN(2) == 0
	if s.rng.IntN(2) == 0 {
		s.restoreAt = s.takeAt + 2 + s.rng.IntN(6)
	}
	if s.rng.IntN(3) == 0 {
		s.stopAt = max(s.takeAt-6+s.rng.IntN(10), 2)
	}
	if s.rng.IntN(3) == 0 {
		s.inPhase, s.takeAt, s.restoreAt = one("draft", "check", "close"), 1<<20, 0
	}
	return s
}

var markPattern = regexp.MustCompile(`mk(task)?\d+x`)

// said makes a text with a mark of its own that fills some of the window.
func (s *withdrawnSession) said(what string) string {
	s.marks++
	return strings.Repeat(fmt.Sprintf("%s mk%dx. ", what, s.marks), 10+s.rng.IntN(60))
}

func (s *withdrawnSession) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	require.NoError(s.t, checkSequence(req.Messages))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.requests = append(s.requests, req)
	s.check(req)
	n := len(s.requests)
	if n == s.stopAt {
		if s.rng.IntN(2) == 0 {
			s.act(n)
		}
		s.cancel()
		return nil, context.Canceled
	}
	s.act(n)
	return s.answer(req)
}

// act takes a group out during a request, or puts it back.
func (s *withdrawnSession) act(n int) {
	switch {
	case s.number == 0 && (n >= s.takeAt || s.inPhase != "" && n > 0 && s.requests[n-1].Site.Phase == s.inPhase):
		s.takeOut(n)
	case s.restoreAt > 0 && s.restored == 0 && s.number > 0 && n >= s.restoreAt:
		s.restored, s.until = s.changes.add(echo.ViewRestore, s.spots...), n+1
	}
}

// takeOut takes a group out: the newest with undo, else any. A single message takes those of its call along.
func (s *withdrawnSession) takeOut(n int) {
	visits := record.Records(record.Of(s.sink.list))
	groups := echo.SessionGroups(visits)
	last := 0
	for _, g := range slices.Concat(groups...) {
		last = max(last, g)
	}
	if last == 0 {
		return
	}
	chosen := last
	switch {
	case s.inPhase != "":
		before := groups[len(groups)-2]
		chosen = before[len(before)-1]
	case s.action != echo.ViewUndo:
		chosen = 1 + s.rng.IntN(last)
	}
	for i, v := range visits {
		spots := echo.Spots(v.Name, v.Visit, v.History)
		var of []echo.Spot
		for at := range v.History {
			if groups[i][at] == chosen {
				of = append(of, spots[at])
			}
		}
		if s.single && len(of) > 0 {
			one := len(of) - 1
			if s.inPhase == "" {
				one = s.rng.IntN(len(of))
			}
			of = of[one:][:1]
		}
		var none *echo.Withdrawals
		for at, it := range none.With(&echo.ViewChange{Number: 1, Action: s.action, Messages: of}).Mark(v.Name, v.Visit, v.History) {
			if it.Withdrawn == echo.InView || it.Order == 0 {
				continue
			}
			s.spots = append(s.spots, spots[at])
			task := ""
			switch kind := it.Message.Kind(); {
			case kind == echo.KindNotice || isLookup(it.Message):
				continue
			case kind == echo.KindTask:
				task = v.Name
			case kind == echo.KindTurnPrompt: // another one may say the same
			default:
				s.hashes = append(s.hashes, it.Message.Hash())
			}
			if it.Message.Kind() != echo.KindTurnPrompt {
				for _, mark := range markPattern.FindAllString(it.Message.Text(), -1) {
					if task == "" || strings.HasPrefix(mark, "mktask") { // what a task quotes is that of another message
						s.gone[mark] = task
					}
				}
			}
		}
	}
	s.number, s.from = s.changes.add(s.action, s.spots...), n+1
}

func isLookup(m *echo.Message) bool {
	return m.Tool() == echo.ToolRecall || m.Tool() == echo.ToolSearch
}

// check searches a request for marks that are out.
func (s *withdrawnSession) check(req *effect.ModelRequest) {
	n := len(s.requests)
	for _, m := range req.Messages {
		for _, mark := range markPattern.FindAllString(string(m.JSON()), -1) {
			task, known := s.gone[mark]
			switch {
			case !known:
			case s.until > 0 && n > s.until:
				s.found = true
			case n > s.from-1 && (s.until == 0 || n < s.until) && (task == "" || task != req.Site.Phase):
				require.Fail(s.t, "a request has what was taken out", "%s in request %d (%s %s), a %s: %s", mark, n, req.Site.Phase, req.Site.Purpose, m.Kind(), m.Text())
			}
		}
	}
}

func (s *withdrawnSession) answer(req *effect.ModelRequest) (*effect.ModelResponse, error) {
	has := func(tool string) bool {
		return slices.ContainsFunc(req.Tools, func(t effect.ToolSpec) bool { return t.Name == tool })
	}
	_, all := questionOf(req)
	turn := req.Site.Turn
	switch dice := s.rng.IntN(10); {
	case req.Site.Purpose == echo.PurposeValidator:
		return estimated(say(fmt.Sprintf(`{"valid":%t,"reason":"so it is"}`, dice < 7)))(req)
	case req.Site.Purpose != "":
		marks := markPattern.FindAllString(all, -1)
		slices.Sort(marks)
		return estimated(say("Told before: " + strings.Join(slices.Compact(marks), " ")))(req)
	case req.Site.Phase == "close" && turn == 1 && len(s.hashes) > 0:
		s.asked = s.hashes[s.rng.IntN(len(s.hashes))]
		return estimated(call("recall", fmt.Sprintf(`{"hash":%q,"limit":20000}`, s.asked)))(req)
	case req.NoToolCalls || turn > 9 || req.Site.Phase == "check" || req.Site.Phase == "close":
		return estimated(say(s.said("answer")))(req)
	case dice < 5 && has("look"):
		return estimated(call("look", fmt.Sprintf(`{"at":%d}`, s.marks)))(req)
	case dice < 6 && has("search_context"):
		return estimated(call("search_context", `{"query":"result answer","limit":5}`))(req)
	case dice < 8 && has("recall"):
		return estimated(call("recall", fmt.Sprintf(`{"hash":%q}`, s.anyHash())))(req)
	}
	return estimated(say(s.said("answer")))(req)
}

func (s *withdrawnSession) anyHash() echo.Hash {
	var hashes []echo.Hash
	for _, e := range s.sink.list {
		if e.Message != nil && !isLookup(e.Message) && e.Message.Kind() != echo.KindContext {
			hashes = append(hashes, e.Message.Hash())
		}
	}
	return hashes[s.rng.IntN(len(hashes))]
}

func (s *withdrawnSession) run() {
	s.t.Helper()
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		s.cancel = cancel
		past := s.sink.asRead(s.t)
		s.sink = &inMemory{list: past[:len(past):len(past)]}
		_, err := s.runner(s).Run(ctx, Spec{
			Cascade: s.cascade(), Recording: past, WorkDir: "/scratch", Header: json.RawMessage(`{"rules":7,"session_id":"s1","cascade":` + s.source + `}`),
			Log: echo.ContinueLog("s1", uint64(len(past)), nil, nil, s.sink),
		})
		cancel()
		checkHandoffs(s.t, s.sink.asRead(s.t))
		if err == nil || s.stopAt == 0 || len(s.requests) > s.stopAt {
			return
		}
		s.stopAt = 0
		s.act(len(s.requests)) // while it is stopped
	}
}

func (s *withdrawnSession) cascade() *cascade.Cascade {
	c := &cascade.Cascade{}
	require.NoError(s.t, json.Unmarshal([]byte(s.source), c))
	return c
}

func (s *withdrawnSession) runner(model effect.Model) *Runner {
	tools := &fakeTools{}
	tools.add("look", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(s.said("result")), Failed: s.rng.IntN(5) == 0}, nil
	})
	r := &Runner{Model: model, Tools: tools, DefaultModel: "m", Facts: func(string) effect.ModelFacts { return effect.ModelFacts{Window: 3000} }}
	r.Changes = s.changes
	return r
}

// checkRecord searches what was recorded after the group was taken out, and until it was put back.
func (s *withdrawnSession) checkRecord() {
	out := false
	for _, e := range s.sink.asRead(s.t) {
		if c, err := echo.Read[echo.ViewChange](e); err == nil {
			out = c.Number >= s.number && c.Action != echo.ViewRestore
		}
		switch e.NodeType { //nolint:exhaustive // the others have outputs and state, which are values and stay
		case echo.NodeSelection, echo.NodeMessage, echo.NodeInter, echo.NodeMenu, echo.NodeHandoff, echo.NodeValue, echo.NodeToolCall:
		default:
			continue
		}
		text, err := json.Marshal(e)
		require.NoError(s.t, err)
		for _, mark := range markPattern.FindAllString(string(text), -1) {
			if task, known := s.gone[mark]; known && out && task == "" && (e.Tool == nil || !strings.Contains(e.Tool.Arguments, mark)) {
				require.Fail(s.t, "the record has what was taken out, later", "%s in %s %s: %s", mark, e.NodeType, e.Key, text)
			}
		}
		if e.NodeType == echo.NodeToolCall && e.Phase == "close" {
			s.last = e.Message.Text()
		}
	}
}

// TestWithdrawnIsNowhere: of 64 sessions somebody takes a group out at some request: no later request, summary, selection, result of
// a tool or handoff has it. Where it is put back it is found again. A replay makes the same requests.
func TestWithdrawnIsNowhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	taken, restored, foundAgain, recalled, refused, summaries, stopped := 0, 0, 0, 0, 0, 0, 0
	t.Run("sessions", func(t *testing.T) {
		for seed := range uint64(64) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				s := newWithdrawnSession(t, seed)
				wasStopped := s.stopAt > 0
				s.run()
				entries := s.sink.asRead(t)
				require.Equal(t, echo.StatusCompleted, record.EndOf(entries).Status, record.EndOf(entries).Error)
				s.checkRecord()
				replayed := s.runner(nil)
				replayed.Changes = nil
				_, err := replayed.Run(context.Background(), Spec{Cascade: s.cascade(), WorkDir: "/scratch", Name: "s1", Recording: entries})
				require.NoError(t, err)

				mu.Lock()
				defer mu.Unlock()
				for _, e := range entries {
					if e.Message != nil && e.Message.Kind() == echo.KindSummary {
						summaries++
					}
				}
				if s.number > 0 {
					taken++
				}
				if wasStopped {
					stopped++
				}
				switch {
				case s.last == "":
				case s.restored > 0:
					restored++
					require.Contains(t, s.last, string(s.asked)+",")
					recalled++
				case s.number > 0:
					require.Equal(t, "The message that you ask for was dropped by a person: it cannot be read any more. Do without it.", s.last)
					refused++
				}
				if s.found {
					foundAgain++
				}
			})
		}
	})
	t.Logf("taken %d, restored %d, found again %d, recalled %d, refused %d, summaries %d, stopped %d", taken, restored, foundAgain, recalled, refused, summaries, stopped)
	require.GreaterOrEqual(t, taken, 45)
	require.GreaterOrEqual(t, foundAgain, 10)
	require.GreaterOrEqual(t, recalled, 10)
	require.GreaterOrEqual(t, refused, 10)
	require.GreaterOrEqual(t, summaries, 20)
	require.GreaterOrEqual(t, stopped, 10)
}
