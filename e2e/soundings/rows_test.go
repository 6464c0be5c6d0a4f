//go:build unix

package soundings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// view is a view of ClickHouse, and the rows that it has by what journals say: each once.
type view struct {
	name    string
	id      []string // the columns of which a row has values of its own
	columns []string // the others
	rows    map[string]string
}

// add adds a row: the values of id, then those of columns.
func (v *view) add(values ...any) {
	at := row(values[:len(v.id)]...)
	if _, ok := v.rows[at]; ok || len(values) != len(v.id)+len(v.columns) {
		panic(fmt.Sprintf("%s: %s is there twice, or has %d values", v.name, at, len(values)))
	}
	v.rows[at] = row(values[len(v.id):]...)
}

// hold demands that ClickHouse has the rows and no others.
func (v *view) hold(w *billed.World) {
	w.T.Helper()
	all := append(slices.Clone(v.id), v.columns...)
	got := map[string]string{}
	for _, values := range query(w, "SELECT "+strings.Join(all, ", ")+" FROM "+v.name, all) {
		at := row(values[:len(v.id)]...)
		require.NotContains(w.T, got, at, "%s has a row twice", v.name)
		got[at] = row(values[len(v.id):]...)
	}
	require.Equal(w.T, v.rows, got, "%s: %s by %s", v.name, strings.Join(v.columns, " | "), strings.Join(v.id, " | "))
}

// query reads rows from ClickHouse.
func query(w *billed.World, sql string, columns []string) [][]any {
	w.T.Helper()
	var rows []map[string]any
	e := w.MustRun(0, "sql", "--json", sql)
	require.NoError(w.T, json.Unmarshal([]byte(e.Out), &rows), e.Out)
	out := make([][]any, len(rows))
	for i, r := range rows {
		for _, c := range columns {
			require.Contains(w.T, r, c)
			out[i] = append(out[i], r[c])
		}
	}
	return out
}

// row writes values so that those that are the same are written the same.
func row(values ...any) string {
	var b strings.Builder
	for _, v := range values {
		switch x := v.(type) {
		case *int:
			if v = nil; x != nil {
				v = float64(*x)
			}
		case *float64:
			if v = nil; x != nil {
				v = *x
			}
		case int:
			v = float64(x)
		case int64:
			v = float64(x)
		}
		if f, ok := v.(float64); ok {
			v = fmt.Sprintf("%.9g", f)
		}
		fmt.Fprintf(&b, "%v | ", v)
	}
	return b.String()
}

// viewsOf returns what journals come to, view by view.
func viewsOf(t *billed.Tree) ([]*view, error) {
	candidates, ballots, judges := soundingsView(), ballotsView(), judgesView()
	byJudge := map[string]*judge{}
	for _, s := range t.All {
		all, err := triesOf(s)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			for key, c := range x.candidates {
				candidates.add(x.rowOf(s, key, &c, all)...)
			}
			for key, b := range x.ballots {
				ballots.add(rowOfBallot(s, key, &b)...)
			}
			x.countJudges(s, byJudge)
		}
	}
	for name, j := range byJudge {
		judges.add(name, len(j.sessions), j.ballots, j.scores, j.silent, j.ties, j.pairs, j.votes, j.flips, j.usd)
	}
	sessions, costs := sessionsViews(t)
	return append([]*view{candidates, ballots, judges, sessions}, costs...), nil
}

func soundingsView() *view {
	return &view{
		name: "soundings", id: []string{"session_id", "key"}, rows: map[string]string{},
		columns: []string{
			"phase_name", "reforge", "sounding", "candidate_index", "factor", "model", "mutation_mode", "mutation", "rewritten", "species", "verdicts", "rejections", "state", "won_step", "is_winner", "why",
			"votes", "e_value", "quality", "worth", "same_as", "how", "tie", "pairs", "confidence", "tokens", "cost_usd",
		},
	}
}

