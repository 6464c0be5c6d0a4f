package effect

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// oneSecret is a mask that knows one secret.
type oneSecret struct{ NoMask }

func (oneSecret) Text(s string) string   { return strings.ReplaceAll(s, "hunter2", "***") }
func (m oneSecret) JSON(b []byte) []byte { return []byte(m.Text(string(b))) }

// echoing is a model that repeats what it was asked, and a tool that repeats its arguments.
type echoing struct{ asked string }

func (w *echoing) Complete(_ context.Context, req *ModelRequest) (*ModelResponse, error) {
	w.asked = req.Messages[0].Text()
	if req.Model == "failing" {
		return nil, &ModelError{Kind: echo.ModelErrServer, Message: "no " + w.asked}
	}
	return &ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, w.asked)}, nil
}

func (*echoing) Spec(name string) (ToolSpec, bool) { return ToolSpec{Name: name}, true }

func (*echoing) Call(_ context.Context, req ToolRequest) (ToolResult, error) {
	return ToolResult{Parts: echo.Text(string(req.Arguments)), Failed: req.Name == "failing"}, nil
}

func question(model, text string, purpose echo.Purpose) *ModelRequest {
	return &ModelRequest{
		Model: model, Site: Site{Purpose: purpose}, Messages: []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, text)},
	}
}

// Known secrets are in no entry, nor in what comes back; a model gets them only for the
// conversation of a phase.
func TestLiveRecordsNoSecrets(t *testing.T) {
	t.Parallel()
	disk, world := &sink{}, &echoing{}
	now := start
	live := NewLive(world, world, Writer{Log: echo.NewLog("s", nil, disk), Mask: oneSecret{}}, func() time.Time {
		now = now.Add(250 * time.Millisecond)
		return now
	})
	at := echo.PhaseKey("p", 1).Attempt(1).Turn(1)
	for _, tt := range []struct {
		model   string
		purpose echo.Purpose
		asked   string
	}{
		{"m", "", "hunter2"}, {"m", echo.PurposeSummary, "***"}, {"failing", "", "hunter2"},
	} {
		resp, err := live.Model(t.Context(), at.Step(echo.StepModel), question(tt.model, "hunter2", tt.purpose))
		require.Equal(t, tt.asked, world.asked)
		if err == nil {
			require.Equal(t, "***", resp.Message.Text())
		}
	}
	for _, name := range []string{"t", "failing"} {
		for _, args := range []string{`{"a":"hunter2"}`, `{hunter2`} {
			m, err := live.Tool(t.Context(), at.Numbered(echo.StepTool, 1), ToolSpec{}, ToolRequest{Name: name, Arguments: json.RawMessage(args)})
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(args, "hunter2", "***"), m.Text())
		}
	}
	raw, err := live.Value(t.Context(), at.Step(echo.StepHandoff), Site{}, func() echo.Payload { return echo.Handoff{Phase: "hunter2"} })
	require.NoError(t, err)
	require.Contains(t, string(raw), "***")
	require.Len(t, disk.entries, 3+2*4+1)
	for _, e := range disk.entries {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hunter2")
		switch e.NodeType {
		case echo.NodeModelCall, echo.NodeToolCall:
			require.Equal(t, 250.0, e.DurationMS)
		case echo.NodeToolStart:
			require.Contains(t, e.Tool.Arguments, "***")
		}
	}
	require.Equal(t, 4, disk.commits, "the result of a tool begins to be made durable")
}

func TestMaskedArguments(t *testing.T) {
	t.Parallel()
	shouting := jsonMask{}
	require.Equal(t, "JSON", MaskedArguments(shouting, `{}`))
	require.Equal(t, "TEXT", MaskedArguments(shouting, `{`))
}

// jsonMask tells JSON from text.
type jsonMask struct{ NoMask }

func (jsonMask) Text(string) string { return "TEXT" }
func (jsonMask) JSON([]byte) []byte { return []byte("JSON") }

// A request without secrets is passed on as it is; in one with some, the other messages stay.
func TestMaskedRequest(t *testing.T) {
	t.Parallel()
	plain := question("m", "a", "")
	require.Same(t, plain, maskedRequest(oneSecret{}, plain))
	for _, order := range [][]string{{"a", "hunter2"}, {"hunter2", "a"}} {
		req := &ModelRequest{}
		for _, s := range order {
			req.Messages = append(req.Messages, echo.NewText(echo.RoleUser, echo.KindTask, s))
		}
		clean := maskedRequest(oneSecret{}, req)
		require.NotSame(t, req, clean)
		for i, m := range req.Messages {
			require.Equal(t, order[i], m.Text(), "the request itself is not changed")
			require.Equal(t, strings.ReplaceAll(order[i], "hunter2", "***"), clean.Messages[i].Text())
		}
	}
}

// A record made when fewer secrets were known is followed, and so is one made when more were.
func TestRecordingsAreFollowedWithOtherSecrets(t *testing.T) {
	t.Parallel()
	ask := question("m", "hunter2", "")
	recordedWith := func(text string) string { return question("m", text, "").Hash() }
	require.True(t, asRecorded(oneSecret{}, ask, recordedWith("hunter2")))
	require.True(t, asRecorded(oneSecret{}, ask, recordedWith("***")))
	require.False(t, asRecorded(oneSecret{}, ask, recordedWith("else")))
	open := ask.Messages[0]
	hidden := &ModelRequest{Model: "m", Messages: []*echo.Message{open.Rewritten(oneSecret{}.Text).SentAs(open)}}
	require.Equal(t, recordedWith("***"), hidden.Hash())
	require.True(t, asRecorded(oneSecret{}, hidden, recordedWith("hunter2")), "as it is sent")
	require.Equal(t, "***", hidden.Messages[0].Text(), "the request itself is not changed")

	data := func(s string) *echo.Entry {
		return &echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(one), Data: json.RawMessage(s), Error: &echo.Failure{Message: s}}
	}
	for _, was := range []string{`"hunter2"`, `"***"`} {
		require.NoError(t, sameButSecrets(oneSecret{}, data(was), data(`"hunter2"`)), was)
	}
	var de *DivergenceError
	require.ErrorAs(t, sameButSecrets(oneSecret{}, data(`"else"`), data(`"hunter2"`)), &de)

	call := recorded(tool1)
	call[0].Tool.Arguments = `{"a":"hunter2"}`
	_, err := NewRecorder(Options{Recording: call, Mask: oneSecret{}}).Tool(t.Context(), echo.MustKey(tool1), ToolSpec{},
		ToolRequest{Name: "t", Arguments: json.RawMessage(`{"a":"hunter2"}`)})
	require.NoError(t, err)
}
