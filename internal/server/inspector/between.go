package inspector

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/selected"
	"github.com/windlass-run/windlass/internal/server/page"
)

// selectionsView is the list of the selections between the phases of a session.
type selectionsView struct {
	head
	Selections []listedSelection
	Sum        record.Between
	SavedUSD   string
	SQL        string
}

// listedSelection is a selection in the list.
type listedSelection struct {
	Visit, Path, How string
	Candidates       int
	Chosen, Anchors  int
	Sent, Everything int64
	Of               string // the part that was sent
	Used, Budget     int64
}

// found is a recorded selection with where it is in the record.
type found struct {
	*echo.InterSelection
	key   echo.Key
	visit echo.Key // or the branch of it
}

// selectionsOf returns the selections between phases. Of one that was made again when the run was resumed the newest counts.
func selectionsOf(entries []*echo.Entry) (out []found, err error) {
	at := map[echo.Key]int{}
	for _, e := range entries {
		if e.NodeType != echo.NodeInter {
			continue
		}
		s, err := echo.Read[echo.InterSelection](e)
		if err != nil {
			return nil, failure.New(failure.Damaged, fmt.Errorf("read the selection %s: %w", e.Key, err), "")
		}
		f := found{&s, e.Key, record.Conversation(e.Key)}
		if i, again := at[e.Key]; again {
			out[i] = f
			continue
		}
		at[e.Key] = len(out)
		out = append(out, f)
	}
	return out, nil
}

// selectionList lists what came into phases of earlier ones.
func selectionList(v *visit) error {
	all, err := selectionsOf(v.of.Entries)
	if err != nil {
		return err
	}
	view := selectionsView{head: v.head("selections"), Sum: record.BetweenPhases(v.of.Entries), SQL: selectionsSQL(v.of.ID)}
	if view.SavedUSD = "not known"; view.Sum.SavedUSD != nil && view.Sum.Unpriced < view.Sum.Selections {
		view.SavedUSD = quantity.USD(*view.Sum.SavedUSD)
	}
	for _, f := range all {
		l := listedSelection{
			Visit: f.visit.String(), Path: selectionPath(v.of.ID, f.key), How: strategyText(f.Strategy, f.Asked), Candidates: f.Candidates, Chosen: len(f.Chosen),
			Anchors: len(f.Anchors), Sent: f.Sent(), Everything: f.Everything, Used: f.Used, Budget: f.Budget,
		}
		if f.Everything > 0 {
			l.Of = quantity.Share(float64(l.Sent), float64(l.Everything))
		}
		view.Selections = append(view.Selections, l)
	}
	return v.Show("selections", v.of.ID+": between phases", view)
}

// selectionPath returns the address of a selection.
func selectionPath(id string, key echo.Key) string { return below(id, "selections", key) }

// strategyText says how was chosen, and what was asked for when that is something else.
func strategyText(used, asked echo.Strategy) string {
	if asked != "" && asked != used {
		return string(used) + " in place of " + string(asked)
	}
	return string(used)
}

// selectionView is the screen of one selection.
type selectionView struct {
	head
	Key, Visit string
	Phase      string // the address of the part of the run
	All        string // the address of all selections
	Calls      string // the address of the requests that had what came in
	Recorded   *selectionTable
	Anchors    []anchorRow
	Menu       string // the address of the request to the model that chose; "": none was asked
	Trial      *trialView
	SQL        string
}

// selectionTable is a selection with its candidates in the order in which they were taken.
type selectionTable struct {
	*echo.InterSelection
	How   string
	Heads []string // of the parts of scores
	Rows  []scoredRow
	Left  int    // candidates that are not listed: none of them was chosen
	Whole string // the address that lists them; "": there is none
	Cut   string // where the budget ended
	Use   string
	Notes []string
}

