package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
)

// checker says whether a provider would take messages. It reads the bytes that would be sent as a
// server does, and shares no code with what it checks.
type checker struct {
	crooked map[string]bool // arguments that are no JSON object as they were recorded: they stay so
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID *string         `json:"tool_call_id"`
	ToolCalls  *[]struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	err error
}

func newChecker(c *Conversation) *checker {
	k := &checker{crooked: map[string]bool{}}
	for _, it := range c.Items {
		for _, call := range it.Message.ToolCalls() {
			if !isObject(call.Arguments) {
				k.crooked[call.Arguments] = true
			}
		}
	}
	return k
}

// checkSequence returns why a request would be refused, nil when it would not.
func checkSequence(request []*wireMessage) error {
	if len(request) == 0 {
		return errors.New("there are no messages")
	}
	used := map[string]bool{}
	open := map[string]bool{}
	var last *wireMessage
	for i := range request {
		last = request[i]
		err := last.err
		switch {
		case err != nil:
		case last.Role == "tool" && !open[*last.ToolCallID]:
			err = fmt.Errorf("it answers %q, which is no open call of the assistant message before it", *last.ToolCallID)
		case last.Role == "tool":
			delete(open, *last.ToolCallID)
		case len(open) > 0:
			err = fmt.Errorf("it stands where the results of %d calls should", len(open))
		default:
			err = last.openCalls(used, open)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	switch {
	case len(open) > 0:
		return fmt.Errorf("%d calls at the end have no result", len(open))
	case last.Role == "assistant":
		return errors.New("the last message is the assistant's: nothing is left to answer")
	}
	return nil
}

func (w *wireMessage) openCalls(used, open map[string]bool) error {
	if w.ToolCalls == nil {
		return nil
	}
	for _, c := range *w.ToolCalls {
		if used[c.ID] {
			return fmt.Errorf("the call id %q is used twice", c.ID)
		}
		used[c.ID], open[c.ID] = true, true
	}
	return nil
}

func (k *checker) read(body []byte) *wireMessage {
	w := &wireMessage{}
	if w.err = json.Unmarshal(body, w); w.err == nil {
		w.err = w.checkAlone()
	}
	if w.err == nil {
		w.err = k.checkCalls(w)
	}
	return w
}

// checkAlone checks what can be said of a message by itself, but for its calls.
func (w *wireMessage) checkAlone() error {
	content := "null"
	if len(w.Content) > 0 {
		content = string(w.Content)
	}
	switch w.Role {
	case "system", "user", "tool":
		if content == "null" {
			return fmt.Errorf("a %s message needs content", w.Role)
		}
		if w.ToolCalls != nil {
			return fmt.Errorf("a %s message has no tool_calls", w.Role)
		}
	case "assistant":
		if content == "null" && w.ToolCalls == nil {
			return errors.New("an assistant message needs content or tool_calls")
		}
	default:
		return fmt.Errorf("there is no role %q", w.Role)
	}
	if (w.Role == "tool") != (w.ToolCallID != nil) {
		return errors.New("tool messages and only they have a tool_call_id")
	}
	switch content[0] {
	case '"', 'n':
	case '[':
		if content == "[]" {
			return errors.New("the list of content parts is empty")
		}
	default:
		return errors.New("content is neither a text nor a list of parts")
	}
	return nil
}

func (k *checker) checkCalls(w *wireMessage) error {
	if w.ToolCalls == nil {
		return nil
	}
	if len(*w.ToolCalls) == 0 {
		return errors.New("tool_calls is an empty list")
	}
	for _, c := range *w.ToolCalls {
		switch {
		case c.ID == "" || c.Type != "function" || c.Function.Name == "":
			return errors.New("a tool call needs an id, the type function and a name")
		case c.Function.Arguments == nil:
			return fmt.Errorf("the call %q has no arguments", c.ID)
		case !isObject(*c.Function.Arguments) && !k.crooked[*c.Function.Arguments]:
			return fmt.Errorf("the arguments of the call %q are no JSON object, and were not recorded so", c.ID)
		}
	}
	return nil
}

func isObject(text string) bool {
	var v map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &v) == nil && v != nil
}
