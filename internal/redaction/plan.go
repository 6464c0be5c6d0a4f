package redaction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/oneline"
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
	Seq  uint64        `json:"seq"` // 0: the header of the journal, which has the cascade, the input and the state of a child
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
	Short     int         // values of the message that are too short to be looked for elsewhere
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
	p.Parts, p.Short = &Leftover{r.data}, r.short
	after, err := p.changes(r, rec)
	if err != nil {
		return nil, err
	}
	p.hashes(after)
	return p, p.check(rec, after)
}

// changes changes the header and entries. The start of the run is last, as it has the header.
func (p *Plan) changes(r *redactor, rec *journal.Recording) (after []*echo.Entry, err error) {
	if p.Header.Input, err = r.json(rec.Header.Input, someData, r.data, nil); err != nil {
		return nil, fmt.Errorf("redact the input: %w", err)
	}
	if p.Header.Options, err = r.json(rec.Header.Options, optionsPlace, r.data, nil); err != nil {
		return nil, fmt.Errorf("redact the state that the session began with: %w", err)
	}
	left := false
	if p.Header.Cascade, err = r.definition(rec.Header.Cascade, cascadePlace, &left); err == nil {
		p.Header.Library, err = r.definition(rec.Header.Library, libraryPlace, &left)
	}
	if err == nil {
		_, err = r.json(p.Header.Input, someData, leftIn(r.data, &left), func(t string) { left = left || r.data.has(t) && !r.shape.names[t] })
	}
	if err == nil {
		_, err = r.json(p.Header.Options, optionsPlace, leftIn(r.data, &left), nil)
	}
	if err != nil {
		return nil, fmt.Errorf("redact the cascade: %w", err)
	}
	if left {
		p.Left = append(p.Left, Place{})
	}
	after = slices.Clone(rec.Entries)
	for _, start := range []bool{false, true} {
		for i, e := range rec.Entries {
			if start != (e.NodeType == echo.NodeRunStart) {
				continue
			}
			if after[i], err = p.add(r, e); err != nil {
				return nil, err
			}
		}
		if !start {
			p.record(r, rec)
		}
	}
	slices.Sort(p.Entries)
	return after, nil
}

// definition returns a cascade, or a library of them, without texts; left becomes true when some stay in it.
func (r *redactor) definition(raw []byte, place *echo.ContentPlace, left *bool) ([]byte, error) {
	now, err := r.json(raw, place, r.messages, nil)
	if err == nil {
		_, err = r.json(now, place, leftIn(r.data, left), func(t string) { *left = *left || r.data.has(t) })
	}
	return now, err
}

// record puts the redaction into the header.
func (p *Plan) record(r *redactor, rec *journal.Recording) {
	p.Redaction.Numbers, p.Redaction.Entries = *r.shape.numbers, slices.Clone(p.Entries)
	if !bytes.Equal(p.Header.Input, rec.Header.Input) || !bytes.Equal(p.Header.Options, rec.Header.Options) {
		p.Redaction.Entries = slices.Insert(p.Redaction.Entries, 0, 1)
	}
	p.Header.Redactions = append(slices.Clone(rec.Header.Redactions), p.Redaction)
}

// add returns what an entry becomes.
func (p *Plan) add(r *redactor, e *echo.Entry) (*echo.Entry, error) {
	now, err := r.entry(e, p.Header)
	if err != nil {
		return nil, fmt.Errorf("redact entry %d (%s): %w", e.Seq, e.Key, err)
	}
	was, err := e.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	is, err := now.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	hash, left, err := r.leftIn(now)
	if err != nil {
		return nil, fmt.Errorf("look through entry %d (%s): %w", e.Seq, e.Key, err)
	}
	if left {
		p.Left = append(p.Left, Place{Seq: e.Seq, Node: e.NodeType, Hash: hash})
	}
	if bytes.Equal(was, is) {
		return e, nil
	}
	p.changed[e.Seq] = now
	p.Entries = append(p.Entries, e.Seq)
	return now, nil
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
	calls    map[string]bool // the calls of the message, by their places
	turns    map[string]bool // where the message has calls
	shape    shape
	answers  []string // JSON values that it says
	short    int      // values that are not looked for
	heads    []string // how its texts begin, for copies of which only the beginning is left
}

