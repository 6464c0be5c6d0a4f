//go:build unix

package attack

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// endpoints is about what answers in a model's place: no answer takes the run down, has it call what it may not, or puts
// a number into the books that is none.
func endpoints() group {
	return group{
		name:   "endpoints",
		mutant: endpointsMutant,
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, name := range sortedKeys(answers) {
				out = append(out, answer{name, "application/json", answers[name]}.attempt())
			}
			for _, name := range sortedKeys(streams) {
				out = append(out, answer{"stream: " + name, "text/event-stream", streams[name]}.attempt())
			}
			for _, name := range sortedKeys(toolCalls) {
				out = append(out, answer{"call: " + name, "application/json", completion(`"message": {"role": "assistant", "content": null, "tool_calls": [`+toolCalls[name]+`]}, "finish_reason": "tool_calls"`, "")}.attempt())
			}
			for _, name := range sortedKeys(figures) {
				out = append(out, figure(name, figures[name]))
			}
			return append(out, redirected(), echoed())
		},
	}
}

// answer is the body of an endpoint's answer. {key} is the key that it was sent.
type answer struct{ name, kind, body string }

const chat = `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x", "tackle": ["read_file", "run_command"], "rules": {"max_turns": 3}}]}`

// ask runs a cascade against an endpoint that answers so, whatever it is asked.
func ask(w *lab.World, handle http.HandlerFunc, flags ...string) *lab.Outcome {
	server := httptest.NewServer(handle)
	defer server.Close()
	w.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	w.File("windlass.json", `{"models": {"*": {"max_retries": 0, "timeout_seconds": 20, "idle_timeout_seconds": 5}}}`)
	w.File("../cascade/c.json", chat)
	return w.Run(append([]string{"run", "../cascade/c.json", "--model", "gpt-5-mini", "--no-clickhouse", "--session", "s"}, flags...)...)
}

func (a answer) attempt() attempt {
	return attempt{a.name, func(w *lab.World) error {
		o := ask(w, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", a.kind)
			_, _ = io.WriteString(rw, a.body) // the client may have enough
		})
		if err := met(w, o, within(100<<10)); err != nil {
			return err
		}
		return met(w, w.Run("sessions", "show", "s", "--no-clickhouse"))
	}}
}

// completion is an answer with one choice and, maybe, further members.
func completion(choice, more string) string {
	return `{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, ` + choice + `}]` + more + `}`
}

func says(text string) string {
	return completion(`"message": {"role": "assistant", "content": `+encoded(text)+`}, "finish_reason": "stop"`, "")
}

var answers = map[string]string{
	"nothing": "", "no JSON": "<html>", "null": "null", "a list": "[]", "a number": "1", "cut": `{"choices": [{`, "deep": strings.Repeat("[", 2_000_000), "deep objects": strings.Repeat(`{"choices":`, 500_000), "no choices": `{"choices": []}`,
	"choices that are none": `{"choices": {"a": 1}}`, "a choice that is null": `{"choices": [null]}`, "a message that is null": completion(`"message": null`, ""), "a million choices": `{"choices": [` + strings.TrimSuffix(strings.Repeat(`{"index":0},`, 1_000_000), ",") + `]}`,
	"an index below zero": completion(`"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop", "index": -1`, ""), "a text of 20 MiB": says(strings.Repeat("a", 20<<20)), "another role": completion(`"message": {"role": "system", "content": "x"}, "finish_reason": "stop"`, ""),
	"a reason of no kind": completion(`"message": {"role": "assistant", "content": "x"}, "finish_reason": "\u001b[2J"`, ""), "a member twice": `{"choices": [], "choices": [{"message": {"role": "assistant", "content": "x"}}]}`, "content of no kind": completion(`"message": {"role": "assistant", "content": {"a": 1}}`, ""),
	"no UTF-8": completion("\"message\": {\"role\": \"assistant\", \"content\": \"\xff\xfe\"}", ""), "half a character": completion(`"message": {"role": "assistant", "content": "\ud800"}, "finish_reason": "stop"`, ""), "NUL": says("a\x00b"), "endless white space": strings.Repeat(" ", 60<<20),
	"the name of a model": strings.Replace(says("x"), `"model": "m"`, `"model": "../../x\u001b[2J"`, 1), "an error in place of an answer": `{"error": {"message": "\u001b]0;owned\u0007", "type": 3, "code": {}}}`, "a template": says(`{{ env.OPENAI_API_KEY }}{% for i in range(999999999) %}`),
}

