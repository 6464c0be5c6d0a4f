package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// standing is all that a handoff is made of.
type standing struct {
	cascade   *cascade.Cascade // nil: it is not known
	cascadeID string
	session   *echo.Session
	input     any
	routes    []echo.Route
	refusal   string // why the last answer of the phase was not accepted
	visit     string // the key of the newest visit; "": no phase has begun
	attempt   int
	turn      int
	status    echo.Status
	reason    echo.StopReason
	problem   string // why the phase or the run ended badly
	workspace *echo.Workspace
}

// Where the items of a handoff come from; those that there are several of have their name behind it.
const (
	sourceChecklist = "checklist"
	sourceAnswer    = "answer"
	sourceRoute     = "route"
	sourceStop      = "stop"
	sourceValidator = "validator"
	sourcePhase     = "phase "
	sourceTool      = "tool "
	sourceState     = "state "
	sourceCallout   = "callout "
)

// handoffLimits are how much of each part of a handoff there is room for.
type handoffLimits struct {
	task, input, said, item, problem, path int // bytes
	items, files                           int
}

var widest = handoffLimits{task: 1500, input: 400, said: 600, item: 200, problem: 400, path: 120, items: 12, files: 30}

func (l handoffLimits) half() handoffLimits {
	return handoffLimits{l.task / 2, l.input / 2, l.said / 2, l.item / 2, l.problem / 2, l.path / 2, l.items / 2, l.files / 2}
}

// handoff sums up where a run stands. What does not fit is cut: everything alike, until the text has its size.
func (s *standing) handoff() *echo.Handoff {
	g := s.gather()
	for l := widest; ; l = l.half() {
		if h := s.fit(g, l); len(Markdown(h)) <= MaxHandoff || l.items <= 1 {
			return h
		}
	}
}

// gathered is what there is to say, uncut and in order.
type gathered struct {
	task, said                           string
	done, remaining, blocking, decisions []echo.HandoffItem
	written                              []string
	progress                             echo.HandoffProgress
}

func (s *standing) gather() *gathered {
	g := &gathered{}
	newest := s.newest()
	for _, p := range s.session.Finished() {
		g.progress.PhasesDone++
		g.done = append(g.done, echo.HandoffItem{Source: sourcePhase + p.Name, Text: cmp.Or(strings.TrimSpace(p.Text()), "ended without an output")})
	}
	g.readHistories(s.session)
	if newest != nil {
		g.task = taskOf(newest)
		if !newest.Done {
			g.said = lastWords(newest)
			g.remaining = append(g.remaining, echo.HandoffItem{Source: sourcePhase + newest.Name, Text: stands(s.status)})
			g.blocking = append(g.blocking, blockingOf(newest)...)
		}
	}
	g.remaining = append(g.remaining, s.following(newest)...)
	if s.refusal != "" && s.reason != echo.StopExhausted && (newest == nil || !newest.Done) {
		g.blocking = append(g.blocking, echo.HandoffItem{Source: sourceValidator, Text: s.refusal})
	}
	if s.problem != "" {
		g.blocking = append(g.blocking, echo.HandoffItem{Source: sourceStop, Text: s.problem})
	}
	g.decisions = append(s.choices(), g.decisions...)
	return g
}

// stands says how a phase stands that has not ended well.
func stands(s echo.Status) string {
	switch s {
	case echo.StatusInterrupted:
		return "was interrupted"
	case echo.StatusOverBudget:
		return "was stopped by the budget"
	case echo.StatusFailed:
		return "failed"
	default:
		return "is under way"
	}
}

// newest returns the record of the newest visit, nil when no phase has begun.
func (s *standing) newest() *echo.PhaseRecord {
	if n := len(s.session.Phases); n > 0 {
		return s.session.Phases[n-1]
	}
	return nil
}

// taskOf returns the task that a phase was given.
func taskOf(p *echo.PhaseRecord) string {
	for _, it := range slices.Backward(p.History) {
		if it.Order > 0 && it.Message.Kind() == echo.KindTask {
			return strings.TrimSpace(it.Message.Text())
		}
	}
	return ""
}

// lastWords returns the newest words of a phase's model.
func lastWords(p *echo.PhaseRecord) string {
	for _, it := range slices.Backward(p.History) {
		if m := it.Message; it.Order > 0 && m.Role() == echo.RoleAssistant && strings.TrimSpace(m.Text()) != "" {
			return strings.TrimSpace(m.Text())
		}
	}
	return ""
}