func newRedactor(rec *journal.Recording, m *echo.Message, is journal.Redaction, parts bool) *redactor {
	r := &redactor{of: is.Hash, is: is, calls: map[string]bool{}, turns: map[string]bool{}}
	r.shape = shape{of: r.of, names: namesIn(rec), numbers: new(int)}
	r.texts(rec, m, parts, thoughtsOf(rec.Entries, r.of))
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

// texts finds out what is looked for: all that the message says and its model thought, each value in
// what it says as JSON, what it has of the input and of the state that the session began with and, for
// data, its lines and long words. Names are not looked for.
func (r *redactor) texts(rec *journal.Recording, m *echo.Message, parts bool, thoughts []string) {
	whole := append(textsOf(m), thoughts...)
	all := slices.Clone(whole)
	for _, t := range whole {
		all = append(all, withoutNames(leavesOf(t), r.shape.names)...)
		all = append(all, toldOf(t))
	}
	all = distinct(all, 1)
	r.heads = headsOf(whole)
	known := longEnough(all)
	r.short = len(all) - len(known)
	r.messages = newTexts(r.of, known)
	more := withoutNames(partsOf(whole), r.shape.names)
	for _, l := range append(leavesOf(string(rec.Header.Input)), leavesOf(string(stateOf(&rec.Header)))...) {
		if len(l) >= secret.MinLength && slices.ContainsFunc(whole, func(t string) bool { return strings.Contains(t, l) }) {
			more = append(more, l)
		}
	}
	r.data = newTexts(r.of, distinct(slices.Concat(known, more), 1))
	if parts {
		r.messages = r.data
	}
}

// stateOf returns the shared state that a child began with, nil for none.
func stateOf(h *journal.Header) json.RawMessage {
	var options struct {
		State json.RawMessage `json:"state"`
	}
	_ = json.Unmarshal(h.Options, &options) // what cannot be read is met when it is changed
	return options.State
}

func withoutNames(all []string, names map[string]bool) []string {
	return slices.DeleteFunc(all, func(t string) bool { return names[t] })
}

// namesIn returns the names of the cascade, and those in the keys of entries: of phases, values of the
// state, tools that check; and those of children, which were found by them.
func namesIn(rec *journal.Recording) map[string]bool {
	names := map[string]bool{}
	stays := func(t string) {
		names[t] = true
		if strings.HasPrefix(t, "{") {
			for _, n := range identifier.FindAllString(t, -1) {
				names[n] = true
			}
		}
	}
	same := echo.ContentChange{Text: func(t string) string { return t }, Name: func(t string) string { return t }, Stays: stays}
	same.Number = func(json.Number) (string, bool) { return "", false }
	_, _ = echo.RewriteContent(rec.Header.Cascade, cascadePlace, same) // an error is met again
	if len(rec.Header.Library) > 0 {
		_, _ = echo.RewriteContent(rec.Header.Library, libraryPlace, same)
	}
	for _, e := range rec.Entries {
		p := e.Key.Path()
		names[p.Phase] = true
		for _, s := range append(p.Branches, p.Effect...) {
			names[s.Name] = true
		}
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			names[d.Name], names[d.Cascade] = true, true
		}
	}
	return names
}

var identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

// json returns a JSON value without texts; stays is told what of it is structure.
func (r *redactor) json(raw []byte, p *echo.ContentPlace, t taker, stays func(string)) ([]byte, error) {
	if len(raw) == 0 {
		return raw, nil
	}
	return echo.RewriteContent(raw, p, r.changing(t, stays))
}

func (r *redactor) changing(t taker, stays func(string)) echo.ContentChange {
	return echo.ContentChange{
		Text: t.without, Stays: stays,
		Number: func(n json.Number) (string, bool) {
			now, ok := t.number(n)
			if ok {
				*r.shape.numbers++
			}
			return now, ok
		},
		Name: func(n string) string {
			if r.shape.names[n] {
				return n
			}
			return t.without(n)
		},
	}
}

// taker takes texts and numbers out.
type taker interface {
	without(text string) string
	number(n json.Number) (string, bool)
}

