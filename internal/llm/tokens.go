package llm

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// What the protocol adds around texts, in tokens; for messages as OpenAI documents its chat format.
const (
	tokensPerMessage = 3
	tokensOfReply    = 3
	tokensPerCall    = 8
	tokensPerTool    = 12
)

// maxExact is the length from which tokens are estimated: counting takes 0.1 ms for each kilobyte.
const maxExact = 1 << 20

// maxCounted bounds the memory of a [Counter].
const maxCounted = 1 << 16

// Counter counts tokens, exactly where the tokenizer of the model is known and by length otherwise.
// Each message is counted once, by its digest. It is safe for concurrent use.
type Counter struct {
	codec    tokenizer.Codec // nil: estimated
	messages *memo[[sha256.Size]byte, int64]
	tools    *memo[toolSet, int64]
}

// NewCounter returns a counter for a model.
func NewCounter(model string) *Counter {
	c := &Counter{
		messages: newMemo[[sha256.Size]byte, int64](maxCounted), tools: newMemo[toolSet, int64](maxToolSets),
	}
	if enc, ok := encodingOf(model); ok {
		c.codec, _ = tokenizer.Get(enc) // the two encodings exist; without one, tokens are estimated
	}
	return c
}

// HasTokenizer reports whether the tokenizer of a model is known, without loading it.
func HasTokenizer(model string) bool {
	_, ok := encodingOf(model)
	return ok
}

// encodingOf returns the encoding of OpenAI's models; other vendors do not publish theirs.
func encodingOf(model string) (tokenizer.Encoding, bool) {
	name := strings.TrimPrefix(familyName(model), "ft:")
	begins := func(families ...string) bool {
		return slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) })
	}
	switch {
	case begins("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "chatgpt-", "gpt-oss", "o1", "o3", "o4"):
		return tokenizer.O200kBase, true
	case begins("gpt-4", "gpt-3.5", "gpt-35"):
		return tokenizer.Cl100kBase, true
	}
	return "", false
}

// Text returns the number of tokens of a text.
func (c *Counter) Text(s string) int64 {
	if c.codec != nil && len(s) <= maxExact {
		if n, err := c.codec.Count(s); err == nil {
			return int64(n)
		}
	}
	return estimate(s)
}

// estimate guesses the tokens of a text: one for four ASCII characters or one other character.
func estimate(s string) int64 {
	ascii := 0
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return int64((ascii+3)/4 + utf8.RuneCountInString(s) - ascii)
}

// Message returns the tokens of one message as it is sent.
func (c *Counter) Message(m *echo.Message) int64 {
	return c.messages.get(m.Digest(), func() int64 {
		n := int64(tokensPerMessage)
		for _, p := range m.Parts() {
			n += echo.AttachmentTokens(&p) + c.Text(p.Text)
		}
		if t := echo.Thought(m); len(t) > 0 {
			n += c.Text(string(t))
		}
		return n + c.calls(m.ToolCalls())
	})
}

func (c *Counter) calls(calls []echo.ToolCall) int64 {
	var n int64
	for _, call := range calls {
		n += tokensPerCall + c.Text(call.Name) + c.Text(call.Arguments)
	}
	return n
}

// Tools returns the tokens of the tools as they are offered.
func (c *Counter) Tools(tools []effect.ToolSpec) int64 {
	if len(tools) == 0 {
		return 0
	}
	return c.tools.get(setOf(tools), func() int64 { return countTools(tools, c.Text) })
}

func countTools(tools []effect.ToolSpec, count func(string) int64) (n int64) {
	for _, t := range tools {
		n += tokensPerTool + count(t.Name) + count(t.Description) + count(string(t.Parameters))
	}
	return n
}

// EstimateFixed estimates what a request has beside its messages: its tools and the protocol's own
// tokens. A tokenizer would be no nearer, as nobody knows how a provider writes tools down.
func EstimateFixed(tools []effect.ToolSpec) int64 {
	return tokensOfReply + countTools(tools, estimate)
}

// Request returns the tokens of a whole request.
func (c *Counter) Request(msgs []*echo.Message, tools []effect.ToolSpec) int64 {
	n := c.Tools(tools) + tokensOfReply
	for _, m := range msgs {
		n += c.Message(m)
	}
	return n
}

// Answer returns the tokens of an answer.
func (c *Counter) Answer(m *echo.Message) int64 { return c.Text(m.Text()) + c.calls(m.ToolCalls()) }

// memo remembers what was computed, and forgets all of it when it holds too much. It is safe for
// concurrent use.
type memo[K comparable, V any] struct {
	most int

	mu    sync.Mutex
	known map[K]V
}

func newMemo[K comparable, V any](most int) *memo[K, V] {
	return &memo[K, V]{most: most, known: map[K]V{}}
}

func (m *memo[K, V]) get(key K, compute func() V) V {
	m.mu.Lock()
	v, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = compute()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= m.most {
		clear(m.known)
	}
	m.known[key] = v
	return v
}

// toolSet identifies tools by their slice, which never changes and is shared by a phase's requests.
type toolSet struct {
	first *effect.ToolSpec
	count int
}

// maxToolSets bounds a memo of tool sets; a run has about one for each phase.
const maxToolSets = 64

func setOf(tools []effect.ToolSpec) toolSet { return toolSet{&tools[0], len(tools)} }
