package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
)

// Simulation writes a table of the policies for each file and each price.
func Simulation(w io.Writer, room term.Room, r *simulate.Report) error {
	for i, g := range append(r.Groups, r.Total...) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		name := g.File
		if name == "" {
			name = "all files"
		}
		writeWrapped(w, room, fmt.Sprintf("%s: %s, %s, %s tokens with full history; %s", term.Cell(name),
			term.Counted(g.Conversations, "conversation"), term.Counted(g.Calls, "call"), term.Count(g.TokensFull), g.Prices))
		fmt.Fprintln(w)
		if err := SimulationTable(g).Render(w, room); err != nil {
			return err
		}
		for i, note := range asRunNotes(g) {
			if i == 0 {
				fmt.Fprintln(w)
			}
			writeWrapped(w, room, note)
		}
	}
	return nil
}

// writeWrapped writes a sentence, in several lines where the terminal is narrow.
func writeWrapped(w io.Writer, room term.Room, s string) {
	if room.Width > 0 {
		s = strings.Join(term.Wrapped(s, room.Width), "\n")
	}
	fmt.Fprintln(w, s)
}

// asRunNotes are what there is to say of the run that was replayed.
func asRunNotes(g *simulate.Group) []string {
	var notes []string
	if g.NothingChanges() {
		why := "each of " + term.Counted(g.Calls, "call") + " is the same under all of them."
		if g.AsRun.TokensSent == g.TokensFull {
			why = "nothing in " + term.Counted(g.Calls, "call") + " was old or large enough to be left out."
		}
		notes = append(notes, "No policy would have sent anything else: "+why)
	}
	if g.AsRun != nil && g.PaidUSD != nil && *g.PaidUSD > 0 {
		notes = append(notes, fmt.Sprintf("By the record, the run paid %s for %s, answers included.", term.USD(*g.PaidUSD),
			term.Counted(g.Calls, "call")))
	}
	return notes
}

// SimulationTable has a row for what was really sent, if that is known, and one for each policy of a
// group.
func SimulationTable(g *simulate.Group) *term.Table {
	rows := g.Policies
	heads := []string{"policy", ">tokens", ">saved", ">cached", ">cost", ">of best", ">of full", ">worst", "where", ">invalid", ">kept"}
	if g.AsRun != nil {
		rows = append([]*simulate.Summary{g.AsRun}, rows...)
		heads = slices.Insert(heads, 5, ">cost diff")
		heads = slices.Insert(heads, 2, ">tokens diff")
	}
	t := term.NewTable(heads...)
	var money []float64
	for _, s := range rows {
		money = append(money, s.Money)
	}
	costs := moneyColumn(g.Prices, money)
	for i, s := range rows {
		best, kept := "", ""
		if s.OfBest != nil {
			best = fmt.Sprintf("%.3f", *s.OfBest)
		}
		if s.KeptShare != nil {
			kept = quantity.Share(*s.KeptShare, 1)
		}
		cells := []string{
			s.Policy, term.Count(s.TokensSent), quantity.Share(s.Saved, 1), quantity.Share(s.Cached, 1), costs[i],
			best, fmt.Sprintf("%.3f", s.OfFull), fmt.Sprintf("%.3f", s.Worst), worstPlace(g, s), term.Count(int64(s.Invalid)), kept,
		}
		if g.AsRun != nil {
			cells = slices.Insert(cells, 5, difference(s.MoneyOfRun))
			cells = slices.Insert(cells, 2, difference(s.TokensOfRun))
		}
		t.Add(cells...)
	}
	return t.Key("policy").Drop("invalid", "kept", "where", "of best", "worst", "cached", "of full", "saved")
}

// difference writes how much more or less than the run something is, "" for the run itself.
func difference(ofRun *float64) string {
	if ofRun == nil {
		return ""
	}
	s := quantity.Share(*ofRun-1, 1)
	if !strings.HasPrefix(s, "-") && s != "0.0 %" {
		s = "+" + s
	}
	return s
}

// worstPlace names the conversation a policy did worst in; "": nowhere worse than full history.
func worstPlace(g *simulate.Group, s *simulate.Summary) string {
	place := fmt.Sprintf("line %d", s.WorstAt)
	if s.WorstName != "" {
		place = s.WorstName
	}
	switch {
	case s.Worst <= 1:
		return ""
	case g.File == "":
		return filepath.Base(s.WorstFile) + ", " + place
	}
	return place
}

// moneyColumn writes costs: in USD with one number of decimals for all of them, or in tokens at full
// price.
func moneyColumn(p simulate.Prices, costs []float64) []string {
	if p.USD {
		return quantity.USDColumn(costs)
	}
	cells := make([]string, len(costs))
	for i, v := range costs {
		cells[i] = term.Count(int64(v + 0.5))
	}
	return cells
}
