package script

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// variables are what templates can use. The larger ones are made when a template uses them.
type variables struct {
	req *effect.ModelRequest
}

// forTemplate returns the variables that a template uses.
func (v *variables) forTemplate(x *text) map[string]any {
	site := v.req.Site
	vars := map[string]any{
		"phase": site.Phase, "attempt": site.Attempt, "turn": site.Turn, "validator": site.Validator, "model": v.req.Model,
	}
	if x.template.Uses("input") {
		vars["input"] = taskText(v.req.Messages)
	}
	if x.template.Uses("last_message") {
		vars["last_message"] = v.req.Messages[len(v.req.Messages)-1].Text()
	}
	if x.template.Uses("results") {
		vars["results"] = results(v.req.Messages, lastTurn(v.req.Messages))
	}
	if x.template.Uses("all_results") {
		vars["all_results"] = results(v.req.Messages, 0)
	}
	if x.template.Uses("messages") {
		vars["messages"] = messages(v.req.Messages)
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

// lastTurn returns the index of the last assistant message: its results come after it.
func lastTurn(msgs []*echo.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role() == echo.RoleAssistant {
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

// results returns the tool results from an index on, in order, with the arguments of the calls that they answer.
func results(msgs []*echo.Message, from int) []any {
	arguments := map[string]string{}
	for _, m := range msgs {
		for _, c := range m.ToolCalls() {
			arguments[c.ID] = c.Arguments
		}
	}
	out := []any{}
	for _, m := range msgs[from:] {
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
