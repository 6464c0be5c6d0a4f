package redaction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/secret"
)

// Options say how a message is redacted.
type Options struct {
	At     time.Time
	Reason string
	Parts  bool // its lines and long words are taken out of other messages, too
}

// Place is an entry that has lines or long words of a redacted message.
type Place struct {
	Seq  uint64        `json:"seq"` // 0: the header of the journal, which has the cascade
	Node echo.NodeType `json:"node_type,omitempty"`
	Hash echo.Hash     `json:"content_hash,omitempty"` // of its message, or of one that was sent in another form
}

// Plan is what a session becomes.
type Plan struct {
	Header    journal.Header
	Redaction journal.Redaction
	Already   bool        // the message was redacted before: nothing changes
	Entries   []uint64    // that change
	Left      []Place     // what has parts of the message afterwards
	Hashes    []echo.Hash // of the messages that change, or have changed before
	Parts     *Leftover   // finds what is left in files; nil when the message was redacted before
	changed   map[uint64]*echo.Entry
}

// Leftover finds the texts and parts of a message.
type Leftover struct{ all *texts }

// In reports whether a text has one of them.
func (l *Leftover) In(text string) bool { return l.all.has(text) }

// Change returns what an entry becomes; nil when it stays as it is.
func (p *Plan) Change(e *echo.Entry) (*echo.Entry, error) { return p.changed[e.Seq], nil }

// New plans to redact the message with a content hash, which the recording has.
func New(rec *journal.Recording, of echo.Hash, o Options) (*Plan, error) {
	p := &Plan{Header: rec.Header, changed: map[uint64]*echo.Entry{}}
	for _, r := range rec.Header.Redactions {
		if r.Hash == of {
			p.Already, p.Redaction = true, r
			p.hashes(rec.Entries)
			return p, nil
		}
	}
	m := original(rec.Entries, of)
	if m == nil {
		return nil, &UnknownError{Session: rec.Header.SessionID, Given: string(of), Messages: len(rec.Entries)}
	}
	p.Redaction = journal.Redaction{
		Hash: of, Role: m.Role(), Kind: m.Kind(), Tokens: tokensOf(m, rec.Entries), Bytes: len(m.JSON()),
		Characters: utf8.RuneCountInString(m.Text()), At: o.At, Reason: o.Reason,
	}
	r := newRedactor(rec, m, p.Redaction, o.Parts)
	p.Parts = &Leftover{r.data}
	p.Header.Redactions = append(slices.Clone(rec.Header.Redactions), p.Redaction)
	p.Header.Input = echo.ReplaceStrings(rec.Header.Input, r.data.replacer(of, r.leaves))
	p.Header.Cascade = echo.ReplaceStrings(rec.Header.Cascade, r.messages.replacer(of, nil))
	if r.data.has(string(p.Header.Cascade)) {
		p.Left = append(p.Left, Place{})
	}
	after := make([]*echo.Entry, len(rec.Entries))
	for i, e := range rec.Entries {
		if err := p.add(r, e); err != nil {
			return nil, err
		}
		if after[i] = e; p.changed[e.Seq] != nil {
			after[i] = p.changed[e.Seq]
		}
	}
	p.hashes(after)
	return p, nil
}

func (p *Plan) add(r *redactor, e *echo.Entry) error {
	now, err := r.entry(e, p.Header)
	if err != nil {
		return fmt.Errorf("redact entry %d (%s): %w", e.Seq, e.Key, err)
	}
	was, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	is, err := now.AppendJSON(nil)
	if err != nil {
		return err
	}
	if !bytes.Equal(was, is) {
		p.changed[e.Seq] = now
		p.Entries = append(p.Entries, e.Seq)
	}
	if hash, left := r.leftIn(now); left {
		p.Left = append(p.Left, Place{Seq: e.Seq, Node: e.NodeType, Hash: hash})
	}
	return nil
}

