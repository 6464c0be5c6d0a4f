package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// placeModel answers by the place of the call, so that any number of runs can share it.
type placeModel struct{}

func (placeModel) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if err := checkSequence(req.Messages); err != nil {
		return nil, err
	}
	task := req.Messages[0].Text()
	if req.Site.Turn < 4 {
		return call("note", fmt.Sprintf(`{"n":%d}`, req.Site.Turn), "set_state", fmt.Sprintf(`{"key":"k","value":%q}`, task))(req)
	}
	return say("done with " + task)(req)
}

// One Runner runs any number of cascades at once, and none sees anything of another.
func TestRunsShareARunner(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","phases":[
		{"name":"a","instructions":"Task {{ input.n }}","tackle":["note","set_state"]},
		{"name":"b","instructions":"{{ state.k }} / {{ outputs.a }}","tackle":["note","set_state"],"context":{"include_input":false}}]}`), c))
	tools := &fakeTools{}
	tools.addEcho("note")
	r := &Runner{Model: placeModel{}, Tools: tools, DefaultModel: "m"}
	var wg sync.WaitGroup
	for n := range 24 {
		wg.Go(func() {
			entries := &inMemory{}
			log := echo.NewLog(fmt.Sprintf("s%d", n), nil, nil, entries)
			res, err := r.Run(context.Background(), Spec{Cascade: c, Input: map[string]any{"n": n}, Log: log})
			if !assert.NoError(t, err) {
				return
			}
			assert.Equal(t, fmt.Sprintf("done with Task %d / done with Task %d", n, n), res.Output)
			for i, e := range entries.list {
				assert.Equal(t, uint64(i+1), e.Seq)
				assert.Equal(t, fmt.Sprintf("s%d", n), e.SessionID)
			}
		})
	}
	wg.Wait()
	require.Len(t, tools.calls, 24*6)
}
