package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

const ballot = "How to judge:\nWell.\n\nThe task:\n<<<0123456789abcdef task\nWrite.\n0123456789abcdef task>>>\n\n" +
	"Answer KLMN:\n<<<0123456789abcdef KLMN\nlong text\n<<<0123456789abcdef\n0123456789abcdef KLMN>>>\n\n" +
	"Answer PQRS:\n<<<0123456789abcdef PQRS\nshort text\n0123456789abcdef PQRS>>>\n\nWhich?"

func asked(purpose echo.Purpose, phase, text string, try effect.Try) *effect.ModelRequest {
	req := at(phase, 0, 0, echo.NewText(echo.RoleSystem, echo.KindSystem, "You judge."), echo.NewText(echo.RoleUser, echo.KindTask, text))
	req.Site.Purpose, req.Site.Try = purpose, try
	return req
}

// A scripted judge looks at what answers say, whatever their labels and their order.
func TestScriptedJudge(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"draft": [{"text": "{{ candidate }} of step {{ step }}"}], "draft/sounding2": [{"text": "second"}], "draft/reforge1/sounding2": [{"text": "refined"}]},
		"judges": {"draft": {"prefer": ["best", "short"], "points": {"long": 3, "text": 7.5}, "why": "it is short"}, "*": {"text": "{% for c in candidates %}{{ c.label }}={{ c.text }};{% endfor %}"}},
		"aggregates": {"draft": {"text": "all {{ candidates | length }}"}}, "rewrites": {"*": {"text": "rewritten for {{ candidate }}"}}}`)
	say := func(req *effect.ModelRequest) string {
		resp, err := m.Complete(t.Context(), req)
		require.NoError(t, err)
		return resp.Message.Text()
	}
	none := effect.Try{}
	require.JSONEq(t, `{"winner": "PQRS", "why": "it is short"}`, say(asked(echo.PurposeJudge, "draft", ballot, none)))
	require.JSONEq(t, `{"winner": "tie", "why": "it is short"}`, say(asked(echo.PurposeJudge, "draft", "Answer A:\n<<<0123456789abcdef A\nx\n0123456789abcdef A>>>\n<<<0123456789abcdef B\ny\n0123456789abcdef B>>>", none)))
	require.JSONEq(t, `{"winner": "tie", "why": "it is short"}`, say(asked(echo.PurposeJudge, "draft", "<<<0123456789abcdef A\nshort x\n0123456789abcdef A>>>\n<<<0123456789abcdef B\nshort y\n0123456789abcdef B>>>", none)))
	require.JSONEq(t, `{"score": 7.5, "why": "it is short"}`, say(asked(echo.PurposeJudge, "draft", "<<<0123456789abcdef A\nsome text\n0123456789abcdef A>>>", none)))
	require.Equal(t, "KLMN=long text\n<<<0123456789abcdef;PQRS=short text;", say(asked(echo.PurposeJudge, "other", ballot, none)))
	require.Equal(t, "all 2", say(asked(echo.PurposeAggregate, "draft", ballot, none)))
	require.Equal(t, "rewritten for 2", say(asked(echo.PurposeRewrite, "draft", "x", effect.Try{Number: 2})))
	require.Equal(t, "1 of step 0", say(asked("", "draft", "x", effect.Try{Number: 1})))
	require.Equal(t, "second", say(asked("", "draft", "x", effect.Try{Number: 2})))
	require.Equal(t, "1 of step 1", say(asked("", "draft", "x", effect.Try{Number: 1, Step: 1})))
	require.Equal(t, "refined", say(asked("", "draft", "x", effect.Try{Number: 2, Step: 1})))

	for phase, want := range map[string]string{
		"draft": `x.script.json has no judge for phase "draft"`, "": `x.script.json has no judge for the cascade: name it "*"`,
	} {
		_, err := play(t, `{"phases": {}}`).Complete(t.Context(), asked(echo.PurposeJudge, phase, ballot, none))
		require.ErrorContains(t, err, want)
	}
}
