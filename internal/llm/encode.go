package llm

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// wireRequest is what a request body is made of, apart from the messages.
type wireRequest struct {
	model          string
	temperature    *float64
	maxTokens      int
	maxTokensParam string
	options        map[string]json.RawMessage
	tools          []byte // encoded, or nil
	noToolCalls    bool
}

// appendBody appends the request body: first what stays the same in a conversation, then messages,
// then what only a phase's last call has. So successive bodies share the longest prefix.
func appendBody(dst []byte, w *wireRequest, msgs []*echo.Message) []byte {
	dst = append(dst, `{"model":`...)
	dst = echo.AppendString(dst, w.model)
	dst = append(dst, `,"stream":true,"stream_options":{"include_usage":true}`...)
	if w.temperature != nil {
		dst = append(dst, `,"temperature":`...)
		dst = strconv.AppendFloat(dst, *w.temperature, 'g', -1, 64)
	}
	if w.maxTokens > 0 {
		dst = append(dst, `,"`...)
		dst = append(dst, w.maxTokensParam...)
		dst = append(dst, `":`...)
		dst = strconv.AppendInt(dst, int64(w.maxTokens), 10)
	}
	dst = appendOptions(dst, w.options)
	if len(w.tools) > 0 {
		dst = append(dst, `,"tools":`...)
		dst = append(dst, w.tools...)
	}
	dst = append(dst, `,"messages":[`...)
	dst = appendMessages(dst, msgs)
	dst = append(dst, ']')
	if len(w.tools) > 0 && w.noToolCalls {
		dst = append(dst, `,"tool_choice":"none"`...)
	}
	return append(dst, '}')
}

// appendOptions appends further members of a request, each after a comma.
func appendOptions(dst []byte, options map[string]json.RawMessage) []byte {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		dst = append(dst, ',')
		dst = echo.AppendString(dst, name)
		dst = append(dst, ':')
		dst = append(dst, options[name]...)
	}
	return dst
}

// appendMessages appends the encoded messages. The protocol has no place for images in tool
// results: they follow in a user message after the last result of the turn.
func appendMessages(dst []byte, msgs []*echo.Message) []byte {
	first := true
	add := func(wire []byte) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, wire...)
	}
	var images []echo.Part
	for i, m := range msgs {
		m = m.Open()
		if !hasToolImage(m) {
			add(m.JSON())
		} else {
			text, moved := splitImages(m)
			add(text.JSON())
			images = append(images, moved...)
		}
		if len(images) > 0 && (i+1 == len(msgs) || msgs[i+1].Role() != echo.RoleTool) {
			add(echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: images}).JSON())
			images = nil
		}
	}
	return dst
}

func hasToolImage(m *echo.Message) bool {
	return m.Role() == echo.RoleTool &&
		slices.ContainsFunc(m.Parts(), func(p echo.Part) bool { return p.Type == echo.PartImage })
}

// splitImages returns a tool message without its images, and the images under a line that names it.
func splitImages(m *echo.Message) (text *echo.Message, images []echo.Part) {
	d := m.Draft()
	d.Parts = nil
	images = echo.Text("Images from the result of " + m.Tool() + " (call " + m.ToolCallID() + "):")
	for _, p := range m.Parts() {
		if p.Type == echo.PartImage {
			images = append(images, p)
		} else {
			d.Parts = append(d.Parts, p)
		}
	}
	if len(d.Parts) == 0 {
		d.Parts = echo.Text("(the images follow in the next user message)")
	}
	return echo.Seal(d), images
}

// encodeTools encodes the tools as a request's member.
func encodeTools(tools []effect.ToolSpec) []byte {
	dst := []byte{'['}
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = echo.AppendString(dst, t.Name)
		if t.Description != "" {
			dst = append(dst, `,"description":`...)
			dst = echo.AppendString(dst, t.Description)
		}
		if len(t.Parameters) > 0 {
			dst = append(dst, `,"parameters":`...)
			dst = append(dst, t.Parameters...)
		}
		dst = append(dst, `}}`...)
	}
	return append(dst, ']')
}

// encodedTools returns the tools as a request's member, nil when there are none.
func (c *client) encodedTools(tools []effect.ToolSpec) []byte {
	if len(tools) == 0 {
		return nil
	}
	return c.tools.get(setOf(tools), func() []byte { return encodeTools(tools) })
}

// bodies holds the buffers of request bodies between calls.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled keeps the odd giant request from staying in memory.
const maxPooled = 8 << 20

// body is a request body that retries and the transport may read several times, also after the call
// has returned. Its buffer goes back to the pool when the last reader is closed.
type body struct {
	buf  *[]byte
	refs atomic.Int32
}

// newBody takes a buffer that fill appends to. The caller owns one reference.
func newBody(fill func(dst []byte) []byte) *body {
	b := &body{buf: bodies.Get().(*[]byte)} //nolint:forcetypeassert // New makes them
	*b.buf = fill((*b.buf)[:0])
	b.refs.Store(1)
	return b
}

func (b *body) len() int64 { return int64(len(*b.buf)) }

func (b *body) release() {
	if b.refs.Add(-1) == 0 && cap(*b.buf) <= maxPooled {
		bodies.Put(b.buf)
	}
}

// reader returns a reader from the start, which holds a reference until it is closed.
func (b *body) reader() *bodyReader {
	b.refs.Add(1)
	return &bodyReader{body: b}
}

// bodyReader may be closed by the transport while it is being read elsewhere: hence the lock.
type bodyReader struct {
	mu   sync.Mutex
	body *body
	off  int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return 0, io.ErrClosedPipe
	}
	if r.off >= len(*r.body.buf) {
		return 0, io.EOF
	}
	n := copy(p, (*r.body.buf)[r.off:])
	r.off += n
	return n, nil
}

// Close may be called more than once.
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body != nil {
		r.body.release()
		r.body = nil
	}
	return nil
}
