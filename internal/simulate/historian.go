package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/windlass-run/windlass/echo"
)

// historian turns recorded messages into the history of one phase, with one attempt.
type historian struct {
	items []echo.Item
	turn  int
	asked bool            // the task is in
	taken map[string]bool // ids of calls so far
	open  []openCall      // calls of the latest assistant message
}

// openCall is a call whose result may come. An id that a recording uses twice is made unique.
type openCall struct {
	recorded string
	call     echo.ToolCall
	answered bool
}

func (h *historian) add(m recorded) error {
	if len(m.FunctionCall) > 0 && string(m.FunctionCall) != "null" {
		return errors.New("function_call is the form before tool_calls and is not read: write the call as tool_calls")
	}
	parts, err := parseContent(m.Content)
	if err != nil {
		return err
	}
	d := echo.Draft{Parts: parts}
	switch m.Role {
	case "system", "developer":
		d.Role, d.Kind = echo.RoleSystem, echo.KindSystem
	case "user":
		d.Role, d.Kind = echo.RoleUser, echo.KindTurnPrompt
		if !h.asked {
			d.Kind = echo.KindTask
		}
		h.asked = true
	case "assistant":
		d.Role, d.Kind = echo.RoleAssistant, echo.KindAnswer
		if d.ToolCalls, err = h.calls(m.ToolCalls); err != nil {
			return err
		}
		h.turn++
	case "tool":
		if m.ToolCallID == "" {
			return errors.New("a tool message needs a tool_call_id")
		}
		d.Role, d.Kind = echo.RoleTool, echo.KindToolResult
		d.ToolCallID, d.Tool = h.answer(m.ToolCallID, m.Name)
	case "":
		return errors.New("there is no role")
	default:
		return fmt.Errorf("role %q is none of system, developer, user, assistant, tool", m.Role)
	}
	if m.Role != "assistant" && len(m.ToolCalls) > 0 {
		return fmt.Errorf("a %s message cannot have tool_calls", m.Role)
	}
	h.items = append(h.items, echo.Item{Message: echo.Seal(d), Attempt: 1, Turn: h.turn})
	return nil
}

func (h *historian) calls(list []recordedCall) ([]echo.ToolCall, error) {
	h.open = h.open[:0]
	var out []echo.ToolCall
	for i, r := range list {
		args, err := argumentText(r.Function.Arguments)
		if err == nil && (r.ID == "" || r.Function.Name == "") {
			err = errors.New("it has no id or no function name")
		}
		if err != nil {
			return nil, fmt.Errorf("tool call %d: %w", i+1, err)
		}
		c := echo.ToolCall{ID: h.unique(r.ID), Name: r.Function.Name, Arguments: args}
		h.open = append(h.open, openCall{recorded: r.ID, call: c})
		out = append(out, c)
	}
	return out, nil
}

// longestID is the number of characters that providers allow an id of a call.
const longestID = 40

func (h *historian) unique(id string) string {
	name := id
	for n := 2; h.taken[name]; n++ {
		end := "_" + strconv.Itoa(n)
		name = id[:min(len(id), max(1, longestID-len(end)))] + end
	}
	h.taken[name] = true
	return name
}

// answer returns the id of the call that a result answers, and the name of its tool. A result that
// answers no call of the latest assistant message is kept as it is, for the view to repair.
func (h *historian) answer(id, tool string) (callID, name string) {
	for i := range h.open {
		if o := &h.open[i]; o.recorded == id && !o.answered {
			o.answered = true
			return o.call.ID, o.call.Name
		}
	}
	return id, tool
}

// argumentText returns arguments as text; some recordings hold the parsed value.
func argumentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", errors.New("it has no arguments")
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func parseContent(raw json.RawMessage) ([]echo.Part, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("content: %w", plainJSONError(err))
		}
		return echo.Text(s), nil
	case '[':
		return parseParts(raw)
	}
	return nil, errors.New("content is neither a text nor a list of parts")
}

func parseParts(raw json.RawMessage) ([]echo.Part, error) {
	var list []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Refusal  string `json:"refusal"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("content: %w", plainJSONError(err))
	}
	var parts []echo.Part
	for i, p := range list {
		switch p.Type {
		case "text":
			parts = append(parts, echo.Part{Type: echo.PartText, Text: p.Text})
		case "refusal":
			parts = append(parts, echo.Part{Type: echo.PartText, Text: p.Refusal})
		case "image_url":
			parts = append(parts, echo.Part{Type: echo.PartImage, URL: p.ImageURL.URL})
		default:
			return nil, fmt.Errorf("content: part %d has the type %q; text, image_url and refusal are known", i+1, p.Type)
		}
	}
	return parts, nil
}