func events(lines ...string) string { return strings.Join(lines, "\n\n") + "\n\n" }

func delta(d string) string { return `data: {"choices": [{"index": 0, "delta": ` + d + `}]}` }

var streams = map[string]string{
	"no events": "hello\n", "an event that is no JSON": events("data: {", "data: [DONE]"), "an event of 60 MiB": "data: " + strings.Repeat("a", 60<<20), "a line without an end": strings.Repeat("data:", 8<<20), "a million events": strings.Repeat(": x\n\n", 2_000_000),
	"an end and more": events(delta(`{"content": "x"}`), "data: [DONE]", delta(`{"content": "y"}`)), "no end": events(delta(`{"content": "x"}`)), "an index of a billion": events(`data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1000000000, "id": "a", "function": {"name": "read_file", "arguments": "{}"}}]}}]}`, "data: [DONE]"),
	"an index below zero": events(`data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": -1, "id": "a", "function": {"name": "read_file", "arguments": "{}"}}]}}]}`, "data: [DONE]"), "choices of other indexes": events(`data: {"choices": [{"index": 7, "delta": {"content": "x"}}]}`, "data: [DONE]"),
	"a call in pieces without an id": events(delta(`{"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}`), delta(`{"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}`), "data: [DONE]"), "an error in the middle": events(delta(`{"content": "x"}`), `data: {"error": {"message": "\u001b[2J"}}`),
	"carriage returns": strings.ReplaceAll(events(delta(`{"content": "x"}`), "data: [DONE]"), "\n", "\r"), "NUL": events("data: \x00", "data: [DONE]"), "fields of other names": "id: 1\nevent: x\nretry: 99999999999999999999\ndata: [DONE]\n\n", "a hundred thousand pieces": strings.Repeat(delta(`{"content": "a"}`)+"\n\n", 100_000) + "data: [DONE]\n\n",
}

func call(name, id, arguments string) string {
	return `{"id": ` + encoded(id) + `, "type": "function", "function": {"name": ` + encoded(name) + `, "arguments": ` + encoded(arguments) + `}}`
}

var toolCalls = map[string]string{
	"a tool that is not offered": call("write_file", "a", `{"path": "x", "content": "y"}`), "the tool of validators": call("command", "a", `{"command": "touch x"}`), "no name": call("", "a", "{}"), "a name like a path": call("../../read_file", "a", "{}"),
	"a name that commands the terminal": call("read_file\x1b[2J", "a", "{}"), "a long name": call(strings.Repeat("a", 1<<20), "a", "{}"), "no id": call("read_file", "", `{"path": "x"}`), "the same id twice": call("read_file", "a", `{"path": "x"}`) + "," + call("read_file", "a", `{"path": "y"}`),
	"a long id": call("read_file", strings.Repeat("a", 1<<20), `{"path": "x"}`), "an id with lines": call("read_file", "a\r\nb\x00", `{"path": "x"}`), "no arguments": call("read_file", "a", ""), "arguments that are no object": call("read_file", "a", "[]"), "arguments that are cut": call("read_file", "a", `{"path": `),
	"arguments twice": call("read_file", "a", `{"path": "x"}{"path": "y"}`), "a member twice": call("read_file", "a", `{"path": "x", "path": "../outside/secret.txt"}`), "members of other letters": call("read_file", "a", `{"path": "x", "PATH": "../outside/secret.txt"}`), "deep arguments": call("read_file", "a", strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000)),
	"huge arguments": call("read_file", "a", `{"path": "`+strings.Repeat("a", 20<<20)+`"}`), "a number for a path": call("read_file", "a", `{"path": 1e400}`), "a huge number": call("read_file", "a", `{"path": "x", "offset": 1e999999999}`), "another type": `{"id": "a", "type": "custom", "custom": {"name": "run_command", "input": "touch x"}}`,
	"no function": `{"id": "a", "type": "function"}`, "null": "null", "ten thousand calls": strings.TrimSuffix(strings.Repeat(call("read_file", "a", `{"path": "x"}`)+",", 10_000), ","), "a command": call("run_command", "a", `{"command": "touch ../marker"}`), "a file outside": call("read_file", "a", `{"path": "../outside/secret.txt"}`),
}

