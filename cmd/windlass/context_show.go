package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// sentForm says what became of one message of a history in one call.
type sentForm struct {
	HistoryPosition int                `json:"history_position"` // of the message in the history, from 1
	MessageSeq      uint64             `json:"message_seq"`      // of the entry that has it
	Hash            echo.Hash          `json:"content_hash"`
	Role            echo.Role          `json:"role"` // of the original
	Kind            echo.Kind          `json:"kind"`
	Tool            string             `json:"tool,omitempty"`
	Form            autocontext.Form   `json:"form"`
	Reason          autocontext.Reason `json:"reason"`
	Tokens          int64              `json:"tokens"`   // of what was sent for it
	Position        int                `json:"position"` // of the first message sent for it, from 1; 0: nothing was sent
	Messages        int                `json:"messages"` // how many were sent for it

	sent []*echo.Message
}

// formsOf lists the messages of a history with what was sent for them.
func formsOf(req *record.Request) []sentForm {
	forms := make([]sentForm, len(req.Sent))
	position := 1
	for i, s := range req.Sent {
		h := req.History[i]
		f := sentForm{
			HistoryPosition: i + 1, MessageSeq: h.Seq, Hash: s.Hash, Role: h.Message.Role(), Kind: h.Message.Kind(), Tool: h.Message.Tool(),
			Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens, sent: req.Rendered(i),
		}
		if f.Messages = len(f.sent); f.Messages > 0 {
			f.Position = position
		}
		position += f.Messages
		forms[i] = f
	}
	return forms
}

// shownCall is what "context show --json" prints.
type shownCall struct {
	SessionID string            `json:"session_id"`
	Call      *contextCall      `json:"call"`
	Messages  []json.RawMessage `json:"messages"` // of the request, as they were sent
	Forms     []sentForm        `json:"history"`
}

// show returns what a call was sent.
func (r *contextRecord) show(c *contextCall) (*shownCall, error) {
	req, err := r.request(c)
	if err != nil {
		return nil, err
	}
	out := &shownCall{SessionID: r.id, Call: c, Messages: []json.RawMessage{}, Forms: formsOf(req)}
	for _, f := range out.Forms {
		for _, m := range f.sent {
			out.Messages = append(out.Messages, m.JSON())
		}
	}
	return out, nil
}

func (a *app) showContext(r *contextRecord, c *contextCall, asJSON bool) error {
	shown, err := r.show(c)
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

func (p *contextPrinter) head(r *contextRecord, c *contextCall) {
	p.fact("session", "%s", r.id)
	p.fact("call", "%d of %d: %s", c.Number, len(r.calls), c.place())
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
func providerCount(c *contextCall) string {
	if !c.Counted {
		return ""
	}
	return fmt.Sprintf("; the provider counted %s sent, %s from its cache", formatCount(c.TokensIn), formatCount(c.TokensCached))
}

func (p *contextPrinter) messages(forms []sentForm) {
	for i := 0; i < len(forms); {
		if len(forms[i].sent) > 0 {
			p.message(&forms[i])
			i++
			continue
		}
		n := i
		for n < len(forms) && len(forms[n].sent) == 0 && forms[n].Form == forms[i].Form && forms[n].Reason == forms[i].Reason {
			n++
		}
		p.line("%s\n", p.paint(colourDim, fmt.Sprintf("-- not sent: %s (%s, %s)", historyRange(forms[i:n]), forms[i].Form, forms[i].Reason)))
		i = n
	}
}

// historyRange names messages of a history that follow each other.
func historyRange(forms []sentForm) string {
	first, last := forms[0].HistoryPosition, forms[len(forms)-1].HistoryPosition
	if first == last {
		return fmt.Sprintf("message %d of the history", first)
	}
	return fmt.Sprintf("messages %d to %d of the history", first, last)
}

// message writes what was sent for one message of the history.
func (p *contextPrinter) message(f *sentForm) {
	for i, m := range f.sent {
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
