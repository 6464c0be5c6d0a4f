package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// selectContext brings in what the phase needs of earlier ones: anchors, and what is chosen under the budget.
func (v *visit) selectContext(ctx context.Context, task string, takenOver map[string]bool) error {
	if !v.inter.Enabled {
		return nil
	}
	anchors, candidates := v.gather(takenOver)
	if len(anchors)+len(candidates) == 0 {
		return nil
	}
	outcome, err := v.newSelecting(task, anchors, candidates).choose(ctx)
	if err != nil {
		return err
	}
	in, err := brought(outcome, anchors, candidates)
	if err != nil {
		return fmt.Errorf("%s: %w", v.at(echo.StepSelect), err)
	}
	if v.Cards != nil {
		v.Cards.Mark(v.session.ID, hashesOf(anchors))
	}
	for i, it := range injected(in) {
		if err := v.bring(v.here().Numbered(echo.StepSelect, i+1), it); err != nil {
			return err
		}
	}
	return v.warnDegraded(outcome)
}

// gather returns the anchors of the source phases, and all other turn groups of finished phases that say something new,
// both in the order of their places in the session.
func (v *visit) gather(takenOver map[string]bool) (anchors, candidates []*turnGroup) {
	exclude := v.phase.Context.Exclude
	source := map[*echo.PhaseRecord]bool{}
	for _, name := range v.inter.Anchors.FromPhases {
		for _, rec := range v.sources(name, exclude) {
			source[rec] = true
		}
	}
	for segment, rec := range v.session.Phases {
		if !rec.Done || takenOver[rec.Name] || slices.Contains(exclude, rec.Name) {
			continue
		}
		groups := v.groupsOf(rec)
		for i := range groups {
			groups[i].segment = segment
		}
		if source[rec] {
			markAnchors(groups, v.inter.Anchors)
		}
		for i := range groups {
			if groups[i].why != "" {
				anchors = append(anchors, &groups[i])
			} else if len(groups[i].sources) > 0 {
				candidates = append(candidates, &groups[i])
			}
		}
	}
	return anchors, unsaid(candidates, anchors)
}

