package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

// mostBranches is how many branches of a visit are listed, such as the elements of its list; of longer
// ones those that did not end well, and the candidates of the visit.
const (
	mostBranches = 10
	mostTries    = 24
)

// listed are the branches of a visit that have a row.
func (s *Session) listed(p *archive.PhaseReport) []archive.BranchReport {
	if s.Items || len(p.Branches) <= mostBranches {
		return p.Branches
	}
	var tries, elements, open []archive.BranchReport
	for i := range p.Branches {
		switch b := &p.Branches[i]; {
		case isOfVisit(b):
			tries = append(tries, *b)
		case isTry(b):
		default:
			elements = append(elements, *b)
			if b.Status != echo.StatusCompleted.String() && b.Status != echo.StatusPending.String() {
				open = append(open, *b)
			}
		}
	}
	if len(elements) > mostBranches {
		elements = open[:min(mostBranches, len(open))]
	}
	return append(elements, tries[:min(mostTries, len(tries))]...)
}

// addBranches adds the rows of the branches of a visit below it, each below the one that it is in.
func (s *Session) addBranches(t *term.Table, p *archive.PhaseReport) {
	list := slices.Clone(s.listed(p))
	slices.SortStableFunc(list, func(a, b archive.BranchReport) int { return slices.CompareFunc(stepsOf(&a), stepsOf(&b), compareSteps) })
	for i := range list {
		b := &list[i]
		indent := strings.Repeat("  ", max(len(stepsOf(b)), 1))
		t.Add(indent+branchName(b), s.standing(b), term.Count(int64(b.Attempts)), term.Count(int64(b.Turns)), term.Count(int64(b.Calls)),
			term.Count(int64(b.FailedCalls)), term.Count(int64(b.ToolCalls)), term.Count(b.TokensIn), term.Count(b.TokensCached), term.Count(b.TokensOut),
			term.Cost(b.CostUSD, b.Calls+b.EmbeddingCalls, b.UnknownCostCalls), term.Millis(b.TookMS))
	}
}

// stepsOf are the branches below a visit that lead to one of them.
func stepsOf(b *archive.BranchReport) []echo.Step {
	k, err := echo.ParseKey(b.Branch)
	if err != nil {
		return nil
	}
	p := k.Path()
	return p.Parts()
}

// compareSteps has candidates before the steps of their refinement.
func compareSteps(a, b echo.Step) int {
	return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Number, b.Number))
}

// isTry reports whether a branch is a candidate, or a step of refinement.
func isTry(b *archive.BranchReport) bool {
	return b.Kind == echo.StepSounding || b.Kind == echo.StepReforge
}

// isOfVisit reports whether a branch is a candidate of the visit itself, or a step of its refinement, and of no element.
func isOfVisit(b *archive.BranchReport) bool {
	return isTry(b) && !slices.ContainsFunc(stepsOf(b), func(s echo.Step) bool { return s.Kind == echo.StepItem })
}

// standing is how a branch stands; of a candidate what became of it.
func (s *Session) standing(b *archive.BranchReport) string {
	if c := s.candidate(b.Branch); c != nil && c.Standing != nil {
		return became(c)
	}
	return statusWord(b.Status)
}

func (s *Session) candidate(branch string) *inspect.Candidate {
	for i := range s.Soundings {
		for j := range s.Soundings[i].Steps {
			for k := range s.Soundings[i].Steps[j].Candidates {
				if c := &s.Soundings[i].Steps[j].Candidates[k]; c.Key.String() == branch {
					return c
				}
			}
		}
	}
	return nil
}

func branchName(b *archive.BranchReport) string { return fmt.Sprintf("%s %d", b.Kind, b.Number) }

