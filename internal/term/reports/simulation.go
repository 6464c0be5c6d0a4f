package reports

import (
	"fmt"
	"io"
	"path/filepath"

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
		fmt.Fprintf(w, "%s: %s, %s, %s tokens with full history; %s\n\n", term.Cell(name),
			term.Counted(g.Conversations, "conversation"), term.Counted(g.Calls, "call"), term.Count(g.TokensFull), g.Prices)
		if err := SimulationTable(g).Render(w, room); err != nil {
			return err
		}
	}
	return nil
}

// SimulationTable has a row for each policy of a group.
func SimulationTable(g *simulate.Group) *term.Table {
	t := term.NewTable("policy", ">tokens", ">saved", ">cached", ">cost", ">of best", ">of full", ">worst", "where", ">invalid", ">kept")
	for _, s := range g.Policies {
		best, kept := "", ""
		if s.OfBest != nil {
			best = fmt.Sprintf("%.3f", *s.OfBest)
		}
		if s.KeptShare != nil {
			kept = quantity.Share(*s.KeptShare, 1)
		}
		t.Add(s.Policy, term.Count(s.TokensSent), quantity.Share(s.Saved, 1), quantity.Share(s.Cached, 1), formatMoney(g.Prices, s.Money),
			best, fmt.Sprintf("%.3f", s.OfFull), fmt.Sprintf("%.3f", s.Worst), worstPlace(g, s), term.Count(int64(s.Invalid)), kept)
	}
	return t.Key("policy").Drop("invalid", "kept", "where", "of best", "cached", "worst")
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

// formatMoney writes a cost in USD, or in tokens at full price.
func formatMoney(p simulate.Prices, v float64) string {
	if p.USD {
		return term.USD(v)
	}
	return term.Count(int64(v + 0.5))
}
