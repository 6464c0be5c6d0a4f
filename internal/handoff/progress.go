package handoff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/withheld"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// progress is what a handoff is made of: how far a run has come, as its record says it.
type progress struct {
	record  *record.Fold
	cascade *cascade.Cascade // nil: it is not known
	visits  []record.Visit
	at      int             // index of the visit that the handoff is of: the newest, or the one that is about to end
	files   *echo.Workspace // the newest reading
	status  echo.Status     // of that visit, or of the run when that has ended
	reason  echo.StopReason
	problem string // why it ended badly
}

func progressOf(f *record.Fold, c *cascade.Cascade, soon ...*echo.Entry) *progress {
	p := &progress{record: f, cascade: c, visits: f.Visits(), files: f.Workspace(), status: echo.StatusRunning}
	p.at = len(p.visits) - 1
	for _, e := range soon {
		if i := slices.IndexFunc(p.visits, func(v record.Visit) bool { return v.Key == e.Key.VisitKey() }); i >= 0 {
			p.at = i
			p.visits[i] = p.visits[i].After(e)
		}
	}
	if newest := p.newest(); newest != nil {
		p.status, p.reason, p.problem = newest.Status, newest.Reason, newest.Error
	}
	if end := f.End(); end.Whole {
		p.status, p.reason, p.problem = end.Status, end.Reason, end.Error
	}
	if p.status == echo.StatusInterrupted {
		p.problem = "" // nothing is in the way
	}
	return p
}

// Where the items of a handoff come from; a name follows those that end in a blank.
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
	sourceChild     = "child "

	sourceCandidates = "candidates of "
)

// limits are how much of each part of a handoff there is room for.
type limits struct {
	task, input, said, item, problem, path int // bytes
	items, files                           int
}

var widest = limits{task: 1500, input: 400, said: 600, item: 200, problem: 400, path: 120, items: 12, files: 30}

func (l limits) half() limits {
	return limits{l.task / 2, l.input / 2, l.said / 2, l.item / 2, l.problem / 2, l.path / 2, l.items / 2, l.files / 2}
}

