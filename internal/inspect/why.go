package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Use is a stretch of calls of a visit in which a message was sent in one form for one reason.
type Use struct {
	Visit      echo.Key           `json:"visit"`
	MessageSeq uint64             `json:"message_seq"`      // the entry that has it
	Position   int                `json:"history_position"` // of the message in the history, from 1
	First      int                `json:"first_call"`       // number in the session
	Last       int                `json:"last_call"`
	FirstKey   echo.Key           `json:"first_key"`
	LastKey    echo.Key           `json:"last_key"`
	Calls      int                `json:"calls"`
	Form       autocontext.Form   `json:"form"`
	Reason     autocontext.Reason `json:"reason"`
	Tokens     int64              `json:"tokens"`        // of what was sent for it, in each call
	For        echo.Hash          `json:"for,omitempty"` // it was sent in the place of the message with this hash
}

// Explained says in which calls a message was sent, in which form and why.
type Explained struct {
	SessionID string    `json:"session_id"`
	Hash      echo.Hash `json:"content_hash"`
	Role      echo.Role `json:"role"`
	Kind      echo.Kind `json:"kind,omitempty"` // not known of a placeholder
	Tool      string    `json:"tool,omitempty"`
	Tokens    int64     `json:"tokens"` // of the message itself
	Uses      []Use     `json:"uses"`

	Selections []SelectionUse `json:"selections,omitempty"` // for later phases

	Message *echo.Message `json:"-"`
}

// Explain finds the one message whose hash begins with prefix, and says what became of it.
func (r *Record) Explain(prefix string) (*Explained, error) {
	known, err := r.Messages()
	if err != nil {
		return nil, err
	}
	m, err := r.message(prefix, known)
	if err != nil {
		return nil, err
	}
	x := &Explained{
		SessionID: r.ID, Hash: m.Hash(), Role: m.Role(), Kind: m.Kind(), Tool: m.Tool(), Tokens: autocontext.Tokens(m), Message: m,
		Selections: r.selections(m.Hash()),
	}
	x.Uses, err = r.uses(m.Hash())
	return x, err
}

// Messages returns the messages of all histories, and those sent in place of one, by hash.
func (r *Record) Messages() (map[echo.Hash]*echo.Message, error) {
	recorded := map[echo.Hash]*echo.Message{}
	for _, e := range r.Entries {
		if e.Message != nil && recorded[e.Message.Hash()] == nil {
			recorded[e.Message.Hash()] = e.Message
		}
	}
	known := map[echo.Hash]*echo.Message{}
	err := r.walk(func(_ int, req *record.Request) bool {
		for _, c := range req.Changes {
			s := &req.Sent[c.At]
			known[s.Hash] = recorded[s.Hash]
			if s.Full {
				continue
			}
			for _, m := range req.Rendered(c.At) {
				if h := m.Hash(); recorded[h] == nil {
					recorded[h] = echo.Seal(echo.Draft{Role: m.Role(), Parts: m.Parts(), ToolCalls: m.ToolCalls(), ToolCallID: m.ToolCallID()})
				}
				known[m.Hash()] = recorded[m.Hash()]
			}
		}
		return true
	})
	return known, err
}

func (r *Record) message(prefix string, known map[echo.Hash]*echo.Message) (*echo.Message, error) {
	var all, found []string
	for h := range known {
		all = append(all, string(h))
		if prefix != "" && strings.HasPrefix(string(h), strings.ToLower(prefix)) {
			found = append(found, string(h))
		}
	}
	slices.Sort(all)
	slices.Sort(found)
	switch {
	case len(found) == 1:
		return known[echo.Hash(found[0])], nil
	case len(found) > 1:
		list := strings.Join(found[:min(len(found), 5)], ", ")
		if len(found) > 5 {
			list += " and more"
		}
		return nil, failure.Newf(failure.UnknownMessage, "%q is the beginning of %d hashes: %s", prefix, len(found), list)
	case len(all) == 0:
		return nil, r.noCall("message", "")
	}
	return nil, failure.Newf(failure.UnknownMessage, "no call of session %s had a message with the hash %q; the nearest are %s",
		r.ID, prefix, strings.Join(suggestion.Nearest(prefix, all, 3), ", "))
}

// uses lists what became of a message in each call that has it, or another that it stood for.
func (r *Record) uses(h echo.Hash) ([]Use, error) {
	uses := []Use{}
	open := map[string]int{} // by visit and message: the newest use, which may go on
	err := trace(r, h, func(n int, req *record.Request, _ *thread, at []int) {
		c := &r.Calls[n-1]
		for _, i := range at {
			s := &req.Sent[i]
			u := Use{
				Visit: c.Visit, MessageSeq: req.History[i].Seq, Position: i + 1, First: n, Last: n, FirstKey: c.Key, LastKey: c.Key, Calls: 1,
				Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens,
			}
			if s.Hash != h {
				u.For = s.Hash
			}
			key := fmt.Sprint(c.Visit, " ", u.MessageSeq)
			if at, ok := open[key]; ok && uses[at].continues(&u) {
				uses[at].Last, uses[at].LastKey, uses[at].Calls = n, c.Key, uses[at].Calls+1
				continue
			}
			open[key] = len(uses)
			uses = append(uses, u)
		}
	})
	slices.SortStableFunc(uses, func(a, b Use) int { return cmp.Compare(a.MessageSeq, b.MessageSeq) })
	return uses, err
}

func (u *Use) continues(next *Use) bool {
	return u.Form == next.Form && u.Reason == next.Reason && u.Tokens == next.Tokens && u.For == next.For
}
