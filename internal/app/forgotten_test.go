package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/memofile"
)

var forgottenFiles = map[string]string{
	"f.json": `{"cascade_id": "f", "memory": "notes", "continuity": {"memos": true}, "phases": [
		{"name": "work", "instructions": "Work on the harbour.", "tackle": ["recall", "search_context"], "rules": {"max_turns": 14, "turn_prompt": "Go on with the harbour, {{ turn }}."}},
		{"name": "rest", "instructions": "What of the harbour? {{ outputs.work }}", "context": {"from": [{"phase": "work", "include": ["messages"]}]}, "rules": {"max_turns": 4}}]}`,
}

// forgottenSession is a session of which a text that somebody has forgotten, or redacted, at some request is searched for in all
// later requests.
type forgottenSession struct {
	t      *testing.T
	rng    *rand.Rand
	secret string
	at     int // the request during which it happens
	act    func(s *forgottenSession)
	cancel context.CancelFunc // of a run that is stopped by act; nil: it goes on

	asked, said, before, after int // requests; those that had the text before, and that could have had it after
	acted                      bool
	look                       bool // the text may be read before it is forgotten: what was read stays in the context
}

func (s *forgottenSession) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	s.asked++
	for _, m := range req.Messages {
		has := strings.Contains(string(m.JSON()), s.secret)
		if has && !s.acted {
			s.before++
		}
		require.False(s.t, has && s.acted, "request %d has it, in a %s: %s", s.asked, m.Kind(), m.Text())
	}
	if s.acted {
		s.after++
	}
	if s.asked >= s.at && !s.acted {
		s.acted = true
		if s.cancel != nil {
			s.cancel()
			return nil, context.Canceled
		}
		s.act(s)
	}
	return s.answer(req), nil
}

// answer calls tools that could find the text, or says something else.
func (s *forgottenSession) answer(req *effect.ModelRequest) *effect.ModelResponse {
	calls := [][2]string{
		{memory.Tool, `{"command":"view","path":"/memories"}`}, {"search_context", `{"query":"harbour tide","limit":5}`},
	}
	if s.acted || s.look {
		calls = append(calls, [][2]string{{memory.Tool, `{"command":"view","path":"/memories/a.md"}`}, {"retrieve_memos", `{"query":"harbour"}`}, {"retrieve_memos", `{}`}}...)
	}
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	switch c := calls[s.rng.IntN(len(calls))]; {
	case s.look && s.said == 0: // what is redacted then
		d.Parts = echo.Text("It is so: " + s.secret)
		s.said++
	case req.NoToolCalls || s.rng.IntN(4) == 0:
		d.Parts = echo.Text(fmt.Sprintf("Answer %d of the harbour.", s.asked))
	default:
		d.ToolCalls = []echo.ToolCall{{ID: fmt.Sprintf("c%d", s.asked), Name: c[0], Arguments: c[1]}}
	}
	cent := 0.01
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "test", Model: req.Model, CostUSD: &cent, Usage: echo.Usage{In: 10, Out: 2}, FinishReason: "stop"}
}

// TestForgottenIsNowhere: of 24 sessions a text of a bank or a memo is forgotten while the run goes on, or a message is redacted while
// it is stopped: no later request has it, and so no memo that is brought, no answer of a tool and no prompt. Each is verified.
func TestForgottenIsNowhere(t *testing.T) {
	t.Parallel()
	acts := map[string]func(a *App, s *forgottenSession){
		"file": func(a *App, s *forgottenSession) {
			s.act = func(s *forgottenSession) {
				_, err := banksOf(s.t, a).Forget(s.t.Context(), "notes", "ada", "/memories/a.md")
				require.NoError(s.t, err)
			}
		},
		"memo": func(a *App, s *forgottenSession) {
			s.act = func(s *forgottenSession) {
				_, err := memofile.Open(a.home, a.dir, nil).Forget(s.t.Context(), "ada", memosOf(s.t, a)[0].ID)
				require.NoError(s.t, err)
			}
		},
		"message": func(*App, *forgottenSession) {},
	}
	for what, prepare := range acts {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(what, seed), func(t *testing.T) {
				t.Parallel()
				a, job := newApp(t), treeJob(t, forgottenFiles, "f.json")
				s := &forgottenSession{t: t, rng: rand.New(rand.NewPCG(seed, 7)), secret: fmt.Sprintf("The harbour closes at tide %d.", 1000+seed)} //nolint:gosec // not for secrets
				s.at = 3 + s.rng.IntN(9)
				prepare(a, s)
				first := &remembering{t: t, answers: []string{"done", "done", "done", "done"}}
				switch what {
				case "file":
					first.answers = []string{fmt.Sprintf(`{"command":"create","path":"/memories/a.md","file_text":%q}`, s.secret), "done"}
				case "memo":
					first.answers = []string{fmt.Sprintf(`save_memo {"text":%q}`, s.secret), "done"}
				}
				s.forgets(a, job, what, first)
			})
		}
	}
}

func (s *forgottenSession) forgets(a *App, job Job, what string, first *remembering) {
	t := s.t
	if what != "message" {
		runs(t, a, treeJob(t, map[string]string{"one.json": `{"cascade_id": "f", "memory": "notes", "continuity": {"memos": true}, "phases": [{"name": "work", "instructions": "Keep it."}]}`}, "one.json"), "first", first)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if what == "message" {
		s.look, s.cancel = true, cancel
	}
	r, err := a.Start(ctx, job, RunOptions{SessionID: "second", NoClickHouse: true, Models: Models{Default: "m1"}, Extensions: Extensions{Model: s}}, Watch{})
	require.NoError(t, err)
	_, err = r.Do(ctx)
	require.NoError(t, r.Close().Err)
	if what == "message" {
		require.ErrorIs(t, err, context.Canceled)
		s.redacts(a)
		r, err = a.Resume(t.Context(), "second", ResumeOptions{Extensions: Extensions{Model: s}}, Watch{})
		require.NoError(t, err)
		_, err = r.Do(t.Context())
		require.NoError(t, r.Close().Err)
	}
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.after, 3, "there were requests afterwards")
	if what != "file" {
		require.Positive(t, s.before, "it was in requests before")
	}
	verifyTree(t, a, "second")
}

// redacts takes the answer with the text out of the record.
func (s *forgottenSession) redacts(a *App) {
	var hash echo.Hash
	for _, e := range a.recording(s.t, "second").Entries {
		if e.NodeType == echo.NodeModelCall && strings.Contains(e.Message.Text(), s.secret) {
			hash = e.Message.Hash()
		}
	}
	_, err := archive.Redact(s.t.Context(), &archive.Archive{Home: a.home}, "second", string(hash), archive.RedactOptions{Reason: "private", Parts: true})
	require.NoError(s.t, err)
	s.cancel = nil
}
