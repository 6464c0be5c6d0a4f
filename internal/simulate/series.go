package simulate

// Series are the calls of a policy one by one, in the order of the conversations.
type Series struct {
	Policy      string    `json:"policy"`
	Tokens      []int64   `json:"tokens_sent"`
	Shared      []int64   `json:"tokens_shared"` // of them
	Money       []float64 `json:"money"`
	SharedMoney []float64 `json:"money_shared"` // of it, what the shared tokens cost
	MoneySoFar  []float64 `json:"money_so_far"` // of all calls up to this one
}

func (s *Series) add(calls []Call, prices Prices) {
	for i := range calls {
		c := &calls[i]
		so := c.Money
		if n := len(s.MoneySoFar); n > 0 {
			so += s.MoneySoFar[n-1]
		}
		s.Tokens = append(s.Tokens, c.Tokens)
		s.Shared = append(s.Shared, c.Shared)
		s.Money = append(s.Money, c.Money)
		s.SharedMoney = append(s.SharedMoney, prices.Money(c.Shared, c.Shared))
		s.MoneySoFar = append(s.MoneySoFar, so)
	}
}

// addSeries adds the calls of a conversation: those of full history, of what was really sent, and of
// the policies. Full history is there whether it is among the policies or not.
func (g *Group) addSeries(o *Outcome, prices int, runs []Run) {
	all := map[string][]Call{PolicyFull: o.Full[prices].Calls}
	names := []string{PolicyFull}
	if g.AsRun != nil {
		all[AsRun] = o.AsRun[prices].Calls
		names = append(names, AsRun)
	}
	for i := range runs {
		if _, full := all[runs[i].Policy]; !full {
			names = append(names, runs[i].Policy)
		}
		all[runs[i].Policy] = runs[i].Calls
	}
	for _, name := range names {
		s := g.OneSeries(name)
		if s == nil {
			s = &Series{Policy: name}
			g.Series = append(g.Series, s)
		}
		s.add(all[name], g.Prices)
	}
}

// OneSeries returns the series of a policy, nil when there is none.
func (g *Group) OneSeries(policy string) *Series {
	for _, s := range g.Series {
		if s.Policy == policy {
			return s
		}
	}
	return nil
}