// hashes notes the messages that texts were taken out of.
func (p *Plan) hashes(entries []*echo.Entry) {
	for _, e := range entries {
		if m := e.Message; m != nil && m.Redacted() != nil && !slices.Contains(p.Hashes, m.Hash()) {
			p.Hashes = append(p.Hashes, m.Hash())
		}
	}
}

func original(entries []*echo.Entry, of echo.Hash) *echo.Message {
	for _, e := range entries {
		if e.Message != nil && e.Message.Hash() == of {
			return e.Message
		}
	}
	return nil
}

// tokensOf returns the tokens of a message as a selection has recorded them, else an estimate.
func tokensOf(m *echo.Message, entries []*echo.Entry) int64 {
	for _, e := range entries {
		if e.Selection == nil {
			continue
		}
		for _, s := range e.Selection.Spans {
			if i := slices.Index(s.Hashes, m.Hash()); i >= 0 && s.Sent == nil && i < len(s.Tokens) && s.Tokens[i] > 0 {
				return s.Tokens[i]
			}
		}
	}
	return estimate(m)
}

// estimate is that of views: a quarter of the bytes.
func estimate(m *echo.Message) int64 { return int64(len(m.JSON())+3) / 4 }

// redactor takes one message out of entries.
type redactor struct {
	of       echo.Hash
	is       journal.Redaction
	messages *texts          // what is taken out of other messages
	data     *texts          // what is taken out of what the engine wrote down, and looked for everywhere
	leaves   map[string]bool // strings that are taken out where they stand alone
	calls    map[string]bool // the calls of the message, by their places
	turns    map[string]bool // where the message has calls
	shape    shape
	answers  []string // JSON values that it says
}

func newRedactor(rec *journal.Recording, m *echo.Message, is journal.Redaction, parts bool) *redactor {
	r := &redactor{of: is.Hash, is: is, leaves: map[string]bool{}, calls: map[string]bool{}, turns: map[string]bool{}}
	r.shape = shape{of: r.of, names: namesIn(rec.Entries)}
	whole := textsOf(m)
	all := append(slices.Clone(whole), partsOf(whole)...)
	for _, t := range whole {
		for _, l := range leavesOf(t) {
			if len(l) >= secret.MinLength {
				r.leaves[l] = true
			}
		}
	}
	for _, l := range leavesOf(string(rec.Header.Input)) {
		if l = strings.TrimSpace(l); len(l) >= secret.MinLength && slices.ContainsFunc(whole, func(t string) bool { return strings.Contains(t, l) }) {
			all = append(all, l)
		}
	}
	r.data = newTexts(r.of, distinct(all, secret.MinLength))
	if r.messages = newTexts(r.of, whole); parts {
		r.messages = r.data
	}
	if text := m.Text(); m.Role() == echo.RoleAssistant && text != "" {
		r.answers = append(r.answers, text)
	}
	for _, e := range rec.Entries {
		if e.Message == nil || e.Message.Hash() != r.of {
			continue
		}
		for _, c := range m.ToolCalls() {
			r.turns[turnOf(e.Key)] = true
			r.calls[turnOf(e.Key)+" "+c.ID] = true
		}
	}
	return r
}

// namesIn returns the names in the keys of entries: of phases, values of the state, tools that check.
func namesIn(entries []*echo.Entry) map[string]bool {
	names := map[string]bool{}
	for _, e := range entries {
		p := e.Key.Path()
		names[p.Phase] = true
		for _, s := range append(p.Branches, p.Effect...) {
			names[s.Name] = true
		}
	}
	return names
}

// turnOf names the turn that something belongs to.
func turnOf(k echo.Key) string {
	p := k.Path()
	return fmt.Sprint(p.Scope, p.Phase, p.Visit, p.Branches, p.Attempt, p.Turn)
}

