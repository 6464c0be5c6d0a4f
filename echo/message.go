package echo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Role says who speaks in a [Message].
type Role string

// The roles of the chat-completions protocol that windlass uses. A tool's result always has role
// "tool" here; the renderer changes it for models without tool calling.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Kind says why a message is in a history. It is neither sent nor part of the content hash.
type Kind string

// The kinds of messages that the engine writes.
const (
	KindSystem     Kind = "system"      // the phase's system message
	KindContext    Kind = "context"     // brought in from another phase
	KindTask       Kind = "task"        // the phase's instructions and input
	KindTurnPrompt Kind = "turn_prompt" // the prompt of turn 2 and later
	KindRetry      Kind = "retry"       // the request to try again, with the verdict
	KindNotice     Kind = "notice"      // a word from the engine ("no more tool calls: answer now")
	KindAudible    Kind = "audible"     // what a person said while the phase ran
	KindRetract    Kind = "retract"     // the same, and it takes back the newest answer: see [Retracted]
	KindAnswer     Kind = "answer"      // what the model said, with or without tool calls
	KindToolResult Kind = "tool_result" // what a tool answered
	KindSummary    Kind = "summary"     // replaces older messages in a view; it is in no history
	KindInput      Kind = "input"       // holds a file that the run was given; it is in no history

	// Messages that stand at the end of a request: the newest of each kind is sent, those before it are not.
	KindMemos      Kind = "memos"       // facts of other sessions that the words of a turn have brought
	KindStateBlock Kind = "state_block" // the state of the work, as the model has written it
	KindScratchpad Kind = "scratchpad"  // the notes that the model keeps in the session
)

// Stands reports whether the newest message of the kind is sent in place of those before it.
func (k Kind) Stands() bool { return k == KindMemos || k == KindStateBlock || k == KindScratchpad }

// PartType tells the parts of a message's content apart.
type PartType string

// The types of content parts.
const (
	PartText  PartType = "text"
	PartImage PartType = "image"
	PartFile  PartType = "file" // a PDF
)

// Part is one piece of a message's content.
type Part struct {
	Type PartType `json:"type"`
	Text string   `json:"text,omitempty"` // of a text part
	URL  string   `json:"url,omitempty"`  // of an image part: an https: or data: URL; of a file part: a data: URL
	Name string   `json:"name,omitempty"` // of a file part: the name of the file that providers are sent
}

// Text returns a content of one text part.
func Text(s string) []Part { return []Part{{Type: PartText, Text: s}} }

// ToolCall is a model's request to run a tool. Arguments are as the model wrote them, valid or not.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Hash is the first 16 hexadecimal digits of SHA-256 over a message's role, content and tool calls
// in canonical JSON. It does not cover the id of the call that a tool message answers.
type Hash string

// Draft is what a [Message] is made of, before it is sealed.
type Draft struct {
	Role       Role       `json:"role"`
	Parts      []Part     `json:"parts,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"` // role tool: the call that this answers
	Kind       Kind       `json:"kind,omitempty"`
	Tool       string     `json:"tool,omitempty"`     // role tool: the tool's name
	Failed     bool       `json:"failed,omitempty"`   // role tool: the tool itself reported failure
	Redacted   *Redacted  `json:"redacted,omitempty"` // texts were taken out of the message; nil: none were

	// Thought has the members, as a JSON object, by which the provider gets back what the model
	// reasoned before it called tools. It is sent, but no part of what the message says: neither of its
	// hash nor of its encoding in a record, where [ModelCall] has it.
	Thought json.RawMessage `json:"-"`
}

// Message is an immutable message, encoded once: the same bytes are sent, hashed, journaled and
// stored. It may be shared between goroutines, and its slices must not be written to.
type Message struct {
	// What every call asks of every message comes first: one line of the processor's cache.
	element []byte   // a comma, and the encoding
	open    *Message // what is sent in its place; nil: the message itself
	content int      // where the content ends in element,
	calls   int      // and where the tool calls begin, 0 when there are none
	mark    CallMark // of the tool calls
	image   bool     // a part is one

	draft  Draft
	digest [sha256.Size]byte
	hash   Hash
}

// CallMark is a set of bits that tells most ids of tool calls apart: see [Message.MayCall].
type CallMark uint64

