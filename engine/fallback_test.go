package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// away is the failure of a model that cannot be reached.
func away(kind echo.ModelErrorKind) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		return nil, &effect.ModelError{Kind: kind, Provider: "host", Model: req.Model, Message: "away", Unpaid: true}
	}
}

func (f *fakeModel) asked() (models []string) {
	for _, r := range f.requests {
		models = append(models, r.Model)
	}
	return models
}

// knownModels have a window and a price each, by name.
func (b *testBundle) known(facts map[string]effect.ModelFacts) {
	b.runner.Facts = func(model string) effect.ModelFacts { return facts[model] }
}

const standIns = `{"cascade_id":"c","fallback_models":["b","d"],"phases":[
	{"name":"p","instructions":"Go.","tackle":["look"]},{"name":"q","instructions":"Go on.","context":{"from":["previous"]}}]}`

// When a model cannot be reached, the next of the list is asked for the rest of the phase. The next
// phase asks its own model again.
func TestFallback(t *testing.T) {
	t.Parallel()
	b := setup(t, call("look", `{}`), away(echo.ModelErrRateLimited), call("look", `{"n":1}`), say("found"), say("done"))
	b.tools.addEcho("look")
	w := &watcher{}
	b.runner.Observer = w
	res, err := b.run(standIns, nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Equal(t, []string{"m", "m", "b", "b", "m"}, b.model.asked())
	require.Equal(t, []string{
		"p/attempt1/turn1/model", "p/attempt1/turn2/model", "p/attempt1/turn2/model2", "p/attempt1/turn3/model", "q/attempt1/turn1/model",
	}, b.entries.keys(echo.NodeModelCall))
	require.Equal(t, 4, res.Calls)
	require.Equal(t, []string{"m cannot be reached (rate_limited): b is asked for the rest of the phase"}, b.entries.warnings())
	warning := b.entries.of(echo.NodeWarning)[0]
	require.Equal(t, "p/attempt1/turn2/model/warning", warning.Key.String())
	require.Equal(t, "b", warning.Model)
	for i, e := range b.entries.of(echo.NodePhaseEnd) {
		require.Equal(t, []string{"b", "m"}[i], e.Model)
	}
	said, err := echo.Read[echo.Warning](warning)
	require.NoError(t, err)
	require.Equal(t, "m", said.Fallback.From)
	require.Equal(t, "b", said.Fallback.To)
	require.Equal(t, echo.ModelErrRateLimited, said.Fallback.Kind)
	require.Equal(t, "native", said.Fallback.Context.Dialect)
}

// Which failures lead to another model, and which do not: what is wrong with a request, a key or a
// name is told.
func TestWhatFallsBack(t *testing.T) {
	t.Parallel()
	for kind, moves := range map[echo.ModelErrorKind]bool{
		echo.ModelErrRateLimited: true, echo.ModelErrServer: true, echo.ModelErrNetwork: true, echo.ModelErrTimeout: true,
		echo.ModelErrBadRequest: false, echo.ModelErrAuth: false, echo.ModelErrUnknownModel: false, echo.ModelErrUnknownEndpoint: false,
		echo.ModelErrQuota: false, echo.ModelErrConfig: false, echo.ModelErrBadResponse: false, echo.ModelErrScript: false,
	} {
		b := setup(t, away(kind), say("ok"))
		_, err := b.run(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go."}]}`, nil)
		if moves {
			require.NoError(t, err, kind)
			require.Equal(t, []string{"m", "b"}, b.model.asked())
			continue
		}
		require.EqualError(t, err, "c/p (attempt 1, turn 1): model m at host: away", kind)
		require.Empty(t, b.entries.warnings())
	}
	filtered := func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := say("No.")(req)
		resp.FinishReason = "content_filter"
		return resp, err
	}
	b := setup(t, filtered)
	_, err := b.run(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"m"}, b.model.asked())
}

// The list of a phase counts more than that of the cascade, and that more than windlass.json's. An
// empty list stands for none.
func TestFallbackLists(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		source string
		asked  []string
	}{
		"windlass.json": {`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, []string{"m", "config"}},
		"the cascade":   {`{"cascade_id":"c","fallback_models":["m","b"],"phases":[{"name":"p","instructions":"Go."}]}`, []string{"m", "b"}},
		"the phase":     {`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go.","fallback_models":["d"]}]}`, []string{"m", "d"}},
		"none":          {`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go.","fallback_models":[]}]}`, []string{"m"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, away(echo.ModelErrServer), say("ok"))
			b.known(map[string]effect.ModelFacts{"m": {Window: 1000, Fallback: []string{"config"}}})
			_, err := b.run(tt.source, nil)
			require.Equal(t, len(tt.asked) == 1, err != nil)
			require.Equal(t, tt.asked, b.model.asked())
		})
	}
}

