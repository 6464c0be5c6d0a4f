package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// wholeOfTwo is a cascade with two candidates of the whole, whose soundings have more settings.
func wholeOfTwo(more string) string {
	return `{"cascade_id":"c","soundings":{"factor":2` + more + `},"phases":[{"name":"p","context":{"include_input":false},
		"instructions":"Draft {{ sounding_index }}{{ input._refinement_context.step | default('') }}"}]}`
}

// Every error of soundings of a whole cascade says where it happened.
func TestErrorsOfWholeCascadesHaveAPlace(t *testing.T) {
	t.Parallel()
	down := &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "down", Status: 500, Unpaid: true}
	for name, tt := range map[string]struct {
		more, want string
		fails      func(req *effect.ModelRequest) bool
	}{
		"judge": {
			``, "c: judge the candidates (ballot 1): model m: down",
			func(req *effect.ModelRequest) bool { return isJudge(req.Site) },
		},
		"aggregator": {
			`,"mode":"aggregate","aggregator_instructions":"Join."`, "c: write one answer from all: model m: down",
			func(req *effect.ModelRequest) bool { return req.Site.Purpose == echo.PurposeAggregate },
		},
		"judge of a step": {
			`,"on_tie":"first","reforge":{}`, "c (refinement 1): judge the candidates (ballot 1): model m: down",
			func(req *effect.ModelRequest) bool {
				return isJudge(req.Site) && strings.Contains(req.Messages[2].Text(), "Draft 01")
			},
		},
		"template": {
			`,"evaluator_instructions":"{{ input.x.y }}"`, "c: evaluator_instructions: ",
			func(*effect.ModelRequest) bool { return false },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, m := sounded(t, "")
			m.fail = func(req *effect.ModelRequest, _ string) error {
				if tt.fails(req) {
					return down
				}
				return nil
			}
			_, _, err := b.runTree(wholeOfTwo(tt.more), nil, nil)
			require.ErrorContains(t, err, tt.want)
			require.True(t, strings.HasPrefix(err.Error(), "c"), err.Error())
		})
	}
}

// So does that of a budget that ends between the candidates and the judging.
func TestBudgetOfAWholeCascadeHasAPlace(t *testing.T) {
	t.Parallel()
	b, _ := sounded(t, "")
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(wholeOfTwo("")), c))
	b.runner.Children = &fakeChildren{runner: b.runner, ran: map[string]*effect.ChildOutcome{}, errs: map[string]error{}}
	_, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, b.entries), WorkDir: "/scratch", Budget: &cascade.Budget{MaxUSD: 0.02}})
	require.ErrorContains(t, err, "c: budget reached: max_usd is $0.0200, used $0.0200")
}

// An aggregator without an answer ends the run as a phase ends that answers nothing.
func TestAnEmptyAggregator(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, place string }{
		"whole": {wholeOfTwo(`,"mode":"aggregate","aggregator_instructions":"Join."`), "c"},
		"phase": {`{"cascade_id":"c","phases":[{"name":"p","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"mode":"aggregate","aggregator_instructions":"Join."}}]}`, "c/p"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, m := sounded(t, "")
			m.answer = func(req *effect.ModelRequest, _ string) string {
				if req.Site.Purpose == echo.PurposeAggregate {
					return " "
				}
				return ""
			}
			res, _, err := b.runTree(tt.source, nil, nil)
			require.EqualError(t, err, tt.place+`: write one answer from all by m: the answer is empty in 2 attempts: the model said nothing`)
			require.Equal(t, []any{echo.StatusFailed, echo.StopEmptyAnswer}, []any{res.Status, res.Reason})
			var empty *core.EmptyAnswerError
			require.ErrorAs(t, err, &empty)
			require.Equal(t, "another aggregator_model, or no aggregator_instructions, which has the answers joined", empty.Try())
			require.Error(t, CheckResumable(b.entries.asRead(t)), "a model that answers nothing twice is not asked again, as in a phase")
		})
	}
}
