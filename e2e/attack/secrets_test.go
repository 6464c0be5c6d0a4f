//go:build unix

package attack

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// secrets is about the keys that windlass knows: no tool's result, record or output shows one, in any usual encoding, and
// no program that it starts finds one.
func secrets() group {
	return group{
		name:   "secrets",
		mutant: secretsMutant,
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, e := range encodings {
				for _, s := range sinks {
					out = append(out, s.show(e))
				}
			}
			for _, line := range spies {
				out = append(out, spying(line))
			}
			return append(out, keeping()...)
		},
	}
}

// token is a secret with characters that encodings change.
const token = `tk/Vq+8&=%Z "x'<é>\9~end`

// encoding is a form in which a secret may stand in a text.
type encoding struct {
	name  string
	write func(s string) string
}

func percent(s string, upper bool) string {
	var b strings.Builder
	for i := range len(s) {
		if upper {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			fmt.Fprintf(&b, "%%%02x", s[i])
		}
	}
	return b.String()
}

var encodings = []encoding{
	{"as it is", func(s string) string { return s }},
	{"in a longer word", func(s string) string { return "xx" + s + "yy" }},
	{"twice", func(s string) string { return s + s }},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 of URLs", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
	{"base64 in a pair", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) }},
	{"base64 one byte on", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a" + s + "tail")) }},
	{"base64 two bytes on", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ab" + s + "b")) }},
	{"base64 in lines", func(s string) string {
		b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50) + s))
		return b[:76] + "\n" + b[76:]
	}},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"HEX", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"percent", func(s string) string { return percent(s, false) }},
	{"PERCENT", func(s string) string { return percent(s, true) }},
	{"a query", url.QueryEscape},
	{"a path", url.PathEscape},
	{"JSON", func(s string) string { return strings.Trim(encoded(s), `"`) }},
	{"JSON in JSON", func(s string) string { return strings.Trim(encoded(encoded(s)), `"`) }},
	{"JSON of numbers", func(s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		return b.String()
	}},
	{"HTML", func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
	}},
	{"escapes of C", func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		}
		return b.String()
	}},
}

// sink is a way in which a text gets into a result.
type sink struct {
	name string
	call lab.Call
	tool map[string]any
}

var sinks = []sink{
	{"read_file", lab.Call{Tool: "read_file", Args: map[string]any{"path": "leak.txt"}}, nil},
	{"run_command", lab.Call{Tool: "run_command", Args: map[string]any{"command": "cat leak.txt"}}, nil},
	{"a failing command", lab.Call{Tool: "leak", Args: map[string]any{}}, map[string]any{"tool_id": "leak", "type": "shell", "command": "cat leak.txt >&2; exit 3"}},
	{"an endpoint", lab.Call{Tool: "leak", Args: map[string]any{}}, map[string]any{"tool_id": "leak", "type": "http", "url": "{server}/"}},
}

// show has a tool return a text with the key and with a granted variable in it.
func (s sink) show(e encoding) attempt {
	return attempt{s.name + ": " + e.name, func(w *lab.World) error {
		w.Env = append(w.Env, "SOME_TOKEN="+token)
		text := fmt.Sprintf("before\n%s\nbetween\n%s\nafter\n", e.write(lab.Key), e.write(token))
		w.File("leak.txt", text)
		w.Secret(token)
		for _, v := range []string{lab.Key, token} {
			w.Secret(core(e.write(v)))
			w.Secret(core(strings.Trim(encoded(e.write(v)), `"`))) // as the journal writes it
		}
		var tools []any
		if s.tool != nil {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) }))
			defer server.Close()
			tool := map[string]any{}
			for k, v := range s.tool {
				tool[k] = strings.ReplaceAll(v.(string), "{server}", server.URL)
			}
			tools = []any{tool}
		}
		o := w.Ask(lab.Asked{Calls: []lab.Call{s.call}, Tools: tools, Flags: []string{"--allow-commands", "--allow-env", "SOME_TOKEN"}})
		return met(w, o, func(_ *lab.World, o *lab.Outcome) error {
			if len(o.Tools) != 1 || !strings.Contains(o.Tools[0].Text, "between") {
				return errorf("the tool has not returned the text: %v %s", o.Tools, o.Err)
			}
			return nil
		})
	}}
}