// finder only notes that there is one.
type finder struct {
	all   *texts
	found *bool
}

func leftIn(all *texts, found *bool) finder { return finder{all, found} }

func (f finder) without(text string) string {
	*f.found = *f.found || f.all.has(text)
	return text
}

func (f finder) number(n json.Number) (string, bool) {
	_, ok := f.all.number(n)
	*f.found = *f.found || ok
	return "", false
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
	if hasImages(r, e) {
		now.Message = r.tombstone(e.Message, estimate(e.Message))
	}
	if t := e.Tool; t != nil {
		use := *t
		if use.Arguments = r.withoutIn(t.Arguments); r.calls[turnOf(e.Key)+" "+t.CallID] || hasImages(r, e) {
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
	if err := r.dataOf(&now, h); err != nil {
		return nil, err
	}
	return &now, keepHash(e, &now)
}

// hasImages reports whether an entry has the images of a question that the message asks: they go with it.
func hasImages(r *redactor, e *echo.Entry) bool {
	p := e.Key.Path()
	return e.Message != nil && p.Last().Kind == echo.StepImages && r.turns[turnOf(e.Key)]
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
		p.Text = r.textIn(p.Text)
		if url := r.messages.without(p.URL); url != p.URL {
			*p = echo.Part{Type: echo.PartText, Text: url} // a mark is no image
		}
	}
	for i := range d.ToolCalls {
		d.ToolCalls[i].Arguments = r.withoutIn(d.ToolCalls[i].Arguments)
	}
	if bytes.Equal(echo.Seal(d).JSON(), m.JSON()) {
		return m
	}
	return r.marked(d, m, estimate(m))
}

// withoutIn returns the arguments of a call without the redacted texts; JSON stays JSON, and names in
// it stay names.
func (r *redactor) withoutIn(arguments string) string {
	return r.textWith(arguments, butNames{r.messages, r.shape.names})
}

// textIn returns a text without the redacted texts; JSON stays JSON.
func (r *redactor) textIn(text string) string { return r.textWith(text, r.messages) }

func (r *redactor) textWith(text string, t taker) string {
	if isContainer(text) {
		if out, err := r.json([]byte(text), allData, t, nil); err == nil {
			return string(out)
		}
	}
	return t.without(text)
}

// butNames takes nothing out that is a name.
type butNames struct {
	taker
	names map[string]bool
}

func (b butNames) without(text string) string {
	if b.names[text] {
		return text
	}
	return b.taker.without(text)
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
	case echo.NodeState, echo.NodePhaseEnd, echo.NodeRunEnd, echo.NodeChildStart, echo.NodeChildEnd:
		if err := r.values(e); err != nil {
			return err
		}
	case echo.NodeModelCall:
		r.thought(e)
	case echo.NodeValue:
		r.findings(e)
	}
	place := contentOf(e)
	if place == nil {
		return nil
	}
	change := r.changing(r.data, nil)
	if e.NodeType == echo.NodeHandoff {
		change.Text = func(text string) string { return withoutCopies(r, text) }
	}
	return e.RewriteContent(place, change)
}

// withoutCopies returns a text of a handoff, which shortens what it copies: a text that has the beginning of one of
// the message's goes whole.
func withoutCopies(r *redactor, text string) string {
	now := r.data.without(text)
	line := oneline.Of(now)
	if slices.ContainsFunc(r.heads, func(head string) bool { return strings.Contains(line, head) }) {
		return echo.RedactionMark(r.of, text)
	}
	return now
}

// keepHash notes the hash that an output had before texts were taken out of it: by that candidates of soundings are
// the same, or not.
func keepHash(was, now *echo.Entry) error {
	keep := func(output any, hash *echo.Hash, before any) bool {
		if *hash != "" || sameValue(output, before) {
			return false
		}
		*hash = echo.HashOfOutput(before)
		return true
	}
	if d, err := echo.Read[echo.PhaseEnd](was); err == nil {
		return changeIn(now, func(n *echo.PhaseEnd) bool { return keep(n.Output, &n.Hash, d.Output) })
	}
	if d, err := echo.Read[echo.ChildEnd](was); err == nil {
		return changeIn(now, func(n *echo.ChildEnd) bool { return keep(n.Output, &n.Hash, d.Output) })
	}
	return nil
}