// scoredRow is a candidate.
type scoredRow struct {
	CutBefore bool // the budget ended in front of it
	Rank      int
	Phase     string
	Hash      string
	Life      string
	Tokens    int64
	Messages  int
	Parts     []string // of the score
	Total     string
	Chosen    bool
	Outcome   string
	Text      string
	Card      string // what a card says of it, when that is recorded
	Changed   string // against the recorded selection, of a trial
}

// anchorRow is a turn group that came in whatever was selected.
type anchorRow struct {
	echo.Anchor
	Life, Text string
}

// selectedFor shows one selection.
func selectedFor(v *visit) error {
	all, err := selectionsOf(v.of.Entries)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(f found) bool { return f.key.String() == v.Of("selection") })
	if at < 0 {
		return page.Missing("Session %s has no selection %.200q. The list has those that it has: %s", v.of.ID, v.Of("selection"), pathOf(v.of.ID)+"/selections")
	}
	f := all[at]
	words := beginnings(v.of.Entries)
	view := selectionView{
		head: v.head("selections"), Key: f.key.String(), Visit: f.visit.String(), Phase: runPath(v.of.ID, "", f.visit.String()), All: pathOf(v.of.ID) + "/selections",
		Calls: pathOf(v.of.ID) + "/calls?" + url.Values{"phase": {f.visit.String()}}.Encode(), SQL: selectionSQL(v.of.ID, f.key),
	}
	if view.Recorded = v.recorded(&f, words); !v.Query().Has("whole") {
		view.Recorded.Whole = v.Path() + "?whole=1"
		view.Recorded.shorten()
	}
	for _, a := range f.Anchors {
		view.Anchors = append(view.Anchors, anchorRow{a, lifePath(v.of.ID, a.ID), words[a.ID]})
	}
	if v.of.has(echo.NodeMenu, f.key) {
		view.Menu = callPath(v.of.ID, f.key.Step(echo.StepModel))
	}
	trial, status, err := v.trial(&f)
	if err != nil {
		return err
	}
	view.Trial = trial
	return v.ShowAs(status, "selection", v.of.ID+": selected for "+view.Visit, view)
}

// has reports whether the record has an entry of a kind under a key.
func (o *opened) has(kind echo.NodeType, under echo.Key) bool {
	return slices.ContainsFunc(o.Entries, func(e *echo.Entry) bool { return e.NodeType == kind && e.Key.Under(under) })
}

// beginnings returns what messages begin with.
func beginnings(entries []*echo.Entry) map[echo.Hash]string {
	out := map[echo.Hash]string{}
	for _, e := range entries {
		if e.Message == nil {
			continue
		}
		h := e.Message.Hash()
		if _, ok := out[h]; ok {
			continue
		}
		text := e.Message.Text()
		for _, c := range e.Message.ToolCalls() {
			if strings.TrimSpace(text) == "" {
				text = c.Name + " " + c.Arguments
			}
		}
		out[h] = excerpt.Line(text, mostOfAnswer)
	}
	return out
}

// recorded shows a selection as it was made.
func (v *visit) recorded(f *found, words map[echo.Hash]string) *selectionTable {
	t := &selectionTable{InterSelection: f.InterSelection, How: strategyText(f.Strategy, f.Asked), Use: selected.Budget(f.InterSelection, quantity.Grouped)}
	t.Notes = slices.Concat(f.Notes, f.Degraded)
	if len(f.Ignored) > 0 {
		t.Notes = append(t.Notes, "the model named what is not there: "+excerpt.Line(strings.Join(f.Ignored, ", "), mostWords))
	}
	cards := v.of.cards(f)
	scores := make([]phasecontext.Explained, len(f.Scores))
	for i := range f.Scores {
		s := &f.Scores[i]
		scores[i] = phasecontext.Explained{Score: *s, Text: words[s.ID]}
	}
	cut := selection.CutOf(&f.Selected, selection.Settings{MaxTokens: f.Budget - ending(f.InterSelection)})
	heads, parts := measured()
	if v.of.explain(f, scores) {
		heads, parts = termParts(scores)
	} else if len(scores) > 0 {
		t.Notes = append(t.Notes, "The parts are as they were measured; the total weighs them, by settings or rules that the record does not have.")
	}
	t.Heads = heads
	t.fill(v.of.ID, scores, cut, parts)
	for i := range t.Rows {
		t.Rows[i].Card = cards[echo.Hash(t.Rows[i].Hash)]
	}
	if cut != nil && cut.Messages {
		t.Cut = "The most messages were taken here."
	}
	return t
}

