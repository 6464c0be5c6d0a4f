package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// change says how a message of one request stands in another.
type change string

// The changes.
const (
	changeSame  change = "same"
	changeForm  change = "changed" // the same message of the history, sent in other words
	changeAdded change = "added"
	changeGone  change = "gone"
)

// sentSide is how a message stands in one of two requests.
type sentSide struct {
	Position int                `json:"position"` // in the request, from 1; 0: nothing was sent for it
	Messages int                `json:"messages"` // how many were sent for it
	Form     autocontext.Form   `json:"form"`
	Reason   autocontext.Reason `json:"reason"`
	Tokens   int64              `json:"tokens"`
}

// messageChange is a message with its place in two requests.
type messageChange struct {
	Change change    `json:"change"`
	Hash   echo.Hash `json:"content_hash"` // of the original
	Role   echo.Role `json:"role"`
	Tool   string    `json:"tool,omitempty"`
	From   *sentSide `json:"from"` // null: not in that history
	To     *sentSide `json:"to"`
}

// prefixEnd says where the common beginning of two requests ends.
type prefixEnd struct {
	Messages int     `json:"messages"` // that are equal, byte by byte
	Tokens   int64   `json:"tokens"`   // in them
	Share    float64 `json:"share"`    // of the tokens of the second request, from 0 to 1
	Why      string  `json:"why"`
}

// contextDiff is what "context diff --json" prints.
type contextDiff struct {
	SessionID string          `json:"session_id"`
	From      *contextCall    `json:"from"`
	To        *contextCall    `json:"to"`
	Prefix    prefixEnd       `json:"common_prefix"`
	Messages  []messageChange `json:"messages"`
}

func (a *app) diffContext(r *contextRecord, from, to *contextCall, asJSON bool) error {
	one, err := r.request(from)
	if err != nil {
		return err
	}
	other, err := r.request(to)
	if err != nil {
		return err
	}
	was, is := formsOf(one), formsOf(other)
	d := contextDiff{SessionID: r.id, From: from, To: to, Prefix: commonPrefix(was, is), Messages: changes(was, is, from.Visit == to.Visit)}
	if asJSON {
		return a.printJSON(d)
	}
	return a.printDiff(&d)
}

// changes lists the messages of two histories in the order of the second; what is only in the first stands where it was.
// Messages that are in no request are left out unless they are in the other history.
func changes(was, is []sentForm, sameVisit bool) []messageChange {
	before := map[string]int{}
	for i, key := range pairKeys(was, sameVisit) {
		before[key] = i
	}
	keys := pairKeys(is, sameVisit)
	paired := make([]bool, len(was))
	for _, key := range keys {
		if i, ok := before[key]; ok {
			paired[i] = true
		}
	}
	var out []messageChange
	told := 0 // of was
	tell := func(until int) {
		for ; told < until; told++ {
			if !paired[told] && len(was[told].sent) > 0 {
				out = append(out, newChange(&was[told], nil))
			}
		}
	}
	for i, key := range keys {
		j, ok := before[key]
		switch {
		case ok:
			tell(j)
			out = append(out, newChange(&was[j], &is[i]))
		case len(is[i].sent) > 0:
			out = append(out, newChange(nil, &is[i]))
		}
	}
	tell(len(was))
	return out
}

// pairKeys names the messages of a history so that equal names are the same message. Within one visit that is the entry
// which holds it. Two visits have entries of their own; there the first with a hash is paired with the first, and so on.
func pairKeys(forms []sentForm, sameVisit bool) []string {
	keys := make([]string, len(forms))
	seen := map[echo.Hash]int{}
	for i, f := range forms {
		seen[f.Hash]++
		keys[i] = fmt.Sprintf("%s %d", f.Hash, seen[f.Hash])
		if sameVisit {
			keys[i] = fmt.Sprint(f.MessageSeq)
		}
	}
	return keys
}

// newChange compares a message in two requests; nil: it is not in that history.
func newChange(was, is *sentForm) messageChange {
	m := is
	if m == nil {
		m = was
	}
	c := messageChange{Hash: m.Hash, Role: m.Role, Tool: m.Tool, From: newSide(was), To: newSide(is)}
	switch from, to := wireOf(was), wireOf(is); {
	case bytes.Equal(from, to):
		c.Change = changeSame
	case len(from) == 0:
		c.Change = changeAdded
	case len(to) == 0:
		c.Change = changeGone
	default:
		c.Change = changeForm
	}
	return c
}

func newSide(f *sentForm) *sentSide {
	if f == nil {
		return nil
	}
	return &sentSide{Position: f.Position, Messages: f.Messages, Form: f.Form, Reason: f.Reason, Tokens: f.Tokens}
}

// wireOf returns the bytes that were sent for a message.
func wireOf(f *sentForm) []byte {
	var b []byte
	if f != nil {
		for _, m := range f.sent {
			b = append(b, m.JSON()...)
		}
	}
	return b
}

// sentMessage is one message of a request with what it was sent for.
type sentMessage struct {
	*echo.Message
	form *sentForm
}

func flatten(forms []sentForm) []sentMessage {
	var out []sentMessage
	for i := range forms {
		for _, m := range forms[i].sent {
			out = append(out, sentMessage{m, &forms[i]})
		}
	}
	return out
}

