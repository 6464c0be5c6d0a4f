package inspect

import (
	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// menu is a request to a model to choose what comes into a phase of earlier ones.
type menu struct {
	key  echo.Key // of the model call
	seq  uint64   // of the entry that has it
	call Call
	sent []*echo.Message
}

// menus returns the requests to choose, in their order. Of one that was made again when the run was
// resumed only the newest counts.
func (r *Record) menus() []menu {
	var out []menu
	at := map[echo.Key]int{}
	for _, e := range r.Entries {
		switch e.NodeType { //nolint:exhaustive // the others are no part of it
		case echo.NodeMenu:
			m, err := newMenu(e)
			if err != nil {
				continue // it cannot be read: of another version
			}
			if i, again := at[m.key]; again {
				out[i] = m
				continue
			}
			at[m.key] = len(out)
			out = append(out, m)
		case echo.NodeModelCall:
			if i, ok := at[e.Key]; ok {
				out[i].call.answered(e)
			}
		}
	}
	return out
}

func newMenu(e *echo.Entry) (menu, error) {
	said, err := echo.Read[echo.Menu](e)
	if err != nil {
		return menu{}, err
	}
	m := menu{key: e.Key.Parent().Step(echo.StepModel), seq: e.Seq}
	sum := FormSum{Messages: len(said.Messages)}
	for _, part := range said.Messages {
		kind := echo.KindTask
		if part.Role == echo.RoleSystem {
			kind = echo.KindSystem
		}
		sent := echo.NewText(part.Role, kind, part.Text)
		m.sent = append(m.sent, sent)
		sum.Tokens += autocontext.Tokens(sent)
	}
	m.call = Call{
		Key: m.key, At: e.At, Visit: e.Key.VisitKey(), Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Model: said.Model, Dialect: "native",
		FullHistorySize: sum.Tokens, ContextSize: sum.Tokens, MessageCount: sum.Messages, Forms: map[autocontext.Form]FormSum{autocontext.FormFull: sum},
	}
	if of := record.Conversation(e.Key); of != m.call.Visit {
		m.call.Branch = of.String()
	}
	return m, nil
}

// menu returns the request to choose whose call has this key, or whose selection has; nil: none.
func (r *Record) menu(key echo.Key) *menu {
	for _, m := range r.menus() {
		if m.key == key || m.key.Parent() == key {
			return &m
		}
	}
	return nil
}

// forms says that every message was sent as it is.
func (m *menu) forms() []SentForm {
	forms := make([]SentForm, len(m.sent))
	for i, sent := range m.sent {
		forms[i] = SentForm{
			HistoryPosition: i + 1, MessageSeq: m.seq, Hash: sent.Hash(), Role: sent.Role(), Kind: sent.Kind(),
			Form: autocontext.FormFull, Reason: autocontext.ReasonMenu, Tokens: autocontext.Tokens(sent),
			Position: i + 1, Messages: 1, Sent: []*echo.Message{sent},
		}
	}
	return forms
}