// values shapes values that are what the message says, or come from its calls.
func (r *redactor) values(e *echo.Entry) error {
	switch e.NodeType {
	case echo.NodeState:
		return changeIn(e, func(d *echo.State) bool { return r.shapes(&d.Value, r.turns[turnOf(e.Key)]) })
	case echo.NodePhaseEnd:
		return changeIn(e, func(d *echo.PhaseEnd) bool { return r.shapes(&d.Output, false) })
	case echo.NodeChildStart:
		return changeIn(e, func(d *echo.ChildStart) bool { return r.shapesIn(d.Input, r.turns[turnOf(e.Key)]) })
	case echo.NodeChildEnd:
		return changeIn(e, func(d *echo.ChildEnd) bool { return r.shapes(&d.Output, false) })
	}
	return changeIn(e, func(d *echo.RunEnd) bool { return r.shapes(&d.Output, false) })
}

// shapes puts marks into a value, if it is the message's own or what it says as JSON.
func (r *redactor) shapes(value *any, own bool) bool {
	if *value == nil || !own && !slices.ContainsFunc(r.answers, func(a string) bool { return sameJSON(a, *value) }) {
		return false
	}
	*value = r.shape.value(*value)
	return true
}

// shapesIn is shapes for each of some values by their names.
func (r *redactor) shapesIn(values map[string]any, own bool) bool {
	changed := false
	for name, v := range values {
		if r.shapes(&v, own) {
			values[name], changed = v, true
		}
	}
	return changed
}

// changeIn changes what an entry says by its type.
func changeIn[T echo.Payload](e *echo.Entry, with func(*T) bool) error {
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
	d, err := echo.Read[echo.RunStart](e)
	if err != nil {
		return err
	}
	input, err := json.Marshal(d.Input)
	if err == nil {
		input, err = r.json(input, someData, r.data, nil)
	}
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	d.Input = nil
	if err := dec.Decode(&d.Input); err != nil {
		return err
	}
	if len(d.Header) > 0 {
		d.Header = header
	}
	e.Set(d)
	return nil
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

// leftIn reports whether an entry has texts or parts of the message, and the hash of the message that
// does. The redacted message itself is none of them.
func (r *redactor) leftIn(e *echo.Entry) (hash echo.Hash, left bool, err error) {
	has := func(m *echo.Message) bool { return m != nil && m.Hash() != r.of && r.leftInMessage(m) }
	own := e.Message != nil && e.Message.Hash() == r.of
	if !own && e.Tool != nil && !r.calls[turnOf(e.Key)+" "+e.Tool.CallID] && r.leftInText(e.Tool.Arguments) || has(e.Message) {
		return e.ContentHash, true, nil
	}
	if e.NodeType == echo.NodeRunStart {
		return "", false, nil // it has what the header has
	}
	left = e.Error != nil && r.data.has(e.Error.Message)
	same := *e
	err = same.RewriteContent(contentOf(e), r.changing(leftIn(r.data, &left), func(t string) { left = left || r.data.hasLong(t) && !r.shape.names[t] }))
	if left || err != nil || e.Selection == nil {
		return "", left, err
	}
	for _, s := range e.Selection.Spans {
		for i, sent := range s.Sent {
			if i < len(s.Hashes) && s.Hashes[i] != r.of && slices.ContainsFunc(sent, has) {
				return s.Hashes[i], true, nil
			}
		}
	}
	return "", false, nil
}

func (r *redactor) leftInMessage(m *echo.Message) bool {
	for _, p := range m.Parts() {
		if r.leftInText(p.Text) || r.data.has(p.URL) {
			return true
		}
	}
	return slices.ContainsFunc(m.ToolCalls(), func(c echo.ToolCall) bool { return r.leftInText(c.Arguments) })
}

// leftInText reports whether a text has parts of the message, but for names.
func (r *redactor) leftInText(text string) bool {
	left := false
	_ = r.textWith(text, butNames{leftIn(r.data, &left), r.shape.names})
	return left
}
