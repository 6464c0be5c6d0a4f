package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// contest is what several tries of one thing have come to: of a visit, or of an element of its list. It
// shows the newest step of refinement.
type contest struct {
	step    int    // of refinement, from 1; 0: the first candidates
	tries   []*try // of the step, by their numbers
	judges  judges
	choices []echo.Choice // of all steps
}

// try is a candidate.
type try struct {
	number   int
	model    string
	varied   string // how its instructions differ from those of the file
	attempt  int
	turn     int
	load     load
	status   echo.Status
	standing *echo.Standing // nil: no choice was made yet
	since    time.Time
	took     time.Duration
	doing    doing
	session  string // of a candidate of the whole cascade
}

// judges are what is known of the judging of a step.
type judges struct {
	model   string
	asked   int // calls that began, and those that ended
	ended   int
	pairs   int // both of whose ballots are recorded
	votes   map[int]int
	scores  int
	newest  *echo.Ballot // with the evidence after it
	writing bool         // one answer is written from all
	spent   record.Totals
}

// standsIn says where a key is among tries: number is that of a candidate, 0 for what is done about all of
// them. ok is false for a key that is not of tries.
func standsIn(k echo.Key) (step, number int, ok bool) {
	if k.IsZero() {
		return 0, 0, false
	}
	p := k.Path()
	parts := p.Parts()
	if n := len(parts); n > 0 && parts[n-1].Kind == echo.StepSounding {
		number, parts = parts[n-1].Number, parts[:n-1]
	}
	if n := len(parts); n > 0 && parts[n-1].Kind == echo.StepReforge {
		step = parts[n-1].Number
	}
	if number > 0 || step > 0 {
		return step, number, true
	}
	if len(p.Effect) == 0 {
		return 0, 0, false
	}
	switch p.Effect[0].Kind { //nolint:exhaustive // the others are not of tries
	case echo.StepBallot, echo.StepScore, echo.StepAggregate, echo.StepChoice:
		return 0, 0, true
	}
	return 0, 0, false
}

// isWhole reports whether a key is of tries of the whole cascade.
func isWhole(k echo.Key) bool {
	_, _, ok := standsIn(k)
	return ok && k.VisitKey() == echo.RunKey()
}

// at returns the candidate of a number, which begins when it is not known yet.
func (c *contest) at(number int) *try {
	i, found := slices.BinarySearchFunc(c.tries, number, func(t *try, n int) int { return cmp.Compare(t.number, n) })
	if !found {
		c.tries = slices.Insert(c.tries, i, &try{number: number, status: echo.StatusPending})
	}
	return c.tries[i]
}

// enter has what follows be of a step.
func (c *contest) enter(step int) {
	if step > c.step {
		c.step, c.tries, c.judges = step, nil, judges{}
	}
}

// add takes an entry.
func (c *contest) add(e *echo.Entry, own bool, now time.Time) {
	step, number, _ := standsIn(e.Key)
	c.enter(step)
	switch {
	case step < c.step:
	case number > 0:
		c.at(number).add(e, own, now)
	case e.NodeType == echo.NodeChoice:
		c.choose(e)
	default:
		c.judges.add(e, own)
	}
}

// choose takes which candidate is kept.
func (c *contest) choose(e *echo.Entry) {
	d, err := echo.Read[echo.Choice](e)
	if err != nil {
		return
	}
	c.choices = append(c.choices, d)
	for i := range d.Standings {
		if s := &d.Standings[i]; s.Number > 0 {
			c.at(s.Number).standing = s
		}
	}
}

// event takes what has begun.
func (c *contest) event(ev engine.Event, now time.Time) {
	step, number, _ := standsIn(ev.Key)
	c.enter(step)
	switch {
	case step < c.step:
	case number > 0:
		t := c.at(number)
		t.begin(now)
		t.attempt, t.turn = ev.Site.Attempt, ev.Site.Turn
		t.doing.event(ev, now)
	case ev.Kind == engine.EventModelCall:
		c.judges.model, c.judges.writing = ev.Model, ev.Site.Purpose == echo.PurposeAggregate
		c.judges.asked++
	}
}

