package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/llm"
)

// known are the members of a request; the value says whether it goes into Request.Options.
var known = map[string]bool{
	"model": false, "messages": false, "tools": false, "stream": false, "stream_options": false, "tool_choice": false,
	"temperature": true, "top_p": true, "max_completion_tokens": true, "max_tokens": true, "seed": true, "stop": true,
	"presence_penalty": true, "frequency_penalty": true, "response_format": true, "reasoning_effort": true, "user": true,
	"logit_bias": true, "parallel_tool_calls": true, "metadata": true, "service_tier": true, "store": true, "verbosity": true,
	"prompt_cache_key": true,
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	imageURL = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
	pdfURL   = regexp.MustCompile(`^data:application/pdf;base64,[A-Za-z0-9+/]+=*$`)
	errTools = errors.New("tools must be a list of functions with a name and parameters that are a JSON Schema of type object")
)

// read checks a body the way a provider would.
func (s *Server) read(data []byte) (*Request, error) {
	if s.cfg.Lenient {
		return readHead(data)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	req := &Request{Options: map[string]any{}}
	for name, raw := range members {
		option, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("unrecognized request argument supplied: %s", name)
		}
		if option {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			req.Options[name] = v
		}
	}
	if err := duplicateMember(data); err != nil {
		return nil, err
	}
	if err := req.readMembers(members); err != nil {
		return nil, err
	}
	if req.Model == "" {
		return nil, errors.New("you must provide a model parameter")
	}
	if s.cfg.NoStream && req.Stream {
		return nil, errors.New("stream is not supported by this endpoint")
	}
	if err := s.checkMarks(req.Messages); err != nil {
		return nil, err
	}
	if err := s.checkThoughts(req.Messages); err != nil {
		return nil, err
	}
	return req, checkMessages(req.Messages, req.Tools)
}

// readHead reads only what an answer depends on, cheaply.
func readHead(data []byte) (*Request, error) {
	return &Request{Model: "bench", Stream: bytes.Contains(data, []byte(`"stream":true`)), Usage: true}, nil
}