// lists says how the elements of each list ended, and what became of candidates.
func (p *printer) lists(s *Session) {
	names := s.visitNames()
	for i := range s.PhaseReports {
		of := &s.PhaseReports[i]
		name := p.Paint(term.Bold, term.Cell(names[of.Visit]))
		if elements := elementsOf(of); len(elements) > 0 {
			text := countStatuses(elements)
			if shown := len(s.listed(of)); shown < len(of.Branches) {
				text += ". --items lists all"
			}
			p.line(name + ": " + text)
		}
		if text := s.tried(" "+term.ShellWord(of.Phase), func(x *inspect.Sounding) bool { return x.Key.VisitKey().String() == of.Visit }); text != "" {
			p.line(name + ": " + text)
		}
		for j := range of.Branches {
			if b := &of.Branches[j]; b.Error != "" && slices.ContainsFunc(s.listed(of), func(l archive.BranchReport) bool { return l.Branch == b.Branch }) {
				p.line(term.Cut("  "+term.Cell(b.Branch)+": "+term.OneLine(b.Error), max(p.Width, widestError)))
			}
		}
	}
	if text := s.tried("", func(x *inspect.Sounding) bool { return x.Phase == "" }); text != "" {
		p.line("\n" + p.Paint(term.Bold, "the whole cascade") + ": " + text)
	}
}

// elementsOf are the branches of a visit that are no tries and of none.
func elementsOf(p *archive.PhaseReport) []archive.BranchReport {
	return slices.DeleteFunc(slices.Clone(p.Branches), func(b archive.BranchReport) bool { return isTry(&b) })
}

// tried says what the candidates of a visit or of the run came to, those of elements in their number;
// "" where there are none. of is what the command that shows them is given behind the session.
func (s *Session) tried(of string, is func(*inspect.Sounding) bool) string {
	elements, text := 0, ""
	for i := range s.Soundings {
		x := &s.Soundings[i]
		switch {
		case !is(x):
		case x.Key != x.Key.VisitKey():
			elements++
		default:
			text = strings.Join(append([]string{cmp.Or(chosen.Sum(x.Choices()), x.Steps[0].Unchosen())}, chosen.Frontiers(x.Choices())...), ". Frontier: ")
		}
	}
	if elements > 0 {
		text = fmt.Sprintf("candidates of %s", term.Plural(elements, "element"))
	}
	if text == "" {
		return ""
	}
	return text + ". " + s.does("soundings") + of + " shows them"
}

// widestError is how many columns the error of a branch has at least.
const widestError = 200

// visitNames are what people read for visits, by their keys.
func (s *Session) visitNames() map[string]string {
	var keys []echo.Key
	for i := range s.PhaseReports {
		if k, err := echo.ParseKey(s.PhaseReports[i].Visit); err == nil {
			keys = append(keys, k)
		}
	}
	names := map[string]string{}
	for k, name := range contexts.VisitNames(keys) {
		names[k.String()] = name
	}
	for i := range s.PhaseReports {
		if visit := s.PhaseReports[i].Visit; names[visit] == "" {
			names[visit] = visit
		}
	}
	return names
}

// countStatuses counts branches by how they stand.
func countStatuses(list []archive.BranchReport) string {
	var order []string
	counts := map[string]int{}
	for i := range list {
		if counts[list[i].Status] == 0 {
			order = append(order, list[i].Status)
		}
		counts[list[i].Status]++
	}
	parts := make([]string, len(order))
	for i, status := range order {
		parts[i] = fmt.Sprintf("%d %s", counts[status], statusWord(status))
	}
	return fmt.Sprintf("%s: %s", term.Plural(len(list), "element"), strings.Join(parts, ", "))
}

// statusWord is how people read the status of a branch.
func statusWord(status string) string {
	if status == echo.StatusPending.String() {
		return "not begun"
	}
	return status
}

// mostChildren is how many children are listed, with those below them.
const mostChildren = 50

// children is the table of the children of a session, each with its own below it.
func (s *Session) children(list []archive.ChildReport, most int) (t *term.Table, left int) {
	t = term.NewTable("child", "cascade", "how", "where", "status", ">calls", ">cost", ">with children", ">time", "session")
	n := 0
	var add func(list []archive.ChildReport, indent string)
	add = func(list []archive.ChildReport, indent string) {
		list = inOrder(list)
		for i := range list {
			c := &list[i]
			if n++; n <= most {
				t.Add(indent+nameOf(c), c.CascadeID, howOf(c), c.Key, s.statusOf(c), callsOf(c), costOf(c.Own), costOf(c.WithChildren), tookOf(c), c.Session)
			}
			add(c.Children, indent+"  ")
		}
	}
	add(list, "")
	return t.Key("child", "session").Drop("time", "cascade", "where", "calls", "how"), max(n-most, 0)
}

