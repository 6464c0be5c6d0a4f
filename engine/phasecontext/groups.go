package phasecontext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// turnGroup is the unit of what comes in: an answer with its calls and results, or a message.
type turnGroup struct {
	rec     *echo.PhaseRecord
	segment int // number of the visit in the session
	index   int // in its visit
	attempt int
	turn    int
	items   []echo.Item           // as they come in
	sources []contextcards.Source // of the originals; none when nothing in the session is the original
	callout bool
	failed  bool
	why     cascade.AnchorInclude // why it is an anchor, or anchorWindow; "": it is not
}

const anchorWindow cascade.AnchorInclude = "window"

// Anchors lists why a group may be an anchor, in the order in which a reason is looked for.
func Anchors() []string {
	return []string{string(cascade.AnchorOutput), string(cascade.AnchorCallouts), string(cascade.AnchorErrors), string(anchorWindow)}
}

// id is the hash of the first original message, or of what comes in when there is none.
func (g *turnGroup) id() echo.Hash {
	if len(g.sources) > 0 {
		return g.sources[0].Message.Hash()
	}
	return g.items[0].Message.Hash()
}

// hashes is the same for groups that say the same.
func (g *turnGroup) hashes() string {
	var b strings.Builder
	for _, it := range g.items {
		b.WriteString(string(it.Message.Hash()))
	}
	return b.String()
}

// groupsOf splits what an earlier phase said itself into turn groups.
func (e *Earlier) groupsOf(rec *echo.PhaseRecord) []turnGroup {
	var out []turnGroup
	history := e.historyOf(rec)
	for i := range history {
		it := &history[i]
		if !selectable(it) {
			continue
		}
		if it.Message.Role() == echo.RoleTool && rec.Model != "" {
			if n := len(out) - 1; n >= 0 && out[n].calls(it.Message.ToolCallID()) {
				e.join(&out[n], it)
			}
			continue // a result without its call means nothing to a provider
		}
		g := turnGroup{rec: rec, index: len(out), attempt: it.Attempt, turn: it.Turn}
		e.join(&g, it)
		out = append(out, g)
	}
	if len(out) == 0 {
		if it, ok := e.output(rec, echo.RoleUser); ok {
			out = append(out, turnGroup{rec: rec, attempt: 1, items: []echo.Item{it}})
		}
	}
	return out
}

// selectable reports whether a message is one of its phase's own that may matter to others.
func selectable(it *echo.Item) bool {
	m := it.Message
	switch m.Kind() {
	case echo.KindSystem, echo.KindContext, echo.KindNotice, echo.KindSummary:
		return false
	}
	return it.Order > 0 && m.Role() != echo.RoleSystem
}

// calls reports whether a group waits for the result of a call.
func (g *turnGroup) calls(id string) bool {
	has := func(c echo.ToolCall) bool { return c.ID == id }
	answered := func(it echo.Item) bool { return it.Message.Role() == echo.RoleTool && it.Message.ToolCallID() == id }
	return slices.ContainsFunc(g.items[0].Message.ToolCalls(), has) && !slices.ContainsFunc(g.items, answered)
}

// join adds a message to a group. A tool phase's result has no call: it comes in as text.
func (e *Earlier) join(g *turnGroup, it *echo.Item) {
	m := it.Message
	src := e.Messages.Source(it)
	g.sources = append(g.sources, src)
	g.callout = g.callout || src.Callout != "" || e.Messages.Session.IsCallout(m.Hash())
	g.failed = g.failed || m.Failed()
	in := echo.Item{Message: m, Pinned: it.Pinned, Foreign: it.Foreign, Kept: true, Origin: it.Origin}
	if m.Role() == echo.RoleTool && g.rec.Model == "" {
		in.Message, in.Foreign = toolOutput(g.rec.Name, m), ""
	}
	g.items = append(g.items, in)
}

// toolOutput writes a tool phase's result as a user message, the only role for it without a call.
func toolOutput(phase string, m *echo.Message) *echo.Message {
	what := "result"
	if m.Failed() {
		what = "error"
	}
	parts := echo.Text(fmt.Sprintf("From phase %q, %s of %s:\n%s", phase, what, m.Tool(), m.Text()))
	parts = append(parts, imageParts(m)...)
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindContext, Parts: parts})
}

// markOutput makes the answer of a source phase an anchor.
func markOutput(groups []turnGroup, a *cascade.InterAnchors) {
	if i := outputOf(groups); i >= 0 && slices.Contains(a.Include, cascade.AnchorOutput) {
		groups[i].mark(cascade.AnchorOutput)
	}
}

