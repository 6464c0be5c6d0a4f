package phasecontext_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// newest is earlier under the rules of sessions that begin.
func newest(m *lookup.Messages) *phasecontext.Earlier {
	e := earlier(m)
	e.Rules = phasecontext.Newest()
	return e
}

// Calls of another model come in as they are, except where the phase cannot be sent them; the
// reason says why.
func TestCallsComeInWhereTheyCan(t *testing.T) {
	t.Parallel()
	src := cascade.Source{Include: []cascade.Include{cascade.IncludeMessages}}
	for name, tt := range map[string]struct {
		change func(*phasecontext.Earlier)
		id     string // of the call
		want   echo.Foreign
	}{
		"the same model":         {change: func(*phasecontext.Earlier) {}},
		"another model":          {change: func(e *phasecontext.Earlier) { e.Phase.Model = "n" }},
		"no tools":               {change: func(e *phasecontext.Earlier) { e.HasTools = false }, want: echo.ForeignNoTools},
		"prompted":               {change: func(e *phasecontext.Earlier) { e.Phase.Prompted = true }, want: echo.ForeignDialect},
		"prompted without tools": {change: func(e *phasecontext.Earlier) { e.Phase.Prompted, e.HasTools = true, false }, want: echo.ForeignDialect},
		"gemini":                 {change: func(e *phasecontext.Earlier) { e.Phase.Model = "google/gemini-3-pro-preview" }, want: echo.ForeignModel},
		"gemini of before":       {change: func(e *phasecontext.Earlier) { e.Phase.Model = "gemini-2.5-pro" }},
		"deepseek":               {change: func(e *phasecontext.Earlier) { e.Phase.Model = "deepseek-reasoner" }, want: echo.ForeignModel},
		"mistral":                {change: func(e *phasecontext.Earlier) { e.Phase.Model = "Mistral-Large-latest" }, want: echo.ForeignModel},
		"mistral, nine":          {change: func(e *phasecontext.Earlier) { e.Phase.Model = "mistral-large-latest" }, id: "a1B2c3D4e"},
		"mistral, nine with _":   {change: func(e *phasecontext.Earlier) { e.Phase.Model = "devstral-small" }, id: "call_1234", want: echo.ForeignModel},
		"claude":                 {change: func(e *phasecontext.Earlier) { e.Phase.Model = "anthropic/claude-sonnet-4-5" }},
		"claude, dotted":         {change: func(e *phasecontext.Earlier) { e.Phase.Model = "claude-sonnet-4-5" }, id: "functions.look:0", want: echo.ForeignModel},
		"openai":                 {change: func(e *phasecontext.Earlier) { e.Phase.Model = "gpt-5" }, id: strings.Repeat("x", 40)},
		"openai, long":           {change: func(e *phasecontext.Earlier) { e.Phase.Model = "gpt-5" }, id: strings.Repeat("x", 41), want: echo.ForeignModel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := session()
			if tt.id != "" {
				m.Session.Phases[0].History[1].Message = calls(tt.id)
			}
			e := newest(m)
			tt.change(e)
			for _, it := range e.Included(m.Session.Phases[0], src) {
				want := tt.want
				if len(it.Message.ToolCalls()) == 0 && it.Message.Role() != echo.RoleTool {
					want = ""
				}
				require.Equal(t, want, it.Foreign, it.Message.Text())
			}
		})
	}
}

// A family takes its own calls.
func TestAFamilyTakesItsOwnCalls(t *testing.T) {
	t.Parallel()
	m := session()
	m.Session.Phases[0].Model = "gemini-3-pro"
	e := newest(m)
	e.Phase.Model = "google/gemini-3-flash"
	for _, it := range e.Included(m.Session.Phases[0], cascade.Source{Include: []cascade.Include{cascade.IncludeMessages}}) {
		require.Empty(t, it.Foreign)
	}
}

func why(t *testing.T, e *phasecontext.Earlier, anchors cascade.InterAnchors) []string {
	t.Helper()
	s := phasecontext.NewSelection(phasecontext.SelectionOptions{
		Earlier: e, Task: "go on", Cost: func(*echo.Message) int64 { return 1 }, Now: time.Now,
		Inter: cascade.Inter{Anchors: anchors, Selection: cascade.InterSelection{Strategy: cascade.StrategyHeuristic, MaxTokens: 100, MaxMessages: 10, KeywordWeight: 1}},
	})
	out, _ := s.Choose(s.Look(t.Context()), nil)
	var list []string
	for _, a := range out.Anchors {
		list = append(list, a.Phase+" "+a.Why)
	}
	return list
}

// Callouts and errors are anchors of all phases that have ended, output and window of from_phases.
func TestAnchorsOfAllPhases(t *testing.T) {
	t.Parallel()
	all := []cascade.AnchorInclude{cascade.AnchorOutput, cascade.AnchorCallouts, cascade.AnchorErrors}
	m := session()
	m.Session.Callouts = []echo.Callout{{Name: "cause", Phase: "find", Hash: m.Session.Phases[0].History[0].Message.Hash()}}
	judge := cascade.InterAnchors{FromPhases: []string{"judge"}, Include: all}
	require.Equal(t, []string{"judge output"}, why(t, earlier(m), judge), "under rules 1")
	require.Equal(t, []string{"find callouts", "find errors", "judge output"}, why(t, newest(m), judge))
	require.Equal(t, []string{"find callouts", "find errors"}, why(t, newest(m), cascade.InterAnchors{Include: all}))
	judge.Include = []cascade.AnchorInclude{cascade.AnchorErrors}
	require.Equal(t, []string{"find errors"}, why(t, newest(m), judge))
	judge.Include = nil
	require.Empty(t, why(t, newest(m), judge))
}

// The newest turns of a phase's own earlier visit are anchors when it runs again.
func TestAnchorsOfTheOwnVisit(t *testing.T) {
	t.Parallel()
	m := session()
	previous := cascade.InterAnchors{FromPhases: []string{"previous"}, Window: 1}
	e := newest(m)
	require.Equal(t, []string{"judge window"}, why(t, e, previous))
	e.Phase.Name = "find"
	require.Equal(t, []string{"find window", "judge window"}, why(t, e, previous))
	previous.Window = 0
	require.Empty(t, why(t, e, previous))
	previous.Window = 1
	e.Rules = phasecontext.Rules{}
	require.Equal(t, []string{"judge window"}, why(t, e, previous), "under rules 1")
	e.Rules, e.Exclude = phasecontext.Newest(), []string{"find"}
	require.Equal(t, []string{"judge window"}, why(t, e, previous))
}

// TestDocsNameEveryAnchor holds the table of docs/selection.md against the reasons, both ways.
func TestDocsNameEveryAnchor(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/selection.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| `why` | what | of which phases |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(table, -1) {
		named = append(named, row[1])
	}
	require.ElementsMatch(t, phasecontext.Anchors(), named)
}
