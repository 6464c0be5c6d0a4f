package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/artifact"
)

const makes = `{"cascade_id":"c","phases":[{"name":"make","instructions":"Make.","tackle":["show_ui","create_artifact","list_artifacts","get_artifact"]},
	{"name":"read","tool":"list_artifacts"},{"name":"end","instructions":"{{ outputs.read }}"}]}`

func artifactAt(key string) string {
	return echo.ArtifactID("s1", echo.MustKey(key+"/artifact"))
}

// TestArtifacts: what a model makes is in the record once, and is found again by later calls and phases; a run that
// resumes anywhere comes to the same.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	report := artifactAt("make/attempt1/turn1/tool2")
	answers := []answerFunc{
		call("show_ui", `{"html":"<p>hi","title":"Hi"}`, "create_artifact", `{"html":"<b>1.50</b>","title":"Report","artifact_type":"report","tags":["a","b"]}`),
		call("list_artifacts", `{"tags":["b"]}`, "get_artifact", fmt.Sprintf(`{"id":%q}`, report), "get_artifact", `{"id":"nobody"}`),
		say("made"), say("end"),
	}
	b := setup(t, answers...)
	res, err := b.run(makes, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	results := b.model.requests[1].Messages
	require.JSONEq(t, fmt.Sprintf(`{"id":%q,"status":"shown"}`, artifactAt("make/attempt1/turn1/tool1")), results[2].Text())
	require.JSONEq(t, fmt.Sprintf(`{"id":%q,"status":"kept"}`, report), results[3].Text())
	results = b.model.requests[2].Messages
	one := fmt.Sprintf(`"id":%q,"kind":"made","title":"Report","artifact_type":"report","tags":["a","b"],"bytes":11`, report)
	require.JSONEq(t, "[{"+one+"}]", results[5].Text())
	require.JSONEq(t, "{"+one+`,"html":"<b>1.50</b>"}`, results[6].Text())
	require.Equal(t, `There is no artifact "nobody" in this run. list_artifacts lists them.`, results[7].Text())
	require.True(t, results[7].Failed())
	require.Contains(t, b.model.requests[3].Messages[0].Text(), "Hi")
	require.Contains(t, b.model.requests[3].Messages[0].Text(), "Report")

	whole, resumed := b.entries.asRead(t), 0
	for n := 1; n < len(whole); n++ {
		again := setup(t, answers...)
		again.entries = &inMemory{list: whole[:n:n]}
		if CheckResumable(whole[:n]) != nil {
			continue
		}
		again.model.answers = answers[calls(whole[:n]):]
		res, err := again.goesOn(makes)
		require.NoError(t, err, "after entry %d", n)
		require.Equal(t, "end", res.Output)
		require.Len(t, artifactsOf(t, again.entries.asRead(t)), 2, "after entry %d", n)
		resumed++
	}
	require.Greater(t, resumed, 20)
}

func calls(entries []*echo.Entry) (n int) {
	for _, e := range entries {
		if e.NodeType == echo.NodeModelCall {
			n++
		}
	}
	return n
}

func artifactsOf(t *testing.T, entries []*echo.Entry) (out []echo.Artifact) {
	t.Helper()
	for _, e := range entries {
		if p := e.Key.Path(); e.NodeType == echo.NodeValue && p.Last().Kind == echo.StepArtifact {
			a, err := echo.Read[echo.Artifact](e)
			require.NoError(t, err)
			out = append(out, a)
		}
	}
	return out
}

// TestArtifactsAreRefused: what is too long or empty is refused with a text for the model, and nothing is kept.
func TestArtifactsAreRefused(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(map[string]string{"title": "t", "html": strings.Repeat("x", artifact.MaxHTML+1)})
	require.NoError(t, err)
	b := setup(t, call("create_artifact", string(long), "show_ui", `{"html":" ","title":"t"}`), say("made"), say("end"))
	_, err = b.run(makes, nil)
	require.NoError(t, err)
	results := b.model.requests[1].Messages
	require.Equal(t, "The HTML has 1048577 bytes, at most 1048576 are kept.", results[2].Text())
	require.Equal(t, "The HTML is empty.", results[3].Text())
	require.Empty(t, artifactsOf(t, b.entries.asRead(t)))
}