// markPinned makes callouts and errors of a phase anchors.
func markPinned(groups []turnGroup, a *cascade.InterAnchors) {
	callouts, failures := slices.Contains(a.Include, cascade.AnchorCallouts), slices.Contains(a.Include, cascade.AnchorErrors)
	for i := range groups {
		if groups[i].callout && callouts {
			groups[i].mark(cascade.AnchorCallouts)
		}
		if groups[i].failed && failures {
			groups[i].mark(cascade.AnchorErrors)
		}
	}
}

// markNewest makes the newest turns of a phase anchors.
func markNewest(groups []turnGroup, a *cascade.InterAnchors) {
	for i := newest(groups, a.Window); i < len(groups); i++ {
		groups[i].mark(anchorWindow)
	}
}

// mark makes a group an anchor; the first reason stays.
func (g *turnGroup) mark(why cascade.AnchorInclude) {
	if g.why == "" {
		g.why = why
	}
}

// outputOf returns the index of the group with a phase's answer, -1 when it has none.
func outputOf(groups []turnGroup) int {
	for i, g := range slices.Backward(groups) {
		if g.rec.Model == "" || g.items[0].Message.Kind() == echo.KindAnswer && len(g.items[0].Message.ToolCalls()) == 0 {
			return i
		}
	}
	return -1
}

// newest returns the index from which on the groups belong to the newest n turns.
func newest(groups []turnGroup, n int) int {
	at, turns, last := len(groups), 0, [2]int{-1, -1}
	for i, g := range slices.Backward(groups) {
		// What begins a turn is an answer of the model; of a phase that runs a tool, a try.
		if kind := g.items[0].Message.Kind(); g.rec.Model != "" && kind != echo.KindAnswer {
			continue
		}
		if place := [2]int{g.attempt, g.turn}; place != last {
			if turns == n {
				break
			}
			turns, last = turns+1, place
		}
		at = i
	}
	return at
}

// gather returns the anchors and the other turn groups that say something new, in session order.
func (e *Earlier) gather(which cascade.InterAnchors, takenOver map[string]bool) (anchors, candidates []*turnGroup) {
	source := map[*echo.PhaseRecord]bool{}
	for _, name := range which.FromPhases {
		for _, rec := range e.Phases(name) {
			source[rec] = true
		}
	}
	own := e.Messages.Session.Last(e.Phase.Name)
	for segment, rec := range e.Messages.Session.Phases {
		if !rec.Done || takenOver[rec.Name] || slices.Contains(e.Exclude, rec.Name) {
			continue
		}
		groups := e.groupsOf(rec)
		for i := range groups {
			groups[i].segment = segment
		}
		if source[rec] {
			markOutput(groups, &which)
		}
		if source[rec] || e.Rules.AnchorsAll {
			markPinned(groups, &which)
		}
		if source[rec] || e.Rules.AnchorsAll && rec == own {
			markNewest(groups, &which)
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

// endOfSelected keeps the task from being taken for a part of what was selected.
const endOfSelected = "Here ends what was brought in from earlier phases. Your own task follows."

// injected puts groups, in session order, between markers that say where they come from.
func injected(groups []*turnGroup) []echo.Item {
	var out []echo.Item
	for i := 0; i < len(groups); {
		n := stretch(groups[i:])
		out = append(out, marker(stretchName(groups[i], groups[i+n-1])))
		for _, g := range groups[i : i+n] {
			out = append(out, g.items...)
		}
		i += n
	}
	if len(out) > 0 {
		out = append(out, marker(endOfSelected))
	}
	return out
}

// stretch returns how many of the first groups follow each other in one visit.
func stretch(groups []*turnGroup) int {
	n := 1
	for n < len(groups) && groups[n].rec == groups[0].rec && groups[n].index == groups[n-1].index+1 {
		n++
	}
	return n
}

// stretchName says which part of a phase comes in.
func stretchName(first, last *turnGroup) string {
	s := fmt.Sprintf("From phase %q, ", first.rec.Name)
	if first.rec.Visit > 1 {
		s = fmt.Sprintf("From phase %q (visit %d), ", first.rec.Name, first.rec.Visit)
	}
	from, to := first.place(), last.place()
	switch {
	case from == to:
		return s + from + ":"
	case first.attempt == last.attempt && first.turn > 0:
		return s + fmt.Sprintf("turns %d to %d:", first.turn, last.turn)
	}
	return s + from + " to " + to + ":"
}

// place names where a group begins.
func (g *turnGroup) place() string {
	switch {
	case g.attempt == 0:
		return "its task"
	case g.turn == 0 && g.rec.Model == "":
		return "its result"
	case g.turn == 0:
		return fmt.Sprintf("the request for attempt %d", g.attempt)
	case g.attempt > 1:
		return fmt.Sprintf("attempt %d, turn %d", g.attempt, g.turn)
	}
	return fmt.Sprintf("turn %d", g.turn)
}

func marker(text string) echo.Item {
	return echo.Item{Message: echo.NewText(echo.RoleUser, echo.KindContext, text), Kept: true}
}
