package inspector_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
	"github.com/windlass-run/windlass/internal/vectors"
)

// trials makes trial selections as the command does. It implements inspector.Selections.
type trials struct{ words vectors.Kept }

func (*trials) Strategies() []cascade.SelectionStrategy { return cards.Strategies() }

func (s *trials) Try(ctx context.Context, session string, entries []*echo.Entry, t inspector.Trial) (*phasecontext.Tried, error) {
	return cards.Try(ctx, session, entries, cards.Trial{
		Task: t.Task, Strategy: t.Strategy, Budget: t.Budget, Config: &config.Config{EmbeddingModel: cards.EmbedderHashed}, Secrets: secret.New(), Here: &s.words,
	})
}

func withTrials(o *inspector.Options) { o.Selections = &trials{} }

// recorded are the selections of a journal.
func recorded(t *testing.T, entries []*echo.Entry) (keys []echo.Key, all []echo.InterSelection) {
	t.Helper()
	for _, e := range entries {
		if e.NodeType != echo.NodeInter {
			continue
		}
		s, err := echo.Read[echo.InterSelection](e)
		require.NoError(t, err)
		keys, all = append(keys, e.Key), append(all, s)
	}
	return keys, all
}

var row = regexp.MustCompile(`(?s)<tr( class="kept")?><th scope="row"><a href="[^"]*/life/([0-9a-f]+)">.*?</tr>`)

// TestFrozenSelections: of every frozen session with selections, each is shown with what the record has of it, and its links lead
// somewhere.
func TestFrozenSelections(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, path := range inspectortest.Frozen(t, frozen) {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		keys, all := recorded(t, rec.Entries)
		if len(keys) == 0 {
			continue
		}
		shown++
		home := t.TempDir()
		base := "/sessions/" + inspectortest.Copy(t, home, path)
		b := inspectortest.New(t, home, withTrials)
		list := b.Open(base + "/selections")
		text := plain(list)
		sum := record.BetweenPhases(rec.Entries)
		for _, fact := range []string{
			"Selections of phases that called a model " + strconv.Itoa(sum.Selections), "Calls with them " + strconv.Itoa(sum.Calls),
			"Tokens in these calls " + quantity.Grouped(sum.SentTokens) + " of " + quantity.Grouped(sum.FullTokens), "Left out " + quantity.Grouped(sum.SavedTokens) + " tokens",
		} {
			require.Contains(t, text, strings.Join(strings.Fields(fact), " "), path)
		}
		follow(t, b, list)
		for i, key := range keys {
			s := &all[i]
			page := b.Open(fmt.Sprintf("%s/selections/%s", base, key))
			follow(t, b, page)
			before, _, _ := strings.Cut(page, `id="anchors"`)
			var rows, in []string
			for _, m := range row.FindAllStringSubmatch(before, -1) {
				if rows = append(rows, m[2]); m[1] != "" {
					in = append(in, m[2])
				}
			}
			require.Len(t, rows, s.Candidates, "%s %s", path, key)
			var chosen []string
			for _, h := range s.Chosen {
				chosen = append(chosen, string(h))
			}
			require.ElementsMatch(t, chosen, in, "%s %s", path, key)
			require.Contains(t, plain(before), plain(quantity.Grouped(s.Sent())+" of "+quantity.Grouped(s.Everything)))
			for _, a := range s.Anchors {
				require.Contains(t, page, "/life/"+string(a.ID))
			}
			left := slices.ContainsFunc(s.Scores, func(sc echo.Score) bool { return sc.Rank > 0 && !sc.Chosen })
			require.Equal(t, left, strings.Contains(before, "left out: no room for its"), "%s %s", path, key)
			require.Equal(t, left, strings.Contains(before, `class="cut"`), "%s %s", path, key)
		}
	}
	require.Equal(t, 9, shown)
}

