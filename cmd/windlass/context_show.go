package main

import (
	"fmt"
	"io"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

func (a *app) showContext(r *inspect.Record, c *inspect.Call, asJSON bool) error {
	shown, err := r.Show(c)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(shown)
	}
	p := contextPrinter{w: a.out, painter: painter{on: wantsColour(a.out)}, safe: isTerminal(a.out)}
	p.head(r, c)
	p.messages(shown.Forms)
	return p.err
}

// contextPrinter writes what was sent for people. On a terminal nothing in it can control the terminal; elsewhere texts
// are the very bytes.
type contextPrinter struct {
	painter
	w    io.Writer
	safe bool
	err  error // the first failure to write
}

func (p *contextPrinter) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

// text returns a text of a message as it may be shown.
func (p *contextPrinter) text(s string) string {
	if p.safe {
		return cleanLines(s)
	}
	return s
}

// fact writes a line with a name.
func (p *contextPrinter) fact(name, format string, args ...any) {
	p.line("%s", p.paint(colourBold, fmt.Sprintf("%-9s", name))+fmt.Sprintf(format, args...))
}

func (p *contextPrinter) head(r *inspect.Record, c *inspect.Call) {
	p.fact("session", "%s", r.ID)
	p.fact("call", "%d of %d: %s", c.Number, len(r.Calls), c.Place())
	words := ""
	if c.Dialect == "prompted" {
		words = ", without tool calling: calls and results were sent as text"
	}
	p.fact("model", "%s%s", printable(c.Model), words)
	p.fact("sent", "%s, %s tokens", plural(c.MessageCount, "message"), formatCount(c.ContextSize))
	if c.TokensSaved != 0 || c.MaskedCount > 0 {
		p.fact("history", "%s tokens, %s not in full", formatCount(c.FullHistorySize), plural(c.MaskedCount, "message"))
	}
	p.fact("prefix", "%s tokens are equal to the call before%s", formatCount(c.SharedSize), providerCount(c))
	if c.RequestLimit > 0 && c.RequestSize > 0 {
		p.fact("request", "%s of %s tokens of the model, with everything", formatCount(c.RequestSize), formatCount(c.RequestLimit))
	}
	if c.Error != "" {
		p.fact("outcome", "%s", printable(c.Error))
	}
	p.line("")
}

// providerCount says what the provider counted.
func providerCount(c *inspect.Call) string {
	if !c.Counted {
		return ""
	}
	return fmt.Sprintf("; the provider counted %s sent, %s from its cache", formatCount(c.TokensIn), formatCount(c.TokensCached))
}

func (p *contextPrinter) messages(forms []inspect.SentForm) {
	for i := 0; i < len(forms); {
		if len(forms[i].Sent) > 0 {
			p.message(&forms[i])
			i++
			continue
		}
		n := i
		for n < len(forms) && len(forms[n].Sent) == 0 && forms[n].Form == forms[i].Form && forms[n].Reason == forms[i].Reason {
			n++
		}
		p.line("%s\n", p.paint(colourDim, fmt.Sprintf("-- not sent: %s (%s, %s)", historyRange(forms[i:n]), forms[i].Form, forms[i].Reason)))
		i = n
	}
}

// historyRange names messages of a history that follow each other.
func historyRange(forms []inspect.SentForm) string {
	first, last := forms[0].HistoryPosition, forms[len(forms)-1].HistoryPosition
	if first == last {
		return fmt.Sprintf("message %d of the history", first)
	}
	return fmt.Sprintf("messages %d to %d of the history", first, last)
}

// message writes what was sent for one message of the history.
func (p *contextPrinter) message(f *inspect.SentForm) {
	for i, m := range f.Sent {
		head := fmt.Sprintf("-- %d  %s  %s (%s)  %s tokens  %s", f.Position+i, m.Role(), f.Form, f.Reason,
			formatCount(autocontext.Tokens(m)), f.Hash)
		if f.Tool != "" {
			head += "  " + printable(f.Tool)
		}
		if id := m.ToolCallID(); id != "" {
			head += " answers " + printable(id)
		}
		p.line("%s", p.paint(formColour(f.Form), head))
		p.content(m)
		p.line("")
	}
}

func (p *contextPrinter) content(m *echo.Message) {
	for _, part := range m.Parts() {
		switch {
		case part.Type == echo.PartImage:
			p.line("[image: %s]", p.text(part.URL))
		case part.Text != "":
			p.line("%s", p.text(part.Text))
		}
	}
	for _, c := range m.ToolCalls() {
		p.line("%s", p.text(fmt.Sprintf("calls %s as %s with %s", c.Name, c.ID, c.Arguments)))
	}
}

// formColour is the colour of a form, the same in every command.
func formColour(f autocontext.Form) string {
	switch f {
	case autocontext.FormMasked:
		return colourYellow
	case autocontext.FormExcerpt, autocontext.FormStub:
		return colourGreen
	case autocontext.FormSummary:
		return colourRed
	case autocontext.FormDropped:
		return colourDim
	default:
		return colourCyan
	}
}