// rowOf returns a candidate as the view soundings has it. All are the choices of its session.
func (x *tried) rowOf(s *billed.Session, key string, c *echo.Candidate, all map[string]*tried) []any {
	m := echo.Mutation{}
	if c.Mutation != nil {
		m = *c.Mutation
	}
	verdicts, rejections := verdictsOf(s, strings.TrimSuffix(key, "candidate"))
	choice, standing := &echo.Choice{}, echo.Standing{State: "unfinished"}
	if x.choice != nil {
		choice = x.choice
		standing = choice.Standings[slices.IndexFunc(choice.Standings, func(st echo.Standing) bool { return st.Number == c.Index+1 })]
	}
	won := standing.State == echo.CandidateWon
	return []any{
		s.Header.SessionID, key, phaseOf(key), x.step(), c.Index + 1, c.Index, c.Factor, c.Model, m.Mode, m.Entry, m.Text, c.Species, verdicts, rejections,
		string(standing.State), won, won && keptStep(all, x.sounded()) == x.step(), standing.Why,
		standing.Votes, standing.EValue, standing.Quality, standing.Value, standing.SameAs, string(choice.How), choice.Tie, choice.Pairs, choice.Confidence,
		standing.Tokens, standing.CostUSD,
	}
}

// keptStep returns the last step of which a candidate won.
func keptStep(all map[string]*tried, sounded string) int {
	last := 0
	for _, x := range all {
		if x.sounded() == sounded && x.choice != nil && x.choice.Winner > 0 {
			last = max(last, x.step())
		}
	}
	return last
}

// verdictsOf counts those of a candidate, by what its keys begin with.
func verdictsOf(s *billed.Session, prefix string) (verdicts, rejections int) {
	for _, e := range record.Counted(s.Entries) {
		if e.NodeType != echo.NodeVerdict || !strings.HasPrefix(e.Key.String(), prefix) {
			continue
		}
		verdicts++
		if v, err := echo.Read[echo.Verdict](e); err == nil && !v.Valid {
			rejections++
		}
	}
	return verdicts, rejections
}

// phaseOf returns the phase of a key, "" where it is of the run.
func phaseOf(key string) string {
	first, _, _ := strings.Cut(key, "/")
	name, _, _ := strings.Cut(first, ":")
	return strings.TrimPrefix(name, "run")
}

func ballotsView() *view {
	return &view{
		name: "ballots", id: []string{"session_id", "key"}, rows: map[string]string{},
		columns: []string{"phase_name", "step", "pair", "reverse", "judge", "shown", "labels", "said", "named", "vote", "score", "why", "problem", "length(e_values)", "cost_usd"},
	}
}

func rowOfBallot(s *billed.Session, key string, b *echo.Ballot) []any {
	return []any{
		s.Header.SessionID, key, phaseOf(key), b.Step, b.Pair, b.Reverse, b.Judge, b.Order, b.Labels, b.Said, b.Winner, b.Vote, b.Score, b.Why, b.Problem, len(b.EValues), b.CostUSD,
	}
}

func judgesView() *view {
	return &view{
		name: "judges", id: []string{"judge"}, rows: map[string]string{},
		columns: []string{"sessions", "ballots", "scores", "without_verdict", "ties", "pairs", "votes", "flips", "cost_usd"},
	}
}

// judge is what the ballots of a model come to.
type judge struct {
	sessions                                           map[string]bool
	ballots, scores, silent, ties, pairs, votes, flips int
	usd                                                float64
}

// countJudges adds the ballots of a choice to those of their judges.
func (x *tried) countJudges(s *billed.Session, all map[string]*judge) {
	firsts := map[int]*echo.Ballot{}
	for _, key := range slices.Sorted(maps.Keys(x.ballots)) {
		b := x.ballots[key]
		j := all[b.Judge]
		if j == nil {
			j = &judge{sessions: map[string]bool{}}
			all[b.Judge] = j
		}
		j.sessions[s.Header.SessionID] = true
		if b.CostUSD != nil {
			j.usd += *b.CostUSD
		}
		j.count(&b)
		if other := firsts[b.Pair]; b.Pair > 0 && other != nil {
			j.countPair(other, &b)
		}
		firsts[b.Pair] = &b
	}
}

