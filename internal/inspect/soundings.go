package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Sounding is a phase, an element of a list or a whole cascade of which there were several tries.
type Sounding struct {
	Key   echo.Key       `json:"key"`             // of the visit, the element or the run
	Phase string         `json:"phase,omitempty"` // "": the whole cascade
	Kept  echo.Key       `json:"kept,omitzero"`   // the candidate that is kept; zero: none is, or none yet
	Steps []SoundingStep `json:"steps"`           // the first choice, then the steps of refinement
}

// SoundingStep is one choice among candidates.
type SoundingStep struct {
	Step       int           `json:"step"` // of refinement, from 1; 0: the first choice
	Candidates []Candidate   `json:"candidates"`
	Pairs      []BallotPair  `json:"pairs"`
	Scores     []echo.Ballot `json:"scores,omitempty"`
	Judges     []Judge       `json:"judges"`
	Choice     *echo.Choice  `json:"choice"`             // nil: it was not made yet
	Waits      string        `json:"waits_id,omitempty"` // the wait by which a person is to choose; "": none does now
}

// Candidate is one of several tries.
type Candidate struct {
	Key      echo.Key       `json:"key"`
	Number   int            `json:"number"`
	Index    int            `json:"index"` // as templates see it
	Model    string         `json:"model,omitempty"`
	Mutation *echo.Mutation `json:"mutation,omitempty"`
	Session  string         `json:"session,omitempty"` // of a whole cascade
	Status   echo.Status    `json:"status"`
	Error    string         `json:"error,omitempty"`
	Turns    int            `json:"turns"`
	Calls    int            `json:"model_calls"`
	Usage    echo.Usage     `json:"usage"`
	CostUSD  *float64       `json:"cost_usd"`           // nil: not known
	PriceAs  string         `json:"price_as,omitempty"` // whose prices PretendUSD has
	Pretend  float64        `json:"pretend_usd,omitempty"`
	Verdicts []echo.Verdict `json:"verdicts,omitempty"`
	Output   string         `json:"output,omitempty"`
	Standing *echo.Standing `json:"standing"` // nil: no choice was made yet
	Kept     bool           `json:"kept"`
}

// BallotPair are two ballots, of which the second had the order of the first reversed.
type BallotPair struct {
	Pair   int          `json:"pair"`
	First  *echo.Ballot `json:"first"`  // nil: it is not recorded
	Second *echo.Ballot `json:"second"` // likewise
}

// Vote returns the candidate that both ballots name; ok is false when they differ or one names none.
func (p *BallotPair) Vote() (number int, ok bool) {
	if p.Second == nil || p.Second.Vote == nil {
		return 0, false
	}
	return *p.Second.Vote, true
}

// Flipped reports whether both ballots have a verdict and these differ.
func (p *BallotPair) Flipped() bool {
	return p.told() && (p.First.Winner == nil) != (p.Second.Winner == nil) || p.told() && p.First.Winner != nil && *p.First.Winner != *p.Second.Winner
}

// told reports whether both ballots have a verdict.
func (p *BallotPair) told() bool {
	return p.First != nil && p.Second != nil && p.First.Said != "" && p.Second.Said != ""
}

// Judge is what the ballots of one judge come to.
type Judge struct {
	Model    string   `json:"model"`
	Ballots  int      `json:"ballots"` // and scores
	Pairs    int      `json:"pairs"`   // whose ballots both have a verdict
	Flips    int      `json:"flips"`   // of them: the verdict turned with the order
	Ties     int      `json:"ties"`
	Problems int      `json:"problems"` // ballots without a verdict
	CostUSD  *float64 `json:"cost_usd"` // nil: that of one of them is not known
}

// FlipRate returns the part of the pairs that flipped, 0 without pairs.
func (j *Judge) FlipRate() float64 {
	if j.Pairs == 0 {
		return 0
	}
	return float64(j.Flips) / float64(j.Pairs)
}

// AllFailed reports whether there was nothing to choose from: every candidate has failed.
func (st *SoundingStep) AllFailed() bool {
	return len(st.Candidates) > 0 && !slices.ContainsFunc(st.Candidates, func(c Candidate) bool { return c.Status != echo.StatusFailed })
}