// handoff cuts everything alike until the text fits.
func (p *progress) handoff() *echo.Handoff {
	g := p.gather()
	for l := widest; ; l = l.half() {
		if h := p.fit(g, l); len(Markdown(h)) <= MaxSize || l.items <= 1 {
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
	lists, blockers                      checklists // blockers: texts with sections, and those of state and files
}

func (p *progress) gather() *gathered {
	g, notes := &gathered{}, notesOf(p)
	notes.read(g)
	withdrawn := record.Withdrawn(p.record)
	for _, v := range p.finished() {
		g.progress.PhasesDone++
		g.done = append(g.done, echo.HandoffItem{Source: sourcePhase + v.Phase, Text: outputOf(p, &v, withdrawn)})
	}
	histories := make([][]*echo.Entry, len(p.visits))
	for i, v := range p.visits {
		told, tried := slices.Clone(p.record.History(v.Key)), []*echo.Entry(nil)
		for _, b := range p.record.Branches(v.Key) { // that are part of it once it has ended
			switch {
			case !isTry(&b):
				told = append(told, p.record.History(b.Key)...)
			case p.isOpenTry(v.Key, &b):
				tried = append(tried, p.record.History(b.Key)...)
			}
		}
		gone := retracted(told)
		out := func(e *echo.Entry) bool {
			return withdrawn[e] && (e.Message.Kind() != echo.KindTask || v.Status.IsDone())
		}
		told, tried = slices.DeleteFunc(told, out), slices.DeleteFunc(tried, out)
		told = slices.DeleteFunc(told, func(e *echo.Entry) bool { return !record.IsOwn(e) })
		g.readHistory(v.Phase, told, gone)
		told = slices.DeleteFunc(told, func(e *echo.Entry) bool { return gone[e] })
		histories[i] = append(told, slices.DeleteFunc(tried, func(e *echo.Entry) bool { return !record.IsOwn(e) })...)
	}
	g.readChecklists()
	g.readSections()
	notes.readBlock(g)
	if newest := p.newest(); newest != nil {
		history := histories[p.at]
		g.task = strings.TrimSpace(taskOf(p, history))
		if !newest.Status.IsSuccess() {
			g.said = strings.TrimSpace(newestText(history, func(m *echo.Message) bool {
				return m.Role() == echo.RoleAssistant && strings.TrimSpace(m.Text()) != ""
			}))
			g.remaining = append(g.remaining, echo.HandoffItem{Source: sourcePhase + newest.Phase, Text: stands(p.status) + p.elements(newest) + p.triesOf(newest)})
			g.blocking = append(g.blocking, blockingOf(history)...)
		}
	}
	p.gatherWhole(g)
	p.gatherTree(g)
	g.remaining = append(g.remaining, p.following()...)
	g.blocking = append(g.blocking, p.refusal()...)
	if p.problem != "" {
		g.blocking = append(g.blocking, echo.HandoffItem{Source: sourceStop, Text: p.problem})
	}
	g.decisions = once(append(p.choices(histories), g.decisions...))
	g.blocking = once(g.blocking)
	return g
}

// outputOf returns the output of a visit as text, unless a person has taken the answer that it is out of the context.
func outputOf(p *progress, v *record.Visit, withdrawn map[*echo.Entry]bool) string {
	if len(withdrawn) > 0 {
		told := record.Told(p.record, v.Key)
		gone := retracted(told)
		for _, e := range slices.Backward(told) {
			if k := e.Message.Kind(); gone[e] || k != echo.KindAnswer && k != echo.KindToolResult {
				continue
			}
			if withdrawn[e] {
				return "its answer was taken out of the context"
			}
			break
		}
	}
	output := v.Output
	if out, s := withheldFrom(p); out != nil {
		if at := slices.IndexFunc(s.Phases, func(r *echo.PhaseRecord) bool { return r.Name == v.Phase && r.Visit == v.Number }); at >= 0 {
			s.Phases[at].Output = v.Output // it may be about to be recorded
			output = out.Output(s.Phases[at])
		}
	}
	text := strings.TrimSpace(echo.AsText(output))
	return cmp.Or(withoutDecisions(echo.AsText(output)), text, "ended without an output")
}

// withheldFrom returns what values come from answers that persons have taken out of the context, and the session that they are of;
// nil: none does.
func withheldFrom(p *progress) (*withheld.Values, *echo.Session) {
	if record.Withdrawals(p.record).Whole() {
		return nil, nil
	}
	s := record.SessionOf(p.record)
	return withheld.Of(s), s
}

// retracted returns the entries of a history that a person has taken back.
func retracted(history []*echo.Entry) map[*echo.Entry]bool {
	items := make([]echo.Item, len(history))
	for i, e := range history {
		items[i] = echo.Item{Message: e.Message, Attempt: e.Attempt}
	}
	out := map[*echo.Entry]bool{}
	for i, gone := range echo.Retracted(items) {
		out[history[i]] = gone
	}
	return out
}

// finished returns the newest visit of each phase that ended well, in their order.
func (p *progress) finished() []record.Visit {
	newest := map[string]int{}
	for i, v := range p.visits {
		if v.Status.IsSuccess() {
			newest[v.Phase] = i
		}
	}
	var out []record.Visit
	for _, i := range slices.Sorted(maps.Values(newest)) {
		out = append(out, p.visits[i])
	}
	return out
}

// refusal is why the newest answer of a phase that has not ended well was not accepted.
func (p *progress) refusal() []echo.HandoffItem {
	newest := p.newest()
	if newest == nil || newest.Status.IsSuccess() || p.reason == echo.StopExhausted || p.reason == echo.StopEmptyAnswer || p.reason == echo.StopWard {
		return nil
	}
	if verdict, ok := newest.Refusal(); ok {
		return []echo.HandoffItem{{Source: sourceValidator, Text: verdict.Validator + " did not pass: " + reasonOf(&verdict)}}
	}
	return nil
}

// reasonOf is why an answer did not pass: of what a program printed the last lines, which say so.
func reasonOf(d *record.Verdict) string {
	reason := strings.TrimSpace(d.Reason)
	if d.Validator == "output_schema" || !strings.Contains(reason, "\n") {
		return reason
	}
	return excerpt.Last(reason, 8, widest.problem/2)
}

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

// asOf returns when the newest entry that a handoff tells of was recorded: none that says how
// something ended, as a handoff is recorded before these.
func (p *progress) asOf() time.Time {
	for _, e := range slices.Backward(p.record.Counted()) {
		switch e.NodeType {
		case echo.NodeHandoff, echo.NodePhaseEnd, echo.NodeRunEnd, echo.NodeResume:
		default:
			return e.At
		}
	}
	return p.record.StartedAt()
}

// newest returns the visit that the handoff is of, nil when no phase has begun.
func (p *progress) newest() *record.Visit {
	if len(p.visits) > 0 {
		return &p.visits[p.at]
	}
	return nil
}

// newestText returns the text of the newest message that fits, "" when none does.
func newestText(history []*echo.Entry, fits func(*echo.Message) bool) string {
	for _, e := range slices.Backward(history) {
		if fits(e.Message) {
			return e.Message.Text()
		}
	}
	return ""
}

// taskOf returns the text of the newest task, without what it quotes of answers that persons have taken out of the context.
func taskOf(p *progress, history []*echo.Entry) string {
	values, _ := withheldFrom(p)
	for _, e := range slices.Backward(history) {
		if e.Message.Kind() == echo.KindTask {
			return values.Told(e.Message).Text()
		}
	}
	return ""
}

// blockingOf returns the tools whose newest call failed, and the calls under way at the end.
func blockingOf(history []*echo.Entry) []echo.HandoffItem {
	var out []echo.HandoffItem
	seen := map[string]bool{}
	for _, e := range slices.Backward(history) {
		m := e.Message
		if m.Role() != echo.RoleTool || seen[m.Tool()] {
			continue
		}
		seen[m.Tool()] = true
		if m.Failed() {
			out = append(out, echo.HandoffItem{Source: sourceTool + m.Tool(), Text: cmp.Or(strings.TrimSpace(m.Text()), "failed without a word")})
		}
	}
	slices.Reverse(out)
	for _, name := range underWay(history) {
		out = append(out, echo.HandoffItem{Source: sourceTool + name, Text: "was asked for when the run stopped; whether it was run is not known"})
	}
	return out
}

func underWay(history []*echo.Entry) []string {
	results := 0
	for _, e := range slices.Backward(history) {
		switch m := e.Message; m.Role() {
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

// following returns the phases that come after the newest one, as far as the cascade says it.
func (p *progress) following() []echo.HandoffItem {
	newest := p.newest()
	if p.cascade == nil || newest == nil || p.reason == echo.StopEndOfCascade {
		return nil
	}
	if p.cascade.IsGraph() {
		return p.waiting()
	}
	var out []echo.HandoffItem
	add := func(phase, text string) { out = append(out, echo.HandoffItem{Source: sourcePhase + phase, Text: text}) }
	if phases := p.cascade.Phases; p.cascade.FileOrder() {
		at := slices.IndexFunc(phases, func(q cascade.Phase) bool { return q.Name == newest.Phase })
		if at < 0 {
			return nil // an inline phase, which stands in for one that failed
		}
		for _, next := range phases[at+1:] {
			add(next.Name, "has not begun")
		}
		return out
	}
	targets := targetsOf(p.cascade, newest.Phase)
	text := "may follow"
	if len(targets) == 1 {
		text = "follows"
	}
	for _, t := range targets {
		add(t, text)
	}
	return out
}

// targetsOf lists the phases that a phase may lead to, each once.
func targetsOf(c *cascade.Cascade, phase string) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for p := range c.EachPhase() {
		if p.Name != phase {
			continue
		}
		for _, h := range p.Handoffs {
			add(h.Target)
		}
		for _, label := range slices.Sorted(maps.Keys(p.Routing)) {
			add(p.Routing[label])
		}
	}
	return out
}

// choices returns what was decided outside of answers: routes, candidates, state but checklists, callouts.
func (p *progress) choices(histories [][]*echo.Entry) []echo.HandoffItem {
	var out []echo.HandoffItem
	for _, r := range p.record.Routes() {
		if isChosen(r) {
			out = append(out, echo.HandoffItem{Source: sourceRoute, Text: fmt.Sprintf("%s to %s (%s)", r.From, cmp.Or(r.To, "the end"), r.Reason)})
		}
	}
	out = append(out, p.kept()...)
	notes := notesOf(p)
	seen := map[string]bool{stateOfError: true, standing.Scratchpad: notes.keeps[standing.Scratchpad], standing.StateBlock: notes.keeps[standing.StateBlock]}
	withdrawn, _ := withheldFrom(p)
	for _, v := range p.visits {
		for _, key := range v.State {
			value := p.record.State(key)
			if withdrawn != nil {
				value = withdrawn.StateOf(key)
			}
			text := echo.AsText(value)
			if !seen[key] && strings.TrimSpace(text) != "" && len(checklistIn(text)) == 0 && !hasSection(text, blockerTitle) && !hasSection(text, choiceTitle) {
				out = append(out, echo.HandoffItem{Source: sourceState + key, Text: text})
			}
			seen[key] = true
		}
	}
	all := slices.Concat(histories...)
	for _, c := range p.record.Callouts() {
		text := newestText(all, func(m *echo.Message) bool { return m.Hash() == c.Hash })
		if text = withoutDecisions(text); text != "" {
			out = append(out, echo.HandoffItem{Source: sourceCallout + c.Name, Text: text})
		}
	}
	return out
}

// stateOfError is set by the engine before an on_error phase; nobody decided it.
const stateOfError = cascade.StateLastError

// isChosen reports whether a route was decided in the run and not in the file.
func isChosen(r echo.Route) bool {
	return r.Reason == "route_to" || r.Reason == "on_error" || strings.HasPrefix(r.Reason, "routing")
}
