package windlass

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

func recorded(n uint64, kind echo.NodeType) *echo.Entry {
	return &echo.Entry{Seq: n, NodeType: kind, Key: echo.MustKey("a/attempt1/turn1/model")}
}

func texts(f *feed) (out []string, err error) {
	for e, err := range f.all() {
		if err != nil {
			return out, err
		}
		out = append(out, e.String())
	}
	return out, nil
}

// A reader that is slow misses pieces of answers that are recorded, and nothing else. Nobody waits
// for it.
func TestFeedOfASlowReader(t *testing.T) {
	t.Parallel()
	f := newFeed()
	site := effect.Site{Cascade: "c", Phase: "a", Attempt: 1, Turn: 1}
	for n := range uint64(3) {
		f.Observe(engine.Event{Kind: engine.EventModelCall, Site: site, Model: "m"})
		for range 1000 {
			f.Observe(engine.Event{Kind: engine.EventDelta, Site: site, Delta: effect.Delta{Text: "x"}})
		}
		require.Len(t, f.events, 2*int(n)+1001)
		require.NoError(t, f.Write(recorded(n+1, echo.NodeModelCall)))
		require.Len(t, f.events, 2*int(n)+2, "what is kept is bounded by the record")
	}
	f.Observe(engine.Event{Kind: engine.EventDelta, Site: site, Delta: effect.Delta{Text: "y"}})
	f.Observe(engine.Event{Kind: engine.EventToolCall, Site: site, Tool: "t", Arguments: "{}"})
	f.Observe(engine.Event{Kind: engine.EventCompacting, Site: site, Guard: echo.Guard{Event: echo.GuardActing}})
	f.Observe(engine.Event{Kind: "other"})
	require.NoError(t, f.Close(t.Context()))
	f.end(errors.New("it failed"))
	got, err := texts(f)
	require.EqualError(t, err, "it failed")
	require.Equal(t, []string{
		"c/a (attempt 1, turn 1): asking m", "recorded 1: model_call a/attempt1/turn1/model",
		"c/a (attempt 1, turn 1): asking m", "recorded 2: model_call a/attempt1/turn1/model",
		"c/a (attempt 1, turn 1): asking m", "recorded 3: model_call a/attempt1/turn1/model",
		`c/a (attempt 1, turn 1): "y"`, "c/a (attempt 1, turn 1): running t {}", "c/a (attempt 1, turn 1): " + string(echo.GuardActing),
	}, got)
}

// A reader that reads along has every piece, one that breaks off changes nothing, and each loop
// begins anew.
func TestFeedOfReaders(t *testing.T) {
	t.Parallel()
	f := newFeed()
	read := make(chan string)
	go func() {
		defer close(read)
		f.all()(func(e Event, _ error) bool {
			read <- e.String()
			return true
		})
	}()
	f.add(&Delta{Text: "one"})
	require.Equal(t, `: "one"`, <-read)
	f.all()(func(Event, error) bool { return false })
	f.add(&Delta{ToolCall: "t"})
	require.Equal(t, ": calling t", <-read)
	f.add(&Delta{Retrying: "it is full"})
	require.Equal(t, ": asking again in 0s: it is full", <-read)
	f.add(&Notice{"by spelling"})
	require.Equal(t, "by spelling", <-read)
	f.end(nil)
	_, more := <-read
	require.False(t, more)
	got, err := texts(f)
	require.NoError(t, err)
	require.Len(t, got, 4)
}

type node struct {
	Name string `json:"name"`
	Next *node  `json:"next,omitempty"`
}

func TestTools(t *testing.T) {
	t.Parallel()
	call := func(tool Tool, arguments string) effect.ToolResult {
		require.NoError(t, tool.err)
		return tool.fn.Run(t.Context(), effect.ToolRequest{Arguments: []byte(arguments)})
	}
	list := Func("length", "", func(_ context.Context, n node) (map[string]int, error) {
		length := 1
		for at := n.Next; at != nil; at = at.Next {
			length++
		}
		return map[string]int{"length": length}, nil
	})
	require.Equal(t, echo.Text(`{"length":2}`), call(list, `{"name": "a", "next": {"name": "b"}}`).Parts)
	require.Contains(t, string(list.Parameters()), "$ref", "a type may refer to itself")
	require.Equal(t, "length", list.Name())
	bad := call(list, `{"name": 7}`)
	require.True(t, bad.Failed)
	require.Contains(t, bad.Parts[0].Text, "the arguments cannot be read: ")

	free := func(out any, err error) Tool {
		return Func("f", "", func(context.Context, map[string]any) (any, error) { return out, err })
	}
	require.Equal(t, echo.Text("failed on purpose"), call(free(nil, errors.New("failed on purpose")), `{}`).Parts)
	require.Equal(t, echo.Text("text"), call(free("text", nil), `{}`).Parts)
	require.Equal(t, echo.Text("the result cannot be encoded: json: unsupported type: chan int"), call(free(make(chan int), nil), `{}`).Parts)
	fault := Func("f", "", func(context.Context, struct{}) (string, error) { panic("boom") })
	require.Equal(t, effect.ToolResult{Parts: echo.Text("the tool f panicked: boom"), Failed: true, Kind: "failed"}, call(fault, `{}`))
	gone := Func("f", "", func(context.Context, struct{}) (string, error) { runtime.Goexit(); return "", nil })
	require.Equal(t, echo.Text("the tool f ended its goroutine instead of returning, as a failed assertion of package testing does"), call(gone, `{}`).Parts)
}

func TestToolErrors(t *testing.T) {
	t.Parallel()
	type odd struct{ C chan int }
	free := func(context.Context, struct{}) (string, error) { return "", nil }
	for text, tool := range map[string]Tool{
		`tool "f": its arguments are a string: expected a struct, or a map with strings as keys`: Func("f", "", func(context.Context, string) (string, error) { return "", nil }),
		`tool "g": it has no function`:                                               Func[struct{}, string]("g", "", nil),
		`tool "": its name must be 1 to 64 letters, digits, _ and -`:                 Func("", "", free),
		`tool "a b": its name must be 1 to 64 letters, digits, _ and -`:              Func("a b", "", free),
		`tool "set_state": the engine has a tool of that name`:                       Func("set_state", "", free),
		`tool "h": no schema can be made of windlass.odd: unsupported type chan int`: Func("h", "", func(context.Context, odd) (string, error) { return "", nil }),
	} {
		_, err := settingsOf([]RunOption{WithTool(tool)})
		require.Equal(t, InvalidRequest, KindOf(err))
		require.EqualError(t, err, text)
	}
}

// Without a program that runs the engine, Open says so, also where there is an engine.
func TestExecutable(t *testing.T) {
	before := servesEngine.Swap(false)
	t.Cleanup(func() { servesEngine.Store(before) })
	t.Setenv("PATH", t.TempDir())
	require.Equal(t, "/opt/windlass", (&Options{Executable: "/opt/windlass"}).executable())
	require.Equal(t, noExecutable, (&Options{}).executable())
	require.EqualError(t, engineMissing(errNoExecutable), "no program on this machine runs the embedded ClickHouse: windlass is not on PATH, "+
		"and this program does not call windlass.ServeEngine")
	_, done := ServeEngine()
	require.False(t, done)
	require.Empty(t, (&Options{}).executable(), "this program")
}
