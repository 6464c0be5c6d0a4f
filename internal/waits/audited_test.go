package waits_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// Each answer, each signal of a person and each attempt has a line, which says nothing of what was said.
func TestAudit(t *testing.T) {
	t.Parallel()
	d := deskOf(t, echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: "Which key?"}},
		waiting.Approval(echo.AwaitedCall{Tool: "deploy", Arguments: []byte(`{}`), Cascade: "c", Schema: []byte(`{}`)}))
	question, approval := echo.WaitID(session, keyOf(0)), echo.WaitID(session, keyOf(1))
	by := func(who string, value any) waits.Given { return waits.Given{Value: value, By: who, Via: echo.ViaHTTP} }
	_, err := d.AnswerExactly(t.Context(), question, by("ann", "hunter2"))
	require.NoError(t, err)
	_, err = d.AnswerExactly(t.Context(), question, by("bob", "hunter3"))
	require.ErrorContains(t, err, "was answered by ann (http) at ")
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
	_, err = d.AnswerExactly(t.Context(), approval, by("bob", "allow"))
	require.EqualError(t, err, "the wait "+approval+" is for an approval, and the answer does not say what was shown")
	require.True(t, failure.Is(err, failure.InvalidRequest))
	stale := by("bob", "allow")
	stale.Shown = "0123456789abcdef"
	_, err = d.AnswerExactly(t.Context(), approval, stale)
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
	_, err = d.AnswerExactly(t.Context(), approval[:5], by("bob", "allow"))
	require.EqualError(t, err, `there is no open wait "`+approval[:5]+`"`)
	for _, via := range []echo.Via{echo.ViaHTTP, echo.ViaTool} {
		require.NoError(t, d.Signal("", "go", echo.Answer{Letter: "l-" + string(via), Value: "hunter4", By: "ann", Via: via, At: began}))
	}
	_, err = d.Revoke("nothing", "ann", echo.ViaCommand)
	require.EqualError(t, err, `there is no grant "nothing"`)
	lines, damaged, err := audit.Read(d.Home, 100)
	require.NoError(t, err)
	require.Zero(t, damaged)
	at := d.Now()
	require.Equal(t, []audit.Line{
		{At: at, By: "ann", Via: "http", What: "answer", Target: question, Session: session, Outcome: "done"},
		{At: at, By: "bob", Via: "http", What: "answer", Target: question, Session: session, Outcome: "refused", Reason: "already_answered"},
		{At: at, By: "bob", Via: "http", What: "answer", Target: approval, Outcome: "refused", Reason: "invalid_request"},
		{At: at, By: "bob", Via: "http", What: "answer", Target: approval, Session: session, Outcome: "refused", Reason: "already_answered"},
		{At: at, By: "bob", Via: "http", What: "answer", Target: approval[:5], Outcome: "refused", Reason: "unknown_wait"},
		{At: at, By: "ann", Via: "http", What: "signal", Target: "l-http", Outcome: "done"},
		{At: at, By: "ann", Via: "command", What: "grant_revoke", Target: "nothing", Outcome: "refused", Reason: "invalid_request"},
	}, lines)
	text, err := os.ReadFile(audit.Path(d.Home))
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter")
}
