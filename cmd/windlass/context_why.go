package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

func (a *app) explainMessage(r *inspect.Record, prefix string, asJSON bool) error {
	x, err := r.Explain(prefix)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(x)
	}
	if err := a.printUses(x); err != nil || len(x.Selections) == 0 {
		return err
	}
	fmt.Fprintln(a.out)
	return a.show(selectionUseTable(x.Selections))
}

func (a *app) printUses(x *inspect.Explained) error {
	what := string(x.Role)
	if x.Kind != "" {
		what += ", " + string(x.Kind)
	}
	if x.Tool != "" {
		what += " of " + x.Tool
	}
	fmt.Fprintf(a.out, "message   %s\nwhat      %s, %s tokens\nbegins    %s\n\n", x.Hash, printable(what), formatCount(x.Tokens),
		cut(oneLine(x.Message.Text()), lineRoom(a.out)-10))
	return a.show(useTable(x.Uses))
}

func useTable(uses []inspect.Use) *table {
	stood := slices.ContainsFunc(uses, func(u inspect.Use) bool { return u.For != "" })
	heads := []string{">calls", ">message", "where", "until", "form", "reason", ">tokens"}
	if stood {
		heads = append(heads, "in place of")
	}
	t := newTable(heads...)
	for _, u := range uses {
		number, until := fmt.Sprint(u.First), ""
		if u.Last != u.First {
			number += fmt.Sprintf("-%d", u.Last)
			until = inspect.CallName(u.LastKey, u.Visit)
		}
		cells := []string{
			number, fmt.Sprint(u.Position), inspect.CallName(u.FirstKey, echo.Key{}), until, string(u.Form), string(u.Reason), formatCount(u.Tokens),
		}
		if stood {
			cells = append(cells, string(u.For))
		}
		t.add(cells...)
	}
	return t
}

// lineRoom returns how long a line should be: as the terminal is wide, and 100 columns elsewhere.
func lineRoom(w io.Writer) int {
	if width := tableWidth(w); width > 0 {
		return width
	}
	return 100
}

func selectionUseTable(uses []inspect.SelectionUse) *table {
	t := newTable("selected for", "by", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "outcome")
	for _, u := range uses {
		if u.Score == nil {
			t.add(u.Visit.String(), string(u.Strategy), "", "", "", "", "", "", "anchor: "+u.Anchor)
			continue
		}
		s := u.Score
		cells := scoreCells(s)
		outcome := "left out"
		switch {
		case s.Chosen:
			outcome = "chosen"
		case s.Rank > 0:
			outcome = fmt.Sprintf("left out: no room for its %s tokens", formatCount(s.Tokens))
		}
		t.add(append(append([]string{u.Visit.String(), string(u.Strategy)}, cells...), outcome)...)
	}
	return t
}
