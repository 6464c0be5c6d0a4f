package inspect

import (
	"encoding/json"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// SentForm says what became of one message of a history in one call.
type SentForm struct {
	HistoryPosition int                `json:"history_position"` // of the message in the history, from 1
	MessageSeq      uint64             `json:"message_seq"`      // of the entry that has it
	Hash            echo.Hash          `json:"content_hash"`
	Role            echo.Role          `json:"role"` // of the original
	Kind            echo.Kind          `json:"kind"`
	Tool            string             `json:"tool,omitempty"`
	Form            autocontext.Form   `json:"form"`
	Reason          autocontext.Reason `json:"reason"`
	Tokens          int64              `json:"tokens"`   // of what was sent for it
	Position        int                `json:"position"` // of the first message sent for it, from 1; 0: none
	Messages        int                `json:"messages"` // how many were sent for it

	Sent []*echo.Message `json:"-"` // for it
}

// Shown is what one model call was sent.
type Shown struct {
	SessionID string            `json:"session_id"`
	Call      *Call             `json:"call"`
	Messages  []json.RawMessage `json:"messages"` // of the request, as they were sent
	Forms     []SentForm        `json:"history"`
}

// Show returns what a call of [Record.Call] was sent.
func (r *Record) Show(c *Call) (*Shown, error) {
	forms, err := r.forms(c)
	if err != nil {
		return nil, err
	}
	out := &Shown{SessionID: r.ID, Call: c, Messages: []json.RawMessage{}, Forms: forms[0]}
	for _, f := range out.Forms {
		for _, m := range f.Sent {
			out.Messages = append(out.Messages, m.JSON())
		}
	}
	return out, nil
}

// forms returns what became of each message of the history of calls, or of requests to choose. It reads the requests up to the
// last of the calls once.
func (r *Record) forms(calls ...*Call) ([][]SentForm, error) {
	out := make([][]SentForm, len(calls))
	last := 0
	for i, c := range calls {
		last = max(last, c.Number)
		if m := r.menu(c.Key); c.Number == 0 && m != nil {
			out[i] = m.forms()
		}
	}
	if last == 0 {
		return out, nil
	}
	err := r.walk(func(n int, req *record.Request) bool {
		for i, c := range calls {
			if n == c.Number {
				out[i] = formsOf(req)
			}
		}
		return n < last
	})
	return out, err
}

func formsOf(req *record.Request) []SentForm {
	forms := make([]SentForm, len(req.Sent))
	position := 1
	for i, s := range req.Sent {
		h := req.History[i]
		f := SentForm{
			HistoryPosition: i + 1, MessageSeq: h.Seq, Hash: s.Hash, Role: h.Message.Role(), Kind: h.Message.Kind(), Tool: h.Message.Tool(),
			Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens, Sent: req.Rendered(i),
		}
		if f.Messages = len(f.Sent); f.Messages > 0 {
			f.Position = position
		}
		position += f.Messages
		forms[i] = f
	}
	return forms
}