func (r *Request) readMembers(members map[string]json.RawMessage) error {
	var options struct {
		Usage bool `json:"include_usage"`
	}
	var choice any
	for name, into := range map[string]any{
		"model": &r.Model, "messages": &r.Messages, "stream": &r.Stream, "stream_options": &options, "tool_choice": &choice,
	} {
		if raw, ok := members[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
	}
	r.Usage = options.Usage
	if _, ok := members["stream_options"]; ok && !r.Stream {
		return errors.New("stream_options is only allowed when stream is enabled")
	}
	if err := r.readTools(members["tools"]); err != nil {
		return err
	}
	if choice != nil && len(r.Tools) == 0 {
		return errors.New("tool_choice is only allowed when tools are specified")
	}
	r.NoCalls = choice == "none"
	return nil
}

func (r *Request) readTools(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var tools []struct {
		Type     string `json:"type"`
		Function Tool   `json:"function"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil || len(tools) == 0 {
		return errTools
	}
	seen := map[string]bool{}
	for _, t := range tools {
		var schema struct {
			Type string `json:"type"`
		}
		f := t.Function
		switch {
		case t.Type != "function" || !toolName.MatchString(f.Name):
			return fmt.Errorf("%w: %q", errTools, f.Name)
		case seen[f.Name]:
			return fmt.Errorf("tool %q is declared twice", f.Name)
		case f.Parameters != nil && (json.Unmarshal(f.Parameters, &schema) != nil || schema.Type != "object"):
			return fmt.Errorf("%w: the parameters of %q", errTools, f.Name)
		}
		seen[f.Name] = true
		r.Tools = append(r.Tools, f)
	}
	return nil
}

// checkMessages checks each message, and their sequence by the rules of the scripted model.
func checkMessages(msgs []Message, tools []Tool) error {
	list := make([]*echo.Message, len(msgs))
	for i, m := range msgs {
		d := echo.Draft{Role: echo.Role(m.Role), ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		if len(m.ToolCalls) > 0 && m.Role != "assistant" {
			return fmt.Errorf("message %d (%s) has tool calls", i+1, m.Role)
		}
		if len(m.ToolCalls) > 0 && len(tools) == 0 {
			return fmt.Errorf("message %d calls tools, but the request declares none", i+1)
		}
		if bytes.Contains(m.Content, []byte(`"image_url"`)) && m.Role != "user" && bytes.HasPrefix(m.Content, []byte("[")) {
			return fmt.Errorf("message %d (%s) has an image: only user messages may", i+1, m.Role)
		}
		if err := checkParts(&m, i+1); err != nil {
			return err
		}
		if (len(m.Content) == 0 || string(m.Content) == "null") && len(m.ToolCalls) == 0 {
			return fmt.Errorf("message %d (%s) has no content", i+1, m.Role)
		}
		list[i] = echo.Seal(d)
	}
	return llm.CheckSequence(list)
}

// checkParts checks the parts of a content as OpenAI's endpoint does: texts, images, and PDFs in user
// messages.
func checkParts(m *Message, number int) error {
	for _, part := range m.parts() {
		var is string
		_ = json.Unmarshal(part["type"], &is)
		switch is {
		case "text":
		case "image_url":
			var image struct{ URL string }
			if json.Unmarshal(part["image_url"], &image) != nil || image.URL == "" {
				return fmt.Errorf("message %d: image_url %s", number, part["image_url"])
			}
			if strings.HasPrefix(image.URL, "data:") && !imageURL.MatchString(image.URL) {
				return fmt.Errorf("message %d: invalid base64 image_url", number)
			}
		case "file":
			var file struct {
				Data string `json:"file_data"`
				Name string `json:"filename"`
			}
			if m.Role != "user" {
				return fmt.Errorf("message %d (%s) has a file: only user messages may", number, m.Role)
			}
			if json.Unmarshal(part["file"], &file) != nil || file.Name == "" || !pdfURL.MatchString(file.Data) {
				return fmt.Errorf("message %d: a file has the members filename, and file_data with a data: URL of a PDF", number)
			}
		default:
			return fmt.Errorf("message %d has a part of type %q; text, image_url and file are known", number, is)
		}
	}
	return nil
}

// duplicateMember finds a member that the body has twice, which decoders take in different ways.
func duplicateMember(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("the member %q is there twice", name)
		}
		seen[name] = true
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

// checkMarks checks the marks of a prefix cache as Anthropic's endpoints do: at most four, each on a
// text that is not empty.
func (s *Server) checkMarks(msgs []Message) error {
	n := 0
	for i := range msgs {
		for _, part := range msgs[i].parts() {
			raw, ok := part["cache_control"]
			if !ok {
				continue
			}
			var text string
			n++
			switch {
			case !s.cfg.CacheControl:
				return fmt.Errorf("messages.%d.content: extra inputs are not permitted: cache_control", i)
			case string(raw) != `{"type":"ephemeral"}`:
				return fmt.Errorf("messages.%d: cache_control %s", i, raw)
			case string(part["type"]) != `"text"` || json.Unmarshal(part["text"], &text) != nil || text == "":
				return errors.New("cache_control cannot be set for empty text blocks")
			}
		}
	}
	if n > 4 {
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided. Found %d", n)
	}
	return nil
}

// checkThoughts checks what comes back of a model's reasoning.
func (s *Server) checkThoughts(msgs []Message) error {
	for i := range msgs {
		m := &msgs[i]
		var text string
		switch calls := len(m.ToolCalls) > 0; {
		case m.ReasoningContent != nil && !s.cfg.Thinking:
			return fmt.Errorf("messages.%d: unknown member reasoning_content", i)
		case m.ReasoningDetails != nil && !s.cfg.Details:
			return fmt.Errorf("messages.%d: unknown member reasoning_details", i)
		case s.cfg.Thinking && calls && json.Unmarshal(m.ReasoningContent, &text) != nil:
			return errors.New("the reasoning_content in the thinking mode must be passed back to the API")
		case m.ReasoningContent != nil && !calls:
			return fmt.Errorf("messages.%d: reasoning_content without calls", i)
		}
	}
	return nil
}