// nameOf is the name of a child, with the element of a list that it was begun for: each element may have
// one of that name, and in few columns the table does not say where each was begun.
func nameOf(c *archive.ChildReport) string {
	name := c.Name
	if k, err := echo.ParseKey(c.Key); err == nil {
		p := k.Path()
		if c.How == echo.ChildSounding {
			return triedAs(p.Parts())
		}
		for _, b := range p.Parts() {
			name += fmt.Sprintf(" of %s %d", b.Kind, b.Number)
		}
	}
	return name
}

// triedAs names a candidate of a whole cascade: "reforge 1 sounding 2".
func triedAs(parts []echo.Step) string {
	var words []string
	for _, b := range parts {
		words = append(words, fmt.Sprintf("%s %d", b.Kind, b.Number))
	}
	return strings.Join(words, " ")
}

// inOrder has the candidates of a whole cascade in the order of their numbers, where nothing else is a child.
func inOrder(list []archive.ChildReport) []archive.ChildReport {
	if slices.ContainsFunc(list, func(c archive.ChildReport) bool { return c.How != echo.ChildSounding }) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b archive.ChildReport) int {
		return slices.CompareFunc(stepsOf(&archive.BranchReport{Branch: a.Key}), stepsOf(&archive.BranchReport{Branch: b.Key}), compareSteps)
	})
	return list
}

func howOf(c *archive.ChildReport) string {
	if c.Detached {
		return string(c.How) + ", detached"
	}
	return string(c.How)
}

// statusOf is how a child ended; of a candidate of the whole cascade also what became of it.
func (s *Session) statusOf(c *archive.ChildReport) string {
	status := c.Status
	if k, err := echo.ParseKey(c.Key); err == nil && c.How == echo.ChildSounding {
		if x := s.candidate(k.Branch().String()); x != nil && x.Standing != nil && x.Standing.State != echo.CandidateFailed {
			status += ", " + became(x)
		}
	}
	if c.Copied {
		status += ", copied"
	}
	return status
}

// became is what became of a candidate in its choice.
func became(c *inspect.Candidate) string {
	if c.Kept {
		return "kept"
	}
	return string(c.Standing.State)
}

func callsOf(c *archive.ChildReport) string {
	if c.Own == nil {
		return ""
	}
	return term.Count(int64(c.Own.Calls))
}

func costOf(s *archive.TreeSum) string {
	if s == nil {
		return ""
	}
	return term.Cost(s.CostUSD, s.Calls+s.EmbeddingCalls, s.UnknownCostCalls)
}

func tookOf(c *archive.ChildReport) string {
	if c.LastAt.IsZero() {
		return ""
	}
	return term.Duration(c.LastAt.Sub(c.StartedAt))
}

// family lists the children of the session.
func (p *printer) family(s *Session) {
	if len(s.Children) == 0 {
		return
	}
	p.line("")
	t, left := s.children(s.Children, mostChildren)
	p.table(t)
	if left > 0 {
		p.line(fmt.Sprintf("and %d more: --json lists all", left))
	}
}

// withChildren says what the session and all below it cost; "" for one without children.
func withChildren(sum *archive.TreeSum) string {
	if sum == nil {
		return ""
	}
	text := fmt.Sprintf("; with %s %s", childrenOf(sum), costOf(sum))
	if sum.Unknown > 0 {
		text += fmt.Sprintf(" + unknown (%d not here)", sum.Unknown)
	}
	return text
}

func childrenOf(sum *archive.TreeSum) string {
	if n := sum.Sessions + sum.Unknown - 1; n != 1 {
		return term.Count(int64(n)) + " children"
	}
	return "1 child"
}