// MarkOf returns the mark of an id.
func MarkOf(id string) CallMark {
	sum := uint64(14695981039346656037) // FNV-1a
	for i := range len(id) {
		sum = (sum ^ uint64(id[i])) * 1099511628211
	}
	return 1<<(sum>>58) | 1<<(sum>>52&63) | 1<<(sum>>46&63)
}

// elementHead is how every element begins: content is the first member of all.
const elementHead = `,{"content":`

// Seal makes a Message of a draft. The draft's slices belong to the message afterwards.
func Seal(d Draft) *Message {
	thought := d.Thought
	d.Thought = nil
	return WithThought(seal(d), thought)
}

func seal(d Draft) *Message {
	m := &Message{draft: d, image: slices.ContainsFunc(d.Parts, func(p Part) bool { return p.Type == PartImage })}
	for _, c := range d.ToolCalls {
		m.mark |= MarkOf(c.ID)
	}
	w := append(make([]byte, 0, m.wireSize()), elementHead...)
	w = d.appendContentValue(w)
	m.content = len(w)
	w = appendMember(w, "role")
	w = AppendString(w, string(d.Role))
	switch {
	case d.Role == RoleTool:
		m.hash = shortHash(sha256.Sum256(append(w, '}')[1:]))
		w = appendMember(w, "tool_call_id")
		w = AppendString(w, d.ToolCallID)
	case len(d.ToolCalls) > 0:
		w = appendMember(w, "tool_calls")
		m.calls = len(w)
		w = appendToolCalls(w, d.ToolCalls)
	}
	w = append(w, '}')
	m.element = w
	m.digest = sha256.Sum256(m.JSON())
	if m.hash == "" {
		m.hash = shortHash(m.digest)
	}
	if d.Redacted != nil {
		m.hash = d.Redacted.Hash
	}
	return m
}

// NewText returns a message with one text part: the common case for system and user messages.
func NewText(role Role, kind Kind, text string) *Message {
	return Seal(Draft{Role: role, Kind: kind, Parts: Text(text)})
}

// NewToolResult returns the message that answers call.
func NewToolResult(call ToolCall, parts []Part, failed bool) *Message {
	return Seal(Draft{
		Role: RoleTool, Kind: KindToolResult, Parts: parts,
		ToolCallID: call.ID, Tool: call.Name, Failed: failed,
	})
}

// Role returns who speaks.
func (m *Message) Role() Role { return m.draft.Role }

// Kind returns why the message is in the history.
func (m *Message) Kind() Kind { return m.draft.Kind }

// Parts returns the content. It must not be written to.
func (m *Message) Parts() []Part { return m.draft.Parts }

// ToolCalls returns the tool calls of an assistant message. It must not be written to.
func (m *Message) ToolCalls() []ToolCall { return m.draft.ToolCalls }

// HasImage reports whether a part of the content is an image.
func (m *Message) HasImage() bool { return m.image }

// MayCall reports whether the message may have a tool call whose id has the mark. It has none when
// it says no, which is known without looking at the calls.
func (m *Message) MayCall(mark CallMark) bool { return m.mark&mark == mark }

// ToolCallID returns the id of the call that a tool message answers.
func (m *Message) ToolCallID() string { return m.draft.ToolCallID }

// Tool returns the name of the tool whose result this is.
func (m *Message) Tool() string { return m.draft.Tool }

// Failed reports whether the tool itself said that it failed (exit code, isError, HTTP status).
func (m *Message) Failed() bool { return m.draft.Failed }

// Draft returns a copy of what the message is made of: replace its slices, do not write to them.
func (m *Message) Draft() Draft { return m.draft }

// Hash returns the content hash.
func (m *Message) Hash() Hash { return m.hash }

// Digest returns SHA-256 over [Message.JSON], the id of the answered call included.
func (m *Message) Digest() [sha256.Size]byte { return m.digest }

// JSON returns the message in canonical JSON, in the shape of the chat-completions protocol.
func (m *Message) JSON() []byte { return m.element[1:] }

// Element returns a comma and [Message.JSON]: the message as it is in a list, after the first.
func (m *Message) Element() []byte { return m.element }

