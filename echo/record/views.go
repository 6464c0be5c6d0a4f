package record

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// addChange takes what a person has taken out of the views of the session. Each branch of a run has recorded it.
func (s *state) addChange(e *echo.Entry, p *echo.Path) {
	if e.NodeType != echo.NodeValue || p.Last().Kind != echo.StepChange {
		return
	}
	if c, err := echo.Read[echo.ViewChange](e); err == nil {
		s.withdrawals = s.withdrawals.With(&c)
	}
}

// Withdrawals returns what persons have taken out of the views of a session, as far as a run has taken that.
func Withdrawals(f *Fold) *echo.Withdrawals { return f.now.withdrawals }

// Withdraw has a fold know what persons have taken out of the views of its session, also what no run has taken yet.
func Withdraw(f *Fold, w *echo.Withdrawals) {
	if w.Last() > f.now.withdrawals.Last() {
		f.now.withdrawals = w
	}
}

// Withdrawn returns the entries of which persons have taken the messages out of the views of a session; nil: none.
func Withdrawn(f *Fold) map[*echo.Entry]bool {
	if f.now.withdrawals.Whole() {
		return nil
	}
	out := map[*echo.Entry]bool{}
	s := SessionOf(f)
	for i, v := range s.Phases {
		told := Told(f, f.now.visits[i].Key)
		for n, it := range s.Marked(v) {
			if it.Withdrawn != echo.InView {
				out[told[n]] = true
			}
		}
	}
	return out
}

// SessionOf returns the session of a record as it is by now, with what persons have taken out of its views.
func SessionOf(f *Fold) *echo.Session {
	return &echo.Session{
		Phases: Records(f), State: f.Shared(), Withdrawals: f.now.withdrawals, KeepsValues: rulesOf(f.Start()) < echo.RulesKeepLookups,
	}
}

// rulesOf returns the number of the rules under which a run began; the newest where its start does not say.
func rulesOf(start *echo.Entry) int {
	header := struct {
		Rules int `json:"rules"`
	}{}
	if start == nil {
		return echo.RulesKeepLookups
	}
	d, err := echo.Read[echo.RunStart](start)
	if err != nil || json.Unmarshal(d.Header, &header) != nil || header.Rules == 0 {
		return echo.RulesKeepLookups
	}
	return header.Rules
}

// Records returns the visits with their messages, in the order in which they began. The messages of a list's elements come in
// their order; those of candidates are there when one was chosen. Orders of items say which are own messages of their visit.
func Records(f *Fold) []*echo.PhaseRecord {
	visits := f.Visits()
	out := make([]*echo.PhaseRecord, len(visits))
	for i := range visits {
		v := &visits[i]
		r := &echo.PhaseRecord{Name: v.Phase, Visit: v.Number, Model: v.Model, Output: v.Output, Done: v.Status.IsSuccess()}
		for _, e := range Told(f, v.Key) {
			it := echo.Item{Message: e.Message, Attempt: e.Attempt, Turn: e.Turn, Element: ElementOf(e)}
			if IsOwn(e) {
				it.Order = int(e.Seq)
			}
			r.History = append(r.History, it)
		}
		out[i] = r
	}
	return out
}

// Told returns the entries with the messages of a visit in the order of [Records].
func Told(f *Fold, visit echo.Key) []*echo.Entry {
	elements := slices.DeleteFunc(slices.Clone(f.now.parts[visit]), func(b *branch) bool { return b.Step.Kind != echo.StepItem })
	slices.SortStableFunc(elements, func(a, b *branch) int { return cmp.Compare(a.Step.Number, b.Step.Number) })
	var out []*echo.Entry
	for _, b := range elements {
		out = append(out, f.History(b.Key)...)
	}
	return append(out, f.History(visit)...)
}

// ElementOf returns the number of the element of a list, from 1, that an entry is of; 0: it is of none.
func ElementOf(e *echo.Entry) int {
	p := e.Key.Path()
	for _, step := range p.Branches {
		if step.Kind == echo.StepItem {
			return step.Number
		}
	}
	return 0
}
