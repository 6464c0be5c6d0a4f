package phasecontext

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/withheld"
)

// Earlier are the earlier phases of a session, as one phase sees them.
type Earlier struct {
	Messages *lookup.Messages
	Phase    *echo.PhaseRecord // the phase that sees them
	HasTools bool              // that phase has tools
	Exclude  []string          // names of phases of which nothing comes in
	Rules    Rules
}

// Rules are decisions that differ between the rules of the engine; the zero value is rules 1.
type Rules struct {
	TakesCalls bool // calls come in as text only where they cannot come in as they are
	AnchorsAll bool // callouts, errors and the phase's own earlier visit are anchors beside those of from_phases
	Framing    bool // the outcome says what the lines take between which groups come in
	Why        bool // a model says why it chose, and what it was asked is recorded
}

// Newest returns the decisions of sessions that begin.
func Newest() Rules { return Rules{TakesCalls: true, AnchorsAll: true, Framing: true, Why: true} }

// Phases returns the finished phases that a name of context.from stands for.
func (e *Earlier) Phases(name string) []*echo.PhaseRecord {
	session := e.Messages.Session
	done := slices.DeleteFunc(session.Finished(), func(p *echo.PhaseRecord) bool {
		return slices.Contains(e.Exclude, p.Name)
	})
	switch name {
	case cascade.FromAll:
		return done
	case cascade.FromFirst:
		return done[:min(1, len(done))]
	case cascade.FromPrevious:
		return done[max(0, len(done)-1):]
	}
	if rec := session.Last(name); rec != nil && !slices.Contains(e.Exclude, name) {
		return []*echo.PhaseRecord{rec}
	}
	return nil // the phase has not run: nothing to bring
}

// Included returns what a source of context.from includes of a phase, as this phase treats it.
func (e *Earlier) Included(rec *echo.PhaseRecord, src cascade.Source) []echo.Item {
	include := src.Include
	if len(include) == 0 {
		include = []cascade.Include{cascade.IncludeOutput, cascade.IncludeImages}
	}
	role := echo.RoleUser
	if src.AsRole == string(echo.RoleSystem) {
		role = echo.RoleSystem
	}
	history := e.historyOf(rec)
	var out []echo.Item
	for _, what := range include {
		switch what {
		case cascade.IncludeOutput:
			if it, ok := e.output(rec, role); ok {
				last := LastAnswer(history)
				it.Pinned = last != nil && last.Pinned
				out = append(out, it)
			}
		case cascade.IncludeState:
			if text := stateText(rec, e.Messages.Session); text != "" {
				out = append(out, echo.Item{Message: framed(role, rec.Name, "state", text)})
			}
		case cascade.IncludeImages:
			if m := e.imagesOf(rec); m != nil {
				out = append(out, echo.Item{Message: m})
			}
		case cascade.IncludeMessages:
			out = append(out, transcript(rec.Name, history, src.MessagesFilter)...)
		}
	}
	return out
}

// historyOf returns an earlier phase's history. A prompt or result that quotes what a person has taken out goes with that. Callouts are pinned, and calls and results that the
// phase cannot be sent as they are are foreign.
func (e *Earlier) historyOf(rec *echo.PhaseRecord) []echo.Item {
	foreign := e.foreign(rec)
	all, values := slices.Clone(e.Messages.Session.Marked(rec)), withheld.Of(e.Messages.Session)
	for i, at := range echo.Spots(rec.Name, rec.Visit, all) {
		if all[i].Order > 0 {
			all[i].Origin = &at
		}
		if all[i].Withdrawn == echo.InView && values.Quoted(all[i].Message) != nil {
			all[i].Withdrawn = echo.Dropped
		}
	}
	echo.WithResults(all)
	out := slices.Clone(echo.Present(all))
	for i := range out {
		it := &out[i]
		it.Pinned = it.Pinned || e.Messages.Session.IsCallout(it.Message.Hash())
		calls := len(it.Message.ToolCalls()) > 0 || it.Message.Role() == echo.RoleTool
		if it.Foreign == "" && calls {
			it.Foreign = foreign
		}
	}
	return out
}

// output brings in the output of a phase, unless a person has taken the answer that it is out of the views of the session.
func (e *Earlier) output(rec *echo.PhaseRecord, role echo.Role) (echo.Item, bool) {
	text := echo.AsText(withheld.Of(e.Messages.Session).Output(rec))
	if text == "" {
		return echo.Item{}, false
	}
	it := echo.Item{Message: framed(role, rec.Name, "output", text)}
	if at := withheld.Answer(e.Messages.Session, rec); at != nil {
		it.Origin = at.Origin
		return it, at.Withdrawn == echo.InView
	}
	return it, true
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
		values[k] = withheld.StateOf(s, k)
	}
	return echo.AsText(values)
}

// imagesOf gathers a phase's images in one user message, which every provider takes. Those of its task
// are files of the run's input: a phase is sent these where its own instructions use them.
func (e *Earlier) imagesOf(rec *echo.PhaseRecord) *echo.Message {
	parts := echo.Text(fmt.Sprintf("From phase %q, images:", rec.Name))
	for _, it := range e.Messages.Session.Present(rec) {
		if it.Message.Kind() == echo.KindTask {
			continue
		}
		for _, p := range imageParts(it.Message) {
			if !slices.Contains(parts, p) {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 1 {
		return nil
	}
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindContext, Parts: parts})
}

func imageParts(m *echo.Message) []echo.Part {
	return slices.DeleteFunc(slices.Clone(m.Parts()), func(p echo.Part) bool { return p.Type != echo.PartImage })
}

// transcript brings the messages of a phase, whole and in order, between two markers.
func transcript(phase string, history []echo.Item, filter cascade.MessagesFilter) []echo.Item {
	body := Pick(history, filter)
	if len(body) == 0 {
		return nil
	}
	edge := func(what string) []echo.Item {
		text := fmt.Sprintf("From phase %q, its messages %s", phase, what)
		return []echo.Item{{Message: echo.NewText(echo.RoleUser, echo.KindContext, text)}}
	}
	return slices.Concat(edge("begin:"), body, edge("end."))
}

// Pick chooses messages of a phase, without its system message and what it was brought as context.
func Pick(history []echo.Item, filter cascade.MessagesFilter) []echo.Item {
	var out []echo.Item
	history = echo.Present(history)
	for _, it := range history {
		m := it.Message
		own := m.Role() != echo.RoleSystem && m.Kind() != echo.KindContext && it.Order > 0
		switch filter {
		case cascade.MessagesAssistantOnly:
			own = own && m.Role() == echo.RoleAssistant && m.Text() != ""
		case cascade.MessagesLastTurn:
			last := history[len(history)-1]
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

// withoutCalls leaves out the calls of assistant messages, as their results are left out too.
func withoutCalls(items []echo.Item) []echo.Item {
	out := slices.Clone(items)
	for i, it := range out {
		if len(it.Message.ToolCalls()) > 0 {
			d := it.Message.Draft()
			d.ToolCalls = nil
			out[i].Message, out[i].Foreign = echo.Seal(d), ""
		}
	}
	return out
}

// LastAnswer returns the newest answer or tool result of a history, or nil.
func LastAnswer(history []echo.Item) *echo.Item {
	history = echo.Present(history)
	for i, it := range slices.Backward(history) {
		if withheld.IsAnswer(it.Message) {
			return &history[i]
		}
	}
	return nil
}
