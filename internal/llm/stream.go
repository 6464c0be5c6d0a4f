package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm/wire"
	"github.com/windlass-run/windlass/internal/secret"
)

// maxAnswer bounds the bytes of one answer, streamed or not.
const maxAnswer = 64 << 20

// assembly puts an answer together from its pieces.
type assembly struct {
	onDelta func(effect.Delta)
	secrets cleaner       // for whole texts,
	shown   secret.Stream // and for the text as it comes

	chunk   wire.Chunk // the one being read
	model   string
	text    strings.Builder
	refusal strings.Builder
	calls   []*callState
	slots   map[int]*callState // by the index that the provider gives
	finish  string
	usage   *wireUsage
	choices bool // at least one choice has come

	reasoned bool // there was reasoning beside the content
	thought  thought
}

// callState is one tool call as it grows.
type callState struct {
	id, name string
	args     strings.Builder
}

// add takes in one chunk. where says what holds it, when it is none.
func (a *assembly) add(data []byte, where string) error {
	c := &a.chunk
	err := c.Read(data)
	var usage *wireUsage
	if err == nil {
		usage, err = usageOf(c)
	}
	if err != nil {
		return &badAnswerError{why: where + textOf(a.secrets.body(data))}
	}
	if err := statedFailure(c.Error, data); err != nil {
		return err
	}
	if usage != nil {
		a.usage = usage
	}
	if name := c.Model[:min(len(c.Model), maxName)]; len(name) > 0 && string(name) != a.model {
		a.model = strings.ToValidUTF8(string(name), "")
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue // only one choice is asked for
		}
		a.choices = true
		a.part(&ch.Delta)
		a.part(&ch.Message)
		if len(ch.FinishReason) > 0 {
			a.finish = string(ch.FinishReason)
		}
	}
	return nil
}

// usageOf returns the usage that a chunk reports, or nil.
func usageOf(c *wire.Chunk) (*wireUsage, error) {
	raw := c.Groq.Usage
	if c.Usage != nil {
		raw = c.Usage
	}
	for i := range c.Choices {
		if ch := &c.Choices[i]; ch.Index == 0 && ch.Usage != nil {
			raw = ch.Usage
		}
	}
	if raw == nil {
		return nil, nil //nolint:nilnil // most chunks report none
	}
	return readUsage(raw)
}

func (a *assembly) part(p *wire.Part) {
	if len(p.Content) > 0 {
		a.text.Write(p.Content)
		if a.onDelta != nil {
			a.tellText(a.shown.Next(string(p.Content)))
		}
	}
	a.refusal.Write(p.Refusal)
	a.reasoned = a.reasoned || bool(p.Reasoning) || wire.IsGiven(p.ReasoningContent)
	if a.thought.member != "" {
		a.thought.add(p.ReasoningContent, p.Details)
	}
	for i := range p.ToolCalls {
		a.call(&p.ToolCalls[i])
	}
}

// call takes in a piece of a tool call. The index tells calls apart, or else the id.
func (a *assembly) call(p *wire.CallPart) {
	s := a.slot(p)
	if s.id == "" {
		s.id = string(p.ID)
	}
	if s.name == "" && len(p.Function.Name) > 0 {
		s.name = string(p.Function.Name)
		a.tell(effect.Delta{ToolCall: a.secrets.Text(s.name)})
	}
	s.args.Write(p.Function.Arguments)
}

func (a *assembly) slot(p *wire.CallPart) *callState {
	id, named := string(p.ID), len(p.Function.Name) > 0
	position := p.Index.N
	if !p.Index.Set {
		for _, s := range a.calls {
			if id != "" && s.id == id {
				return s
			}
		}
		if n := len(a.calls); id == "" && !named && n > 0 {
			return a.calls[n-1] // a piece without any name goes on with the last call
		}
		position = len(a.calls)
	}
	s, ok := a.slots[position]
	if ok && p.Index.Set && id != "" && s.id != "" && id != s.id && named {
		ok = false // the same index for another call: seen with endpoints that send whole calls, all with index 0
	}
	if !ok {
		s = &callState{}
		if a.slots == nil {
			a.slots = map[int]*callState{}
		}
		a.slots[position] = s
		a.calls = append(a.calls, s)
	}
	return s
}

func (a *assembly) tellText(text string) {
	if text != "" {
		a.tell(effect.Delta{Text: text})
	}
}

func (a *assembly) tell(d effect.Delta) {
	if a.onDelta != nil {
		a.onDelta(d)
	}
}

