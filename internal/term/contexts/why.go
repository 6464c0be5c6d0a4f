package contexts

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/selected"
	"github.com/windlass-run/windlass/internal/term"
)

// Uses writes which calls a message was sent in, and what selections made of it.
func Uses(o Out, x *inspect.Explained) error {
	what := string(x.Role)
	if x.Kind != "" {
		what += ", " + string(x.Kind)
	}
	if x.Tool != "" {
		what += " of " + x.Tool
	}
	p := printer{Out: o}
	p.line("message   %s\nwhat      %s, %s tokens\nbegins    %s\n", x.Hash, term.Cell(what), term.Count(x.Tokens),
		term.Cut(term.OneLine(x.Message.Text()), o.lineWidth()-10))
	p.table(useTable(x.Uses))
	if len(x.Selections) > 0 {
		p.line("")
		p.table(selectionUseTable(x.Selections))
		p.reasons(x.Selections)
	}
	return p.err
}

func useTable(uses []inspect.Use) *term.Table {
	stood := slices.ContainsFunc(uses, func(u inspect.Use) bool { return u.For != "" })
	heads := []string{">calls", ">message", "where", "until", "form", "reason", ">tokens"}
	if stood {
		heads = append(heads, "in place of")
	}
	t := term.NewTable(heads...)
	for _, u := range uses {
		number, until := fmt.Sprint(u.First), ""
		if u.Last != u.First {
			number += fmt.Sprintf("-%d", u.Last)
			until = inspect.CallName(u.LastKey, u.Visit)
		}
		cells := []string{
			number, fmt.Sprint(u.Position), inspect.CallName(u.FirstKey, echo.Key{}), until, string(u.Form), string(u.Reason), term.Count(u.Tokens),
		}
		if stood {
			cells = append(cells, string(u.For))
		}
		t.Add(cells...)
	}
	return t.Key("calls", "where", "until", "in place of").Drop("message", "tokens", "form")
}

// reasons writes why models chose, once for each selection.
func (p *printer) reasons(uses []inspect.SelectionUse) {
	for i, u := range uses {
		if u.Why != "" && (i == 0 || uses[i-1].Visit != u.Visit) {
			p.line("%s: %s", term.Cell(u.Visit.String()), term.Cell(u.Why))
		}
	}
}

func selectionUseTable(uses []inspect.SelectionUse) *term.Table {
	t := term.NewTable("selected for", "by", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "outcome")
	for _, u := range uses {
		if u.Score == nil {
			t.Add(u.Visit.String(), string(u.Strategy), "", "", "", "", "", "", "anchor: "+u.Anchor)
			continue
		}
		s := u.Score
		cells := scoreCells(s)
		t.Add(append(append([]string{u.Visit.String(), string(u.Strategy)}, cells...), selected.Outcome(s, term.Count))...)
	}
	return t.Key("selected for").Drop("keyword", "recency", "meaning", "callout", "by", "rank", "total")
}