// The window, the prices and the budget are those of the model that is asked.
func TestFallbackCountsAsTheModelThatIsAsked(t *testing.T) {
	t.Parallel()
	b := setup(t, away(echo.ModelErrTimeout), say("ok"), say("more"))
	b.known(map[string]effect.ModelFacts{
		"m": {Window: 100_000, Price: &echo.Price{Input: 1, Cached: 0.1}, Tariff: &echo.Tariff{Input: 1, Output: 1}},
		"b": {Window: 50_000, MaxOutput: 10_000, Price: &echo.Price{Input: 4, Cached: 0.4}, Tariff: &echo.Tariff{Input: 1e6, Output: 1e6}},
	})
	_, err := b.run(`{"cascade_id":"c","fallback_models":["b"],"budget":{"max_usd":2},"phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.ErrorContains(t, err, "the next call would exceed the budget: max_usd is $2.0000, used $0.0000", "that of m is affordable")
	require.Equal(t, []string{"m"}, b.model.asked())

	b = setup(t, away(echo.ModelErrTimeout), say("ok"))
	b.known(map[string]effect.ModelFacts{
		"m": {Window: 100_000, Price: &echo.Price{Input: 1, Cached: 0.1}}, "b": {Window: 50_000, MaxOutput: 10_000, Price: &echo.Price{Input: 4, Cached: 0.4}},
	})
	_, err = b.run(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.NoError(t, err)
	selections := b.entries.of(echo.NodeSelection)
	require.Equal(t, "b", selections[1].Model)
	require.EqualValues(t, 40_000, selections[1].Selection.Limit)
	require.False(t, selections[1].Selection.Delta)
	require.InDelta(t, 4**selections[0].Selection.SentUSD, *selections[1].Selection.SentUSD, 1e-12)
}

// Calls of another family come as text where the provider of the next model refuses them.
func TestFallbackToAnotherFamily(t *testing.T) {
	t.Parallel()
	for model, asText := range map[string]bool{"gemini-3-pro": true, "gpt-5": false, "mistral-large": true, "other": false} {
		b := setup(t, call("look", `{}`), away(echo.ModelErrServer), call("look", `{"n":1}`), say("found"), call("look", `{}`), say("end"))
		b.runner.DefaultModel = "gpt-5-mini"
		b.tools.addEcho("look")
		_, err := b.run(`{"cascade_id":"c","fallback_models":["`+model+`"],"phases":[{"name":"p","instructions":"Go.","tackle":["look"]},
			{"name":"q","instructions":"Go on.","tackle":["look"],"context":{"from":[{"phase":"p","include":["messages"]}]}}]}`, nil)
		require.NoError(t, err)
		third, fourth := b.model.requests[2], b.model.requests[3]
		require.Equal(t, asText, len(third.Messages[1].ToolCalls()) == 0, model)
		require.Equal(t, asText, third.Messages[2].Role() == echo.RoleUser, model)
		last := fourth.Messages[len(fourth.Messages)-2]
		require.Len(t, last.ToolCalls(), 1, "its own calls stay calls")
		span := b.entries.of(echo.NodeSelection)[2].Selection.Spans
		require.Equal(t, asText, strings.Contains(string(effect.MustJSON(span)), `"other_model"`), model)
	}
}

// Models that cannot go on with the phase are passed over; when none is left, the last failure counts.
func TestFallbackThatIsPassedOver(t *testing.T) {
	t.Parallel()
	no := false
	b := setup(t, away(echo.ModelErrServer), away(echo.ModelErrNetwork))
	b.tools.addEcho("look")
	b.known(map[string]effect.ModelFacts{"b": {Window: 1000, NativeTools: &no}, "small": {Window: 50}, "d": {Window: 100_000}})
	_, err := b.run(`{"cascade_id":"c","fallback_models":["b","small","d"],"phases":[{"name":"p","instructions":"Go.","tackle":["look"],"max_output_tokens":100}]}`, nil)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): model d at host: away")
	require.Equal(t, []string{
		"b is passed over: it has no tool calling, which the phase has begun with",
		"small is passed over: max_output_tokens keeps 100 tokens for the answer, and small takes only 50 in all: nothing is left to send; " +
			"lower max_output_tokens, or set context_window of the model in windlass.json if it takes more",
		"m cannot be reached (server): d is asked for the rest of the phase",
	}, b.entries.warnings())
}

// A request is made smaller for a model with a smaller window, also with a summary in force.
func TestFallbackWithASummary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.known(map[string]effect.ModelFacts{"m": {Window: 4000}, "b": {Window: 3000}})
	b.tools.addBig("read", 2000)
	fails := 0
	b.runner.Model = modelFunc(func(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		switch {
		case req.Site.Purpose == echo.PurposeSummary:
			return say("a summary of it")(req)
		case req.Site.Turn == 15:
			return say("done")(req)
		case req.Site.Turn == 12 && req.Model == "m":
			fails++
			return away(echo.ModelErrServer)(req)
		}
		b.model.requests = append(b.model.requests, req)
		return call("read", `{"n":`+string(rune('0'+req.Site.Turn%10))+`}`)(req)
	})
	_, err := b.run(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go.","tackle":["read"],"max_output_tokens":500}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, 1, fails)
	summarized := false
	for _, e := range b.entries.of(echo.NodeSelection) {
		c, err := echo.Read[echo.Carry](e)
		require.NoError(t, err)
		if summarized = summarized || c.Summary != nil; e.Key.String() == "p/attempt1/turn12/context2" {
			require.NotNil(t, c.Summary, "the next model is sent the summary")
			require.Zero(t, e.Selection.SharedSize)
		}
	}
	require.True(t, summarized)
	selections := b.entries.of(echo.NodeSelection)
	for _, e := range selections {
		require.LessOrEqual(t, e.Selection.RequestSize, e.Selection.Limit)
	}
	require.EqualValues(t, 2500, selections[len(selections)-1].Selection.Limit)
}

type modelFunc func(context.Context, *effect.ModelRequest) (*effect.ModelResponse, error)

func (f modelFunc) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	return f(ctx, req)
}

// A run that is cut off after any entry is resumed to the same end; what is recorded is not asked
// for again, and the choice stays.
func TestFallbackIsResumed(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(standIns), c))
	answers := []answerFunc{call("look", `{}`), away(echo.ModelErrRateLimited), call("look", `{"n":1}`), say("found"), say("done")}
	b := setup(t, answers...)
	b.tools.addEcho("look")
	_, err := b.run(standIns, nil)
	require.NoError(t, err)
	whole := b.entries.asRead(t)
	for cut := 1; cut < len(whole); cut++ {
		var asked []string
		resumed := *b.runner
		resumed.Model = modelFunc(func(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			asked = append(asked, req.Model)
			switch s := req.Site; {
			case s.Phase == "p" && s.Turn == 1:
				return answers[0](req)
			case s.Phase == "p" && s.Turn == 2 && req.Model == "m":
				return answers[1](req)
			case s.Phase == "p" && s.Turn == 2:
				return answers[2](req)
			case s.Phase == "p":
				return answers[3](req)
			}
			return answers[4](req)
		})
		sink := &inMemory{list: whole[:cut:cut]}
		res, err := resumed.Run(context.Background(), Spec{
			Cascade: c, Log: echo.ContinueLog("s1", uint64(cut), nil, nil, sink), WorkDir: "/scratch", Recording: whole[:cut:cut],
		})
		require.NoError(t, err, "cut after entry %d", cut)
		require.Equal(t, "done", res.Output)
		require.Equal(t, 4, res.Calls)
		recorded := 0
		for _, e := range whole[:cut] {
			if e.NodeType == echo.NodeModelCall {
				recorded++
			}
		}
		require.Len(t, asked, 5-recorded, "cut after entry %d", cut)
	}
}

// When the next model fails as well, resuming asks that one again, not the first.
func TestFallbackThatFailsIsResumed(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go."}]}`), c))
	sink := &inMemory{}
	b := setup(t, away(echo.ModelErrServer), away(echo.ModelErrServer), say("ok"))
	_, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, sink), WorkDir: "/scratch"})
	require.ErrorContains(t, err, "model b at host: away")
	require.True(t, errors.As(err, new(*effect.ModelError)))
	past := sink.asRead(t)
	require.NoError(t, CheckResumable(past))
	sink = &inMemory{list: past}
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(past)), nil, nil, sink), WorkDir: "/scratch", Recording: past,
	})
	require.NoError(t, err)
	require.Equal(t, "ok", res.Output)
	require.Equal(t, []string{"m", "b", "b"}, b.model.asked())
	checkFold(t, sink.asRead(t), res)
}

