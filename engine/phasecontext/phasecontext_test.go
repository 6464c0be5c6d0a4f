package phasecontext_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

func said(kind echo.Kind, role echo.Role, text string) *echo.Message {
	return echo.NewText(role, kind, text)
}

func calls(id string) *echo.Message {
	return echo.Seal(echo.Draft{
		Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("I look"),
		ToolCalls: []echo.ToolCall{{ID: id, Name: "look", Arguments: "{}"}},
	})
}

// session has the phase "find", which called a tool that failed in turn 1 and answered in turn 2,
// the phase "judge", which answered at once, and the phase "open", which has not ended.
func session() *lookup.Messages {
	m := lookup.NewMessages(echo.NewSession("s"), nil, nil, time.Now)
	find := m.Session.Begin("find")
	find.Model, find.Output = "m", "the disk is full"
	m.Enter(find, said(echo.KindTask, echo.RoleUser, "find the cause"), 0, 0)
	m.Enter(find, calls("c1"), 1, 1)
	m.Enter(find, echo.NewToolResult(echo.ToolCall{ID: "c1", Name: "look"}, echo.Text("no access"), true), 1, 1)
	m.Enter(find, said(echo.KindAnswer, echo.RoleAssistant, "the disk is full"), 1, 2)
	m.Session.Set(find, "cause", "disk")
	find.Done = true
	judge := m.Session.Begin("judge")
	judge.Model, judge.Output, judge.Done = "m", map[string]any{"ok": true}, true
	m.Enter(judge, said(echo.KindAnswer, echo.RoleAssistant, `{"ok":true}`), 1, 1)
	m.Session.Begin("open")
	return m
}

func earlier(m *lookup.Messages, exclude ...string) *phasecontext.Earlier {
	return &phasecontext.Earlier{Messages: m, Phase: &echo.PhaseRecord{Name: "now", Model: "m"}, HasTools: true, Exclude: exclude}
}

func texts(items []echo.Item) (out []string) {
	for _, it := range items {
		out = append(out, it.Message.Text())
	}
	return out
}