// commonPrefix compares two requests message by message until they differ.
func commonPrefix(was, is []sentForm) prefixEnd {
	var p prefixEnd
	from, to := flatten(was), flatten(is)
	for p.Messages < min(len(from), len(to)) && bytes.Equal(from[p.Messages].JSON(), to[p.Messages].JSON()) {
		p.Tokens += autocontext.Tokens(to[p.Messages].Message)
		p.Messages++
	}
	total := p.Tokens
	for _, m := range to[p.Messages:] {
		total += autocontext.Tokens(m.Message)
	}
	if total > 0 {
		p.Share = float64(p.Tokens) / float64(total)
	}
	p.Why = whyItEnds(from[p.Messages:], to[p.Messages:])
	return p
}

// String says how much is equal.
func (p *prefixEnd) String() string {
	what := fmt.Sprintf("The first %d messages are equal", p.Messages)
	switch p.Messages {
	case 0:
		return "The requests differ from the first message on: a prefix cache can give nothing."
	case 1:
		what = "The first message is equal"
	}
	return fmt.Sprintf("%s: %s tokens, %.1f %% of the second request, which a prefix cache can give.", what, formatCount(p.Tokens), 100*p.Share)
}

// whyItEnds says how two requests go on behind their common beginning.
func whyItEnds(from, to []sentMessage) string {
	switch {
	case len(from) == 0 && len(to) == 0:
		return "the requests are equal"
	case len(from) == 0:
		return "the second request goes on where the first one ends"
	case len(to) == 0:
		return "the second request ends there, the first one goes on"
	case from[0].form.Hash == to[0].form.Hash:
		f, t := from[0].form, to[0].form
		return fmt.Sprintf("%s was sent %s (%s) and is sent %s (%s)", nameOf(t), f.Form, f.Reason, t.Form, t.Reason)
	}
	return fmt.Sprintf("then comes %s, where %s was", nameOf(to[0].form), nameOf(from[0].form))
}

// nameOf names a message of a history.
func nameOf(f *sentForm) string {
	what := string(f.Role)
	if f.Tool != "" {
		what += " " + printable(f.Tool)
	}
	return fmt.Sprintf("%s (%s)", f.Hash, what)
}

func (a *app) printDiff(d *contextDiff) error {
	for _, c := range []struct {
		name string
		*contextCall
	}{{"from", d.From}, {"to", d.To}} {
		fmt.Fprintf(a.out, "%-5s call %d: %s, %s, %s tokens\n", c.name, c.Number, c.place(), plural(c.MessageCount, "message"), formatCount(c.ContextSize))
	}
	fmt.Fprintln(a.out)
	if err := a.show(diffTable(d.Messages)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n%s.\n", d.Prefix.String(), capital(d.Prefix.Why))
	return err
}

// diffTable lists changes; messages that follow each other and are the same share a line.
func diffTable(list []messageChange) *table {
	t := newTable("", ">from", ">to", "message", "hash", "was", "is", "why", ">tokens")
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n].Change == changeSame {
			n++
		}
		if n-i > 1 {
			t.add("=", places(list[i:n], fromSide), places(list[i:n], toSide), plural(n-i, "message"), "", "", "same", "", formatCount(tokensOf(list[i:n])))
			i = n
			continue
		}
		c := &list[i]
		mark := map[change]string{changeSame: "=", changeForm: "~", changeAdded: "+", changeGone: "-"}[c.Change]
		what := string(c.Role)
		if c.Tool != "" {
			what += " " + c.Tool
		}
		t.add(mark, places(list[i:i+1], fromSide), places(list[i:i+1], toSide), what, string(c.Hash), c.From.form(), c.To.form(), c.reason(), c.sizes())
		i++
	}
	return t
}

func fromSide(c *messageChange) *sentSide { return c.From }
func toSide(c *messageChange) *sentSide   { return c.To }

// places names the places that messages have in a request.
func places(list []messageChange, side func(*messageChange) *sentSide) string {
	first, last := 0, 0
	for i := range list {
		if s := side(&list[i]); s != nil && s.Position > 0 {
			if first == 0 {
				first = s.Position
			}
			last = s.Position + s.Messages - 1
		}
	}
	switch first {
	case 0:
		return ""
	case last:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

func tokensOf(list []messageChange) int64 {
	var sum int64
	for _, c := range list {
		sum += c.To.Tokens
	}
	return sum
}

// form returns how a message is sent, nothing for one that is not in the history.
func (s *sentSide) form() string {
	if s == nil {
		return ""
	}
	return string(s.Form)
}

// reason says why a message is sent as it is now.
func (c *messageChange) reason() string {
	if c.To == nil {
		return ""
	}
	return string(c.To.Reason)
}

// sizes are the tokens of a message in both requests, once when they are the same or only one has it.
func (c *messageChange) sizes() string {
	switch {
	case c.From == nil:
		return formatCount(c.To.Tokens)
	case c.To == nil, c.From.Tokens == c.To.Tokens:
		return formatCount(c.From.Tokens)
	}
	return formatCount(c.From.Tokens) + " -> " + formatCount(c.To.Tokens)
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