func (t *try) begin(now time.Time) {
	if t.status == echo.StatusPending {
		t.status, t.since = echo.StatusRunning, now
	}
}

// add takes an entry of the candidate.
func (t *try) add(e *echo.Entry, own bool, now time.Time) {
	p := e.Key.Path()
	switch {
	case e.NodeType == echo.NodeBranchStart:
		return
	case e.NodeType == echo.NodeBranchEnd:
		if t.status == echo.StatusRunning {
			t.end(echo.StatusFailed, now.Sub(t.since))
		}
		return
	case e.NodeType == echo.NodePhaseEnd && p.Last().Kind == echo.StepFinish:
		d, err := echo.Read[echo.PhaseEnd](e)
		if err != nil {
			d.Status = echo.StatusFailed
		}
		took := now.Sub(t.since)
		if e.DurationMS > 0 {
			took = time.Duration(e.DurationMS * float64(time.Millisecond))
		}
		t.end(d.Status, took)
		return
	case e.NodeType == echo.NodeChildStart && p.Last().Kind == echo.StepCandidate:
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			t.session = d.Session
		}
	case e.NodeType == echo.NodeChildEnd && p.Last().Kind == echo.StepCandidate:
		if d, err := echo.Read[echo.ChildEnd](e); err == nil {
			t.load.spent = record.ChildTotals(e)
			t.end(d.Status, now.Sub(t.since))
		}
		return
	case e.NodeType == echo.NodeCandidate:
		if d, err := echo.Read[echo.Candidate](e); err == nil {
			t.model, t.varied = d.Model, variedText(d.Mutation)
		}
	}
	t.begin(now)
	t.load.add(e, own)
	t.doing.add(e, now)
	if e.Attempt > 0 {
		t.attempt, t.turn = e.Attempt, e.Turn
	}
}

func (t *try) end(s echo.Status, took time.Duration) {
	t.status, t.took, t.doing = s, took, doing{}
}

// variedText says how the instructions of a candidate differ from those of the file.
func variedText(m *echo.Mutation) string {
	if m == nil {
		return "as written"
	}
	return term.OneLine(m.Mode + ": " + m.Entry)
}

// add takes an entry about all candidates.
func (j *judges) add(e *echo.Entry, own bool) {
	switch e.NodeType { //nolint:exhaustive // the others say nothing of judges
	case echo.NodeModelCall:
		j.ended++
		j.asked = max(j.asked, j.ended)
		j.model = cmp.Or(e.Model, j.model)
		if own {
			j.spent.Add(e)
		}
	case echo.NodeBallot:
		d, err := echo.Read[echo.Ballot](e)
		if err != nil {
			return
		}
		switch {
		case d.Pair == 0:
			j.scores++
		case d.Reverse:
			j.pairs++
			j.newest = &d
			if d.Vote != nil {
				if j.votes == nil {
					j.votes = map[int]int{}
				}
				j.votes[*d.Vote]++
			}
		}
	}
}

// isSettled reports whether the choice of the step is made.
func (c *contest) isSettled() bool {
	n := len(c.choices)
	return n > 0 && c.choices[n-1].Step == c.step
}

// judging says how far that is, as long as there is no choice.
func (c *contest) judging() string {
	if c.isSettled() {
		return ""
	}
	return c.judges.line()
}

