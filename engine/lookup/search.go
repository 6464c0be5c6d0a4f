package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// ToolSearch is the name of the tool by which a model searches its session.
const ToolSearch = echo.ToolSearch

// How many messages a search returns.
const (
	searchDefault = 8
	searchMost    = 50
)

// SearchSpec describes the tool.
func SearchSpec() effect.ToolSpec {
	return effect.ToolSpec{
		Name: ToolSearch, Idempotent: true,
		Description: "Search the earlier messages of this run, of all phases, by words or by meaning. " +
			"Returns hashes with a summary each; recall(hash) reads the whole message.",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{`+
			`"query":{"type":"string","minLength":1,"maxLength":2000},"by":{"enum":["words","meaning"]},`+
			`"phase":{"type":"string","description":"only of this phase"},"limit":{"type":"integer","minimum":1,"maximum":%d}}}`, searchMost)),
	}
}

// Search finds messages for a turn by words, or by similarity, which is recorded below key.
func (m *Messages) Search(ctx context.Context, through effect.Effects, key echo.Key, turn effect.Site, args json.RawMessage) (text string, failed bool, err error) {
	in := struct {
		Query, By, Phase string
		Limit            float64
	}{By: "words", Limit: searchDefault}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", false, fmt.Errorf("read arguments of %s: %w", ToolSearch, err)
	}
	if in.Phase != "" && m.Session.Visits(in.Phase) == 0 {
		return fmt.Sprintf("No phase %q has begun. There are: %s.", excerpt.Clip(in.Phase, 60), strings.Join(phasesBegun(m.Session), ", ")), true, nil
	}
	sources := m.searchable(in.Phase, turn)
	settings := selection.Settings{
		Strategy: echo.StrategyHeuristic, MaxTokens: 1 << 62, MaxMessages: int(in.Limit), KeywordWeight: 1, RecencyWeight: 0.1,
	}
	groups := searchGroups(sources)
	if in.By == "meaning" {
		settings.Strategy = echo.StrategySemantic
		problem, err := m.compareAll(ctx, through, key.Step(echo.StepSimilarity), turn, in.Query, groups)
		if err != nil {
			return "", false, err
		}
		if problem != "" {
			return fmt.Sprintf("The search by meaning is not possible (%s). Search by words.", problem), true, nil
		}
	}
	sel, _ := m.Index.Select(in.Query, groups, settings, nil)
	return searchResult(sel, sources, groups), false, nil
}

func phasesBegun(s *echo.Session) []string {
	var names []string
	for _, p := range s.Phases {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// searchable returns the messages worth a card, the newest of equal ones, none of the turn that
// searches, and none that only look others up.
func (m *Messages) searchable(phase string, turn effect.Site) []contextcards.Source {
	seen, withdrawn := map[echo.Hash]bool{}, m.withdrawn()
	var out []contextcards.Source
	for s := range m.all() {
		now := s.Phase == turn.Phase && s.Visit == turn.Visit && s.Attempt == turn.Attempt && s.Turn == turn.Turn
		h := s.Message.Hash()
		if phase != "" && s.Phase != phase || now || s.Retracted || withdrawn[s.Order] || !s.Worth() || looksUp(s.Message) || seen[h] {
			continue
		}
		seen[h] = true
		out = append(out, *s)
	}
	slices.Reverse(out)
	return out
}

func looksUp(m *echo.Message) bool {
	reads := func(name string) bool { return name == ToolSearch || name == ToolRecall }
	if m.Role() == echo.RoleTool {
		return reads(m.Tool())
	}
	calls := m.ToolCalls()
	return len(calls) > 0 && strings.TrimSpace(m.Text()) == "" &&
		!slices.ContainsFunc(calls, func(c echo.ToolCall) bool { return !reads(c.Name) })
}

// searchGroups makes a group of each message, with an extracted card, which no search waits for.
func searchGroups(sources []contextcards.Source) []selection.Group {
	groups := make([]selection.Group, len(sources))
	for i, s := range sources {
		groups[i] = selection.Group{
			ID: s.Message.Hash(), Items: []echo.Item{{Message: s.Message}}, Cards: []contextcards.Card{contextcards.Extract(s, time.Time{})},
			Segment: s.Order - i, // a message that was left out is no neighbour
			Phase:   s.Phase, Callout: s.Callout != "",
		}
	}
	return groups
}

// compareAll compares messages with a query. The problem says why that is not possible.
func (m *Messages) compareAll(ctx context.Context, through effect.Effects, key echo.Key, turn effect.Site, query string, groups []selection.Group) (problem string, err error) {
	r, err := effect.WholeReading[echo.Similarity](ctx, through, key, turn, func() echo.Payload {
		if m.Similarity == nil {
			return echo.Similarity{Problem: "there is no embedder"}
		}
		limited, cancel := context.WithTimeout(ctx, CompareLimit)
		defer cancel()
		if m.Cards != nil {
			m.Cards.Wait(limited, m.searchable("", turn))
		}
		similar, _, err := m.Similar(limited, query)
		if err != nil {
			return echo.Similarity{Problem: excerpt.FirstLine(err.Error())}
		}
		return echo.Similarity{Embedder: m.Similarity.Name(), Messages: similar}
	})
	for i := range groups {
		groups[i].Similarity, groups[i].Embedded = r.Messages[groups[i].ID], len(r.Messages) > 0
	}
	return r.Problem, err
}

// searchResult lists what was found, the best first.
func searchResult(sel *echo.Selected, sources []contextcards.Source, groups []selection.Group) string {
	var found []int
	for i := range sel.Scores {
		if sel.Scores[i].Chosen {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("None of the %d messages of this run fits. Try other words.", len(sources))
	}
	slices.SortFunc(found, func(a, b int) int { return cmp.Compare(sel.Scores[a].Rank, sel.Scores[b].Rank) })
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d messages, the best first:", len(found), len(sources))
	for _, i := range found {
		s := &sources[i]
		fmt.Fprintf(&b, "\n%s | %s | phase %s", s.Message.Hash(), s.Message.Role(), s.Phase)
		if s.Turn > 0 {
			fmt.Fprintf(&b, ", turn %d", s.Turn)
		}
		fmt.Fprintf(&b, " | %d tokens | %s", autocontext.Tokens(s.Message), groups[i].Cards[0].Summary)
	}
	return b.String()
}
