package contexts

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

// Call writes what one model call of a session was sent; of is how many calls the session has.
func Call(o Out, shown *inspect.Shown, of int) error {
	p := printer{Out: o}
	p.head(shown, of)
	p.messages(shown.Forms)
	return p.err
}

func (p *printer) head(shown *inspect.Shown, of int) {
	c := shown.Call
	p.fact("session", "%s", shown.SessionID)
	if c.Number == 0 {
		p.fact("call", "%s, to choose what comes in of earlier phases", c.Place())
	} else {
		p.fact("call", "%d of %d: %s", c.Number, of, c.Place())
	}
	words := ""
	if c.Dialect == "prompted" {
		words = ", without tool calling: calls and results were sent as text"
	}
	p.fact("model", "%s%s", term.Cell(c.Model), words)
	p.fact("sent", "%s, %s tokens", term.Plural(c.MessageCount, "message"), term.Count(c.ContextSize))
	if c.TokensSaved != 0 || c.MaskedCount > 0 {
		p.fact("history", "%s tokens, %s not in full", term.Count(c.FullHistorySize), term.Plural(c.MaskedCount, "message"))
	}
	if c.Number > 0 {
		p.fact("prefix", "%s tokens are equal to the call before%s", term.Count(c.SharedSize), providerCount(c))
	}
	if c.RequestLimit > 0 && c.RequestSize > 0 {
		p.fact("request", "%s of %s tokens of the model, with everything", term.Count(c.RequestSize), term.Count(c.RequestLimit))
	}
	if c.Error != "" {
		p.fact("outcome", "%s", term.Cell(c.Error))
	}
	p.line("")
}

// providerCount says what the provider counted.
func providerCount(c *inspect.Call) string {
	if !c.Counted {
		return ""
	}
	return fmt.Sprintf("; the provider counted %s sent, %s from its cache", term.Count(c.TokensIn), term.Count(c.TokensCached))
}

func (p *printer) messages(forms []inspect.SentForm) {
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
		p.line("%s\n", p.Paint(term.Dim, fmt.Sprintf("-- not sent: %s (%s, %s)", historyRange(forms[i:n]), forms[i].Form, forms[i].Reason)))
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
func (p *printer) message(f *inspect.SentForm) {
	for i, m := range f.Sent {
		head := fmt.Sprintf("-- %d  %s  %s (%s)  %s tokens  %s", f.Position+i, m.Role(), f.Form, f.Reason,
			term.Count(autocontext.Tokens(m)), f.Hash)
		if f.Tool != "" {
			head += "  " + term.Cell(f.Tool)
		}
		if id := m.ToolCallID(); id != "" {
			head += " answers " + term.Cell(id)
		}
		p.line("%s", p.Paint(formColour(f.Form), head))
		p.content(m)
		p.line("")
	}
}

func (p *printer) content(m *echo.Message) {
	for _, part := range m.Parts() {
		switch {
		case part.Type == echo.PartImage:
			p.line("[image: %s]", p.text(echo.AttachmentName(&part)))
		case part.Type == echo.PartFile:
			p.line("[file %s: %s]", p.text(part.Name), p.text(echo.AttachmentName(&part)))
		case part.Text != "":
			p.line("%s", p.text(part.Text))
		}
	}
	for _, c := range m.ToolCalls() {
		p.line("%s", p.text(fmt.Sprintf("calls %s as %s with %s", c.Name, c.ID, c.Arguments)))
	}
}

// formColour is the colour of a form, the same in every command.
func formColour(f autocontext.Form) term.Colour {
	for _, part := range barParts {
		if slices.Contains(part.forms, f) {
			return part.colour
		}
	}
	return term.Dim // not sent
}
