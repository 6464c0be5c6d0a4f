package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool"
)

// recordExample runs an example with its script and returns its record and what ran it.
func recordExample(t *testing.T, name string) (*cascade.Cascade, engine.Runner, []*echo.Entry) {
	t.Helper()
	file := filepath.Join("../../examples/cascades", name+".json")
	c, found, err := cascade.Load(file, cascade.Known{
		Tools: append(tool.BuiltinNames(), engine.OwnTools()...),
		CheckTemplate: func(_ cascade.TemplateKind, text string) *cascade.TemplateProblem {
			if _, err := template.ParseMode(template.ModeText, text); err != nil {
				return &cascade.TemplateProblem{Message: err.Error()}
			}
			return nil
		},
	})
	require.NoError(t, err, "%v", found)
	path, err := script.Find(file)
	require.NoError(t, err)
	plan, err := script.Load(path)
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	tools, err := tool.New(tool.Options{Roots: []string{root}, Declared: c.Tools})
	require.NoError(t, err)
	t.Cleanup(func() { _ = tools.Close() })
	r := engine.Runner{Model: script.NewModel(plan), Tools: tools, DefaultModel: "scripted"}
	kept := &keeper{}
	_, err = r.Run(t.Context(), engine.Spec{Cascade: c, WorkDir: WorkDir, Log: echo.NewLog("s", nil, nil, kept)})
	require.NoError(t, err)
	r.Model = nil // whoever asks it from now on panics
	return c, r, kept.entries
}

// A frozen run is sent, call by call, exactly what the recorded one was sent.
func TestFrozenRunsAreSentWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "repo_audit", "log_triage", "docs_review", "incident_review"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r, entries := recordExample(t, name)
			frozen, err := Freeze(t.Context(), Recorded{
				Name: name, Cascade: "c.json", Session: "s", Match: Aspects(), Entries: entries,
			}, r, c)
			require.NoError(t, err)
			require.Empty(t, Compare(Observe(entries), frozen.Expect, Aspects()))
			require.NotEmpty(t, frozen.Expect.Context)

			path := filepath.Join(t.TempDir(), name+Suffix)
			require.NoError(t, frozen.Create(path))
			read, err := Load(path)
			require.NoError(t, err)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			now, err := read.Run(t.Context(), r, c)
			require.NoError(t, err)
			require.Nil(t, now.Unanswered)
			require.Empty(t, read.Differences(now))
			require.False(t, read.Accept(now))
			require.NoError(t, read.Update())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "what did not change is written as it was")

			read.Answers = read.Answers[:len(read.Answers)-1]
			cut, err := read.Run(t.Context(), r, c)
			require.NoError(t, err)
			require.NotNil(t, cut.Unanswered, "every answer is needed")
		})
	}
}