// read takes in a response body, a stream or one JSON object, and reports why it is not an answer.
func (a *assembly) read(res *http.Response) error {
	limited := &limitedBody{body: res.Body, left: maxAnswer}
	if isStream(res.Header.Get("Content-Type")) {
		return a.events(limited)
	}
	data, err := io.ReadAll(limited)
	if err != nil {
		return brokenOff(err)
	}
	trimmed := bytes.TrimSpace(data)
	if bytes.HasPrefix(trimmed, []byte("data:")) || bytes.HasPrefix(trimmed, []byte(":")) {
		return a.events(bytes.NewReader(data)) // a stream under a wrong content type
	}
	if err := a.add(trimmed, ""); err != nil {
		return err
	}
	return a.complete()
}

func isStream(contentType string) bool {
	const stream = "text/event-stream"
	if contentType == stream {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == stream
}

// events reads a stream. An end without [DONE] is fine when the answer says itself why it finished.
func (a *assembly) events(r io.Reader) error {
	stream := wire.NewEvents(r)
	defer stream.Close()
	for {
		data, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF) && a.finish == "":
			return &brokenStreamError{}
		case errors.Is(err, io.EOF), err == nil && string(data) == "[DONE]":
			return a.complete()
		case err != nil:
			return brokenOff(err)
		}
		if err := a.add(data, "the stream holds "); err != nil {
			return err
		}
	}
}

// brokenOff says why an answer could not be read to its end.
func brokenOff(err error) error {
	if errors.Is(err, errTooLong) {
		return err
	}
	return &brokenStreamError{cause: err}
}

// providerFailureError carries an error that came in place of an answer, with status 200.
type providerFailureError struct{ f *failure }

func (e *providerFailureError) Error() string { return e.f.message }

// statedFailure reads an answer that has an error member, nil for none.
func statedFailure(member json.RawMessage, data []byte) error {
	if len(member) == 0 || string(member) == "null" {
		return nil
	}
	pe, ok := readProviderError(data)
	if !ok {
		return nil
	}
	status := pe.status()
	f := providerFailure(status, &pe)
	if words := strings.ToLower(pe.code() + " " + pe.Type); strings.Contains(words, "rate_limit") {
		f.fill(echo.ModelErrRateLimited, retryFully)
	} else if status == 0 && strings.Contains(words, "invalid_request") && f.kind == echo.ModelErrServer {
		f.fill(echo.ModelErrBadRequest, retryNever)
	}
	return &providerFailureError{f}
}

// complete checks that what has come is an answer.
func (a *assembly) complete() error {
	if !a.choices {
		return &badAnswerError{why: "the answer has no choices"}
	}
	if a.finish == "" && len(a.calls) == 0 && a.text.Len() == 0 && a.refusal.Len() == 0 {
		return &badAnswerError{why: "the answer's choice is empty: it holds no text, no calls and no reason for its end"}
	}
	for _, c := range a.calls {
		switch {
		case c.name == "":
			return &badAnswerError{why: "the answer calls a tool without naming it"}
		case len(c.name) > maxName:
			return &badAnswerError{why: fmt.Sprintf("the answer calls a tool by a name of %d bytes", len(c.name))}
		}
	}
	a.tellText(a.shown.Rest())
	return nil
}

// message seals the answer. Calls without an id, or with one that is taken, get one that follows
// from the request, so that the same answer always becomes the same message.
func (a *assembly) message(msgs []*echo.Message) *echo.Message {
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	if text := cmp.Or(a.secrets.Text(a.text.String()), a.secrets.Text(a.refusal.String())); text != "" {
		d.Parts = echo.Text(text)
	}
	for i, c := range a.calls {
		id := a.secrets.Text(c.id)
		if id == "" || len(id) > maxID || hasCall(d.ToolCalls, id) || usesCallID(msgs, id) {
			id = FillCallID(msgs, i)
		}
		args := c.args.String()
		if a.secrets.Has(args) {
			args = string(a.secrets.body([]byte(args)))
		}
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: id, Name: a.secrets.Text(c.name), Arguments: args})
	}
	if t := a.thought.members(); t != nil && len(d.ToolCalls) > 0 {
		d.Thought = encoded(json.RawMessage(a.secrets.body(t)))
	}
	return echo.Seal(d)
}

// finishReason returns why the answer ended, in the four words that the engine knows.
func (a *assembly) finishReason() string {
	switch {
	case a.refusal.Len() > 0 && a.text.Len() == 0:
		return "content_filter"
	case a.finish == "length", a.finish == "max_tokens":
		return "length"
	case a.finish == "content_filter":
		return a.finish
	case len(a.calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// limitedBody fails, rather than ends, when a body is longer than allowed.
type limitedBody struct {
	body io.ReadCloser
	left int64
}

func (l *limitedBody) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.body.Read(p)
	l.left -= int64(n)
	return n, err
}