// unsaid leaves out the groups that say what an anchor or a later group says too.
func unsaid(candidates, anchors []*turnGroup) []*turnGroup {
	said := map[string]bool{}
	for _, g := range anchors {
		said[g.hashes()] = true
	}
	var out []*turnGroup
	for _, g := range slices.Backward(candidates) {
		if h := g.hashes(); !said[h] {
			said[h] = true
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}

func hashesOf(groups []*turnGroup) []echo.Hash {
	var out []echo.Hash
	for _, g := range groups {
		for _, s := range g.sources {
			out = append(out, s.Message.Hash())
		}
	}
	return out
}

// selecting is one selection under way.
type selecting struct {
	*visit
	task       string
	anchors    []*turnGroup
	candidates []*turnGroup
	settings   autocontext.SelectSettings
	tokens     []int64 // of the candidates, in the count of the phase's model
}

func (v *visit) newSelecting(task string, anchors, candidates []*turnGroup) *selecting {
	sel := v.inter.Selection
	s := &selecting{visit: v, task: task, anchors: anchors, candidates: candidates, tokens: make([]int64, len(candidates))}
	s.settings = autocontext.SelectSettings{
		Strategy: echo.Strategy(sel.Strategy), MaxTokens: sel.MaxTokens, MaxMessages: sel.MaxMessages,
		KeywordWeight: sel.KeywordWeight, RecencyWeight: sel.RecencyWeight, CalloutWeight: sel.CalloutWeight,
		Threshold: sel.SimilarityThreshold,
	}
	for i, g := range candidates {
		// Each may stand alone, with a marker of its own. Those that follow each other share one and take less.
		s.tokens[i] = s.cost(g.items) + s.cost([]echo.Item{marker(stretchName(g, g))})
	}
	return s
}

// cost returns the most tokens that messages may take in a request of the phase.
func (s *selecting) cost(items []echo.Item) int64 {
	n := int64(0)
	for i := range items {
		n += s.visit.settings.Most(s.render, items[i].Message)
	}
	return n
}

// choose makes the selection and has it recorded. Without a model the whole outcome is one effect. With one, what the
// model is shown depends on cards that are made in the background: that is the effect, and the outcome follows from it and
// from the model's answer.
func (s *selecting) choose(ctx context.Context) (*echo.InterSelection, error) {
	key := s.at(echo.StepSelect)
	if !s.inter.Selection.Strategy.AsksModel() {
		out, err := wholeReading[echo.InterSelection](ctx, s.rec, key, s.place(), func() echo.Payload {
			f := s.look(ctx)
			sel, _ := s.index.Select(s.task, s.groups(f), s.inside(), nil)
			return *s.outcome(f, sel)
		})
		return &out, err
	}
	found, err := wholeReading[echo.Findings](ctx, s.rec, key.Step(echo.StepCards), s.place(), func() echo.Payload { return *s.look(ctx) })
	if err != nil {
		return nil, err
	}
	f := &found
	groups := s.groups(f)
	sel, menu := s.index.Select(s.task, groups, s.inside(), nil)
	if menu != nil {
		answer, err := s.askMenu(ctx, menu)
		if err != nil {
			return nil, err
		}
		sel, _ = s.index.Select(s.task, groups, s.inside(), answer)
	}
	out := s.outcome(f, sel)
	return out, s.append(payloadEntry(key, s.place(), *out))
}

// inside returns the settings with room for the marker at the end.
func (s *selecting) inside() autocontext.SelectSettings {
	in := s.settings
	in.MaxTokens = max(in.MaxTokens-s.cost([]echo.Item{marker(endOfSelected)}), 0)
	return in
}

// groups puts the candidates and what was found of them together for the selection.
func (s *selecting) groups(f *echo.Findings) []autocontext.Group {
	out := make([]autocontext.Group, len(s.candidates))
	for i, g := range s.candidates {
		out[i] = autocontext.Group{
			ID: g.id(), Items: g.items, Segment: g.segment, Phase: g.rec.Name, Tokens: s.tokens[i], Callout: g.callout,
		}
		if i >= len(f.Found) { // a record that does not fit the run: what it has no cards of is found by nothing
			continue
		}
		for _, c := range f.Found[i].Cards {
			out[i].Cards = append(out[i].Cards, contextcards.Card{Hash: c.Hash, Summary: c.Summary, Keywords: c.Keywords, Late: c.Late})
		}
		if m := f.Found[i].Similarity; m != nil {
			out[i].Similarity, out[i].Embedded = *m, true
		}
	}
	return out
}

// askMenu has a model choose. Whatever goes wrong with the call is an answer too; the end of the run, of its budget or of
// its record is none.
func (s *selecting) askMenu(ctx context.Context, menu *autocontext.Menu) (*autocontext.MenuAnswer, error) {
	site := s.place()
	site.Purpose = echo.PurposeSelect
	req := &effect.ModelRequest{
		Site: site, Model: cmp.Or(s.inter.Selection.SelectorModel, s.model), Messages: menu.Messages,
		MaxOutputTokens: menu.MaxOut + thinkingRoom, AnswerLength: menu.MaxOut,
	}
	facts, err := s.factsOf(req.Model)
	if err != nil {
		return nil, err
	}
	if most := facts.MaxOutput; most > 0 {
		req.MaxOutputTokens = min(req.MaxOutputTokens, int(most))
	}
	key := s.at(echo.StepSelect).Step(echo.StepModel)
	if err := s.afford(ctx, key, req, sizeOf(req)); err != nil {
		return nil, err
	}
	s.observer.Observe(Event{Kind: EventModelCall, Site: site, Model: req.Model})
	resp, err := s.ask(ctx, key, req)
	switch {
	case err != nil && (effect.IsRecordError(err) || endedByContext(err)):
		return nil, err
	case err != nil:
		return &autocontext.MenuAnswer{Failed: firstLine(err.Error())}, nil
	case strings.TrimSpace(resp.Message.Text()) == "":
		return &autocontext.MenuAnswer{Failed: fmt.Sprintf("the answer is empty (finish reason %q)", resp.FinishReason)}, nil
	}
	return &autocontext.MenuAnswer{Text: resp.Message.Text()}, nil
}
