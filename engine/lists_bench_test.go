package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// A list after another one of the same length: kept-B/element is what the run holds for each element
// when the last one asks its model, the record in memory included.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{250, 1000} {
		b.Run(fmt.Sprintf("elements=%d", n), func(b *testing.B) {
			c := &cascade.Cascade{}
			require.NoError(b, json.Unmarshal([]byte(`{"cascade_id":"c","phases":[
				{"name":"one","for_each":{"items":"input.list","max_parallel":1},"instructions":"{{ item }}"},
				{"name":"two","for_each":{"items":"input.list","max_parallel":1},"instructions":"{{ item }}"}]}`), c))
			list := make([]any, n)
			for i := range list {
				list[i] = fmt.Sprint("element ", i)
			}
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			var kept uint64
			b.ReportAllocs()
			for b.Loop() {
				calls, before := 0, heap()
				r := &Runner{DefaultModel: "m", Tools: &fakeTools{}, Model: modelFunc(func(context.Context, *effect.ModelRequest) (*effect.ModelResponse, error) {
					if calls++; calls == 2*n {
						kept = heap() - before
					}
					return &effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "done"), FinishReason: "stop"}, nil
				})}
				_, err := r.Run(b.Context(), Spec{Cascade: c, Input: map[string]any{"list": list}, Log: echo.NewLog("s", nil, nil, &inMemory{}), WorkDir: "/scratch"})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(kept)/float64(n), "kept-B/element")
		})
	}
}