// The header of a journal keeps that a phase has an empty list.
func TestEmptyFallbackIsKept(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","fallback_models":["b"],"phases":[{"name":"p","instructions":"Go.","fallback_models":[]},{"name":"q","instructions":"Go."}]}`), c))
	text, err := json.Marshal(c)
	require.NoError(t, err)
	again := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal(text, again))
	require.NotNil(t, again.Phases[0].Fallback)
	require.Nil(t, again.Phases[1].Fallback)
	require.Equal(t, c.Fallback, again.Fallback)
}

// A run whose models are all passed over failed of its call, which is made again.
func TestFallbackThatIsPassedOverIsResumed(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","fallback_models":["small"],"phases":[{"name":"p","instructions":"Go.","max_output_tokens":100}]}`), c))
	sink := &inMemory{}
	b := setup(t, away(echo.ModelErrServer), say("ok"))
	b.known(map[string]effect.ModelFacts{"small": {Window: 50}})
	_, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, sink), WorkDir: "/scratch"})
	require.ErrorContains(t, err, "model m at host: away")
	past := sink.asRead(t)
	require.NoError(t, CheckResumable(past))
	sink = &inMemory{list: past}
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(past)), nil, nil, sink), WorkDir: "/scratch", Recording: past,
	})
	require.NoError(t, err)
	require.Equal(t, "ok", res.Output)
	require.Equal(t, []string{"m", "m"}, b.model.asked())
}