// TestTrial: another strategy and budget have the figures of windlass context select, for the first visit of a phase as for a later one.
func TestTrial(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session := inspectortest.Copy(t, home, frozen+"/rules2/rules2.jsonl")
	rec, err := journal.Read(frozen + "/rules2/rules2.jsonl")
	require.NoError(t, err)
	b := inspectortest.New(t, home, withTrials)
	until := func(key string) []*echo.Entry {
		at := slices.IndexFunc(rec.Entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Key.VisitKey().String() == key })
		require.Positive(t, at)
		return rec.Entries[:at]
	}
	for _, x := range []struct {
		visit, phase string
		strategy     cascade.SelectionStrategy
		budget       int64
	}{
		{"judge", "judge", cascade.StrategyHeuristic, 250},
		{"judge", "judge", cascade.StrategySemantic, 500},
		{"judge", "judge", cards.StrategyPrefilter, 5000},
		{"judge~2", "", cascade.StrategyHeuristic, 300},
	} {
		entries := rec.Entries
		if x.phase == "" {
			entries = until(x.visit)
		}
		want, err := cards.Try(t.Context(), session, entries, cards.Trial{
			Task: "Which log says that orders fail?", Strategy: x.strategy, Budget: x.budget, Phase: x.phase, Config: &config.Config{EmbeddingModel: cards.EmbedderHashed}, Secrets: secret.New(),
			Instead: func(error) {},
		})
		require.NoError(t, err)
		q := url.Values{"strategy": {string(x.strategy)}, "budget": {fmt.Sprint(x.budget)}, "for": {"Which log says that orders fail?"}}
		page := b.Open("/sessions/" + session + "/selections/" + x.visit + "/select?" + q.Encode())
		_, after, ok := strings.Cut(page, `id="try"`)
		require.True(t, ok)
		rows := row.FindAllStringSubmatch(after, -1)
		require.Len(t, rows, want.Candidates)
		for i := range rows {
			at := slices.IndexFunc(want.Explained, func(e phasecontext.Explained) bool { return string(e.ID) == rows[i][2] })
			require.GreaterOrEqual(t, at, 0)
			e := &want.Explained[at]
			text := plain(rows[i][0])
			require.Equal(t, e.Chosen, rows[i][1] != "", text)
			require.Contains(t, text, " "+e.Phase+" "+quantity.Grouped(e.Tokens)+" ")
			for _, digits := range []int{3, 4} {
				if strings.Contains(text, fmt.Sprintf(" %.*f ", digits, e.Total)) {
					break
				}
				require.Less(t, digits, 4, "%v in %s", e.Total, text)
			}
			if e.Rank > 0 {
				require.Contains(t, text, fmt.Sprintf(" %d ", e.Rank))
			}
			require.Contains(t, text, plain(html.EscapeString(e.Text)))
		}
		require.Contains(t, plain(after), plain(quantity.Grouped(want.Used)+" of the budget of "+quantity.Grouped(x.budget)))
		if want.Cut != nil {
			require.Contains(t, plain(after), fmt.Sprintf("tokens ends here: %d left, next would need %d", want.Cut.Left, want.Cut.Needs))
		}
		require.Equal(t, x.phase == "", strings.Contains(after, "this is a later one"))
	}
}

// TestTrialRefused: what would be paid for, fetched or makes no sense is refused in words, with the line for a terminal.
func TestTrialRefused(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session := inspectortest.Copy(t, home, frozen+"/rules2/rules2.jsonl")
	b := inspectortest.New(t, home, withTrials)
	for query, want := range map[string]string{
		"strategy=llm&budget=500":                       "The strategy llm asks a model, which is paid for.",
		"strategy=hybrid&budget=500":                    "The strategy hybrid asks a model, which is paid for.",
		"strategy=guess&budget=500":                     `Strategy "guess": expected one of prefilter, heuristic, semantic, llm, hybrid.`,
		"strategy=heuristic&budget=0":                   "A budget of 0: expected 1 or more tokens.",
		"strategy=heuristic&budget=much":                `A budget of "much": expected a whole number of tokens, 1 or more.`,
		"strategy=heuristic&budget=9999999999999999999": `A budget of "9999999999999999999": expected a whole number of tokens, 1 or more.`,
	} {
		w := b.Ask(http.MethodGet, "/sessions/"+session+"/selections/judge/select?"+query, nil)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, query)
		require.Contains(t, plain(w.Body.String()), want, query)
		require.Contains(t, plain(w.Body.String()), "windlass context select rules2 --for ")
		inspectortest.Harmless(t, query, w.Body.String())
	}
	require.Contains(t, plain(b.Ask(http.MethodGet, "/sessions/"+session+"/selections/judge/select?strategy=llm&budget=500", nil).Body.String()), "--strategy llm --budget 500 --phase judge --model MODEL")
	w := b.Ask(http.MethodGet, "/sessions/"+session+"/selections/none/select", nil)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, plain(w.Body.String()), `Session rules2 has no selection "none/select". The list has those that it has: /sessions/rules2/selections`)

	without := inspectortest.New(t, home, nil)
	text := without.Open("/sessions/" + session + "/selections/judge/select?strategy=heuristic&budget=10")
	require.NotContains(t, text, `name="strategy"`, "there is nothing that tries")
	require.Contains(t, text, "windlass context select rules2 --for ")
}

