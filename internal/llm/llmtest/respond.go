package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// Fault is a way in which an answer goes wrong.
type Fault struct {
	Status    int    // answer with this error status; Code and Message go into the body
	Code      string // such as insufficient_quota
	Message   string
	ResetAt   Point // drop the connection
	HangAt    Point // send nothing more until the server closes or the client goes
	Truncate  bool  // end a plain JSON answer in the middle, but properly
	NoChoices bool  // an answer without choices
	Empty     bool  // an answer with a choice that holds nothing: no content, no calls, no reason for its end
	Drip      bool  // a stream that never falls silent and never ends, until the server closes or the client goes
	NoDone    bool  // a stream without [DONE]
	HTML      bool  // a page of HTML in place of the answer, with status 200
	Redirect  string
}

// Point is a place in an answer.
type Point int

// The points.
const (
	Nowhere  Point = iota
	AtStart        // before anything is sent
	AtMiddle       // after the first event of a stream
)

func (s *Server) respond(w http.ResponseWriter, r *http.Request, req *Request, a *Answer) {
	for k, v := range a.Header {
		w.Header()[k] = v
	}
	f := a.Fault
	switch {
	case f.ResetAt == AtStart:
		reset(w)
	case f.HangAt == AtStart:
		s.hang(r)
	case f.Redirect != "":
		http.Redirect(w, r, f.Redirect, http.StatusTemporaryRedirect)
	case f.Status != 0:
		writeError(w, f.Status, f.Code, f.Message)
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body><h1>502 Bad Gateway</h1></body></html>")
	case a.Raw != "":
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		fmt.Fprint(w, a.Raw)
	case f.Drip:
		s.drip(w, r)
	case req.Stream && !a.Plain:
		s.stream(w, r, req, a)
	default:
		plain(w, req, a)
	}
}

// reset closes the connection in a way that the client sees as a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the close would still be a reset for a half-sent answer, only less surely
	}
	_ = conn.Close() // it is to break
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.done:
	}
}

func (a *Answer) finish() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (a *Answer) model(req *Request) string {
	if a.Model != "" {
		return a.Model
	}
	return req.Model
}

func plain(w http.ResponseWriter, req *Request, a *Answer) {
	message := map[string]any{"role": "assistant", "content": a.Text}
	if a.Text == "" {
		message["content"] = nil
	}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	if a.Refusal != "" {
		message["refusal"] = a.Refusal
	}
	if len(a.Calls) > 0 {
		message["tool_calls"] = wireCalls(a.Calls, false)
	}
	body := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "model": a.model(req)}
	body["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": a.finish()}}
	if a.Fault.NoChoices {
		body["choices"] = []any{}
	}
	if a.Fault.Empty {
		body["choices"] = []any{map[string]any{}}
	}
	if a.Usage != nil {
		body["usage"] = a.Usage
	}
	data := encode(body)
	if a.Fault.Truncate {
		data = data[:len(data)/2]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // a client that has gone does not read it
}

func wireCalls(calls []Call, indexed bool) []any {
	out := make([]any, len(calls))
	for i, c := range calls {
		call := map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}}
		if indexed {
			call["index"] = i
		}
		out[i] = call
	}
	return out
}

// stream writes an answer as events: its text in words, its calls, the end, the usage.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, req *Request, a *Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := bytes.Buffer{}
	event := func(body map[string]any) {
		body["id"], body["object"], body["model"] = "chatcmpl-1", "chat.completion.chunk", a.model(req)
		fmt.Fprintf(&out, "data: %s\n\n", encode(body))
	}
	delta := func(d map[string]any, finish any) {
		event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	if a.Fault.ResetAt == AtMiddle || a.Fault.HangAt == AtMiddle {
		s.breakOff(w, r, req, a, &out, delta)
		return
	}
	switch {
	case a.Fault.NoChoices:
		out.Reset()
	case a.Fault.Empty: // the first event is all there is
	default:
		a.deltas(delta)
		delta(map[string]any{}, a.finish())
	}
	if a.Usage != nil && req.Usage {
		event(map[string]any{"choices": []any{}, "usage": a.Usage})
	}
	if !a.Fault.NoDone {
		out.WriteString("data: [DONE]\n\n")
	}
	_, _ = w.Write(out.Bytes()) // a client that has gone does not read it
}

// drip sends a piece of an answer every now and then, without an end.
func (s *Server) drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"and \"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		case <-tick.C:
		}
	}
}

// breakOff sends the beginning of an answer and then nothing, or drops the connection.
func (s *Server) breakOff(w http.ResponseWriter, r *http.Request, req *Request, a *Answer, out *bytes.Buffer, delta func(map[string]any, any)) {
	text := a.Text
	if text == "" {
		text = "half an answer"
	}
	delta(map[string]any{"content": text[:len(text)/2]}, nil)
	_, _ = w.Write(out.Bytes())
	_ = http.NewResponseController(w).Flush()
	if s.cfg.Sent != nil {
		s.cfg.Sent(*req, false)
	}
	if a.Fault.HangAt == AtMiddle {
		s.hang(r)
		return
	}
	panic(http.ErrAbortHandler) // the server's way to drop a connection in the middle of a body
}

// deltas streams the content in small pieces, as providers do.
func (a *Answer) deltas(delta func(map[string]any, any)) {
	if a.Reasoning != "" {
		delta(map[string]any{"reasoning_content": a.Reasoning}, nil)
	}
	if a.Details != "" {
		delta(map[string]any{"reasoning_details": json.RawMessage(a.Details)}, nil)
	}
	if a.Refusal != "" {
		delta(map[string]any{"refusal": a.Refusal}, nil)
	}
	for _, word := range strings.SplitAfter(a.Text, " ") {
		if word != "" {
			delta(map[string]any{"content": word}, nil)
		}
	}
	for i, c := range a.Calls {
		head := map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}
		delta(map[string]any{"tool_calls": []any{head}}, nil)
		for _, piece := range pieces(c.Arguments, 12) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}}, nil)
		}
	}
}

// pieces cuts a text into pieces of about n bytes, between characters.
func pieces(s string, n int) []string {
	var out []string
	for len(s) > n {
		cut := n
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	return append(out, s)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: an answer cannot be encoded: " + err.Error())
	}
	return b
}