// blockingOf returns the tools of a phase whose newest call failed, and the calls that were under way when it stopped.
func blockingOf(p *echo.PhaseRecord) []echo.HandoffItem {
	var out []echo.HandoffItem
	seen := map[string]bool{}
	for _, it := range slices.Backward(p.History) {
		m := it.Message
		if it.Order == 0 || m.Role() != echo.RoleTool || seen[m.Tool()] {
			continue
		}
		seen[m.Tool()] = true
		if m.Failed() {
			out = append(out, echo.HandoffItem{Source: sourceTool + m.Tool(), Text: cmp.Or(strings.TrimSpace(m.Text()), "failed without a word")})
		}
	}
	slices.Reverse(out)
	for _, name := range underWay(p.History) {
		out = append(out, echo.HandoffItem{Source: sourceTool + name, Text: "was asked for when the run stopped; whether it was run is not known"})
	}
	return out
}

// underWay names the calls of the newest answer when not all of them have their results.
func underWay(history []echo.Item) []string {
	results := 0
	for _, it := range slices.Backward(history) {
		switch m := it.Message; m.Role() {
		case echo.RoleTool:
			results++
		case echo.RoleAssistant:
			var names []string
			if calls := m.ToolCalls(); len(calls) > results {
				for _, c := range calls {
					names = append(names, c.Name)
				}
			}
			return names
		default:
			return nil
		}
	}
	return nil
}

// following returns the phases that come after the newest one, as far as the cascade says before it happens.
func (s *standing) following(newest *echo.PhaseRecord) []echo.HandoffItem {
	if s.cascade == nil || newest == nil || s.over() {
		return nil
	}
	if s.cascade.FileOrder() {
		var out []echo.HandoffItem
		for i := len(s.cascade.Phases) - 1; i >= 0 && s.cascade.Phases[i].Name != newest.Name; i-- {
			out = append(out, echo.HandoffItem{Source: sourcePhase + s.cascade.Phases[i].Name, Text: "has not begun"})
		}
		if len(out) == len(s.cascade.Phases) {
			return nil // an inline phase, which stands in for one that failed
		}
		slices.Reverse(out)
		return out
	}
	targets := targetsOf(phaseNamed(s.cascade, newest.Name))
	if len(targets) == 1 {
		return []echo.HandoffItem{{Source: sourcePhase + targets[0], Text: "follows"}}
	}
	out := make([]echo.HandoffItem, len(targets))
	for i, t := range targets {
		out[i] = echo.HandoffItem{Source: sourcePhase + t, Text: "may follow"}
	}
	return out
}

// over reports whether no phase follows: the run has come to its end.
func (s *standing) over() bool { return s.reason == echo.StopEndOfCascade }

func phaseNamed(c *cascade.Cascade, name string) *cascade.Phase {
	for i := range c.Phases {
		for p := &c.Phases[i]; p != nil; {
			if p.Name == name {
				return p
			}
			if p.OnError == nil {
				break
			}
			p = p.OnError.Inline
		}
	}
	return nil
}

// targetsOf lists the phases that a phase may lead to, each once.
func targetsOf(p *cascade.Phase) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, h := range p.Handoffs {
		out = append(out, h.Target)
	}
	for _, label := range sortedNames(p.Routing) {
		out = append(out, p.Routing[label])
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(name string) bool {
		was := seen[name]
		seen[name] = true
		return was
	})
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// choices returns what was decided outside of answers: routes that were chosen, state that phases set unless it is a
// checklist, callouts.
func (s *standing) choices() []echo.HandoffItem {
	var out []echo.HandoffItem
	for _, r := range s.routes {
		if chosen(r) {
			out = append(out, echo.HandoffItem{Source: sourceRoute, Text: fmt.Sprintf("%s to %s (%s)", r.From, cmp.Or(r.To, "the end"), r.Reason)})
		}
	}
	seen := map[string]bool{stateOfError: true}
	for _, p := range s.session.Phases {
		for _, key := range p.StateKeys {
			text := echo.AsText(s.session.State[key])
			if !seen[key] && len(checklistIn(text)) == 0 {
				out = append(out, echo.HandoffItem{Source: sourceState + key, Text: text})
			}
			seen[key] = true
		}
	}
	for _, c := range s.session.Callouts {
		out = append(out, echo.HandoffItem{Source: sourceCallout + c.Name, Text: messageText(s.session, c.Hash)})
	}
	return out
}

// stateOfError is set by the engine before an on_error phase; nobody decided it.
const stateOfError = "last_deterministic_error"

// chosen reports whether a route was decided in the run and not in the file.
func chosen(r echo.Route) bool {
	return r.Reason == "route_to" || r.Reason == "on_error" || strings.HasPrefix(r.Reason, "routing")
}

func messageText(s *echo.Session, h echo.Hash) string {
	for _, p := range slices.Backward(s.Phases) {
		for _, it := range slices.Backward(p.History) {
			if it.Message.Hash() == h {
				return it.Message.Text()
			}
		}
	}
	return ""
}