// entry returns what an entry becomes.
func (r *redactor) entry(e *echo.Entry, h journal.Header) (*echo.Entry, error) {
	now := *e
	own := e.Message != nil && e.Message.Hash() == r.of
	if e.Message != nil {
		now.Message = r.message(e.Message)
	}
	if t := e.Tool; t != nil {
		use := *t
		if use.Arguments = r.withoutIn(t.Arguments); r.calls[turnOf(e.Key)+" "+t.CallID] {
			use.Arguments = r.arguments(t.Arguments)
		}
		now.Tool = &use
	}
	if f := e.Error; f != nil {
		now.Error = &echo.Failure{Kind: f.Kind, Message: r.data.without(f.Message)}
		if own && f.Message != "" {
			now.Error.Message = echo.RedactionMark(r.of, f.Message)
		}
	}
	if e.Selection != nil {
		now.Selection = r.selection(e.Selection)
	}
	return &now, r.dataOf(&now, h)
}

// message returns a message without the redacted texts; the message itself when it has none.
func (r *redactor) message(m *echo.Message) *echo.Message {
	switch {
	case m.Hash() == r.of && m.Redacted() == nil:
		return r.tombstone(m, r.is.Tokens)
	case m.Hash() == r.of:
		// parts of it were taken out with another one
		return r.tombstone(m, m.Redacted().Tokens)
	}
	d := m.Draft()
	d.Parts, d.ToolCalls = slices.Clone(d.Parts), slices.Clone(d.ToolCalls)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Text, p.URL = r.messages.without(p.Text), r.messages.without(p.URL)
	}
	for i := range d.ToolCalls {
		d.ToolCalls[i].Arguments = r.withoutIn(d.ToolCalls[i].Arguments)
	}
	if bytes.Equal(echo.Seal(d).JSON(), m.JSON()) {
		return m
	}
	return r.marked(d, m, estimate(m))
}

// withoutIn returns the arguments of a call without the redacted texts; JSON stays JSON.
func (r *redactor) withoutIn(arguments string) string {
	if json.Valid([]byte(arguments)) {
		return string(echo.ReplaceStrings(json.RawMessage(arguments), r.messages.replacer(r.of, nil)))
	}
	return r.messages.without(arguments)
}

// tombstone returns what stands for a message: who said it, which calls it had, and marks.
func (r *redactor) tombstone(m *echo.Message, tokens int64) *echo.Message {
	d := m.Draft()
	if len(d.Parts) > 0 {
		text, ok := "", false
		if d.Role == echo.RoleAssistant {
			text, ok = r.shape.text(m.Text())
		}
		if !ok {
			text = echo.RedactionMark(r.of, m.Text())
		}
		d.Parts = echo.Text(text)
	}
	d.ToolCalls = slices.Clone(d.ToolCalls)
	for i := range d.ToolCalls {
		d.ToolCalls[i].Arguments = r.arguments(d.ToolCalls[i].Arguments)
	}
	return r.marked(d, m, tokens)
}

// marked seals a draft that says what was taken out of a message. It has that message's hash.
func (r *redactor) marked(d echo.Draft, was *echo.Message, tokens int64) *echo.Message {
	x := echo.Redacted{Hash: was.Hash(), Of: []echo.Hash{r.of}, Tokens: tokens, Bytes: len(was.JSON())}
	if before := was.Redacted(); before != nil {
		x = *before
		if x.Of = slices.Clone(before.Of); !slices.Contains(x.Of, r.of) {
			x.Of = append(x.Of, r.of)
		}
	}
	d.Redacted = &x
	return echo.Seal(d)
}

func (r *redactor) arguments(text string) string {
	if out, ok := r.shape.text(text); ok {
		return out
	}
	return markOf(r.of, text)
}

// selection returns a selection without what was sent of the message.
func (r *redactor) selection(s *echo.Selection) *echo.Selection {
	out := *s
	out.Spans = slices.Clone(s.Spans)
	for i := range out.Spans {
		span := &out.Spans[i]
		span.Sent = slices.Clone(span.Sent)
		for j, sent := range span.Sent {
			own := j < len(span.Hashes) && span.Hashes[j] == r.of
			span.Sent[j] = r.sent(sent, own)
		}
	}
	return &out
}

