package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// spotOf returns the place of the first message of a session with a text.
func (b *testBundle) spotOf(text string) echo.Spot {
	b.t.Helper()
	for _, v := range record.Records(record.Of(b.entries.list)) {
		for i, at := range echo.Spots(v.Name, v.Visit, v.History) {
			if v.History[i].Message.Text() == text {
				return at
			}
		}
	}
	require.Fail(b.t, "no message", text)
	return echo.Spot{}
}

func changing(t *testing.T, answers ...answerFunc) (*testBundle, *changeList) {
	t.Helper()
	b, l := setup(t, answers...), &changeList{}
	b.runner.Changes = l
	b.tools.addEcho("look")
	return b, l
}

// TestWithdrawnAnswerIsAskedForAgain: an answer that is taken out before its phase has ended is not the output.
func TestWithdrawnAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	b, l := changing(t)
	b.model.answers = []answerFunc{
		say("wrong"),
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) { // the validator is asked about it
			l.add(echo.ViewUndo, b.spotOf("Go."), b.spotOf("wrong"))
			return say(`{"valid":true}`)(req)
		},
		say("right"), say(`{"valid":true}`), say("next"),
	}
	res, err := b.run(`{"cascade_id":"c","validators":{"fair":{"instructions":"Is it?"}},"phases":[
		{"name":"p","instructions":"Go.","rules":{"loop_until":"fair","max_attempts":2}},{"name":"q","instructions":"On.","context":{"from":["p"]}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "right", res.Phases[0].Output)
	require.Equal(t, []string{`user: From phase "p", output:
right`, "user: On."}, roles(b.model.requests[4]))
}

// TestChangesThatCannotBeRead: the run goes on, and a warning says so once.
func TestChangesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b, l := changing(t, call("look", `{}`), say("done"))
	l.err = errors.New("read change-000001.json: it is no letter")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["look"]}]}`, nil)
	require.NoError(t, err)
	var warnings []string
	for _, e := range b.entries.of(echo.NodeWarning) {
		w, err := echo.Read[echo.Warning](e)
		require.NoError(t, err)
		warnings = append(warnings, w.Message)
	}
	require.Equal(t, []string{"what people take out of the context cannot be read: read change-000001.json: it is no letter"}, warnings)
}

// TestEveryBranchTakesEveryChange: the phases of a graph, the elements of a list and candidates take a change each, the run counts
// it once, and a phase that follows has it.
func TestEveryBranchTakesEveryChange(t *testing.T) {
	t.Parallel()
	for name, phases := range map[string]string{
		"graph": `{"name":"a","instructions":"A."},{"name":"b","instructions":"B.","after":["a"],"context":{"from":["a"]}},
			{"name":"c","instructions":"C.","after":["a"],"context":{"from":["a"]}},{"name":"d","instructions":"D.","after":["b","c"],"context":{"from":["a"]}}`,
		"list": `{"name":"a","instructions":"A."},{"name":"b","instructions":"B {{ item }}.","for_each":{"items":["x","y"]},"context":{"from":["a"]}},
			{"name":"d","instructions":"D.","context":{"from":["a"]}}`,
		"candidates": `{"name":"a","instructions":"A."},{"name":"b","instructions":"B.","soundings":{"factor":2,"validator":"non_empty"},"context":{"from":["a"]}},
			{"name":"d","instructions":"D.","context":{"from":["a"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, l := changing(t)
			secret := echo.Spot{Phase: "a", Visit: 1, Hash: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "the secret").Hash(), Nth: 1}
			for range 20 {
				b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
					_, all := questionOf(req)
					switch req.Site.Phase {
					case "a":
						return say("the secret")(req)
					case "d":
						require.NotContains(t, all, "secret")
					default:
						if len(l.list) == 0 {
							l.add(echo.ViewDrop, secret) // other branches record meanwhile: the record is not read here
						}
					}
					return say("answer")(req)
				})
			}
			_, err := b.run(`{"cascade_id":"c","phases":[`+phases+`]}`, nil)
			require.NoError(t, err)
			last := b.model.requests[len(b.model.requests)-1]
			require.Equal(t, "d", last.Site.Phase)
			taken := 0
			for _, e := range b.entries.asRead(t) {
				if _, err := echo.Read[echo.ViewChange](e); err == nil {
					taken++
				}
			}
			require.GreaterOrEqual(t, taken, 2)
			require.Equal(t, 1, record.Withdrawals(record.Of(b.entries.asRead(t))).Last())
		})
	}
}

// TestWithdrawnElement: of elements that say the same, that of the one which is named goes while others have not ended; what later phases
// get has the others, and nothing once all are out. The list of the answers is said without it.
func TestWithdrawnElement(t *testing.T) {
	t.Parallel()
	b, l := changing(t)
	var second echo.Spot
	b.model.answers = []answerFunc{
		say("same"), say("same"),
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			second = b.spotOf("same")
			require.Equal(t, 1, second.Item)
			second.Item = 2
			l.add(echo.ViewDrop, second)
			return say("third")(req)
		},
		say("next"),
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			first := second
			first.Item = 1
			l.add(echo.ViewDrop, first, b.spotOf("third"))
			return say("next")(req)
		},
		say("end"),
	}
	from := `"context":{"from":[{"phase":"each","include":["messages","output"]}]}`
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"each","instructions":"E {{ item }}","for_each":{"items":["x","y","z"],"max_parallel":1}},
		{"name":"b","instructions":"B.",`+from+`},{"name":"c","instructions":"C."},{"name":"d","instructions":"D.",`+from+`}]}`, nil)
	require.NoError(t, err)
	got := strings.Join(roles(b.model.requests[3]), "|")
	require.Equal(t, 1, strings.Count(got, "assistant: same"), got)
	require.Contains(t, got, "assistant: third")
	got = strings.Join(roles(b.model.requests[5]), "|")
	require.NotContains(t, got, "same")
	require.NotContains(t, got, "third")
	require.NotContains(t, got, "[dropped]")
	require.Contains(t, got, "E y", "the tasks stay")
}
