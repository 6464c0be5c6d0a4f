package simulate

import "slices"

// Report has a group for each file and price and, with several files, for each price over all.
type Report struct {
	Groups []*Group `json:"groups"`
	Total  []*Group `json:"total,omitempty"`
}

// Group is a table of the report: one file, or all, at one price.
type Group struct {
	File          string     `json:"file,omitempty"` // "": all files
	Prices        Prices     `json:"prices"`
	Conversations int        `json:"conversations"`
	Calls         int        `json:"calls"`
	TokensFull    int64      `json:"tokens_full"` // that full history would send
	MoneyFull     float64    `json:"money_full"`  // in USD, or in tokens at full price
	Policies      []*Summary `json:"policies"`

	// AsRun is what a session really sent, in the same measures; nil: it is not recorded.
	AsRun   *Summary `json:"as_run,omitempty"`
	PaidUSD *float64 `json:"paid_usd,omitempty"` // by the record, answers included; nil: unknown

	Series []*Series `json:"series,omitempty"` // when the simulation asks for them
}

// Summary is one policy in a [Group].
type Summary struct {
	Policy       string   `json:"policy"`
	TokensSent   int64    `json:"tokens_sent"`
	TokensShared int64    `json:"tokens_shared"` // of them in prefixes of the request before
	Saved        float64  `json:"saved"`         // share of full history that is not sent
	Cached       float64  `json:"cached"`        // share of the sent tokens that is shared
	Money        float64  `json:"money"`
	OfFull       float64  `json:"of_full"` // money as a share of that of full history
	OfBest       *float64 `json:"of_best"` // of the best in hindsight; null: there is none

	Worst     float64 `json:"worst"` // the largest share of full history's money in one conversation
	WorstFile string  `json:"worst_file,omitempty"`
	WorstAt   int     `json:"worst_conversation"`
	WorstName string  `json:"worst_name,omitempty"`

	Invalid      int      `json:"invalid"` // requests that a provider would refuse
	FirstInvalid string   `json:"first_invalid,omitempty"`
	References   int      `json:"references"`      // of calls' arguments to what occurred earlier
	Kept         int      `json:"references_kept"` // of them, those in the request
	KeptShare    *float64 `json:"kept"`            // null when there are no references

	// How it differs from what was really sent; nil: that is not recorded.
	Changed     *int     `json:"calls_changed,omitempty"` // calls that are sent something else
	TokensOfRun *float64 `json:"tokens_of_run,omitempty"` // as a share of what was sent
	MoneyOfRun  *float64 `json:"money_of_run,omitempty"`

	best float64 // money of the best schedule
}

// Collector adds outcomes up. It belongs to one goroutine.
type Collector struct {
	sim    *Simulation
	best   []int // for each policy the index of its hindsight, -1 when there is none
	report Report
	files  map[string][]*Group // by file, one for each price
}

// NewCollector returns a collector for the outcomes of a simulation.
func NewCollector(s *Simulation) *Collector {
	c := &Collector{sim: s, files: map[string][]*Group{}}
	for _, p := range s.Policies {
		c.best = append(c.best, hindsightOf(s.Policies, p))
	}
	c.report.Total = c.groups("")
	return c
}

func (c *Collector) groups(file string) []*Group {
	var out []*Group
	for _, prices := range c.sim.Prices {
		g := &Group{File: file, Prices: prices, AsRun: &Summary{Policy: AsRun}, PaidUSD: new(float64)}
		for _, p := range c.sim.Policies {
			g.Policies = append(g.Policies, &Summary{Policy: p.Name})
		}
		out = append(out, g)
	}
	return out
}

// Add adds one outcome.
func (c *Collector) Add(o *Outcome) {
	file := o.Conversation.File
	groups, ok := c.files[file]
	if !ok {
		groups = c.groups(file)
		c.files[file] = groups
		c.report.Groups = append(c.report.Groups, groups...)
	}
	n := len(c.sim.Policies)
	for i := range c.sim.Prices {
		runs := o.Runs[i*n : (i+1)*n]
		for _, g := range []*Group{groups[i], c.report.Total[i]} {
			c.addTo(g, o.Conversation, &o.Full[i], runs)
			g.addAsRun(o, i, runs)
			if c.sim.Series {
				g.addSeries(o, i, runs)
			}
		}
	}
}

func (c *Collector) addTo(g *Group, of *Conversation, full *Run, runs []Run) {
	all := full.total()
	g.Conversations++
	g.Calls += len(full.Calls)
	g.TokensFull += all.tokens
	g.MoneyFull += all.money
	for i := range runs {
		s := g.Policies[i]
		s.add(&runs[i], all, of)
		if b := c.best[i]; b >= 0 {
			s.best += runs[b].total().money
		}
	}
}

type total struct {
	tokens, shared int64
	money          float64
}

func (r *Run) total() (t total) {
	for i := range r.Calls {
		t.tokens += r.Calls[i].Tokens
		t.shared += r.Calls[i].Shared
		t.money += r.Calls[i].Money
	}
	return t
}

// add adds a run of a conversation for which full history takes so much.
func (s *Summary) add(r *Run, full total, of *Conversation) {
	t := r.total()
	s.TokensSent += t.tokens
	s.TokensShared += t.shared
	s.Money += t.money
	if full.money > 0 && t.money/full.money > s.Worst {
		s.Worst = t.money / full.money
		s.WorstFile, s.WorstAt, s.WorstName = of.File, of.Number, of.Name
	}
	for i := range r.Calls {
		call := &r.Calls[i]
		if call.Invalid != "" {
			if s.Invalid++; s.Invalid == 1 {
				s.FirstInvalid = call.Invalid
			}
		}
		s.References += call.References
		s.Kept += call.Kept
	}
}

// Report returns what was added up. Nothing may be added afterwards.
func (c *Collector) Report() *Report {
	for _, g := range slices.Concat(c.report.Groups, c.report.Total) {
		for i, s := range g.Policies {
			s.finish(g, c.best[i] >= 0)
		}
		g.finishAsRun(c)
	}
	if len(c.files) < 2 {
		c.report.Total = nil
	}
	return &c.report
}

func (s *Summary) finish(g *Group, measured bool) {
	s.Saved = 1 - ratio(float64(s.TokensSent), float64(g.TokensFull))
	s.Cached = ratio(float64(s.TokensShared), float64(s.TokensSent))
	s.OfFull = ratio(s.Money, g.MoneyFull)
	if measured && s.best > 0 {
		s.OfBest = new(s.Money / s.best)
	}
	if s.References > 0 {
		s.KeptShare = new(float64(s.Kept) / float64(s.References))
	}
}

// ratio returns a / b, and 1 when both are nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}
