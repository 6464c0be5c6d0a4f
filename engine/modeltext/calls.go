// Package modeltext reads what models write as text: JSON values in answers (json.go), code blocks
// (fence.go), and the tool calls of models that have no tool calling of their own (calls.go).
package modeltext

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Manual describes tools to a model that has no tool calling of its own.
func Manual(specs []effect.ToolSpec) string {
	var b strings.Builder
	b.WriteString("You can use the tools below. To call one, write a JSON block like this one and end your message after it:\n" +
		"```json\n{\"tool\": \"name\", \"arguments\": {}}\n```\n" +
		"Several blocks in one message are several calls; their results come in the next message. " +
		"Write no such block when you give your final answer.\n")
	for _, s := range specs {
		fmt.Fprintf(&b, "\nTool %s: %s\nArguments, as a JSON Schema: %s\n", s.Name, s.Description, s.Parameters)
	}
	return b.String()
}

// Calls reads the tool calls in a message's JSON blocks. One that names no tool is text.
func Calls(m *echo.Message, site effect.Site) *echo.Message {
	var calls []echo.ToolCall
	for _, block := range jsonBlocks(m.Text()) {
		for _, c := range readCalls(block) {
			c.ID = fmt.Sprintf("call_%d_%d_%d", site.Attempt, site.Turn, len(calls)+1)
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return m
	}
	d := m.Draft()
	d.ToolCalls = calls
	return echo.Seal(d)
}

// readCalls reads {"tool": ..., "arguments": ...} or a list of such. A broken call becomes a call
// with the block as arguments, so that the model is told.
func readCalls(block string) []echo.ToolCall {
	type call struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var list []call
	var one call
	raw := []byte(strings.TrimSpace(block))
	switch {
	case json.Unmarshal(raw, &one) == nil:
		list = []call{one}
	case json.Unmarshal(raw, &list) == nil:
	default:
		if name := toolNameOf(block); name != "" {
			return []echo.ToolCall{{Name: name, Arguments: strings.TrimSpace(block)}}
		}
		return nil
	}
	var calls []echo.ToolCall
	for _, c := range list {
		if c.Tool != "" {
			calls = append(calls, echo.ToolCall{Name: c.Tool, Arguments: string(c.Arguments)})
		}
	}
	return calls
}

func toolNameOf(block string) string {
	_, rest, ok := strings.Cut(block, `"tool"`)
	if !ok {
		return ""
	}
	quoted, ok := strings.CutPrefix(strings.TrimLeft(rest, ": \t\r\n"), `"`)
	if name, _, closed := strings.Cut(quoted, `"`); ok && closed {
		return name
	}
	return ""
}