// sum says how far the candidates are, as long as there is no choice: "3 candidates: 1 done, 2 running".
func (c *contest) sum() string {
	if len(c.tries) == 0 || c.isSettled() {
		return ""
	}
	counts := map[string]int{}
	for _, t := range c.tries {
		counts[t.word()]++
	}
	var parts []string
	for _, word := range []string{"done", "failed", "running", "waiting"} {
		if n := counts[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	text := fmt.Sprintf("%s: %s", quantity.Of(len(c.tries), "candidate"), strings.Join(parts, ", "))
	if c.step > 0 {
		text = fmt.Sprintf("refinement, step %d: %s", c.step, text)
	}
	return text
}

// word is how a candidate stands, before a choice.
func (t *try) word() string {
	switch t.status { //nolint:exhaustive // all others are ends without an answer
	case echo.StatusPending:
		return "waiting"
	case echo.StatusRunning:
		return "running"
	case echo.StatusCompleted:
		return "done"
	}
	return "failed"
}

// state is what became of a candidate, or how it stands.
func (t *try) state() string {
	switch {
	case t.standing == nil:
		return t.word()
	case t.standing.State == echo.CandidateWon:
		return "kept"
	case t.standing.State == echo.CandidateSame && t.standing.SameAs > 0:
		return fmt.Sprintf("same as %d", t.standing.SameAs)
	}
	return string(t.standing.State)
}

// settled are the choices of the steps before the one that is shown, and its own, each in a line.
func (c *contest) settled() []string {
	var out []string
	for i := range c.choices {
		step := ""
		if n := c.choices[i].Step; n > 0 {
			step = fmt.Sprintf("refinement, step %d: ", n)
		}
		out = append(out, step+chosen.Line(&c.choices[i]))
	}
	return out
}

// kept is the newest choice, once that of the step is made.
func (c *contest) kept() string {
	if !c.isSettled() {
		return ""
	}
	all := c.settled()
	return all[len(all)-1]
}

// leastForVaried is the width of a frame from which on it shows how instructions differ.
const leastForVaried = 100

// mostVaried is how many columns of that are shown.
const mostVaried = 36

// followed are the runs that can be followed by their sessions.
type followed map[string]*Progress

// with returns the candidate with what its session has come to so far.
func (t *try) with(inner followed, width int) (x *try, does string) {
	of := inner[t.session]
	if of == nil || t.status != echo.StatusRunning {
		return t, t.doing.line(width)
	}
	now := *t
	now.load.spent = of.withChildren()
	of.mu.Lock()
	defer of.mu.Unlock()
	return &now, of.brief(width)
}

// lines shows the candidates side by side in at most so many lines. Where not all have one, those have
// that run.
func (c *contest) lines(now time.Time, most, width int, inner followed) []string {
	shown := c.tries
	if len(shown) > most {
		shown = slices.DeleteFunc(slices.Clone(shown), func(t *try) bool { return t.status != echo.StatusRunning })
	}
	cells, does := make([][]string, len(shown)), make([]string, len(shown))
	for i := range shown {
		var x *try
		x, does[i] = shown[i].with(inner, width)
		cells[i] = x.cells(width)
	}
	rows := aligned(cells)
	return capped(most, len(shown), func(i int) string {
		t := shown[i]
		took := ""
		switch t.status { //nolint:exhaustive // all others have ended
		case echo.StatusPending:
		case echo.StatusRunning:
			took = whole(now.Sub(t.since))
		default:
			took = whole(t.took)
		}
		return clocked(took, strings.TrimRight(columns(rows[i], does[i]), " "))
	})
}

// leftmost marks the cells that begin at the left of their column.
const leftmost = "\x00"

// cells are number, state, place, tokens, money, model, and how its instructions differ.
func (t *try) cells(width int) []string {
	tokens, cost := "", ""
	if s := &t.load.spent; s.Calls > s.Failed || s.UnknownCosts > 0 {
		tokens = term.Count(s.Usage.In+s.Usage.Out) + " tokens"
		cost = quantity.Cost(s.KnownUSD(), s.UnknownCosts)
	}
	out := []string{strconv.Itoa(t.number), leftmost + t.state(), leftmost + placeOf(t.attempt, t.turn), tokens, cost, leftmost + term.Cut(term.OneLine(t.model), longestName)}
	if width >= leastForVaried {
		out = append(out, leftmost+term.Cut(t.varied, mostVaried))
	}
	return out
}

// aligned writes rows of cells below each other, without columns that are empty.
func aligned(cells [][]string) []string {
	rows := make([]string, len(cells))
	if len(cells) == 0 {
		return rows
	}
	for c := range cells[0] {
		widest := 0
		for i := range cells {
			widest = max(widest, runewidth.StringWidth(strings.TrimPrefix(cells[i][c], leftmost)))
		}
		if widest == 0 {
			continue
		}
		for i := range cells {
			text, left := strings.CutPrefix(cells[i][c], leftmost)
			if left {
				text = runewidth.FillRight(text, widest)
			} else {
				text = runewidth.FillLeft(text, widest)
			}
			if rows[i] != "" {
				rows[i] += "  "
			}
			rows[i] += text
		}
	}
	return rows
}

// line says how far the judging is; "" before it has begun.
func (j *judges) line() string {
	if j.asked == 0 && j.pairs == 0 && j.scores == 0 {
		return ""
	}
	what := "judging with "
	if j.writing {
		what = "writing one answer from all with "
	}
	money := ""
	if j.spent.Calls > 0 {
		money = quantity.Cost(j.spent.KnownUSD(), j.spent.UnknownCosts)
	}
	return joined(", ", what+term.OneLine(j.model), j.open(), j.held(), j.evidence(), money)
}

// open counts the ballots that are not answered yet.
func (j *judges) open() string {
	if n := j.asked - j.ended; n > 0 && !j.writing {
		return quantity.Of(n, "ballot") + " open"
	}
	return ""
}

// held says which votes the pairs have come to.
func (j *judges) held() string {
	if j.scores > 0 {
		return quantity.Of(j.scores, "score")
	}
	if j.pairs == 0 {
		return ""
	}
	var parts []string
	left := j.pairs
	for _, n := range slices.Sorted(maps.Keys(j.votes)) {
		parts = append(parts, fmt.Sprintf("%s for %d", quantity.Of(j.votes[n], "vote"), n))
		left -= j.votes[n]
	}
	if left > 0 {
		parts = append(parts, fmt.Sprintf("%d without a vote", left))
	}
	return fmt.Sprintf("%s held: %s", quantity.Of(j.pairs, "pair"), strings.Join(parts, ", "))
}

// evidence is that of the election, which the choice has at its end, and what is needed.
func (j *judges) evidence() string {
	if j.newest == nil || j.newest.Evidence == nil {
		return ""
	}
	e := j.newest.Evidence
	return fmt.Sprintf("evidence %s of %s needed", evidenceText(e.EValue), evidenceText(e.Needed))
}

func evidenceText(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// pairText says what a pair of ballots has come to, once both are recorded; "" before.
func pairText(d *echo.Ballot) string {
	j := judges{newest: d}
	switch {
	case d.Pair == 0 || !d.Reverse:
		return ""
	case d.Vote != nil:
		return joined(", ", fmt.Sprintf("pair %d: a vote for %d", d.Pair, *d.Vote), j.evidence())
	}
	return joined(", ", fmt.Sprintf("pair %d: no vote", d.Pair), j.evidence())
}

// styled is a line and its colour.
type styled struct {
	style term.Colour
	text  string
}

// all are the choices so far, how the candidates stand, each of them, and the judging.
func (c *contest) all(now time.Time, room Room, inner followed) []styled {
	var out []styled
	add := func(style term.Colour, text string) {
		if text != "" {
			out = append(out, styled{style, text})
		}
	}
	for _, choice := range c.settled() {
		add(term.Dim, "  "+choice)
	}
	add(term.Dim, labelled("  ", c.sum()))
	for _, line := range c.lines(now, room.Height, room.Width, inner) {
		add(term.Cyan, line)
	}
	add(term.Dim, labelled("  ", c.judging()))
	return out
}
