package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// messageUse is a stretch of calls of one visit in which a message was sent in the same form for the same reason.
type messageUse struct {
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

// explained is what "context why --json" prints.
type explained struct {
	SessionID string       `json:"session_id"`
	Hash      echo.Hash    `json:"content_hash"`
	Role      echo.Role    `json:"role"`
	Kind      echo.Kind    `json:"kind,omitempty"` // not known of a placeholder
	Tool      string       `json:"tool,omitempty"`
	Tokens    int64        `json:"tokens"` // of the message itself
	Uses      []messageUse `json:"uses"`

	Selections []selectionUse `json:"selections,omitempty"` // for later phases

	message *echo.Message
}

func (a *app) explainMessage(r *contextRecord, prefix string, asJSON bool) error {
	known, err := r.hashes()
	if err != nil {
		return err
	}
	m, err := r.message(prefix, known)
	if err != nil {
		return err
	}
	x := explained{
		SessionID: r.id, Hash: m.Hash(), Role: m.Role(), Kind: m.Kind(), Tool: m.Tool(), Tokens: autocontext.Tokens(m), message: m,
	}
	if x.Uses, err = r.uses(m.Hash()); err != nil {
		return err
	}
	x.Selections = r.selections(m.Hash())
	if asJSON {
		return a.printJSON(x)
	}
	if err := a.printUses(&x); err != nil || len(x.Selections) == 0 {
		return err
	}
	fmt.Fprintln(a.out)
	return a.show(selectionUseTable(x.Selections))
}

// hashes returns the messages of all histories, and those that were sent in place of one, by hash. Of the latter that are
// not recorded by themselves, as summaries are, only what was sent is known.
func (r *contextRecord) hashes() (map[echo.Hash]*echo.Message, error) {
	recorded := map[echo.Hash]*echo.Message{}
	for _, e := range r.entries {
		if e.Message != nil && recorded[e.Message.Hash()] == nil {
			recorded[e.Message.Hash()] = e.Message
		}
	}
	known := map[echo.Hash]*echo.Message{}
	err := r.walk(func(_ int, req *record.Request) bool {
		for i, s := range req.Sent {
			known[s.Hash] = recorded[s.Hash]
			if s.Full {
				continue
			}
			for _, m := range req.Rendered(i) {
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

// message returns the one message whose hash begins so.
func (r *contextRecord) message(prefix string, known map[echo.Hash]*echo.Message) (*echo.Message, error) {
	var all, found []string
	for h := range known {
		all = append(all, string(h))
		if prefix != "" && strings.HasPrefix(string(h), strings.ToLower(prefix)) {
			found = append(found, string(h))
		}
	}
	slices.Sort(all)
	slices.Sort(found)
	hint := "windlass context show " + r.id
	switch {
	case len(found) == 1:
		return known[echo.Hash(found[0])], nil
	case len(found) > 1:
		list := strings.Join(found[:min(len(found), 5)], ", ")
		if len(found) > 5 {
			list += " and more"
		}
		return nil, usageError(fmt.Errorf("%q is the beginning of %d hashes: %s", prefix, len(found), list), hint)
	case len(all) == 0:
		return nil, r.noCall("message", "")
	}
	return nil, usageError(fmt.Errorf("no call of session %s had a message with the hash %q; the nearest are %s",
		r.id, prefix, strings.Join(nearest(prefix, all, 3), ", ")), hint)
}

// uses lists what became of a message in each call whose history has it, and the calls in which it stood for another. A
// message that is in histories more than once is listed place by place.
func (r *contextRecord) uses(h echo.Hash) ([]messageUse, error) {
	uses := []messageUse{}
	open := map[string]int{}      // by visit and message: the newest use, which may go on
	counted := map[echo.Key]int{} // calls of each visit so far
	err := r.walk(func(n int, req *record.Request) bool {
		c := &r.calls[n-1]
		counted[c.Visit]++
		for i, s := range req.Sent {
			u := messageUse{
				Visit: c.Visit, MessageSeq: req.History[i].Seq, Position: i + 1, First: n, Last: n, FirstKey: c.Key, LastKey: c.Key, Calls: 1,
				Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens,
			}
			if s.Hash != h {
				if s.Full || !slices.ContainsFunc(req.Rendered(i), func(m *echo.Message) bool { return m.Hash() == h }) {
					continue
				}
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
		return true
	})
	slices.SortStableFunc(uses, func(a, b messageUse) int { return cmp.Compare(a.MessageSeq, b.MessageSeq) })
	return uses, err
}

// continues reports whether a use in a later call is the same one. A message of a history is in every later call of the
// visit, so that no call can be missing between.
func (u *messageUse) continues(next *messageUse) bool {
	return u.Form == next.Form && u.Reason == next.Reason && u.Tokens == next.Tokens && u.For == next.For
}

func (a *app) printUses(x *explained) error {
	what := string(x.Role)
	if x.Kind != "" {
		what += ", " + string(x.Kind)
	}
	if x.Tool != "" {
		what += " of " + x.Tool
	}
	fmt.Fprintf(a.out, "message   %s\nwhat      %s, %s tokens\nbegins    %s\n\n", x.Hash, printable(what), formatCount(x.Tokens),
		cut(oneLine(x.message.Text()), lineRoom(a.out)-10))
	return a.show(useTable(x.Uses))
}

func useTable(uses []messageUse) *table {
	stood := slices.ContainsFunc(uses, func(u messageUse) bool { return u.For != "" })
	heads := []string{">calls", ">message", "where", "until", "form", "reason", ">tokens"}
	if stood {
		heads = append(heads, "in place of")
	}
	t := newTable(heads...)
	for _, u := range uses {
		number, until := fmt.Sprint(u.First), ""
		if u.Last != u.First {
			number += fmt.Sprintf("-%d", u.Last)
			until = callName(u.LastKey, u.Visit)
		}
		cells := []string{
			number, fmt.Sprint(u.Position), callName(u.FirstKey, echo.Key{}), until, string(u.Form), string(u.Reason), formatCount(u.Tokens),
		}
		if stood {
			cells = append(cells, string(u.For))
		}
		t.add(cells...)
	}
	return t
}

// lineRoom returns how long a line should be: as the terminal is wide, and 100 columns elsewhere.
func lineRoom(w io.Writer) int {
	if width := tableWidth(w); width > 0 {
		return width
	}
	return 100
}
