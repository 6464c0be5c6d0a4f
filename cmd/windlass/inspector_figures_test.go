//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// shown returns what a screen says, with single blanks.
func shown(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))), " ")
}

// TestCandidatesAsTheCommandSays: the screen of candidates has the figures of windlass soundings --json.
func TestCandidatesAsTheCommandSays(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	example, err := filepath.Abs("../../examples/cascades/five_drafts.json")
	require.NoError(t, err)
	l.run(exitOK, "run", example, "--offline", "--no-clickhouse", "--price-as", "gpt-5-mini", "--session", "drafts")
	var all []inspect.Sounding
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "soundings", "drafts", "--json").out.String()), &all))
	require.Len(t, all, 1)
	text := shown(inspectortest.New(t, l.home, nil).Open("/sessions/drafts/candidates/letter"))
	for i := range all[0].Steps {
		st := &all[0].Steps[i]
		for j := range st.Judges {
			judge := &st.Judges[j]
			require.Contains(t, text, fmt.Sprintf("%s %d %d of %d pairs (%s) %d %d $0.00", judge.Model, judge.Ballots, judge.Flips, judge.Pairs, quantity.Share(judge.FlipRate(), 1), judge.Ties, judge.Problems))
		}
		for j := range st.Pairs {
			second := st.Pairs[j].Second
			require.Contains(t, text, fmt.Sprintf("%d %.3g of %.3g %s", *second.Vote, second.Evidence.EValue, second.Evidence.Needed, second.Why))
		}
		for j := range st.Candidates {
			c := &st.Candidates[j]
			require.Contains(t, text, fmt.Sprintf("%d %s $0.00 %s ", c.Turns, quantity.Grouped(c.Usage.In+c.Usage.Out), quantity.USD(c.Pretend)))
		}
	}
}

// pageTrials makes trials with the app of a lab. It implements inspector.Selections.
type pageTrials struct{ app *core.App }

func (pageTrials) Strategies() []cascade.SelectionStrategy { return cards.Strategies() }

func (p pageTrials) Try(ctx context.Context, session string, entries []*echo.Entry, t inspector.Trial) (*phasecontext.Tried, error) {
	return p.app.TrySelection(ctx, session, entries, cards.Trial{Task: t.Task, Strategy: t.Strategy, Budget: t.Budget, NoFetch: true, Instead: func(error) {}}, false)
}

// TestSelectionsAsTheCommandsSay: the screens of selections have the figures of windlass context select and context stats.
func TestSelectionsAsTheCommandsSay(t *testing.T) {
	t.Parallel()
	l := reviewLab(t)
	app, err := core.Open(core.Options{Home: l.home, Dir: l.dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, app.Close()) })
	b := inspectortest.New(t, l.home, func(o *inspector.Options) { o.Selections = pageTrials{app} })
	var stats struct {
		Total struct {
			Between struct {
				Selections, Calls int
				FullTokens        int64 `json:"full_tokens"`
				SentTokens        int64 `json:"sent_tokens"`
				SavedTokens       int64 `json:"saved_tokens"`
			} `json:"between_phases"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "context", "stats", "review", "--json").out.String()), &stats))
	sum := stats.Total.Between
	require.Positive(t, sum.Selections)
	require.Contains(t, shown(b.Open("/sessions/review/selections")), shown(fmt.Sprintf("Calls with them %d Tokens in these calls %s of %s Left out %s tokens",
		sum.Calls, quantity.Grouped(sum.SentTokens), quantity.Grouped(sum.FullTokens), quantity.Grouped(sum.SavedTokens))))

	var want phasecontext.Tried
	found := l.run(exitOK, "context", "select", "review", "--for", "Why do orders fail?", "--strategy", "heuristic", "--budget", "300", "--phase", "cause", "--json")
	require.NoError(t, json.Unmarshal([]byte(found.out.String()), &want))
	for i := range want.Explained { // the scores of its JSON are these
		want.Scores = append(want.Scores, want.Explained[i].Score)
	}
	_, text, ok := strings.Cut(b.Open("/sessions/review/selections/cause/select?strategy=heuristic&budget=300&for=Why+do+orders+fail%3F"), `id="try"`)
	require.True(t, ok)
	require.Contains(t, shown(text), shown(fmt.Sprintf("Candidates %d Chosen %d Tokens %s of %s", want.Candidates, len(want.Chosen), quantity.Grouped(want.Sent()), quantity.Grouped(want.Everything))))
	for i := range want.Explained {
		e := &want.Explained[i]
		_, of, ok := strings.Cut(text, "/life/"+string(e.ID))
		require.True(t, ok, e.ID)
		of, _, _ = strings.Cut(shown("<"+of), " chosen ")
		require.Contains(t, of, fmt.Sprintf("%s %d", e.Phase, e.Tokens))
		require.Contains(t, of, fmt.Sprintf(" %.3f", e.Total))
	}
}
