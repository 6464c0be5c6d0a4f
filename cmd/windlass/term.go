package main

import (
	"io"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
	"github.com/windlass-run/windlass/internal/term/fetching"
)

// The names that commands use for what internal/term does.

func cleanLines(s string) string                       { return term.CleanLines(s) }
func oneLine(s string) string                          { return term.OneLine(s) }
func printable(s string) string                        { return term.Cell(s) }
func cut(s string, width int) string                   { return term.Cut(s, width) }
func plural(n int, noun string) string                 { return term.Plural(n, noun) }
func counted(n int, noun string) string                { return term.Counted(n, noun) }
func formatCount(n int64) string                       { return term.Count(n) }
func formatUSD(v float64) string                       { return term.USD(v) }
func formatCost(v *float64, calls, none uint64) string { return term.Cost(v, calls, none) }
func formatDuration(d time.Duration) string            { return term.Duration(d) }
func formatMillis(ms float64) string                   { return term.Millis(ms) }
func isTerminal(w io.Writer) bool                      { return term.IsTerminal(w) }
func wantsColour(w io.Writer) bool                     { return term.WantsColour(w) }
func tableWidth(w io.Writer) int                       { return term.Width(w) }
func surviveClosedPipes() func()                       { return term.SurviveClosedPipes() }

func printDiagnostics(w io.Writer, found cascade.Diagnostics) { diagnostics.Write(w, found) }

// show renders a table to standard output.
func (a *app) show(t interface{ Render(io.Writer, int) error }) error {
	return t.Render(a.out, term.Width(a.out))
}

// printJSON writes a value to standard output, indented.
func (a *app) printJSON(v any) error { return term.WriteJSON(a.out, v) }

type table struct{ *term.Table }

func newTable(heads ...string) *table                { return &table{term.NewTable(heads...)} }
func (t *table) add(cells ...string)                 { t.Add(cells...) }
func (t *table) render(w io.Writer, width int) error { return t.Render(w, width) }

type counter struct{ *term.Counter }

func newCounter(w io.Writer, what string, all int) *counter {
	return &counter{term.NewCounter(w, what, all)}
}
func (c *counter) step()  { c.Step() }
func (c *counter) clear() { c.Clear() }

type fetchProgress struct{ *fetching.Progress }

func newFetchProgress(w io.Writer) *fetchProgress { return &fetchProgress{fetching.NewProgress(w)} }
func (f *fetchProgress) show(p fetch.Progress)    { f.Show(p) }
func (f *fetchProgress) mute()                    { f.Mute() }

type notices struct{ *term.Notices }

func newNotices(w io.Writer) *notices { return &notices{term.NewNotices(w)} }
func (n *notices) tell(text string)   { n.Say(text) }

const (
	colourBold   = string(term.Bold)
	colourDim    = string(term.Dim)
	colourRed    = string(term.Red)
	colourGreen  = string(term.Green)
	colourYellow = string(term.Yellow)
	colourCyan   = string(term.Cyan)
)

type painter struct{ on bool }

func (p painter) paint(colour, s string) string {
	return term.Painter{On: p.on}.Paint(term.Colour(colour), s)
}