func (j *judge) count(b *echo.Ballot) {
	if b.Pair == 0 {
		j.scores++
	} else {
		j.ballots++
	}
	if b.Problem != "" {
		j.silent++
	}
	if b.Said == "tie" {
		j.ties++
	}
}

func (j *judge) countPair(a, b *echo.Ballot) {
	if a.Said == "" || b.Said == "" {
		return
	}
	j.pairs++
	if a.Vote != nil || b.Vote != nil {
		j.votes++
	}
	if row(a.Winner) != row(b.Winner) {
		j.flips++
	}
}

// sums are the columns that sessions and the views of costs have.
var sums = []string{"calls", "unknown_cost_calls", "tokens_in", "tokens_cached", "tokens_out", "cost_usd"}

func sumsOf(t record.Totals) []any {
	return []any{t.Calls, t.UnknownCosts, t.Usage.In, t.Usage.Cached, t.Usage.Out, t.KnownUSD()}
}

// sessionsViews returns what the sessions of a tree come to: the view sessions, and those of costs.
func sessionsViews(t *billed.Tree) (sessions *view, costs []*view) {
	sessions = &view{
		name: "sessions", id: []string{"session_id"}, rows: map[string]string{},
		columns: append([]string{"cascade_id", "status", "reason", "child_of", "child_key", "root", "depth", "tool_calls", "children", "children_ended", "children_calls", "children_tokens_in", "children_tokens_out", "children_cost_usd"}, sums...),
	}
	bySession := &view{name: "cost_by_session", id: []string{"session_id"}, columns: sums, rows: map[string]string{}}
	byPhase := &view{name: "cost_by_phase", id: []string{"cascade_id", "phase_name"}, columns: sums, rows: map[string]string{}}
	byModel := &view{name: "cost_by_model", id: []string{"model"}, columns: sums, rows: map[string]string{}}
	phases, models := map[[2]string]record.Totals{}, map[string]record.Totals{}
	for _, s := range t.All {
		var own record.Totals
		for _, e := range s.Entries {
			if e.NodeType != echo.NodeModelCall {
				continue
			}
			var call record.Totals
			call.Add(e)
			own = own.Plus(call)
			at := [2]string{e.CascadeID, e.Phase}
			phases[at], models[e.Model] = phases[at].Plus(call), models[e.Model].Plus(call)
		}
		sessions.add(rowOfSession(s, own)...)
		if own.Calls > 0 {
			bySession.add(append([]any{s.Header.SessionID}, sumsOf(own)...)...)
		}
	}
	for at, sum := range phases {
		byPhase.add(append([]any{at[0], at[1]}, sumsOf(sum)...)...)
	}
	for model, sum := range models {
		byModel.add(append([]any{model}, sumsOf(sum)...)...)
	}
	return sessions, []*view{bySession, byPhase, byModel}
}

func rowOfSession(s *billed.Session, own record.Totals) []any {
	h, end := &s.Header, record.EndOf(s.Entries)
	begun, ended, tools := map[string]bool{}, map[string]*echo.Entry{}, 0
	for _, e := range s.Entries {
		switch e.NodeType { //nolint:exhaustive // the others are of no sum
		case echo.NodeToolCall:
			tools++
		case echo.NodeChildStart:
			d, _ := echo.Read[echo.ChildStart](e) // it was read before
			begun[d.Session] = true
		case echo.NodeChildEnd:
			d, _ := echo.Read[echo.ChildEnd](e) // likewise
			ended[d.Session] = e
		}
	}
	var below record.Totals
	for _, e := range ended {
		d, _ := echo.Read[echo.ChildEnd](e) // likewise
		below.Calls += d.Calls
		below.CostUSD += *e.CostUSD
		below.Usage = below.Usage.Add(*e.Usage)
	}
	return append([]any{
		h.SessionID, s.Entries[0].CascadeID, end.Status.String(), string(end.Reason), h.ChildOf, h.ChildKey.String(), cmp.Or(h.Root, h.SessionID), h.Depth, tools,
		len(begun), len(ended), below.Calls, below.Usage.In, below.Usage.Out, record.RoundUSD(below.CostUSD),
	}, sumsOf(own)...)
}
