package effect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	text := func(kind echo.Kind, s string) *echo.Message { return echo.NewText(echo.RoleUser, kind, s) }
	with := func(set func(*echo.Entry)) *echo.Entry {
		e := &echo.Entry{Seq: 7, NodeType: echo.NodeMessage, Key: echo.MustKey(one), Message: text(echo.KindTask, "a"), Model: "m"}
		e.ContentHash = e.Message.Hash()
		set(e)
		return e
	}
	cost := func(f float64) *float64 { return &f }
	same := func(*echo.Entry) {}
	none := func(e *echo.Entry) { e.Message = nil }
	for name, tt := range map[string]struct {
		was, now func(*echo.Entry)
		field    string
		shown    []string
	}{
		"the same":              {same, same, "", nil},
		"at another time":       {same, func(e *echo.Entry) { e.At, e.DurationMS, e.Seq = time.Now(), 3, 0 }, "", nil},
		"not yet appended":      {same, func(e *echo.Entry) { e.ContentHash = "" }, "", nil},
		"no message":            {none, none, "", nil},
		"a message too many":    {none, same, "message", []string{`"none"`, `"{\"content\":\"a\",\"role\":\"user\"}"`}},
		"a message too few":     {same, none, "message", []string{`"{\"content\":\"a\",\"role\":\"user\"}"`, `"none"`}},
		"another message":       {same, func(e *echo.Entry) { e.Message = text(echo.KindTask, "b") }, "content", []string{`"{\"content\":\"a\",\"role\":\"user\"}"`, `"{\"content\":\"b\",\"role\":\"user\"}"`}},
		"another kind":          {same, func(e *echo.Entry) { e.Message = text(echo.KindNotice, "a") }, "kind", []string{`"task"`, `"notice"`}},
		"another hash":          {none, func(e *echo.Entry) { e.Message, e.ContentHash = nil, "b" }, "content_hash", []string{`"b"`}},
		"another model":         {same, func(e *echo.Entry) { e.Model = "n" }, "model", []string{`"m"`, `"n"`}},
		"another tool":          {same, func(e *echo.Entry) { e.Tool = &echo.ToolUse{Name: "t"} }, "tool", []string{`"null"`}},
		"another selection":     {same, func(e *echo.Entry) { e.Selection = &echo.Selection{} }, "selection", []string{`"null"`}},
		"another usage":         {same, func(e *echo.Entry) { e.Usage = &echo.Usage{In: 1} }, "usage", []string{`"null"`}},
		"another cost":          {func(e *echo.Entry) { e.CostUSD = cost(1) }, func(e *echo.Entry) { e.CostUSD = cost(2) }, "cost_usd", []string{`"1"`, `"2"`}},
		"another error":         {same, func(e *echo.Entry) { e.Error = &echo.Failure{Kind: "k"} }, "error", []string{`"null"`}},
		"other data":            {func(e *echo.Entry) { e.Data = json.RawMessage(`{"a":1}`) }, same, "data", []string{`"{\"a\":1}"`, `""`}},
		"data in other clothes": {func(e *echo.Entry) { e.Data = json.RawMessage(`{ "a": "<" }`) }, func(e *echo.Entry) { e.Data = json.RawMessage(`{"a":"\u003c"}`) }, "", nil},
		"no JSON":               {func(e *echo.Entry) { e.Data = json.RawMessage(`{a`) }, func(e *echo.Entry) { e.Data = json.RawMessage(`{b`) }, "data", []string{`"{a"`, `"{b"`}},
		"the start of a run": {
			func(e *echo.Entry) { e.NodeType = echo.NodeRunStart; e.Set(echo.RunStart{WorkDir: "/a"}) },
			func(e *echo.Entry) { e.NodeType = echo.NodeRunStart; e.Set(echo.RunStart{WorkDir: "/b"}) }, "data",
			[]string{`"{`, `/a`, `/b`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := compare(with(tt.was), with(tt.now))
			if tt.field == "" {
				require.NoError(t, err)
				return
			}
			var de *DivergenceError
			require.ErrorAs(t, err, &de)
			require.Equal(t, tt.field, de.Field)
			require.Equal(t, uint64(7), de.Seq)
			for _, s := range tt.shown {
				require.ErrorContains(t, err, s)
			}
		})
	}
}

// Long texts are shortened to where they begin to differ, between characters.
func TestDifference(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ a, b, wantA, wantB string }{
		"short":        {"ab", "ac", `"ab"`, `"ac"`},
		"longer":       {"ab", "abc", `"ab"`, `"abc"`},
		"the same":     {"ab", "ab", `"ab"`, `"ab"`},
		"far inside":   {strings.Repeat("x", 100) + "a", strings.Repeat("x", 100) + "b", `"…` + strings.Repeat("x", 40) + `a"`, `"…` + strings.Repeat("x", 40) + `b"`},
		"just inside":  {strings.Repeat("x", 40) + "a", strings.Repeat("x", 40) + "b", `"` + strings.Repeat("x", 40) + `a"`, `"` + strings.Repeat("x", 40) + `b"`},
		"a long rest":  {"a" + strings.Repeat("x", 100), "b", `"a` + strings.Repeat("x", 79) + `…"`, `"b"`},
		"a short rest": {"a" + strings.Repeat("x", 79), "b", `"a` + strings.Repeat("x", 79) + `"`, `"b"`},
		"characters": {
			strings.Repeat("é", 30) + "a" + strings.Repeat("é", 60), strings.Repeat("é", 30) + "b",
			`"…` + strings.Repeat("é", 20) + "a" + strings.Repeat("é", 40) + `…"`, `"…` + strings.Repeat("é", 20) + `b"`,
		},
		"inside a character": {
			"x" + strings.Repeat("日", 30) + "a", "x" + strings.Repeat("日", 30) + "b",
			`"…` + strings.Repeat("日", 14) + `a"`, `"…` + strings.Repeat("日", 14) + `b"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := difference(tt.a, tt.b)
			require.Equal(t, tt.wantA, a)
			require.Equal(t, tt.wantB, b)
		})
	}
}