// figures are what an endpoint says that an answer took and cost.
var figures = map[string]string{
	"a huge cost": `"cost": 1e308`, "a cost beyond numbers": `"cost": 1e400`, "a negative cost": `"cost": -1`, "a text for a cost": `"cost": "NaN"`, "infinity": `"cost": Infinity`, "NaN": `"cost": NaN`, "a list for a cost": `"cost": [1]`, "tokens below zero": `"prompt_tokens": -5, "completion_tokens": -7`,
	"tokens beyond integers": `"prompt_tokens": 99999999999999999999, "completion_tokens": 1e300`, "the most tokens": `"prompt_tokens": 9223372036854775807, "completion_tokens": 9223372036854775807`, "parts of tokens": `"prompt_tokens": 1.5, "completion_tokens": 0.1`, "texts for tokens": `"prompt_tokens": "many", "completion_tokens": null`,
	"more cached than sent": `"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1000000}`, "negative cached": `"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": -1000000}`, "more reasoning than said": `"prompt_tokens": 10, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 1000000}`,
	"a deep object": `"prompt_tokens_details": ` + strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "a list for usage": "",
}

// noFigure is a number in the books that no call took.
var noFigure = regexp.MustCompile(`"(in|out|cached|reasoning|cost_usd)": ?(-|\d{11}|[\d.]+e\+?\d|NaN|Infinity)`)

// figure has two runs with a budget of a cent: whatever the endpoint says must not lift the budget, end the books, or be
// taken for money that comes back.
func figure(name, usage string) attempt {
	return attempt{"figures: " + name, func(w *lab.World) error {
		body := completion(`"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"`, `, "usage": {`+usage+"}")
		if usage == "" {
			body = completion(`"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"`, `, "usage": [1, 2]`)
		}
		o := ask(w, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, body) // the client may have enough
		}, "--json")
		if err := met(w, o); err != nil {
			return err
		}
		if bad := noFigure.FindString(o.Journal + o.Out); bad != "" {
			return errorf("the books have %s: %s", bad, clip(o.Out))
		}
		return met(w, w.Run("verify", "s"))
	}}
}

// redirected is an endpoint that sends the request, and the key with it, elsewhere.
func redirected() attempt {
	return attempt{"redirect", func(w *lab.World) error {
		var got string
		thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") + "called" }))
		defer thief.Close()
		o := ask(w, func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, thief.URL, http.StatusTemporaryRedirect)
		})
		if got != "" {
			return fmt.Errorf("the redirect was followed: %s", got)
		}
		return met(w, o, fails)
	}}
}

// echoed is an endpoint that sends the key back in its error.
func echoed() attempt {
	return attempt{"the key in an error", func(w *lab.World) error {
		o := ask(w, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			http.Error(rw, `{"error": {"message": "wrong key: `+r.Header.Get("Authorization")+`"}}`, http.StatusUnauthorized)
		})
		return met(w, o, fails)
	}}
}
