//go:build unix

package attack

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// web is about http tools: a request goes to the host that the cascade's author wrote, says what the author wrote, and an
// answer costs no more than its bounds.
func web() group {
	return group{
		name: "http",
		mutant: mutant{"the refusal to be redirected to another host", []lab.Edit{{
			File: "internal/tool/http.go",
			Old:  `case req.URL.Host != first.Host || first.Scheme`,
			New:  `case first.Scheme`,
		}}},
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, r := range redirects {
				out = append(out, r.attempt())
			}
			for _, u := range chosenHosts {
				out = append(out, chosenHost(u).attempt())
			}
			for _, p := range webPrograms {
				out = append(out, p.attempt())
			}
			return append(out, of(requests)...)
		},
	}
}

// request is an attempt with one call of an http tool.
type request struct {
	name    string
	tool    map[string]any // url, headers and so on; {server} is the server of the attempt
	args    map[string]any
	flags   []string
	answer  func(w http.ResponseWriter, r *http.Request, victim string)
	sent    func(r *http.Request, body string) error // what a request may be
	none    bool                                     // no request may be sent
	want    []check
	prepare func(w *lab.World)
}

func (q request) attempt() attempt {
	return attempt{q.name, func(w *lab.World) error {
		if q.prepare != nil {
			q.prepare(w)
		}
		var mu sync.Mutex
		var wrong error
		note := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if wrong == nil {
				wrong = err
			}
		}
		victim := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			note(fmt.Errorf("a request went to another server: %s %s", r.Method, r.URL))
			_, _ = io.WriteString(rw, lab.Canary)
		}))
		defer victim.Close()
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // what came is what is looked at
			if q.none {
				note(fmt.Errorf("a request was sent: %s %s", r.Method, r.URL))
			}
			if q.sent != nil {
				note(q.sent(r, string(body)))
			}
			if q.answer != nil {
				q.answer(rw, r, victim.URL)
			}
		}))
		defer server.Close()
		tool := map[string]any{"tool_id": "web", "type": "http"}
		for k, v := range q.tool {
			if s, ok := v.(string); ok {
				v = strings.ReplaceAll(strings.ReplaceAll(s, "{server}", server.URL), "{victim}", victim.URL)
			}
			tool[k] = v
		}
		o := w.Ask(lab.Asked{Calls: []lab.Call{{Tool: "web", Args: q.args}}, Tools: []any{tool}, Flags: q.flags})
		if err := met(w, o, q.want...); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return wrong
	}}
}

// redirect is an answer that sends the request elsewhere.
type redirect struct {
	name, location string // {victim} and {host}, {port} of the server that was asked
	status         int
	want           string
}

const otherHost = "redirected to another host"

var redirects = []redirect{
	{"another port of loopback", "{victim}/x", 302, otherHost},
	{"another port, permanently", "{victim}/x", 301, otherHost},
	{"another port, see other", "{victim}/x", 303, otherHost},
	{"another port, the same method", "{victim}/x", 307, otherHost},
	{"another port, permanently with the same method", "{victim}/x", 308, otherHost},
	{"without a scheme", "//{victimhost}/x", 302, otherHost},
	{"localhost", "http://localhost:{victimport}/x", 302, otherHost},
	{"localhost with a dot", "http://localhost.:{victimport}/x", 302, otherHost},
	{"IPv6 loopback", "http://[::1]:{victimport}/x", 302, otherHost},
	{"IPv4 in IPv6", "http://[::ffff:127.0.0.1]:{victimport}/x", 302, otherHost},
	{"a decimal address", "http://2130706433:{victimport}/x", 302, otherHost},
	{"an octal address", "http://0177.0.0.1:{victimport}/x", 302, otherHost},
	{"zero", "http://0.0.0.0:{victimport}/x", 302, otherHost},
	{"all of 127", "http://127.1.2.3:{victimport}/x", 302, otherHost},
	{"cloud metadata", "http://169.254.169.254/latest/meta-data/", 302, otherHost},
	{"cloud metadata in IPv6", "http://[fd00:ec2::254]/latest/", 302, otherHost},
	{"a private network", "http://10.0.0.1/", 302, otherHost},
	{"another private network", "http://192.168.0.1/admin", 307, otherHost},
	{"a name of the metadata", "http://metadata.google.internal/", 302, otherHost},
	{"the user's name before another host", "http://{host}@{victimhost}/x", 302, otherHost},
	{"the same host with its default port", "http://127.0.0.1/x", 302, otherHost},
	{"a file", "file:///etc/passwd", 302, ""},
	{"gopher", "gopher://{victimhost}/_x", 302, ""},
	{"ftp", "ftp://{victimhost}/x", 302, ""},
	{"data", "data:text/plain,x", 302, ""},
	{"javascript", "javascript:x", 302, ""},
	{"no URL", "http://[::1", 302, ""},
	{"a line break", "/x\r\nSet-Cookie: a=b", 302, ""},
	{"for ever", "/again", 302, "more than 5 times"},
}

