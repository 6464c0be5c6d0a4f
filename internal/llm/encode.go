package llm

import (
	"encoding/json"
	"io"
	"maps"
	"net"
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
	whole          bool  // the answer is not to be streamed
	marks          []int // messages with a mark for the prefix cache
}

// fill makes the request body: first what stays the same in a conversation, then messages, then
// what only a phase's last call has. So successive bodies share the longest prefix.
func (b *body) fill(w *wireRequest, msgs []*echo.Message) {
	b.own = appendHead(b.own[:0], w)
	b.add(b.own)
	if len(w.tools) > 0 {
		b.add([]byte(`,"tools":`))
		b.add(w.tools)
	}
	b.add([]byte(`,"messages":[`))
	b.addMessages(msgs, w.marks)
	b.add([]byte(`]`))
	if len(w.tools) > 0 && w.noToolCalls {
		b.add([]byte(`,"tool_choice":"none"`))
	}
	b.add([]byte(`}`))
}

// appendHead appends a request's members before the tools.
func appendHead(dst []byte, w *wireRequest) []byte {
	dst = append(dst, `{"model":`...)
	dst = echo.AppendString(dst, w.model)
	if !w.whole {
		dst = append(dst, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
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
	return appendOptions(dst, w.options)
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

// addMessages adds the encoded messages. The protocol has no place for images in tool results: they
// follow in a user message after the last result of the turn.
func (b *body) addMessages(msgs []*echo.Message, marks []int) {
	b.parts = slices.Grow(b.parts, len(msgs)+3) // and the end of the body
	first := true
	mark := false // the message that is added
	add := func(m *echo.Message) {
		switch {
		case mark && first:
			b.add(marked(m))
		case mark:
			b.add(append([]byte{','}, marked(m)...))
		case first:
			b.add(m.JSON())
		default:
			b.add(m.Element())
		}
		first, mark = false, false
	}
	var images []echo.Part
	for i, m := range msgs {
		m = m.Open()
		mark = slices.Contains(marks, i)
		if m.HasImage() && m.Role() == echo.RoleTool {
			text, moved := splitImages(m)
			add(text)
			images = append(images, moved...)
		} else {
			add(m)
		}
		if len(images) > 0 && (i+1 == len(msgs) || msgs[i+1].Role() != echo.RoleTool) {
			add(echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: images}))
			images = nil
		}
	}
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

// bodies holds what is not in use of request bodies.
var bodies = sync.Pool{New: func() any { return new(body) }}

// maxParts keeps the list of an odd giant request from staying in memory.
const maxParts = 64 << 10

// body is a request body: pieces, most of them the encodings of messages, that are sent one after
// the other without being copied together. Retries and the transport may read it several times,
// also after the call has returned. It goes back to the pool when the last reader is closed.
type body struct {
	parts [][]byte
	size  int64
	own   []byte // the first part
	refs  atomic.Int32
}

// newBody returns an empty body. The caller owns one reference.
func newBody() *body {
	b := bodies.Get().(*body) //nolint:forcetypeassert // New makes them
	b.refs.Store(1)
	return b
}

// add adds a piece, which is not to be written to. It is not called after reader.
func (b *body) add(part []byte) {
	b.parts = append(b.parts, part)
	b.size += int64(len(part))
}

func (b *body) release() {
	if b.refs.Add(-1) > 0 || cap(b.parts) > maxParts {
		return
	}
	clear(b.parts) // the messages are not to stay for it
	b.parts, b.size = b.parts[:0], 0
	bodies.Put(b)
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
	part int // the piece that comes next,
	off  int // from here on
}

func (r *bodyReader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return 0, io.ErrClosedPipe
	}
	for n < len(p) && r.part < len(r.body.parts) {
		part := r.body.parts[r.part]
		copied := copy(p[n:], part[r.off:])
		n, r.off = n+copied, r.off+copied
		if r.off == len(part) {
			r.part, r.off = r.part+1, 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// writeTo writes a head and then the body without copying it, and returns how much of the body that
// was. It is not called after Read.
func (r *bodyReader) writeTo(w io.Writer, head []byte) (n int64, err error) {
	r.mu.Lock()
	body := r.body
	if body == nil {
		r.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	body.refs.Add(1)
	r.part = len(body.parts)
	r.mu.Unlock()
	defer body.release()
	p := pieceLists.Get().(*pieces) //nolint:forcetypeassert // New makes them
	defer p.release()
	n = -int64(len(head))
	p.next = append(p.list[:0], head)
	for parts := body.parts; len(parts) > 0; {
		k := min(len(parts), cap(p.next)-len(p.next))
		p.next = append(p.next, parts[:k]...)
		parts = parts[k:]
		written, err := p.next.WriteTo(w)
		n += written
		if err != nil {
			return max(n, 0), err
		}
		p.next = p.list[:0]
	}
	return n, nil
}

// pieces are parts of a body on their way to the operating system, as many as a call takes.
type pieces struct {
	list [1024][]byte
	next net.Buffers
}

var pieceLists = sync.Pool{New: func() any { return new(pieces) }}

func (p *pieces) release() {
	clear(p.next) // what a failure has left
	p.next = nil
	pieceLists.Put(p)
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
