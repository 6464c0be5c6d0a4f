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

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

// maxAnswer bounds the bytes of one answer, streamed or not.
const maxAnswer = 64 << 20

// chunk is one event of a stream, or a whole answer; they differ in where a choice has its content.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Groq    *groqPart       `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type groqPart struct {
	Usage *wireUsage `json:"usage"`
}

type choice struct {
	Index        int        `json:"index"`
	Delta        *part      `json:"delta"`
	Message      *part      `json:"message"`
	FinishReason string     `json:"finish_reason"`
	Usage        *wireUsage `json:"usage"` // Moonshot sends it here
}

// part is a piece of an answer. Reasoning beside the content is not part of the answer.
type part struct {
	Content   content    `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is text, or a list of parts of which the text counts.
type content string

// UnmarshalJSON accepts a string, null, and a list of {"type": "text", "text": ...}.
func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(c))
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
			*c += content(text)
		}
	}
	return nil
}

// arguments is the text of a call's arguments, which some endpoints send as the object itself.
type arguments string

// UnmarshalJSON accepts a string or any other JSON value.
func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(a))
	}
	if !bytes.Equal(b, []byte("null")) {
		*a = arguments(b)
	}
	return nil
}

// assembly puts an answer together from its pieces.
type assembly struct {
	onDelta func(effect.Delta)
	secrets cleaner       // for whole texts,
	shown   secret.Stream // and for the text as it comes

	model   string
	text    strings.Builder
	refusal strings.Builder
	calls   []*callState
	slots   map[int]*callState // by the index that the provider gives
	finish  string
	usage   *wireUsage
	choices bool // at least one choice has come
}

// callState is one tool call as it grows.
type callState struct {
	id, name string
	args     strings.Builder
}

// add takes in one chunk.
func (a *assembly) add(c *chunk) {
	if c.Model != "" {
		a.model = strings.ToValidUTF8(c.Model[:min(len(c.Model), maxName)], "")
	}
	if c.Usage != nil {
		a.usage = c.Usage
	} else if c.Groq != nil && c.Groq.Usage != nil {
		a.usage = c.Groq.Usage
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue // only one choice is asked for
		}
		a.choices = true
		for _, p := range []*part{ch.Delta, ch.Message} {
			if p != nil {
				a.part(p)
			}
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
		if ch.Usage != nil {
			a.usage = ch.Usage
		}
	}
}

func (a *assembly) part(p *part) {
	if p.Content != "" {
		a.text.WriteString(string(p.Content))
		a.tellText(a.shown.Next(string(p.Content)))
	}
	a.refusal.WriteString(p.Refusal)
	for i := range p.ToolCalls {
		a.call(&p.ToolCalls[i])
	}
}

// call takes in a piece of a tool call. The index tells calls apart, or else the id.
func (a *assembly) call(p *callPart) {
	s := a.slot(p)
	if s.id == "" {
		s.id = p.ID
	}
	if s.name == "" && p.Function.Name != "" {
		s.name = p.Function.Name
		a.tell(effect.Delta{ToolCall: a.secrets.Text(s.name)})
	}
	s.args.WriteString(string(p.Function.Arguments))
}

func (a *assembly) slot(p *callPart) *callState {
	var position int
	if p.Index == nil {
		for _, s := range a.calls {
			if p.ID != "" && s.id == p.ID {
				return s
			}
		}
		if n := len(a.calls); p.ID == "" && p.Function.Name == "" && n > 0 {
			return a.calls[n-1] // a piece without any name goes on with the last call
		}
		position = len(a.calls)
	} else {
		position = *p.Index
	}
	s, ok := a.slots[position]
	if ok && p.Index != nil && p.ID != "" && s.id != "" && p.ID != s.id && p.Function.Name != "" {
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
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	limited := &limitedBody{body: res.Body, left: maxAnswer}
	if err == nil && media == "text/event-stream" {
		return a.events(res, limited)
	}
	data, err := io.ReadAll(limited)
	if err != nil {
		return brokenOff(err)
	}
	trimmed := bytes.TrimSpace(data)
	if bytes.HasPrefix(trimmed, []byte("data:")) || bytes.HasPrefix(trimmed, []byte(":")) {
		return a.events(res, io.NopCloser(bytes.NewReader(data))) // a stream under a wrong content type
	}
	var c chunk
	if err := json.Unmarshal(trimmed, &c); err != nil {
		return &badAnswerError{why: textOf(a.secrets.body(trimmed))}
	}
	if err := c.failure(trimmed); err != nil {
		return err
	}
	a.add(&c)
	return a.complete()
}

// events reads a stream. An end without [DONE] is fine when the answer says itself why it finished.
func (a *assembly) events(res *http.Response, r io.Reader) error {
	// The library's decoder drops a last event that is not followed by an empty line.
	ended := io.MultiReader(r, strings.NewReader("\n\n"))
	dec := ssestream.NewDecoder(&http.Response{Header: res.Header, Body: io.NopCloser(ended)})
	done := false
	for !done && dec.Next() {
		data := bytes.TrimSpace(dec.Event().Data)
		switch {
		case bytes.Equal(data, []byte("[DONE]")):
			done = true
			continue
		case len(data) == 0:
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return &badAnswerError{why: "the stream holds " + textOf(a.secrets.body(data))}
		}
		if err := c.failure(data); err != nil {
			return err
		}
		a.add(&c)
	}
	if err := dec.Err(); err != nil {
		return brokenOff(err)
	}
	if !done && a.finish == "" {
		return &brokenStreamError{}
	}
	return a.complete()
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

func (c *chunk) failure(data []byte) error {
	if len(c.Error) == 0 || string(c.Error) == "null" {
		return nil
	}
	pe, ok := readProviderError(data)
	if !ok {
		return nil
	}
	status := pe.status()
	f := providerFailure(status, &pe)
	if words := strings.ToLower(pe.code() + " " + pe.Type); strings.Contains(words, "rate_limit") {
		f.kind, f.class = echo.ModelErrRateLimited, retryFully
	} else if status == 0 && strings.Contains(words, "invalid_request") && f.kind == echo.ModelErrServer {
		f.kind, f.class = echo.ModelErrBadRequest, retryNever
	}
	f.hint = kinds[f.kind].hint
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
		args := string(a.secrets.body([]byte(c.args.String())))
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: id, Name: a.secrets.Text(c.name), Arguments: args})
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
