package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Chunk is one event of a stream, or a whole answer; they differ in where a choice has its content.
// Its texts are valid until the next [Chunk.Read], and as long as what was read is not changed.
type Chunk struct {
	Model   Text            `json:"model"`
	Choices Choices         `json:"choices"`
	Usage   json.RawMessage `json:"usage"` // nil for none
	Groq    GroqPart        `json:"x_groq"`
	Error   json.RawMessage `json:"error"`

	scratch []byte
}

// GroqPart is where Groq has the usage.
type GroqPart struct {
	Usage json.RawMessage `json:"usage"`
}

// maxChoices is far above what endpoints answer that are asked for one choice. What has more is no
// answer, and would take hundreds of bytes for every few that are sent.
const maxChoices = 128

// Choices are the answers, or pieces of them.
type Choices []Choice

// Choice is one of the answers, or a piece of it.
type Choice struct {
	Index        int             `json:"index"`
	Delta        Part            `json:"delta"`
	Message      Part            `json:"message"`
	FinishReason Text            `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"` // Moonshot sends it here
}

// UnmarshalJSON reads at most [maxChoices].
func (c *Choices) UnmarshalJSON(b []byte) error {
	*c = nil
	if isNull(b) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(errors.New("the choices are no list"), err)
	}
	for d.More() {
		if len(*c) == maxChoices {
			return fmt.Errorf("there are more than %d choices", maxChoices)
		}
		*c = append(*c, Choice{})
		if err := d.Decode(&(*c)[len(*c)-1]); err != nil {
			return err
		}
	}
	return nil
}

// Part is a piece of an answer. Reasoning beside the content is not part of what it says: of the name
// that no provider wants it back under, only that there is some is read.
type Part struct {
	Content          Content         `json:"content"`
	Refusal          Text            `json:"refusal"`
	ToolCalls        []CallPart      `json:"tool_calls"`
	Reasoning        Given           `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"` // nil for none
	Details          json.RawMessage `json:"reasoning_details"` // nil for none
}

// Given says that there is a value that is neither null nor an empty string.
type Given bool

// IsGiven says whether there is a value that is neither null nor an empty string.
func IsGiven(value []byte) bool { return len(value) > 0 && !isNull(value) && string(value) != `""` }

// UnmarshalJSON accepts any value.
func (g *Given) UnmarshalJSON(b []byte) error {
	*g = Given(IsGiven(b))
	return nil
}

// CallPart is a piece of a tool call.
type CallPart struct {
	Index    Index    `json:"index"`
	ID       Text     `json:"id"`
	Function Function `json:"function"`
}

// Function is what a piece of a tool call holds of the call.
type Function struct {
	Name      Text      `json:"name"`
	Arguments Arguments `json:"arguments"`
}

// Index is a position that may not be given.
type Index struct {
	N   int
	Set bool
}

// UnmarshalJSON accepts a number and null.
func (x *Index) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	x.Set = true
	return json.Unmarshal(b, &x.N)
}

// Text is a string.
type Text []byte

// UnmarshalJSON accepts a string and null.
func (t *Text) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// Content is text, or a list of parts of which the text counts.
type Content []byte

// UnmarshalJSON accepts a string, null, and a list of {"type": "text", "text": ...}.
func (c *Content) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return (*Text)(c).UnmarshalJSON(b)
	}
	var parts []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		var text string
		if p.Type == "text" && json.Unmarshal(p.Text, &text) == nil {
			*c = append(*c, text...)
		}
	}
	return nil
}

// Arguments is the text of a call's arguments, which some endpoints send as the object itself.
type Arguments []byte

// UnmarshalJSON accepts a string or any other JSON value.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return (*Text)(a).UnmarshalJSON(b)
	}
	if !isNull(b) {
		*a = bytes.Clone(b)
	}
	return nil
}

func isNull(b []byte) bool { return string(b) == "null" }

// Read reads a chunk in place of the one before.
func (c *Chunk) Read(data []byte) error {
	s := scanner{b: data, scratch: c.scratch[:0]}
	choices := c.Choices
	*c = Chunk{Choices: choices[:0]}
	if s.chunk(c) && s.ended() {
		c.scratch = s.scratch
		return nil
	}
	*c = Chunk{scratch: s.scratch}
	return c.readSlowly(data)
}

// readSlowly is Read by encoding/json.
func (c *Chunk) readSlowly(data []byte) error {
	if err := json.Unmarshal(data, c); err != nil {
		return err
	}
	c.Usage, c.Groq.Usage, c.Error = withoutNull(c.Usage), withoutNull(c.Groq.Usage), withoutNull(c.Error)
	for i := range c.Choices {
		ch := &c.Choices[i]
		ch.Usage = withoutNull(ch.Usage)
		for _, p := range []*Part{&ch.Delta, &ch.Message} {
			p.ReasoningContent, p.Details = withoutNull(p.ReasoningContent), withoutNull(p.Details)
		}
	}
	return nil
}

