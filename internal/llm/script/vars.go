package script

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// large are the variables that are made only when a template uses them.
var large = map[string]func([]*echo.Message) any{
	"input":        func(msgs []*echo.Message) any { return taskText(msgs) },
	"last_message": func(msgs []*echo.Message) any { return lastText(msgs) },
	"results":      func(msgs []*echo.Message) any { return results(msgs[lastTurn(msgs):], msgs) },
	"all_results":  func(msgs []*echo.Message) any { return results(msgs, msgs) },
	"messages":     func(msgs []*echo.Message) any { return messages(msgs) },
	"candidates":   func(msgs []*echo.Message) any { return candidates(msgs) },
}

// variables returns what a template can use.
func variables(req *effect.ModelRequest, x *text) map[string]any {
	site := req.Site
	vars := map[string]any{
		"phase": site.Phase, "attempt": site.Attempt, "turn": site.Turn, "validator": site.Validator, "model": req.Model,
		"candidate": site.Try.Number, "step": site.Try.Step,
	}
	for name, of := range large {
		if x.template.Uses(name) {
			vars[name] = of(req.Messages)
		}
	}
	return vars
}

// taskText returns the text of the phase's task, or else of the first user message.
func taskText(msgs []*echo.Message) string {
	first := ""
	for _, m := range slices.Backward(msgs) { // the tasks of earlier phases may have been brought in before the own one
		if m.Kind() == echo.KindTask {
			return m.Text()
		}
		if m.Role() == echo.RoleUser {
			first = m.Text()
		}
	}
	return first
}

// lastText returns the text of the last message but those that stand at the end of every request.
func lastText(msgs []*echo.Message) string {
	for _, m := range slices.Backward(msgs) {
		if !m.Kind().Stands() {
			return m.Text()
		}
	}
	return ""
}

// lastTurn returns the index of the last assistant message: its results come after it.
func lastTurn(msgs []*echo.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role() == echo.RoleAssistant {
			return i
		}
	}
	return 0
}

func messages(msgs []*echo.Message) []any {
	out := make([]any, len(msgs))
	for i, m := range msgs {
		out[i] = map[string]any{"role": string(m.Role()), "kind": string(m.Kind()), "text": m.Text()}
	}
	return out
}

// promptedHead is how a tool result begins for a model without tool calling.
var promptedHead = regexp.MustCompile(`^Tool (result|error) of (\S+) \(([^)]*)\):\n`)

// results returns tool results in order, with the arguments of the calls that they answer.
func results(msgs, conversation []*echo.Message) []any {
	arguments := map[string]string{}
	for _, m := range conversation {
		for _, c := range m.ToolCalls() {
			arguments[c.ID] = c.Arguments
		}
	}
	out := []any{}
	for _, m := range msgs {
		name, id, text, failed := m.Tool(), m.ToolCallID(), m.Text(), m.Failed()
		if m.Role() != echo.RoleTool {
			head := promptedHead.FindStringSubmatch(text)
			if m.Kind() != echo.KindToolResult || head == nil {
				continue
			}
			name, id, failed, text = head[2], head[3], head[1] == "error", text[len(head[0]):]
		}
		out = append(out, map[string]any{
			"name": name, "arguments": decoded(arguments[id]), "text": text, "json": decoded(text),
			"lines": lines(text), "failed": failed,
		})
	}
	return out
}

// decoded returns the value of a JSON text, or nil when it is none.
func decoded(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// lines returns the lines of a text that are not empty.
func lines(text string) []any {
	out := []any{}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}