// ending is what the line behind what comes in takes of the budget.
func ending(s *echo.InterSelection) int64 {
	if s.Ending > 0 || len(s.Chosen) == 0 {
		return s.Ending
	}
	used := s.Used // rules 1 count it and do not say how much it is
	for i := range s.Scores {
		if s.Scores[i].Chosen {
			used -= s.Scores[i].Tokens
		}
	}
	return max(used, 0)
}

// cards are the summaries that a model chose by, by the first message of each candidate.
func (o *opened) cards(f *found) map[echo.Hash]string {
	out := map[echo.Hash]string{}
	for _, e := range o.Entries {
		if e.NodeType != echo.NodeValue || e.Key != f.key.Step(echo.StepCards) {
			continue
		}
		findings, err := echo.Read[echo.Findings](e)
		if err != nil || len(findings.Found) != len(f.Scores) {
			continue // of another version: the scores are there all the same
		}
		for i, found := range findings.Found {
			var parts []string
			for _, c := range found.Cards {
				text := c.Summary
				if len(c.Keywords) > 0 {
					text += " (" + strings.Join(c.Keywords, ", ") + ")"
				}
				parts = append(parts, text)
			}
			out[f.Scores[i].ID] = excerpt.Clip(strings.Join(parts, "\n"), mostWords)
		}
	}
	return out
}

// fill adds the candidates by their rank.
func (t *selectionTable) fill(id string, scores []phasecontext.Explained, cut *selection.Cut, parts func(*phasecontext.Explained) []string) {
	digits := selected.Digits(scores)
	if cut != nil {
		t.Cut = selected.Cut(t.Budget, cut, quantity.Grouped)
	}
	ranked := selected.ByRank(scores)
	for i := range ranked {
		e := &ranked[i]
		r := scoredRow{
			Rank: e.Rank, Phase: e.Phase, Hash: string(e.ID), Life: lifePath(id, e.ID), Tokens: e.Tokens, Messages: e.Messages, Parts: parts(e),
			Total: strconv.FormatFloat(e.Total, 'f', digits, 64), Chosen: e.Chosen, Outcome: selected.Outcome(&e.Score, quantity.Grouped), Text: e.Text,
			CutBefore: cut != nil && e.Rank == cut.Rank,
		}
		if e.Rank == 0 {
			r.Outcome = selected.WithoutRank(t.Strategy)
		}
		if e.Late {
			r.Outcome += "; its card was not ready"
		}
		t.Rows = append(t.Rows, r)
	}
}

// shorten leaves out the last of many candidates that were left out.
func (t *selectionTable) shorten() {
	rows := t.Rows[:0:0]
	for i := range t.Rows {
		if i < mostScored || t.Rows[i].Chosen || t.Rows[i].CutBefore {
			rows = append(rows, t.Rows[i])
		}
	}
	t.Left, t.Rows = len(t.Rows)-len(rows), rows
}

// mostScored is how many candidates of a selection are listed, besides those that were chosen.
const mostScored = 300

// Compares reports whether the table is that of a trial, which says what became of each candidate in the run.
func (t *selectionTable) Compares() bool { return len(t.Rows) > 0 && t.Rows[0].Changed != "" }

// Columns is how many columns the table has.
func (t *selectionTable) Columns() int {
	if t.Compares() {
		return 8 + len(t.Heads)
	}
	return 7 + len(t.Heads)
}
