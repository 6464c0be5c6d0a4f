package main

import (
	"io"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
	"github.com/windlass-run/windlass/internal/term/fetching"
)

// The names that commands use for what internal/term does.

func oneLine(s string) string          { return term.OneLine(s) }
func printable(s string) string        { return term.Cell(s) }
func plural(n int, noun string) string { return term.Plural(n, noun) }
func formatCount(n int64) string       { return term.Count(n) }
func surviveClosedPipes() func()       { return term.SurviveClosedPipes() }

func printDiagnostics(w io.Writer, found cascade.Diagnostics) { diagnostics.Write(w, found) }

// show renders a table to standard output.
func showTable(con *console, t interface{ Render(io.Writer, int) error }) error {
	return t.Render(con.out, term.Width(con.out))
}

// printJSON writes a value to standard output, indented.
func printJSON(con *console, v any) error { return term.WriteJSON(con.out, v) }

type table struct{ *term.Table }

func newTable(heads ...string) *table                { return &table{term.NewTable(heads...)} }
func (t *table) add(cells ...string)                 { t.Add(cells...) }
func (t *table) render(w io.Writer, width int) error { return t.Render(w, width) }

type fetchProgress struct{ *fetching.Progress }

func newFetchProgress(w io.Writer) *fetchProgress { return &fetchProgress{fetching.NewProgress(w)} }
func (f *fetchProgress) show(p fetch.Progress)    { f.Show(p) }
func (f *fetchProgress) mute()                    { f.Mute() }

type notices struct{ *term.Notices }

func newNotices(w io.Writer) *notices { return &notices{term.NewNotices(w)} }
func (n *notices) tell(text string)   { n.Say(text) }
