package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/bench/locomo"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/source"
)

// warn says what is not in the table.
func warn(w io.Writer, r *locomo.Report) {
	if len(r.Unknown) > 0 {
		fmt.Fprintf(w, "Note: %s of evidence that no turn has: %s\n", quantity.Of(len(r.Unknown), "id"), source.Printable(strings.Join(r.Unknown, ", ")))
	}
	for _, m := range r.Methods {
		name := source.Printable(m.Embedder)
		if m.Embedder != "" && !selection.UsesSimilarity(m.Strategy, m.Embedder) {
			fmt.Fprintf(w, "Note: %s goes by words alone: %s compares spelling, not meaning\n", m.Strategy, name)
		}
		if m.FellBack > 0 {
			fmt.Fprintf(w, "Note: %s by %s knew nothing of %s: chosen by words\n", m.Strategy, name, quantity.Of(m.FellBack, "question"))
		}
	}
}

// show writes the shares of the evidence as a table.
func show(w io.Writer, r *locomo.Report) error {
	fmt.Fprintf(w, "%s, %s, %s", quantity.Of(r.Conversations, "conversation"), quantity.Of(r.Turns, "turn"), quantity.Of(r.Questions, "question"))
	if r.NoEvidence > 0 {
		fmt.Fprintf(w, " (%d without evidence left out)", r.NoEvidence)
	}
	messages := "any number of turns"
	if r.MaxMessages > 0 {
		messages = "at most " + quantity.Of(r.MaxMessages, "turn")
	}
	fmt.Fprintf(w, "; %s\nshare of the evidence among what is chosen, by budget in tokens\n\n", messages)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "strategy\tembedder\tquestions about\tquestions")
	for _, b := range r.Budgets {
		fmt.Fprintf(t, "\t%d", b)
	}
	fmt.Fprintln(t)
	for _, m := range r.Methods {
		fmt.Fprintf(t, "%s\t%s\tall\t%d%s\n", m.Strategy, source.Printable(m.Embedder), r.Questions, shares(m.Recall))
		for _, c := range m.Categories {
			fmt.Fprintf(t, "\t\t%s\t%d%s\n", c.Name, c.Questions, shares(c.Recall))
		}
	}
	return t.Flush()
}

func shares(list []float64) string {
	out := ""
	for _, v := range list {
		out += fmt.Sprintf("\t%.3f", v)
	}
	return out
}