// Unchosen says why there is no choice.
func (st *SoundingStep) Unchosen() string {
	if st.Waits != "" {
		return "a person is to choose: windlass answer " + st.Waits
	}
	if st.AllFailed() {
		return fmt.Sprintf("all %s failed, so there was nothing to choose from", quantity.Of(len(st.Candidates), "candidate"))
	}
	return "no choice was made yet"
}

// Choices returns the choices that were made, in the order of their steps.
func (s *Sounding) Choices() []echo.Choice {
	var out []echo.Choice
	for i := range s.Steps {
		if c := s.Steps[i].Choice; c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// Soundings returns the soundings of the session in the order in which they began, or those of a phase:
// its name, or the key of a visit or an element. The error is of [failure.InvalidRequest] when there are
// none.
func (r *Record) Soundings(phase string) ([]Sounding, error) {
	all, err := r.AllSoundings()
	if err != nil {
		return nil, err
	}
	var out []Sounding
	var names []string
	for i := range all {
		s := &all[i]
		names = append(names, cmp.Or(s.Phase, s.Key.String()))
		if phase == "" || phase == s.Phase || phase == s.Key.String() {
			out = append(out, *s)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(names) == 0:
		return nil, failure.New(failure.InvalidRequest, fmt.Errorf("session %s has no soundings: no phase of it was tried several times", r.ID), "")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	near := suggestion.Nearest(phase, names, 3)
	return nil, failure.New(failure.InvalidRequest, fmt.Errorf("session %s has no soundings of %.200q; it has some of %s", r.ID, phase, strings.Join(near, ", ")), "")
}

// AllSoundings returns the soundings of the session in the order in which they began; none is no error.
func (r *Record) AllSoundings() ([]Sounding, error) {
	t := tries{session: r.ID, at: map[echo.Key]*Sounding{}}
	for _, e := range record.Counted(r.Entries) {
		if err := t.add(e); err != nil {
			return nil, failure.New(failure.Damaged, fmt.Errorf("the record of session %s does not fit together: %w", r.ID, err), "")
		}
	}
	out := make([]Sounding, 0, len(t.order))
	for _, key := range t.order {
		s := t.at[key]
		t.finish(s)
		out = append(out, *s)
	}
	return out, nil
}

// tries collects soundings from entries.
type tries struct {
	session string
	at      map[echo.Key]*Sounding
	order   []echo.Key
}

// place returns what an entry is of: the sounding, the step of refinement, and the number of the candidate, 0 for none.
func place(k echo.Key) (sounded echo.Key, step, number int) {
	p := k.Path()
	p.Attempt, p.Turn, p.Effect = 0, 0, nil
	if n := len(p.Branches); n > 0 && p.Branches[n-1].Kind == echo.StepSounding {
		number, p.Branches = p.Branches[n-1].Number, p.Branches[:n-1]
	}
	if n := len(p.Branches); n > 0 && p.Branches[n-1].Kind == echo.StepReforge {
		step, p.Branches = p.Branches[n-1].Number, p.Branches[:n-1]
	}
	return p.Key(), step, number
}

func (t *tries) add(e *echo.Entry) error {
	sounded, n, number := place(e.Key)
	switch e.NodeType { //nolint:exhaustive // the others say nothing of it by themselves
	case echo.NodeCandidate:
		return t.begin(e, sounded, n, number)
	case echo.NodeBallot:
		return t.ballot(e, sounded, n)
	case echo.NodeWait:
		if isChoice(e.Key) {
			t.step(sounded, n).Waits = echo.WaitID(t.session, e.Key)
			return nil
		}
	case echo.NodeAnswer:
		if isChoice(e.Key) {
			t.step(sounded, n).Waits = ""
			return nil
		}
	case echo.NodeChoice:
		d, err := echo.Read[echo.Choice](e)
		if err == nil {
			t.step(sounded, n).Choice = &d
		}
		return err
	}
	if s := t.at[sounded]; s != nil && number > 0 {
		if c := s.candidate(n, number); c != nil {
			return c.add(e)
		}
	}
	return nil
}

// isChoice reports whether a wait is that for a choice among candidates.
func isChoice(k echo.Key) bool {
	p := k.Path()
	n := len(p.Effect)
	return n > 1 && p.Effect[n-1].Kind == echo.StepWait && p.Effect[n-2].Kind == echo.StepChoice
}

// step returns a step of a sounding, which begins with it.
func (t *tries) step(sounded echo.Key, n int) *SoundingStep {
	s := t.at[sounded]
	if s == nil {
		path := sounded.Path()
		s = &Sounding{Key: sounded, Phase: path.Phase}
		t.at[sounded], t.order = s, append(t.order, sounded)
	}
	i, found := slices.BinarySearchFunc(s.Steps, n, func(s SoundingStep, n int) int { return cmp.Compare(s.Step, n) })
	if !found {
		s.Steps = slices.Insert(s.Steps, i, SoundingStep{Step: n, Candidates: []Candidate{}, Pairs: []BallotPair{}, Judges: []Judge{}})
	}
	return &s.Steps[i]
}

func (s *Sounding) candidate(step, number int) *Candidate {
	for i := range s.Steps {
		if s.Steps[i].Step != step {
			continue
		}
		for j := range s.Steps[i].Candidates {
			if s.Steps[i].Candidates[j].Number == number {
				return &s.Steps[i].Candidates[j]
			}
		}
	}
	return nil
}

func (t *tries) begin(e *echo.Entry, sounded echo.Key, n, number int) error {
	d, err := echo.Read[echo.Candidate](e)
	if err != nil {
		return err
	}
	st := t.step(sounded, n)
	if c := t.at[sounded].candidate(n, number); c != nil { // again, with rewritten instructions, or after the run was resumed
		c.Model, c.Mutation = d.Model, d.Mutation
		return nil
	}
	path := e.Key.Path()
	path.Effect = nil
	zero := 0.0
	st.Candidates = append(st.Candidates, Candidate{
		Key: path.Key(), Number: number, Index: d.Index, Model: d.Model, Mutation: d.Mutation, Status: echo.StatusRunning, CostUSD: &zero,
	})
	return nil
}

// add takes an entry of a candidate.
func (c *Candidate) add(e *echo.Entry) error {
	last := e.Key.Path()
	switch e.NodeType { //nolint:exhaustive // the others say nothing of it
	case echo.NodeModelCall:
		c.count(e)
	case echo.NodeVerdict:
		d, err := echo.Read[echo.Verdict](e)
		if err != nil {
			return err
		}
		c.Verdicts = append(c.Verdicts, d)
	case echo.NodePhaseEnd:
		if last.Last().Kind == echo.StepFinish {
			return c.end(e)
		}
	case echo.NodeChildStart:
		if last.Last().Kind == echo.StepCandidate {
			d, err := echo.Read[echo.ChildStart](e)
			c.Session = d.Session
			return err
		}
	case echo.NodeChildEnd:
		return c.child(e)
	}
	return nil
}

func (c *Candidate) count(e *echo.Entry) {
	c.Calls++
	if e.Usage != nil {
		c.Usage = c.Usage.Add(*e.Usage)
	}
	c.pay(e.CostUSD, e.Pretend)
}

// copied adds what a child has copied: a candidate is shown with all that it took.
func (c *Candidate) copied(t *echo.CopiedTotals) {
	if t == nil {
		return
	}
	c.Calls, c.Usage = c.Calls+t.Calls, c.Usage.Add(t.Usage)
	usd := &t.CostUSD
	if t.Unknown > 0 {
		usd = nil
	}
	c.pay(usd, t.Pretend)
}

// pay adds what something cost, nil when that is not known, and what it would have cost at pretended prices.
func (c *Candidate) pay(usd *float64, pretend *echo.Pretend) {
	if pretend != nil {
		c.Pretend, c.PriceAs = record.RoundUSD(c.Pretend+pretend.USD), pretend.Model
	}
	if usd == nil || c.CostUSD == nil {
		c.CostUSD = nil
		return
	}
	sum := record.RoundUSD(*c.CostUSD + *usd)
	c.CostUSD = &sum
}

func (c *Candidate) end(e *echo.Entry) error {
	d, err := echo.Read[echo.PhaseEnd](e)
	if err != nil {
		return err
	}
	c.Status, c.Turns, c.Output = d.Status, d.Turns, outputText(d.Output)
	if e.Error != nil {
		c.Error = e.Error.Message
	}
	return nil
}

// child takes the end of a child: of the candidate itself, when that is a whole cascade, or of one that it has begun.
func (c *Candidate) child(e *echo.Entry) error {
	d, err := echo.Read[echo.ChildEnd](e)
	if err != nil {
		return err
	}
	c.Calls += d.Calls
	if e.Usage != nil {
		c.Usage = c.Usage.Add(*e.Usage)
	}
	c.pay(e.CostUSD, e.Pretend)
	c.copied(d.Copied)
	p := e.Key.Path()
	if p.Last().Kind != echo.StepCandidate {
		return nil
	}
	c.Status, c.Output = d.Status, outputText(d.Output)
	if e.Error != nil {
		c.Error = e.Error.Message
	}
	return nil
}

// outputText is an output as a person reads it.
func outputText(output any) string {
	if output == nil {
		return ""
	}
	return echo.AsText(output)
}

func (t *tries) ballot(e *echo.Entry, sounded echo.Key, n int) error {
	d, err := echo.Read[echo.Ballot](e)
	if err != nil {
		return err
	}
	st := t.step(sounded, n)
	if d.Pair == 0 {
		st.Scores = append(st.Scores, d)
		return nil
	}
	i, found := slices.BinarySearchFunc(st.Pairs, d.Pair, func(p BallotPair, n int) int { return cmp.Compare(p.Pair, n) })
	if !found {
		st.Pairs = slices.Insert(st.Pairs, i, BallotPair{Pair: d.Pair})
	}
	if d.Reverse {
		st.Pairs[i].Second = &d
	} else {
		st.Pairs[i].First = &d
	}
	return nil
}

// finish works out what follows from the whole.
func (t *tries) finish(s *Sounding) {
	for i := range s.Steps {
		st := &s.Steps[i]
		slices.SortFunc(st.Candidates, func(a, b Candidate) int { return cmp.Compare(a.Number, b.Number) })
		st.Judges = st.judges()
		if st.Choice == nil {
			continue
		}
		for j := range st.Choice.Standings {
			if c := s.candidate(st.Step, st.Choice.Standings[j].Number); c != nil {
				c.Standing = &st.Choice.Standings[j]
			}
		}
		if c := s.candidate(st.Step, st.Choice.Winner); c != nil && st.Choice.Winner > 0 {
			s.Kept = c.Key
		}
	}
	for i := range s.Steps {
		for j := range s.Steps[i].Candidates {
			c := &s.Steps[i].Candidates[j]
			c.Kept = c.Key == s.Kept
		}
	}
}

// judges sums up the ballots and scores of a step by judge, in the order of their names.
func (st *SoundingStep) judges() []Judge {
	by := map[string]*Judge{}
	of := func(b *echo.Ballot) *Judge {
		if by[b.Judge] == nil {
			by[b.Judge] = &Judge{Model: b.Judge, CostUSD: new(float64)}
		}
		return by[b.Judge]
	}
	count := func(b *echo.Ballot) {
		if b == nil {
			return
		}
		j := of(b)
		j.Ballots++
		if b.Said == "tie" {
			j.Ties++
		}
		if b.Problem != "" {
			j.Problems++
		}
		if b.CostUSD == nil || j.CostUSD == nil {
			j.CostUSD = nil
			return
		}
		*j.CostUSD = record.RoundUSD(*j.CostUSD + *b.CostUSD)
	}
	for i := range st.Pairs {
		p := &st.Pairs[i]
		count(p.First)
		count(p.Second)
		if p.told() {
			of(p.Second).Pairs++
		}
		if p.Flipped() {
			of(p.Second).Flips++
		}
	}
	for i := range st.Scores {
		count(&st.Scores[i])
	}
	out := []Judge{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}