// Rewritten returns the message with its texts, images and tool calls rewritten; the message itself
// when nothing changes.
func (m *Message) Rewritten(text func(string) string) *Message {
	d, changed := m.draft, false
	rewrite := func(s string) string {
		t := text(s)
		changed = changed || t != s
		return t
	}
	d.Parts = slices.Clone(d.Parts)
	for i, p := range d.Parts {
		d.Parts[i].Text, d.Parts[i].URL = rewrite(p.Text), rewrite(p.URL)
	}
	d.ToolCalls = slices.Clone(d.ToolCalls)
	for i, c := range d.ToolCalls {
		d.ToolCalls[i].Arguments = rewrite(c.Arguments)
	}
	if changed {
		return Seal(d)
	}
	if m.open != nil { // the text that it replaces is not for other callers
		same := *m
		same.open = nil
		return &same
	}
	return m
}

// SentAs returns the message with another one sent in its place; nothing else of it changes.
func (m *Message) SentAs(open *Message) *Message {
	out := *m
	out.open = open
	return &out
}

// Open returns what is sent to a model: the message, or what [Message.SentAs] put in its place.
func (m *Message) Open() *Message {
	if m.open != nil {
		return m.open
	}
	return m
}

// Text returns the text parts, joined by newlines.
func (m *Message) Text() string {
	parts := m.draft.Parts
	if len(parts) == 1 && parts[0].Type == PartText {
		return parts[0].Text
	}
	var texts []string
	for _, p := range parts {
		if p.Type == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ContentJSON returns the content as it is in [Message.JSON]: a string, an array of parts, or null.
func (m *Message) ContentJSON() []byte { return m.element[len(elementHead):m.content] }

// ToolCallsJSON returns the tool calls as they are in [Message.JSON], nil when there are none.
func (m *Message) ToolCallsJSON() []byte {
	if m.calls == 0 {
		return nil
	}
	end := len(m.element) - 1
	if n := len(m.draft.Thought); n > 0 {
		end -= n - 1
	}
	return m.element[m.calls:end]
}

// MarshalJSON writes the draft, from which [Message.UnmarshalJSON] makes the same message again.
func (m *Message) MarshalJSON() ([]byte, error) {
	w := writer{buf: make([]byte, 0, m.wireSize())}
	w.draft(&m.draft)
	return w.buf, nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(b []byte) error {
	var d Draft
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	*m = *Seal(d)
	return nil
}

func (m *Message) wireSize() int {
	n := 96 + len(m.draft.ToolCallID)
	for _, p := range m.draft.Parts {
		n += len(p.Text) + len(p.Text)/16 + len(p.URL) + len(p.Name) + 64
	}
	for _, c := range m.draft.ToolCalls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments) + len(c.Arguments)/8 + 80
	}
	return n
}

func (d *Draft) appendContentValue(dst []byte) []byte {
	switch {
	case len(d.Parts) == 0 && len(d.ToolCalls) > 0:
		return append(dst, "null"...)
	case len(d.Parts) == 0:
		return append(dst, `""`...)
	case len(d.Parts) == 1 && d.Parts[0].Type == PartText:
		return AppendString(dst, d.Parts[0].Text)
	}
	dst = append(dst, '[')
	for i, p := range d.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch p.Type {
		case PartImage:
			dst = append(dst, `{"image_url":{"url":`...)
			dst = AppendString(dst, p.URL)
			dst = append(dst, `},"type":"image_url"}`...)
		case PartFile:
			dst = append(dst, `{"file":{"file_data":`...)
			dst = AppendString(dst, p.URL)
			dst = append(dst, `,"filename":`...)
			dst = AppendString(dst, p.Name)
			dst = append(dst, `},"type":"file"}`...)
		default:
			dst = append(dst, `{"text":`...)
			dst = AppendString(dst, p.Text)
			dst = append(dst, `,"type":"text"}`...)
		}
	}
	return append(dst, ']')
}

func appendToolCalls(dst []byte, calls []ToolCall) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"function":{"arguments":`...)
		dst = AppendString(dst, c.Arguments)
		dst = append(dst, `,"name":`...)
		dst = AppendString(dst, c.Name)
		dst = append(dst, `},"id":`...)
		dst = AppendString(dst, c.ID)
		dst = append(dst, `,"type":"function"}`...)
	}
	return append(dst, ']')
}

// TextHash returns the hash of a text: the first 16 hexadecimal digits of its SHA-256.
func TextHash(text []byte) Hash { return shortHash(sha256.Sum256(text)) }

func shortHash(sum [sha256.Size]byte) Hash {
	return Hash(hex.EncodeToString(sum[:8]))
}