// core is a text without what its encoding makes of its neighbours at both ends.
func core(s string) string {
	s = s[strings.LastIndexByte(s, '\n')+1:]
	const margin = 6
	if len(s) > 8*margin {
		return s[margin*2 : len(s)-margin*2]
	}
	return s
}

// spies are commands of a model that look for the key where programs leave such things. What they find is turned around, so
// that it is seen here although windlass would take it out.
var spies = []string{
	"env", "export -p", "set", "cat /proc/self/environ", "cat /proc/$PPID/environ", "cat /proc/$PPID/task/*/environ", "cat /proc/[0-9]*/environ 2>/dev/null", "cat /proc/$PPID/cmdline", "cat /proc/[0-9]*/cmdline 2>/dev/null",
	"ps axeww", "ps axww", "for f in /proc/$PPID/fd/*; do timeout 1 head -c 100000 $f < /dev/null; done 2>/dev/null", "cat /proc/$PPID/stat /proc/$PPID/status",
	"cat /proc/$(awk '/^PPid/{print $2}' /proc/$PPID/status)/environ", "grep -rs sk- \"$TMPDIR\" \"$HOME\" {home} {base}/work 2>/dev/null", "find {home} {base}/tmp -type f -exec cat {} +", "sh -c 'cat /proc/$PPID/environ'",
	"setsid sh -c env", "xargs -n1 echo < /proc/$PPID/environ", "cat /proc/keys /dev/shm/* 2>/dev/null", "git config --list --show-origin", "ls -la /proc/$PPID/fd; readlink /proc/$PPID/fd/*",
}

func spying(line string) attempt {
	return attempt{"command: " + line, func(w *lab.World) error {
		found := []string{"sk-" + rand.Text(), rand.Text(), "dsn" + rand.Text(), rand.Text(), "ghp_" + rand.Text()}
		for i, name := range []string{"OPENAI_API_KEY", "ANOTHER_API_KEY", "WINDLASS_CLICKHOUSE_DSN", "WINDLASS_SERVE_TOKEN", "GITHUB_TOKEN"} {
			v := found[i]
			if i == 2 {
				v = "clickhouse://u:" + v + "@127.0.0.1:9/x"
			}
			w.Setenv(name, v)
		}
		var turned []string
		for _, s := range found {
			r := []byte(s)
			slices.Reverse(r)
			turned = append(turned, string(r))
		}
		w.Keys(append(found, turned...)...)
		line := strings.NewReplacer("{home}", w.Home, "{base}", w.Base).Replace(line)
		o := w.Ask(lab.Asked{Calls: []lab.Call{
			{Tool: "run_command", Args: map[string]any{"command": line}},
			{Tool: "run_command", Args: map[string]any{"command": "{ " + line + "\n} 2>&1 | LC_ALL=C tr '\\0' '\\n' | LC_ALL=C rev"}},
		}, Flags: []string{"--allow-commands"}})
		return met(w, o, func(_ *lab.World, o *lab.Outcome) error {
			for _, r := range o.Tools {
				for _, s := range turned {
					if strings.Contains(r.Text, s) {
						return errorf("a command found the secret %q", s)
					}
				}
			}
			return nil
		})
	}}
}