func (r *redactor) sent(messages []*echo.Message, own bool) []*echo.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		switch {
		case m == nil:
		case own:
			out[i] = r.tombstone(m, 0)
		default:
			out[i] = r.message(m)
		}
	}
	return out
}

// dataOf changes what an entry says.
func (r *redactor) dataOf(e *echo.Entry, h journal.Header) error {
	switch e.NodeType {
	case echo.NodeRunStart:
		return r.start(e, h)
	case echo.NodePhaseStart, echo.NodeSelection, echo.NodeModelCall, echo.NodeResume:
		e.ReplaceStrings(r.messages.replacer(r.of, nil))
		return nil
	case echo.NodeState, echo.NodePhaseEnd, echo.NodeRunEnd:
		if err := r.values(e); err != nil {
			return err
		}
	case echo.NodeValue:
		r.findings(e)
	}
	e.ReplaceStrings(r.data.replacer(r.of, r.leaves))
	return nil
}

// values shapes values that are what the message says, or come from its calls.
func (r *redactor) values(e *echo.Entry) error {
	switch e.NodeType {
	case echo.NodeState:
		return change(e, func(d *echo.State) bool { return r.shapes(&d.Value, r.turns[turnOf(e.Key)]) })
	case echo.NodePhaseEnd:
		return change(e, func(d *echo.PhaseEnd) bool { return r.shapes(&d.Output, false) })
	}
	return change(e, func(d *echo.RunEnd) bool { return r.shapes(&d.Output, false) })
}

// shapes puts marks into a value, if it is the message's own or what it says as JSON.
func (r *redactor) shapes(value *any, own bool) bool {
	if *value == nil || !own && !slices.ContainsFunc(r.answers, func(a string) bool { return sameJSON(a, *value) }) {
		return false
	}
	*value = r.shape.value(*value)
	return true
}

// change changes what an entry says by its type.
func change[T echo.Payload](e *echo.Entry, with func(*T) bool) error {
	d, err := echo.Read[T](e)
	if err != nil {
		return err
	}
	if with(&d) {
		e.Set(d)
	}
	return nil
}

// start changes the input and the header in the start of a run.
func (r *redactor) start(e *echo.Entry, h journal.Header) error {
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return change(e, func(d *echo.RunStart) bool {
		input, err := json.Marshal(d.Input)
		if err != nil {
			return false
		}
		var now map[string]any
		dec := json.NewDecoder(bytes.NewReader(echo.ReplaceStrings(input, r.data.replacer(r.of, r.leaves))))
		dec.UseNumber()
		if dec.Decode(&now) != nil {
			return false
		}
		if d.Input = now; len(d.Header) > 0 {
			d.Header = header
		}
		return true
	})
}

// findings takes the card of the message out of what was found in cards.
func (r *redactor) findings(e *echo.Entry) {
	d, err := echo.Read[echo.Findings](e)
	if err != nil {
		return // another reading
	}
	changed := false
	for i := range d.Found {
		for j := range d.Found[i].Cards {
			c := &d.Found[i].Cards[j]
			if c.Hash == r.of {
				c.Summary, c.Keywords, changed = markOf(r.of, c.Summary), nil, true
			}
		}
	}
	if changed {
		e.Set(d)
	}
}

// leftIn reports whether an entry has parts of the message, and the hash of the message that does.
func (r *redactor) leftIn(e *echo.Entry) (echo.Hash, bool) {
	has := func(m *echo.Message) bool { return m != nil && r.data.has(string(m.JSON())) }
	if has(e.Message) || e.Tool != nil && r.data.has(e.Tool.Arguments) {
		return e.ContentHash, true
	}
	if e.Selection == nil {
		return "", false
	}
	for _, s := range e.Selection.Spans {
		for i, sent := range s.Sent {
			if slices.ContainsFunc(sent, has) && i < len(s.Hashes) {
				return s.Hashes[i], true
			}
		}
	}
	return "", false
}