func (r redirect) attempt() attempt {
	return request{
		name: "redirect: " + r.name,
		tool: map[string]any{"url": "{server}/start"},
		answer: func(w http.ResponseWriter, req *http.Request, victim string) {
			host := strings.TrimPrefix(victim, "http://")
			_, port, _ := strings.Cut(host, ":")
			to := strings.NewReplacer("{victimhost}", host, "{victimport}", port, "{victim}", victim, "{host}", req.Host).Replace(r.location)
			w.Header()["Location"] = []string{to}
			w.WriteHeader(r.status)
		},
		want: []check{refused(r.want)},
	}.attempt()
}

// chosenHosts are URLs whose host a value would choose.
var chosenHosts = []string{
	"{{ v }}", "https://{{ v }}/", "https://{{ v }}.example.com/", "https://example.com{{ v }}/", "https://example.com:{{ v }}/", "{{ v }}://example.com/", "https://user:{{ v }}@example.com/",
	"https:{{ v }}/", "https:/{{ v }}", "https://{% if v %}a{% else %}b{% endif %}/", "https://example.com{% if v %}/{% endif %}{{ v }}", "//{{ v }}/", "https://example{{ '.com' }}{{ v }}/",
	`https:\\{{ v }}/`, "file:///{{ v }}", "gopher://localhost/{{ v }}", "ftp://localhost/{{ v }}", "https://\t{{ v }}/",
}

func chosenHost(url string) command {
	return command{
		name: "host: " + url,
		prepare: func(w *lab.World) {
			w.JSON("c.json", map[string]any{
				"cascade_id": "c",
				"tools":      []any{map[string]any{"tool_id": "web", "type": "http", "url": url, "inputs_schema": map[string]any{"v": "a value"}}},
				"phases":     []any{map[string]any{"name": "p", "tool": "web", "inputs": map[string]any{"v": "127.0.0.1"}}},
			})
		},
		args: []string{"run", "c.json", "--no-clickhouse", "-q"},
		want: []check{func(_ *lab.World, o *lab.Outcome) error {
			if o.Code == exitOK {
				return errorf("the request was sent: %q", o.Out)
			}
			return nil
		}},
	}
}

// path demands the path and the query that a request has, as they were sent.
func path(want string) func(*http.Request, string) error {
	return func(r *http.Request, _ string) error {
		if r.RequestURI != want {
			return errorf("the request is for %q, not %q", r.RequestURI, want)
		}
		return nil
	}
}

func body(want string) func(*http.Request, string) error {
	return func(_ *http.Request, got string) error {
		if got != want {
			return errorf("the body is %q, not %q", got, want)
		}
		return nil
	}
}

func pathRow(name, value, sent string) request {
	q := request{name: "path: " + name, tool: map[string]any{"url": "{server}/items/{{ v }}/end", "inputs_schema": map[string]any{"v": "x"}}, args: map[string]any{"v": value}}
	if sent == "" {
		q.none = true
		q.want = []check{refused("")}
		return q
	}
	q.sent = path("/items/" + sent + "/end")
	return q
}

func headerRow(name, value string) request {
	return request{
		name: "header: " + name, none: true, want: []check{refused("line break")}, args: map[string]any{"v": value},
		tool: map[string]any{"url": "{server}/", "headers": map[string]any{"X-Value": "a {{ v }}"}, "inputs_schema": map[string]any{"v": "x"}},
	}
}

