package effecttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

const (
	secret = "hunter2"
	masked = "***"
	noJSON = `{` + secret // arguments that are no JSON
)

// mask knows one secret.
type mask struct{}

func (mask) Text(s string) string     { return strings.ReplaceAll(s, secret, masked) }
func (m mask) JSON(raw []byte) []byte { return []byte(m.Text(string(raw))) }

func (m mask) Any(v any) any {
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.Any(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[m.Text(k)] = m.Any(v[k])
		}
		return out
	}
	return v
}

func (m mask) Parts(text string, part func(text, secret string)) {
	for {
		before, rest, found := strings.Cut(text, secret)
		part(before, "")
		if !found {
			return
		}
		part(secret, masked)
		text = rest
	}
}

// noSecrets holds that no entry has the secret.
func (b *bench) noSecrets(t testing.TB) {
	t.Helper()
	for _, e := range b.disk.Entries() {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NotContains(t, string(text), secret, "%s of %s", e.NodeType, e.Key)
	}
}

// secretCalls are calls with a secret in what is asked, so that it is in what comes back as well.
func secretCalls() []call {
	use := func(tool, what string) effect.ToolRequest {
		req := Use(tool, what)
		req.CallID = "call"
		return req
	}
	odd := use("write", "")
	odd.Arguments = json.RawMessage(noJSON)
	return []call{
		asks(hidden.Step(echo.StepModel), Ask("m", secret)),
		asks(hidden.Try(echo.StepModel, 2), Ask(Leaky, "more of "+secret)),
		uses(hidden.Numbered(echo.StepTool, 1), use("write", secret)),
		uses(hidden.Numbered(echo.StepTool, 2), use("read", "read "+secret)),
		uses(hidden.Numbered(echo.StepTool, 3), use(Leaky, "all of "+secret)),
		uses(hidden.Numbered(echo.StepTool, 4), odd),
		reads(hidden.Step(echo.StepHandoff), echo.Handoff{Phase: secret}),
	}
}

// secrets holds that secrets of conversations and arguments reach the world and no record.
func secrets(t testing.TB, b *bench) {
	came := perform(t, b.effects, secretCalls())
	b.noSecrets(t)
	want := outcome{response: *answered("")}
	want.said(t, answered(masked).Message)
	want.response.Message = nil
	require.Equal(t, want, came[0])
	for _, o := range came[2:6] {
		require.NotContains(t, fmt.Sprintf("%+v", o), secret)
		require.Contains(t, fmt.Sprintf("%+v", o), masked)
	}
	require.NotContains(t, fmt.Sprint(came[6]), secret)
	require.Contains(t, fmt.Sprint(came[6]), masked)
	b.asked(t, secret)
	b.asked(t, "more of "+secret)
	for _, what := range []string{secret, "read " + secret, "all of " + secret} {
		b.asked(t, string(Use("", what).Arguments))
	}
	b.asked(t, noJSON)
	b.replays(t, secretCalls(), came)
}

// otherPurpose holds that what is not for the conversation of a phase goes to the model whole but
// without secrets.
func otherPurpose(t testing.TB, b *bench) {
	asking := func(what string) *effect.ModelRequest {
		req := everything()
		req.Site.Purpose = echo.PurposeSummary
		req.Messages = []*echo.Message{echo.NewText(echo.RoleSystem, echo.KindSystem, "sum up "+what), echo.NewText(echo.RoleUser, echo.KindTask, what)}
		return req
	}
	key := hidden.Step(echo.StepCompact)
	resp, err := b.model(t, key, asking(secret))
	require.NoError(t, err)
	require.Equal(t, "answer to "+masked, resp.Message.Text())
	require.Len(t, b.world.requests, 1)
	require.Equal(t, sent(asking(masked)), sent(&b.world.requests[0]))
	b.outcome(t, echo.NodeModelCall, key)
}