// TestManyCandidates: a page of a selection among many candidates has those that were chosen and a bounded number of others.
func TestManyCandidates(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := echo.InterSelection{Selected: echo.Selected{Asked: "heuristic", Strategy: "heuristic", Candidates: 5000, Budget: 100, Used: 10, Chosen: []echo.Hash{"1388000000000000"}}, Anchors: []echo.Anchor{}}
	for i := range 5000 {
		s.Scores = append(s.Scores, echo.Score{ID: echo.Hash(fmt.Sprintf("%x000000000000", i+1)), Phase: "m", Tokens: 200, Messages: 1, Rank: i + 1, Total: 1 / float64(i+1)})
	}
	s.Scores[4999].Chosen, s.Scores[4999].Tokens, s.Scores[4999].ID = true, 10, "1388000000000000"
	inspectortest.Write(t, home, "made", echo.NewEntry(echo.PhaseKey("tell", 1).Step(echo.StepSelect), s))
	b := inspectortest.New(t, home, nil)
	page := b.Open("/sessions/made/selections/tell/select")
	require.Len(t, row.FindAllString(page, -1), 301)
	require.Contains(t, page, "/life/1388000000000000")
	require.Contains(t, plain(page), "4 699 more candidates were left out and are not listed. All of them")
	require.Contains(t, plain(page), "budget of 100 tokens ends here: 100 left, next would need 200; 1 of what follows still fit")
	require.Len(t, row.FindAllString(b.Open("/sessions/made/selections/tell/select?whole=1"), -1), 5000)
}

// TestHostileSelections: whatever was said, the screens of selections show it as text.
func TestHostileSelections(t *testing.T) {
	t.Parallel()
	for _, text := range inspectortest.Hostile() {
		home := t.TempDir()
		text = strings.ToValidUTF8(text, "\uFFFD") // as a record has it
		inspectortest.Write(t, home, "hostile", inspectortest.Selected(text)...)
		b := inspectortest.New(t, home, withTrials)
		for _, address := range []string{"", "/tell/select", "/tell/select?strategy=heuristic&budget=100"} {
			w := b.Ask(http.MethodGet, "/sessions/hostile/selections"+address, nil)
			require.True(t, w.Code == http.StatusOK || strings.TrimSpace(text) == "" && w.Code == http.StatusUnprocessableEntity, "%s %.100q", address, text)
			inspectortest.Harmless(t, address, w.Body.String())
		}
		q := url.Values{"strategy": {text}, "budget": {text}, "for": {text}}
		w := b.Ask(http.MethodGet, "/sessions/hostile/selections/tell/select?"+q.Encode(), nil)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code)
		inspectortest.Harmless(t, "trial", w.Body.String())
	}
}

// TestLifeLeadsToSelections: the life of a message says in words what selections made of it, and leads to them.
func TestLifeLeadsToSelections(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session := inspectortest.Copy(t, home, frozen+"/rules2/rules2.jsonl")
	b := inspectortest.New(t, home, nil)
	said := 0
	for _, m := range regexp.MustCompile(`href="(/sessions/[^"]*/life/[0-9a-f]+)"`).FindAllStringSubmatch(b.Open("/sessions/"+session+"/matrix"), -1) {
		page := b.Open(m[1])
		_, chosen, ok := strings.Cut(page, `id="chosen"`)
		if !ok {
			continue
		}
		follow(t, b, page)
		require.Regexp(t, `<li><a href="/sessions/rules2/selections/[^"]+"><code>`, chosen)
		require.Regexp(t, `total \d\.\d{3}: words \d\.\d{3}, recency \d\.\d{3}|: anchor`, chosen)
		if said++; said == 5 {
			return
		}
	}
	require.Fail(t, "too few messages were up for a choice")
}