func writes(n int, chunk string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, _ string) {
		for range n {
			if _, err := io.WriteString(w, chunk); err != nil {
				return // the client has enough
			}
		}
	}
}

// zipped answers with n MiB of zeros, compressed.
func zipped(n int) func(http.ResponseWriter, *http.Request, string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range n {
		_, _ = z.Write(bytes.Repeat([]byte("0"), 1<<20)) // into memory it never fails
	}
	_ = z.Close()
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes()) // the client may have gone
	}
}

var requests = []request{
	pathRow("dots", "..", ""),
	pathRow("one dot", ".", ""),
	pathRow("up", "../admin", "..%2Fadmin"),
	pathRow("up, encoded", "%2e%2e", "%252e%252e"),
	pathRow("up, encoded twice", "%252e%252e", "%25252e%25252e"),
	pathRow("a slash", "a/b", "a%2Fb"),
	pathRow("a backslash", `..\admin`, "..%5Cadmin"),
	pathRow("a query", "x?admin=1", "x%3Fadmin%3D1"),
	pathRow("a fragment", "x#y", "x%23y"),
	pathRow("a parameter", "x;y=1", "x%3By%3D1"),
	pathRow("a line", "x\r\nHost: evil", "x%0D%0AHost%3A%20evil"),
	pathRow("a space", "x HTTP/1.1", "x%20HTTP%2F1.1"),
	pathRow("an at", "@evil.example", "%40evil.example"),
	pathRow("NUL", "x\x00y", "x%00y"),
	pathRow("wide dots", "．．", "%EF%BC%8E%EF%BC%8E"),
	pathRow("long", strings.Repeat("a", 3000), strings.Repeat("a", 3000)),
	{
		name: "query: another parameter", tool: map[string]any{"url": "{server}/?q={{ v }}&role=user", "inputs_schema": map[string]any{"v": "x"}},
		args: map[string]any{"v": "a&role=admin#"}, sent: path("/?q=a%26role%3Dadmin%23&role=user"),
	},
	{
		name: "query: a plus", tool: map[string]any{"url": "{server}/?q={{ v }}", "inputs_schema": map[string]any{"v": "x"}}, args: map[string]any{"v": "a+b c"}, sent: path("/?q=a%2Bb%20c"),
	},
	headerRow("CRLF", "x\r\nX-Admin: 1"),
	headerRow("LF", "x\nX-Admin: 1"),
	headerRow("CR", "x\rX-Admin: 1"),
	headerRow("two lines", "x\r\n\r\nGET /admin HTTP/1.1"),
	headerRow("NUL", "x\x00y"),
	{
		name: "body: out of a JSON text", tool: map[string]any{"method": "POST", "url": "{server}/", "body": `{"text": "{{ v }}", "admin": false}`, "inputs_schema": map[string]any{"v": "x"}},
		args: map[string]any{"v": `x", "admin": true, "y": "`}, sent: body(`{"text": "x\", \"admin\": true, \"y\": \"", "admin": false}`),
	},
	{
		name: "body: a backslash before the end of a JSON text", tool: map[string]any{"method": "POST", "url": "{server}/", "body": `{"text": "{{ v }}", "x": 1}`, "inputs_schema": map[string]any{"v": "x"}},
		args: map[string]any{"v": `x\`}, sent: body(`{"text": "x\\", "x": 1}`),
	},
	{
		name: "body: a text for a JSON value", tool: map[string]any{"method": "POST", "url": "{server}/", "body": `{"n": {{ v }}, "admin": false}`, "inputs_schema": map[string]any{"v": "x"}},
		args: map[string]any{"v": `1, "admin": true`}, sent: body(`{"n": "1, \"admin\": true", "admin": false}`),
	},
	{
		name: "body: another field of a form", tool: map[string]any{"method": "POST", "url": "{server}/", "headers": map[string]any{"Content-Type": "application/x-www-form-urlencoded"}, "body": "v={{ v }}&role=user", "inputs_schema": map[string]any{"v": "x"}},
		args: map[string]any{"v": "a&role=admin"}, sent: body("v=a%26role%3Dadmin&role=user"),
	},
	{name: "answer: huge", tool: map[string]any{"url": "{server}/"}, answer: writes(3000, strings.Repeat("x", 1<<20)), want: []check{within(80 << 10)}},
	{name: "answer: huge for a program", tool: map[string]any{"url": "{server}/", "response_jq": "."}, answer: writes(3000, strings.Repeat("1 ", 1<<19)), want: []check{refused("more than the 4 MiB"), within(80 << 10)}},
	{name: "answer: compressed bomb", tool: map[string]any{"url": "{server}/"}, answer: zipped(1000), want: []check{within(80 << 10)}},
	{name: "answer: compressed bomb for a program", tool: map[string]any{"url": "{server}/", "response_jq": "."}, answer: zipped(1000), want: []check{refused("more than the 4 MiB"), within(80 << 10)}},
	{name: "answer: huge error", tool: map[string]any{"url": "{server}/"}, answer: func(w http.ResponseWriter, r *http.Request, v string) {
		w.WriteHeader(http.StatusInternalServerError)
		writes(100, strings.Repeat("x", 1<<20))(w, r, v)
	}, want: []check{refused("500"), within(80 << 10)}},
	{name: "answer: huge header", tool: map[string]any{"url": "{server}/"}, answer: func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("X-Long", strings.Repeat("x", 40<<20))
	}, want: []check{refused(""), within(80 << 10)}},
	{name: "answer: never", tool: map[string]any{"url": "{server}/", "timeout": "300ms"}, answer: func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, want: []check{refused("timed out")}},
	{name: "answer: a byte, and then nothing", tool: map[string]any{"url": "{server}/", "timeout": "500ms"}, answer: dribble, want: []check{refused("timed out")}},
	{name: "answer: binary", tool: map[string]any{"url": "{server}/"}, answer: writes(1, "\x00\x01\x02\xff"), want: []check{lacks("\x01")}},
	{name: "answer: deep JSON for a program", tool: map[string]any{"url": "{server}/", "response_jq": "."}, answer: writes(1, strings.Repeat("[", 3<<20)), want: []check{refused(""), within(80 << 10)}},
	{name: "answer: numbers for a program", tool: map[string]any{"url": "{server}/", "response_jq": ". + 1"}, answer: writes(1, "1e999999999"), want: []check{within(80 << 10)}},
	{
		name: "the key of the model in the environment", tool: map[string]any{"url": "{server}/", "headers": map[string]any{"X-Key": "{{ env.OPENAI_API_KEY }}"}}, none: true, want: []check{refused("")},
	},
}

// dribble sends a byte, and then nothing.
func dribble(w http.ResponseWriter, r *http.Request, _ string) {
	_, _ = io.WriteString(w, "x") // the client may have gone
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// webProgram is a jq program over an answer.
type webProgram struct{ name, program string }

var webPrograms = []webProgram{
	{"the environment", "env"},
	{"a variable", "$ENV.OPENAI_API_KEY"},
	{"variables", "$ENV"},
	{"input", "input"},
	{"inputs", "[inputs]"},
	{"a file's name", "input_filename"},
	{"a module", `import "a" as a; a::x`},
	{"an include", `include "secret"; .`},
	{"data", `import "../outside/secret" as $x; $x`},
	{"for ever", "[range(infinite)]"},
	{"for ever, one by one", "range(infinite)"},
	{"recursion", "def f: f; f"},
	{"deep recursion", "def f: [f]; f"},
	{"repeat", `repeat("x")`},
	{"until", "until(false; .)"},
	{"while", "[while(true; .)]"},
	{"halt", `"x" | halt_error`},
	{"debug", "debug"},
	{"stderr", "stderr"},
	{"an expression of regular expressions", `[match("(a*)*b"; "g")]`},
	{"limit of what never comes", "limit(1; empty | repeat(.))"},
}

func (p webProgram) attempt() attempt {
	return request{
		name: "program: " + p.name, tool: map[string]any{"url": "{server}/", "response_jq": p.program, "timeout": "2s"},
		answer: writes(1, `{"a": 1}`), want: []check{within(80 << 10), lacks("PATH="), lacks("WINDLASS")},
	}.attempt()
}
