package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// bringContext adds what the phase's context names of earlier phases, in the order it is named. It returns the names of
// the phases whose words came in: nothing else comes in of them.
func (v *visit) bringContext() (takenOver map[string]bool, err error) {
	takenOver = map[string]bool{}
	c := v.phase.Context
	if c == nil {
		return takenOver, nil
	}
	brought := 0
	for _, src := range c.From {
		keep, err := v.sourceApplies(src)
		if err != nil {
			return nil, err
		}
		if !keep {
			continue
		}
		for _, rec := range v.sources(src.Phase, c.Exclude) {
			if src.TakesOver() {
				takenOver[rec.Name] = true
			}
			for _, it := range v.contextMessages(rec, src) {
				brought++
				if err := v.bring(v.here().Numbered(echo.StepContext, brought), it); err != nil {
					return nil, err
				}
			}
		}
	}
	return takenOver, nil
}

// sourceApplies evaluates a source's condition.
func (v *visit) sourceApplies(src cascade.Source) (bool, error) {
	if src.Condition == "" {
		return true, nil
	}
	text, err := v.text("context.from.condition", src.Condition)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "false", "0", "none", "null":
		return false, nil
	}
	return true, nil
}

// sources returns the finished phases that a name stands for.
func (v *visit) sources(name string, exclude []string) []*echo.PhaseRecord {
	done := slices.DeleteFunc(v.session.Finished(), func(p *echo.PhaseRecord) bool {
		return slices.Contains(exclude, p.Name)
	})
	switch name {
	case cascade.FromAll:
		return done
	case cascade.FromFirst:
		return done[:min(1, len(done))]
	case cascade.FromPrevious:
		return done[max(0, len(done)-1):]
	}
	if rec := v.session.Last(name); rec != nil && !slices.Contains(exclude, name) {
		return []*echo.PhaseRecord{rec}
	}
	return nil // the phase has not run: nothing to bring
}

// contextMessages turns what a source includes of one phase into messages, marked as this phase has to treat them.
func (v *visit) contextMessages(rec *echo.PhaseRecord, src cascade.Source) []echo.Item {
	include := src.Include
	if len(include) == 0 {
		include = []cascade.Include{cascade.IncludeOutput, cascade.IncludeImages}
	}
	role := echo.RoleUser
	if src.AsRole == string(echo.RoleSystem) {
		role = echo.RoleSystem
	}
	history := v.asSeenFromHere(rec)
	var out []echo.Item
	for _, what := range include {
		switch what {
		case cascade.IncludeOutput:
			if text := rec.Text(); text != "" {
				last := lastAnswer(history)
				out = append(out, echo.Item{Message: framed(role, rec.Name, "output", text), Pinned: last != nil && last.Pinned})
			}
		case cascade.IncludeState:
			if text := stateText(rec, v.session); text != "" {
				out = append(out, echo.Item{Message: framed(role, rec.Name, "state", text)})
			}
		case cascade.IncludeImages:
			if m := imagesOf(rec); m != nil {
				out = append(out, echo.Item{Message: m})
			}
		case cascade.IncludeMessages:
			out = append(out, transcript(rec.Name, history, src.MessagesFilter)...)
		}
	}
	return out
}

// asSeenFromHere returns the history of an earlier phase. Callouts are pinned. Calls and results are foreign when they were
// made for another model or in another way of calling tools, or when this phase has no tools: providers refuse calls in
// a request that declares none.
func (v *visit) asSeenFromHere(rec *echo.PhaseRecord) []echo.Item {
	other := rec.Model != v.record.Model || rec.Prompted != v.record.Prompted || len(v.tools.specs) == 0
	out := slices.Clone(rec.History)
	for i := range out {
		it := &out[i]
		it.Pinned = it.Pinned || v.session.IsCallout(it.Message.Hash())
		calls := len(it.Message.ToolCalls()) > 0 || it.Message.Role() == echo.RoleTool
		it.Foreign = it.Foreign || other && calls
	}
	return out
}

func framed(role echo.Role, phase, what, text string) *echo.Message {
	return echo.NewText(role, echo.KindContext, fmt.Sprintf("From phase %q, %s:\n%s", phase, what, text))
}

// stateText lists the state that a phase has set, with the values of now.
func stateText(rec *echo.PhaseRecord, s *echo.Session) string {
	if len(rec.StateKeys) == 0 {
		return ""
	}
	values := map[string]any{}
	for _, k := range rec.StateKeys {
		values[k] = s.State[k]
	}
	return echo.AsText(values)
}

// imagesOf gathers the images of a phase in one user message, the only role that every provider takes images in.
func imagesOf(rec *echo.PhaseRecord) *echo.Message {
	parts := echo.Text(fmt.Sprintf("From phase %q, images:", rec.Name))
	for _, it := range rec.History {
		for _, p := range it.Message.Parts() {
			if p.Type == echo.PartImage && !slices.Contains(parts, p) {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 1 {
		return nil
	}
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindContext, Parts: parts})
}

// transcript brings the messages of a phase themselves, unabridged and in order, between two markers. Tool calls stay
// with their results, so that the sequence is valid for every provider.
func transcript(phase string, history []echo.Item, filter cascade.MessagesFilter) []echo.Item {
	body := pick(history, filter)
	if len(body) == 0 {
		return nil
	}
	marker := func(what string) echo.Item {
		return echo.Item{Message: echo.NewText(echo.RoleUser, echo.KindContext, fmt.Sprintf("From phase %q, its messages %s", phase, what))}
	}
	return slices.Concat([]echo.Item{marker("begin:")}, body, []echo.Item{marker("end.")})
}

// pick chooses messages of a phase. What the phase itself was brought as context, and its system message, are not its
// own words and stay behind.
func pick(history []echo.Item, filter cascade.MessagesFilter) []echo.Item {
	var out []echo.Item
	last := lastTurn(history)
	for _, it := range history {
		m := it.Message
		own := m.Role() != echo.RoleSystem && m.Kind() != echo.KindContext && it.Order > 0
		switch filter {
		case cascade.MessagesAssistantOnly:
			own = own && m.Role() == echo.RoleAssistant && m.Text() != ""
		case cascade.MessagesLastTurn:
			own = own && it.Attempt == last.Attempt && it.Turn == last.Turn
		}
		if own {
			out = append(out, it)
		}
	}
	if filter == cascade.MessagesAssistantOnly {
		return withoutCalls(out)
	}
	return out
}

func lastTurn(history []echo.Item) echo.Item {
	if len(history) == 0 {
		return echo.Item{}
	}
	return history[len(history)-1]
}

// withoutCalls keeps the words of assistant messages and leaves their calls out, as the results are left out too.
func withoutCalls(items []echo.Item) []echo.Item {
	out := slices.Clone(items)
	for i, it := range out {
		if len(it.Message.ToolCalls()) > 0 {
			d := it.Message.Draft()
			d.ToolCalls = nil
			out[i].Message, out[i].Foreign = echo.Seal(d), false
		}
	}
	return out
}
