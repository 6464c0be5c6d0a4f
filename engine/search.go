package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// How many messages a search returns.
const (
	searchDefault = 8
	searchMost    = 50
)

func searchSpec() effect.ToolSpec {
	return effect.ToolSpec{
		Name: ToolSearchContext, Idempotent: true,
		Description: "Search the earlier messages of this run, of all phases, by words or by meaning. " +
			"Returns hashes with a summary each; recall(hash) reads the whole message.",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{`+
			`"query":{"type":"string","minLength":1,"maxLength":2000},"by":{"enum":["words","meaning"]},`+
			`"phase":{"type":"string","description":"only of this phase"},"limit":{"type":"integer","minimum":1,"maximum":%d}}}`, searchMost)),
	}
}

// searchContext looks messages of the session up. By words it depends on nothing but the session. By meaning the
// similarities are a reading, which is recorded.
func (v *visit) searchContext(ctx context.Context, key echo.Key, args json.RawMessage) (text string, failed bool, err error) {
	in := struct {
		Query, By, Phase string
		Limit            float64
	}{By: "words", Limit: searchDefault}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", false, fmt.Errorf("read arguments of %s: %w", ToolSearchContext, err)
	}
	if in.Phase != "" && v.session.Visits(in.Phase) == 0 {
		return fmt.Sprintf("No phase %q has begun. There are: %s.", clip(in.Phase, 60), strings.Join(v.phasesBegun(), ", ")), true, nil
	}
	sources := v.searchable(in.Phase)
	settings := autocontext.SelectSettings{
		Strategy: echo.StrategyHeuristic, MaxTokens: 1 << 62, MaxMessages: int(in.Limit), KeywordWeight: 1, RecencyWeight: 0.1,
	}
	groups := searchGroups(sources)
	if in.By == "meaning" {
		settings.Strategy = echo.StrategySemantic
		problem, err := v.compareAll(ctx, key.Step(echo.StepSimilarity), in.Query, groups)
		if err != nil {
			return "", false, err
		}
		if problem != "" {
			return fmt.Sprintf("The search by meaning is not possible (%s). Search by words.", problem), true, nil
		}
	}
	sel, _ := v.index.Select(in.Query, groups, settings, nil)
	return searchResult(sel, sources, groups), false, nil
}

func (v *visit) phasesBegun() []string {
	var names []string
	for _, p := range v.session.Phases {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// searchable returns the messages of the session that are worth a card, the newest of those that are equal. The turn that
// searches is not among them, nor is what looks messages up: they would be found by their own queries.
func (v *visit) searchable(phase string) []contextcards.Source {
	seen := map[echo.Hash]bool{}
	var out []contextcards.Source
	for _, s := range slices.Backward(v.entered) {
		now := s.Phase == v.phase.Name && s.Visit == v.record.Visit && s.Attempt == v.attempt && s.Turn == v.turn
		h := s.Message.Hash()
		if phase != "" && s.Phase != phase || now || !s.Worth() || looksUp(s.Message) || seen[h] {
			continue
		}
		seen[h] = true
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// looksUp reports whether a message only looks other messages up, or is what came of it.
func looksUp(m *echo.Message) bool {
	reads := func(name string) bool { return name == ToolSearchContext || name == toolRecall }
	if m.Role() == echo.RoleTool {
		return reads(m.Tool())
	}
	calls := m.ToolCalls()
	return len(calls) > 0 && strings.TrimSpace(m.Text()) == "" &&
		!slices.ContainsFunc(calls, func(c echo.ToolCall) bool { return !reads(c.Name) })
}

// searchGroups makes a group of each message. Their cards are extracted and not waited for: so the same session is
// searched with the same result however long cards take.
func searchGroups(sources []contextcards.Source) []autocontext.Group {
	groups := make([]autocontext.Group, len(sources))
	for i, s := range sources {
		groups[i] = autocontext.Group{
			ID: s.Message.Hash(), Items: []echo.Item{{Message: s.Message}}, Cards: []contextcards.Card{contextcards.Extract(s, time.Time{})},
			Segment: s.Order - i, // a message that was left out is no neighbour
			Phase:   s.Phase, Callout: s.Callout != "",
		}
	}
	return groups
}

// compareAll finds out how similar messages are to a query. The problem says why that is not possible.
func (v *visit) compareAll(ctx context.Context, key echo.Key, query string, groups []autocontext.Group) (problem string, err error) {
	r, err := wholeReading[echo.Similarity](ctx, v.rec, key, v.place(), func() echo.Payload {
		if v.Similarity == nil {
			return echo.Similarity{Problem: "there is no embedder"}
		}
		limited, cancel := context.WithTimeout(ctx, rankLimit)
		defer cancel()
		if v.Cards != nil {
			v.Cards.Wait(limited, v.searchable(""))
		}
		list, _, err := v.Similarity.Similar(limited, v.session.ID, query, len(v.entered))
		if err != nil {
			return echo.Similarity{Problem: firstLine(err.Error())}
		}
		r := echo.Similarity{Embedder: v.Similarity.Name(), Messages: map[echo.Hash]float64{}}
		for _, m := range list {
			r.Messages[m.Hash] = m.Similarity
		}
		return r
	})
	if err != nil {
		return "", err
	}
	for i := range groups {
		groups[i].Similarity, groups[i].Embedded = r.Messages[groups[i].ID], len(r.Messages) > 0
	}
	return r.Problem, nil
}

// searchResult lists what was found, the best first.
func searchResult(sel *echo.Selected, sources []contextcards.Source, groups []autocontext.Group) string {
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
