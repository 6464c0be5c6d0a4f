package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

// mostBranches is how many branches of a visit are listed, such as the elements of its list; of longer
// lists only those that did not complete are.
const mostBranches = 10

// listed returns the branches of a visit that the table of phases has.
func (s *Session) listed(p *archive.PhaseReport) []archive.BranchReport {
	if s.Items || len(p.Branches) <= mostBranches {
		return p.Branches
	}
	var out []archive.BranchReport
	for i := range p.Branches {
		if b := &p.Branches[i]; b.Status != echo.StatusCompleted.String() && b.Status != echo.StatusPending.String() {
			out = append(out, *b)
		}
	}
	return out[:min(mostBranches, len(out))]
}

// addBranches adds the rows of the branches of a visit below it.
func (s *Session) addBranches(t *term.Table, p *archive.PhaseReport) {
	list := s.listed(p)
	for i := range list {
		b := &list[i]
		t.Add("  "+branchName(b), statusWord(b.Status), term.Count(int64(b.Attempts)), term.Count(int64(b.Turns)), term.Count(int64(b.Calls)),
			term.Count(int64(b.FailedCalls)), term.Count(int64(b.ToolCalls)), term.Count(b.TokensIn), term.Count(b.TokensCached), term.Count(b.TokensOut),
			term.Cost(b.CostUSD, b.Calls+b.EmbeddingCalls, b.UnknownCostCalls), term.Millis(b.TookMS))
	}
}

func branchName(b *archive.BranchReport) string { return fmt.Sprintf("%s %d", b.Kind, b.Number) }

// lists says how the elements of each list ended.
func (p *printer) lists(s *Session) {
	names := s.visitNames()
	for i := range s.PhaseReports {
		of := &s.PhaseReports[i]
		if len(of.Branches) == 0 {
			continue
		}
		text := countStatuses(of.Branches)
		if shown := len(s.listed(of)); shown < len(of.Branches) {
			text += ". --items lists all"
		}
		p.line(p.Paint(term.Bold, term.Cell(names[of.Visit])) + ": " + text)
		for j := range of.Branches {
			if b := &of.Branches[j]; b.Error != "" && slices.ContainsFunc(s.listed(of), func(l archive.BranchReport) bool { return l.Branch == b.Branch }) {
				p.line(term.Cut("  "+term.Cell(b.Branch)+": "+term.OneLine(b.Error), max(p.Width, widestError)))
			}
		}
	}
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
func children(list []archive.ChildReport, most int) (t *term.Table, left int) {
	t = term.NewTable("child", "cascade", "how", "where", "status", ">calls", ">cost", ">with children", ">time", "session")
	n := 0
	var add func(list []archive.ChildReport, indent string)
	add = func(list []archive.ChildReport, indent string) {
		for i := range list {
			c := &list[i]
			if n++; n <= most {
				t.Add(indent+nameOf(c), c.CascadeID, howOf(c), c.Key, statusOf(c), callsOf(c), costOf(c.Own), costOf(c.WithChildren), tookOf(c), c.Session)
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
		for _, b := range p.Parts() {
			name += fmt.Sprintf(" of %s %d", b.Kind, b.Number)
		}
	}
	return name
}

func howOf(c *archive.ChildReport) string {
	if c.Detached {
		return string(c.How) + ", detached"
	}
	return string(c.How)
}

func statusOf(c *archive.ChildReport) string {
	if c.Copied {
		return c.Status + ", copied"
	}
	return c.Status
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
	t, left := children(s.Children, mostChildren)
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