func withoutNull(raw json.RawMessage) json.RawMessage {
	if isNull(raw) {
		return nil
	}
	return raw
}

// once reports whether a member comes for the first time, and notes it.
func once(seen *uint, bit uint) bool {
	again := *seen & bit
	*seen |= bit
	return again == 0
}

func (s *scanner) chunk(c *Chunk) bool {
	var seen uint
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "model":
			return once(&seen, 1) && s.optional((*[]byte)(&c.Model))
		case "choices":
			return once(&seen, 2) && (s.null() || s.array(func() bool {
				n := len(c.Choices)
				if n == maxChoices {
					return false
				}
				if n < cap(c.Choices) {
					c.Choices = c.Choices[:n+1]
				} else {
					c.Choices = append(c.Choices, Choice{})
				}
				return s.choice(&c.Choices[len(c.Choices)-1])
			}))
		case "usage":
			return once(&seen, 4) && s.raw(&c.Usage)
		case "x_groq":
			return once(&seen, 8) && s.groq(&c.Groq)
		case "error":
			return once(&seen, 16) && s.raw(&c.Error)
		}
		return s.skip(maxDepth)
	})
}

func (s *scanner) groq(g *GroqPart) bool {
	var seen uint
	return s.null() || s.object(func(key []byte) bool {
		if string(key) == "usage" {
			return once(&seen, 1) && s.raw(&g.Usage)
		}
		return s.skip(maxDepth)
	})
}

func (s *scanner) choice(c *Choice) bool {
	calls := [2][]CallPart{c.Delta.ToolCalls, c.Message.ToolCalls}
	*c = Choice{Delta: Part{ToolCalls: calls[0][:0]}, Message: Part{ToolCalls: calls[1][:0]}}
	var seen uint
	return s.object(func(key []byte) (ok bool) {
		switch string(key) {
		case "index":
			c.Index, ok = s.small()
			return ok && once(&seen, 1)
		case "delta":
			return once(&seen, 2) && s.part(&c.Delta)
		case "message":
			return once(&seen, 4) && s.part(&c.Message)
		case "finish_reason":
			return once(&seen, 8) && s.optional((*[]byte)(&c.FinishReason))
		case "usage":
			return once(&seen, 16) && s.raw(&c.Usage)
		}
		return s.skip(maxDepth)
	})
}

func (s *scanner) part(p *Part) bool {
	var seen uint
	return s.null() || s.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			return once(&seen, 1) && s.optional((*[]byte)(&p.Content))
		case "refusal":
			return once(&seen, 2) && s.optional((*[]byte)(&p.Refusal))
		case "tool_calls":
			return once(&seen, 4) && (s.null() || s.array(func() bool {
				p.ToolCalls = append(p.ToolCalls, CallPart{})
				return s.call(&p.ToolCalls[len(p.ToolCalls)-1])
			}))
		case "reasoning":
			return once(&seen, 8) && p.Reasoning.read(s)
		case "reasoning_content":
			return once(&seen, 16) && s.raw(&p.ReasoningContent)
		case "reasoning_details":
			return once(&seen, 32) && s.raw(&p.Details)
		}
		return s.skip(maxDepth)
	})
}

func (s *scanner) call(c *CallPart) bool {
	var seen uint
	return s.object(func(key []byte) (ok bool) {
		switch string(key) {
		case "index":
			c.Index.N, ok = s.small()
			c.Index.Set = true
			return ok && once(&seen, 1)
		case "id":
			return once(&seen, 2) && s.optional((*[]byte)(&c.ID))
		case "function":
			return once(&seen, 4) && s.function(&c.Function)
		}
		return s.skip(maxDepth)
	})
}

func (s *scanner) function(f *Function) bool {
	var seen uint
	return s.null() || s.object(func(key []byte) bool {
		switch string(key) {
		case "name":
			return once(&seen, 1) && s.optional((*[]byte)(&f.Name))
		case "arguments":
			return once(&seen, 2) && s.optional((*[]byte)(&f.Arguments))
		}
		return s.skip(maxDepth)
	})
}

// optional reads a string or null.
func (s *scanner) optional(to *[]byte) (ok bool) {
	if s.null() {
		return true
	}
	*to, ok = s.text()
	return ok
}

// read reads any value.
func (g *Given) read(s *scanner) bool {
	b, ok := s.value()
	return ok && g.UnmarshalJSON(b) == nil
}

// raw reads a value as it is; null is none.
func (s *scanner) raw(to *json.RawMessage) bool {
	b, ok := s.value()
	if ok && !isNull(b) {
		*to = b
	}
	return ok
}