// keeping are runs that are given a secret and must not keep it.
func keeping() []attempt {
	granted := []string{"--allow-env", "SOME_TOKEN", "--offline", "--no-clickhouse"}
	run := func(name string, cascade any, script any, flags ...string) attempt {
		return attempt{"kept: " + name, func(w *lab.World) error {
			w.Env = append(w.Env, "SOME_TOKEN="+token)
			w.Secret(token)
			w.Secret(strings.Trim(encoded(token), `"`))
			w.JSON("c.json", cascade)
			w.JSON("c.script.json", script)
			o := w.Run(append(append([]string{"run", "c.json", "--session", "s"}, granted...), flags...)...)
			if _, err := os.Stat(filepath.Join(w.Home, "sessions", "s")); err != nil {
				return errorf("there was no run: %s", o.Err)
			}
			if err := met(w, o); err != nil {
				return err
			}
			for _, args := range [][]string{{"sessions", "handoff", "s", "--no-clickhouse"}, {"sessions", "show", "s", "--no-clickhouse"}, {"context", "show", "s", "1", "--no-clickhouse"}, {"replay", "s", "--speed", "0"}} {
				if err := met(w, w.Run(args...)); err != nil {
					return errorf("%v: %w", args, err)
				}
			}
			return nil
		}}
	}
	ask := func(more map[string]any) map[string]any {
		phase := map[string]any{"name": "p", "instructions": "x", "tackle": []string{"set_state"}}
		for k, v := range more {
			phase[k] = v
		}
		return map[string]any{"cascade_id": "c", "phases": []any{phase, map[string]any{"name": "q", "instructions": "y", "context": map[string]any{"from": []any{map[string]any{"phase": "p", "include": []string{"output", "messages", "state"}}}}}}}
	}
	says := func(text string) map[string]any {
		return map[string]any{"default": []any{map[string]any{"text": text}}}
	}
	tool := func(inputs map[string]any) map[string]any {
		return map[string]any{
			"cascade_id": "c", "tools": []any{map[string]any{"tool_id": "t", "type": "shell", "command": "printf '%s' {{ v }}", "inputs_schema": map[string]any{"v": "x"}}},
			"phases": []any{map[string]any{"name": "p", "tool": "t", "inputs": inputs}, map[string]any{"name": "q", "instructions": "{{ outputs.p }}", "context": map[string]any{"from": "all"}}},
		}
	}
	return []attempt{
		run("the inputs of a tool", tool(map[string]any{"v": "{{ env.SOME_TOKEN }}"}), says("done")),
		run("the inputs of a tool, as a part", tool(map[string]any{"v": "https://u:{{ env.SOME_TOKEN }}@example.com/"}), says("done")),
		run("instructions", ask(map[string]any{"instructions": "Use {{ env.SOME_TOKEN }}."}), says("done")),
		run("instructions, encoded", ask(map[string]any{"instructions": "Use {{ env.SOME_TOKEN | tojson }} or {{ env.SOME_TOKEN | urlencode }}."}), says("done")),
		run("what a model says", ask(nil), says("The token is "+strings.ReplaceAll(token, "{", "")+".")),
		run("state", ask(nil), map[string]any{"phases": map[string]any{
			"p": []any{map[string]any{"calls": []any{map[string]any{"tool": "set_state", "arguments": map[string]any{"key": "todo", "value": "- [ ] " + token}}}}, map[string]any{"text": "done"}}, "q": []any{map[string]any{"text": "done"}},
		}}),
		run("an input", ask(map[string]any{"instructions": "Use {{ input.v }}."}), says("done"), "--input", "v="+token),
		run("a failing template", ask(map[string]any{"instructions": "{{ env.SOME_TOKEN | int + none }}"}), says("done")),
		run("what a validator says", ask(map[string]any{"rules": map[string]any{"loop_until": "command:printf '%s' {{ env.SOME_TOKEN }}; exit 1", "max_attempts": 2}}), says("done")),
		run("a callout", ask(map[string]any{"callouts": "{{ env.SOME_TOKEN }}"}), says("done")),
		run("a failing tool", tool(map[string]any{"v": []string{"{{ env.SOME_TOKEN }}"}}), says("done")),
	}
}