func TestPhases(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		of      string
		exclude []string
		want    []string
	}{
		"all":              {of: cascade.FromAll, want: []string{"find", "judge"}},
		"first":            {of: cascade.FromFirst, want: []string{"find"}},
		"previous":         {of: cascade.FromPrevious, want: []string{"judge"}},
		"by name":          {of: "find", want: []string{"find"}},
		"not finished":     {of: "open"},
		"unknown":          {of: "other"},
		"excluded":         {of: "find", exclude: []string{"find"}},
		"previous but one": {of: cascade.FromPrevious, exclude: []string{"judge"}, want: []string{"find"}},
		"nothing is left":  {of: cascade.FromFirst, exclude: []string{"find", "judge"}},
		"all but one":      {of: cascade.FromAll, exclude: []string{"find"}, want: []string{"judge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, rec := range earlier(session(), tt.exclude...).Phases(tt.of) {
				got = append(got, rec.Name)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestIncluded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		src  cascade.Source
		role echo.Role
		want []string
	}{
		"the output, if nothing is said": {
			role: echo.RoleUser, want: []string{"From phase \"find\", output:\nthe disk is full"},
		},
		"as system": {
			src: cascade.Source{AsRole: "system"}, role: echo.RoleSystem, want: []string{"From phase \"find\", output:\nthe disk is full"},
		},
		"state": {
			src:  cascade.Source{Include: []cascade.Include{cascade.IncludeState}},
			role: echo.RoleUser, want: []string{"From phase \"find\", state:\n{\"cause\":\"disk\"}"},
		},
		"no images": {src: cascade.Source{Include: []cascade.Include{cascade.IncludeImages}}},
		"messages, the last turn": {
			src:  cascade.Source{Include: []cascade.Include{cascade.IncludeMessages}, MessagesFilter: cascade.MessagesLastTurn},
			role: echo.RoleUser,
			want: []string{`From phase "find", its messages begin:`, "the disk is full", `From phase "find", its messages end.`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := session()
			got := earlier(m).Included(m.Session.Phases[0], tt.src)
			require.Equal(t, tt.want, texts(got))
			if len(got) > 0 {
				require.Equal(t, tt.role, got[0].Message.Role())
			}
		})
	}
}

// What a phase without tools, or of another model, is brought are calls that no provider may see.
func TestIncludedCallsAreForeign(t *testing.T) {
	t.Parallel()
	src := cascade.Source{Include: []cascade.Include{cascade.IncludeMessages}}
	for name, change := range map[string]func(*phasecontext.Earlier){
		"no tools":      func(e *phasecontext.Earlier) { e.HasTools = false },
		"another model": func(e *phasecontext.Earlier) { e.Phase.Model = "n" },
		"prompted":      func(e *phasecontext.Earlier) { e.Phase.Prompted = true },
	} {
		m := session()
		e := earlier(m)
		for _, it := range e.Included(m.Session.Phases[0], src) {
			require.Empty(t, it.Foreign)
		}
		change(e)
		var foreign []bool
		for _, it := range e.Included(m.Session.Phases[0], src) {
			foreign = append(foreign, it.Foreign != "")
		}
		require.Equal(t, []bool{false, false, true, true, false, false}, foreign, name)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	history := session().Session.Phases[0].History
	brought := echo.Item{Message: said(echo.KindContext, echo.RoleUser, "from elsewhere")}
	for name, tt := range map[string]struct {
		filter cascade.MessagesFilter
		want   []string
	}{
		"all":            {"", []string{"find the cause", "I look", "no access", "the disk is full"}},
		"assistant only": {cascade.MessagesAssistantOnly, []string{"I look", "the disk is full"}},
		"the last turn":  {cascade.MessagesLastTurn, []string{"the disk is full"}},
	} {
		got := phasecontext.Pick(append([]echo.Item{brought}, history...), tt.filter)
		require.Equal(t, tt.want, texts(got), name)
		require.Empty(t, phasecontext.Pick(nil, tt.filter), name)
		if tt.filter == cascade.MessagesAssistantOnly {
			require.Empty(t, got[0].Message.ToolCalls(), "their results are left out, too")
		}
	}
}

func TestLastAnswer(t *testing.T) {
	t.Parallel()
	history := session().Session.Phases[0].History
	for n, want := range map[int]string{4: "the disk is full", 3: "no access", 2: "I look"} {
		require.Equal(t, want, phasecontext.LastAnswer(history[:n]).Message.Text())
	}
	require.Nil(t, phasecontext.LastAnswer(history[:1]))
	require.Nil(t, phasecontext.LastAnswer(nil))
}

func TestSelection(t *testing.T) {
	t.Parallel()
	const end = "Here ends what was brought in from earlier phases. Your own task follows."
	one := func(*echo.Message) int64 { return 1 }
	heuristic := cascade.InterSelection{Strategy: cascade.StrategyHeuristic, MaxTokens: 100, MaxMessages: 10, KeywordWeight: 1}
	none, few := heuristic, heuristic
	none.MaxTokens, few.MaxTokens = 1, 3 // a message and two markers
	errorsOf := cascade.InterAnchors{FromPhases: []string{"find"}, Include: []cascade.AnchorInclude{cascade.AnchorErrors}}
	for name, tt := range map[string]struct {
		inter   cascade.Inter
		taken   map[string]bool
		anchors int // messages
		want    []string
	}{
		"an anchor is whole, also without room": {
			inter: cascade.Inter{Anchors: errorsOf, Selection: none}, anchors: 2,
			want: []string{`From phase "find", turn 1:`, "I look", "no access", end},
		},
		"the newest turn is an anchor": {
			inter:   cascade.Inter{Anchors: cascade.InterAnchors{FromPhases: []string{"find"}, Window: 1}, Selection: none},
			anchors: 1, want: []string{`From phase "find", turn 2:`, "the disk is full", end},
		},
		"the candidate nearest to the task": {
			inter: cascade.Inter{Selection: few}, taken: map[string]bool{"judge": true},
			want: []string{`From phase "find", turn 2:`, "the disk is full", end},
		},
		"nothing of a phase that came in whole": {
			inter: cascade.Inter{Selection: heuristic}, taken: map[string]bool{"find": true, "judge": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := phasecontext.NewSelection(phasecontext.SelectionOptions{
				Earlier: earlier(session()), Task: "clear the full disk", Inter: tt.inter, TakenOver: tt.taken, Cost: one, Now: time.Now,
			})
			require.Equal(t, tt.want == nil, s.Empty())
			require.Len(t, s.Anchors(), tt.anchors)
			out, menu := s.Choose(s.Look(t.Context()), nil)
			require.Nil(t, menu)
			items, err := s.Brought(out)
			require.NoError(t, err)
			require.Equal(t, tt.want, texts(items))
		})
	}
}

// An outcome that was recorded of another history is not used.
func TestBroughtOfAnotherHistory(t *testing.T) {
	t.Parallel()
	s := phasecontext.NewSelection(phasecontext.SelectionOptions{
		Earlier: earlier(session()), Cost: func(*echo.Message) int64 { return 1 }, Now: time.Now,
		Inter: cascade.Inter{Selection: cascade.InterSelection{Strategy: cascade.StrategyHeuristic, MaxTokens: 100, MaxMessages: 10}},
	})
	_, err := s.Brought(&echo.InterSelection{})
	require.EqualError(t, err, "the recorded selection is not of the 4 candidates that there are")
	out, _ := s.Choose(s.Look(t.Context()), nil)
	out.Scores[1].ID = "0123456789abcdef"
	_, err = s.Brought(out)
	require.ErrorContains(t, err, "candidate 2 of the recorded selection is 0123456789abcdef, here it is ")
}

func TestDegraded(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]*echo.InterSelection{
		"": {Selected: echo.Selected{Asked: "hybrid", Strategy: "hybrid", Notes: []string{"a note"}}},
		"context was selected by hybrid with less than it asks for: no embedder; too few cards": {
			Selected:  echo.Selected{Asked: "hybrid", Strategy: "heuristic", Notes: []string{"no embedder", "too few cards"}},
			CardsUsed: echo.CardsUsed{Degraded: []string{"no embedder"}},
		},
	} {
		require.Equal(t, want, phasecontext.Degraded(o))
	}
}

func TestTry(t *testing.T) {
	t.Parallel()
	_, err := phasecontext.Try(t.Context(), "s1", nil, phasecontext.Trial{})
	require.EqualError(t, err, "no phase of session s1 had finished with anything to select from")
}
