//go:build unix

package attack

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// serve is about the HTTP API: nobody is answered without the token, no page of another site with it, and no request
// gets more than the server grants, nor keeps it from answering others.
func serve() group {
	return group{
		name: "serve",
		mutant: mutant{"the token", []lab.Edit{{
			File: "internal/server/guard.go",
			Old:  "own := subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1",
			New:  "own := subtle.ConstantTimeCompare(sum[:], g.token[:]) >= 0",
		}}},
		attempts: func(t *testing.T, bin string) []attempt {
			s := served(t, bin)
			var out []attempt
			for _, r := range slices.Concat(strangers(), foreign(), hostilePaths(), hostileBodies(), hostileMessages()) {
				out = append(out, r.to(s))
			}
			return append(out, of(serveStarts)...)
		},
	}
}

const serveToken = "token-of-the-server-3f9a7c51d2"

// served starts the server that the attempts of the group share. It has a session "done" and a folder of cascades.
func served(t *testing.T, bin string) *lab.Server {
	t.Helper()
	w := lab.New(t, bin)
	w.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
	w.File("c.script.json", `{"default": [{"text": "done"}]}`)
	w.File("../token", serveToken)
	w.Link("../outside/secret.txt", "link.json")
	w.Link("../outside", "folder")
	w.Fifo("pipe.json")
	w.Run("run", "c.json", "--offline", "--no-clickhouse", "-q", "--session", "done")
	s := w.Serve("--root", w.Dir, "--token-file", "../token", "--offline", "--no-clickhouse", "--max-runs", "200", "--max-usd", "1")
	s.Token = serveToken
	return s
}

// asked is a request as it goes over the wire. {host} is the server's address, {auth} the header with the token.
type asked struct {
	name, raw string
	status    []int // what the answer may be
}

// to sends the request.
func (r asked) to(s *lab.Server) attempt {
	return attempt{r.name, func(w *lab.World) error {
		answer := s.Send(w.T, fill(s, r.raw))
		if err := allowed(answer, r.status); err != nil {
			return err
		}
		for _, secret := range []string{lab.Canary, lab.Key, serveToken} {
			if strings.Contains(answer, secret) {
				return errorf("a secret is shown: %q", clip(answer))
			}
		}
		if again := s.Send(w.T, fill(s, get("/api/sessions?limit=1"))); !strings.HasPrefix(again, "HTTP/1.1 200") {
			return errorf("afterwards the server answers: %q", clip(again))
		}
		return s.Held(nil)
	}}
}

func fill(s *lab.Server, raw string) string {
	return strings.NewReplacer("{host}", s.Address, "{auth}", "Authorization: Bearer "+s.Token, "{dir}", s.Dir, "{outside}", s.Outside, "{marker}", s.Marker).Replace(raw)
}

var statusLine = regexp.MustCompile(`(?m)^HTTP/1\.[01] (\d{3}) `)

// allowed demands that all answers of a connection have one of the statuses. A connection that was closed without an
// answer is a refusal, too.
func allowed(answer string, status []int) error {
	found := statusLine.FindAllStringSubmatch(answer, -1)
	if answer != "" && len(found) == 0 {
		return errorf("no answer of HTTP: %q", clip(answer))
	}
	for _, m := range found {
		if n, _ := strconv.Atoi(m[1]); !slices.Contains(status, n) {
			return errorf("the answer has the status %d, not one of %v: %q", n, status, clip(answer))
		}
	}
	return nil
}

func request1(method, path string, headers ...string) string {
	return method + " " + path + " HTTP/1.1\r\n" + strings.Join(append(headers, "Connection: close"), "\r\n") + "\r\n\r\n"
}

func get(path string, headers ...string) string {
	return request1("GET", path, append([]string{"Host: {host}", "{auth}"}, headers...)...)
}

func post(path, body string, headers ...string) string {
	return request1("POST", path, append([]string{"Host: {host}", "{auth}", fmt.Sprintf("Content-Length: %d", len(body)), "Content-Type: application/json"}, headers...)...) + body
}

var (
	refusals = []int{400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 422, 426, 431, 501, 505}
	noToken  = []int{401}
	noPage   = []int{403}
)

// strangers have no token, or not the right one.
func strangers() []asked {
	var out []asked
	for _, route := range []string{
		"POST /api/runs", "GET /api/sessions", "GET /api/sessions/done", "GET /api/sessions/done/events", "GET /api/sessions/done/context/1", "GET /api/sessions/done/handoff",
		"POST /api/sessions/done/cancel", "POST /api/sessions/done/resume", "GET /api/openapi.json", "GET /", "GET /nowhere", "HEAD /api/sessions", "OPTIONS /api/runs", "TRACE /api/sessions", "PUT /api/runs",
		"DELETE /api/sessions/done", "PATCH /api/sessions/done", "BREW /api/sessions",
	} {
		method, path, _ := strings.Cut(route, " ")
		out = append(out, asked{"no token: " + route, request1(method, path, "Host: {host}"), noToken})
	}
	for name, header := range map[string]string{
		"an empty one": "Authorization:", "another": "Authorization: Bearer token-of-the-server-0000000000", "the beginning": "Authorization: Bearer token-of-the-server", "more": "{auth}x",
		"other letters": "Authorization: Bearer " + strings.ToUpper(serveToken), "nothing behind Bearer": "Authorization: Bearer", "Basic": "Authorization: Basic " + serveToken, "no scheme": "Authorization: " + serveToken,
		"a cookie": "Cookie: token=" + serveToken, "another header": "X-Authorization: Bearer " + serveToken, "a proxy's header": "Proxy-Authorization: Bearer " + serveToken, "quotes": `Authorization: Bearer "` + serveToken + `"`,
		"a list": "Authorization: Bearer x, Bearer " + serveToken, "the wrong one first": "Authorization: Bearer x\r\n{auth}", "long": "Authorization: Bearer " + strings.Repeat("x", 20_000),
		"a page of its own": "Origin: http://{host}\r\nSec-Fetch-Site: same-origin", "a forwarded request": "X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1", "another method": "X-HTTP-Method-Override: GET",
	} {
		out = append(out, asked{"token: " + name, request1("GET", "/api/sessions", "Host: {host}", header), noToken})
	}
	return append(out,
		asked{"token: in the query", request1("GET", "/api/sessions?token="+serveToken+"&access_token="+serveToken, "Host: {host}"), noToken},
		asked{"token: in the address", request1("GET", "http://x:"+serveToken+"@{host}/api/sessions", "Host: {host}"), noToken},
		asked{"token: HTTP/1.0", "GET /api/sessions HTTP/1.0\r\nHost: {host}\r\n\r\n", noToken},
	)
}

// foreign are requests that a browser sends for a page of another site. They have the token.
func foreign() []asked {
	var out []asked
	for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8765", "0.0.0.0", "[::ffff:1.2.3.4]", "127.0.0.1@evil.example", "metadata", "10.0.0.1", "x"} {
		out = append(out, asked{"host: " + host, request1("GET", "/api/sessions", "Host: "+host, "{auth}"), []int{400, 403}})
	}
	for name, headers := range map[string]string{
		"another site": "Origin: https://evil.example", "null": "Origin: null", "a file": "Origin: file://", "another port": "Origin: http://127.0.0.1:1", "no URL": "Origin: %zz", "a name that begins like it": "Origin: http://{host}.evil.example",
		"cross-site": "Sec-Fetch-Site: cross-site", "same-site": "Sec-Fetch-Site: same-site", "unknown": "Sec-Fetch-Site: else", "an extension": "Origin: moz-extension://x",
	} {
		out = append(out, asked{"page: " + name, get("/api/sessions", headers), noPage}, asked{"page that posts: " + name, post("/api/runs", `{"file": "c.json"}`, headers), noPage})
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", "application/jsonp", "application/json+x", "", ";", "application/xml"} {
		body := `{"file": "c.json"}`
		out = append(out, asked{"form: " + kind, request1("POST", "/api/runs", "Host: {host}", "{auth}", "Content-Type: "+kind, fmt.Sprintf("Content-Length: %d", len(body))) + body, []int{415}})
	}
	return append(out,
		asked{"host: none", request1("GET", "/api/sessions", "{auth}"), []int{400, 403}},
		asked{"host: two", request1("GET", "/api/sessions", "Host: {host}", "Host: evil.example", "{auth}"), []int{400, 403}},
		asked{"host: in the address", request1("GET", "http://evil.example/api/sessions", "Host: {host}", "{auth}"), []int{400, 403}},
		asked{"preflight", request1("OPTIONS", "/api/runs", "Host: {host}", "Origin: https://evil.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"), noPage},
	)
}

func hostilePaths() []asked {
	var out []asked
	for _, p := range []string{
		"/api/sessions/..", "/api/sessions/%2e%2e", "/api/sessions/..%2f..%2foutside", "/api/sessions/..%2fsessions%2fdone", "/api/sessions/%2fetc%2fpasswd", "/api/sessions/done%00", "/api/sessions/%00", "/api/sessions/done%2fwork",
		"/api/sessions/done%0a", "/api/sessions/*", "/api/sessions/%", "/api/sessions/.", "/api/sessions/", "/api/sessions/~", "/api/sessions/done%5c..", "/api/sessions/%ff%fe", "/api/sessions/" + strings.Repeat("a", 5000),
		"/api/sessions/done/context/..%2f", "/api/sessions/done/context/..%2f..%2fjournal.jsonl", "/api/sessions/done/context/../../x", "/api/sessions/done/context/%00", "/api/sessions/done/context/-1",
		"/api/sessions/done/context/99999999999999999999", "/api/sessions/done/context/p/attempt1/turn99", "/api/sessions/done/context/" + strings.Repeat("a/", 2000), "/api/sessions/done/context/1%20OR%201=1", "/api/sessions/done/context/",
		"/api/sessions/..%2f/events", "/api/sessions/..%2f/handoff", "/api/sessions/%2e%2e%2f%2e%2e/handoff", "/api/sessions/nobody/events", "/api/sessions/';DROP TABLE logs--", "/api/sessions/%27%20OR%201=1", "/api/runs/x",
		"/api/sessions/done/journal.jsonl", "/api/sessions/done/work", "/api", "/API/SESSIONS", "/api/sessions;x=1", "/.git/config", "/debug/pprof/", "/metrics", "/favicon.ico", `/api\sessions`, "/api/sessions/done/../../../etc/passwd", "//api/sessions/x", "/./api/./sessions/x",
		"/api/sessions?limit=-1", "/api/sessions?limit=0", "/api/sessions?limit=999999999999999999999", "/api/sessions?limit=1e3", "/api/sessions?limit=x", "/api/sessions/done/events?from=-1", "/api/sessions/done/events?from=x",
		"/api/sessions/done/events?from=99999999999999999999",
	} {
		out = append(out, asked{"path: " + clip(p), get(strings.ReplaceAll(p, " ", "%20")), slices.Concat(refusals, []int{301, 307})})
	}
	for _, p := range []string{"/api/sessions/..%2f/cancel", "/api/sessions/nobody/cancel", "/api/sessions/..%2fdone/resume", "/api/sessions/%2e%2e/resume", "/api/sessions/done%00/resume"} {
		out = append(out, asked{"path: POST " + p, post(p, "{}"), refusals})
	}
	return out
}

func hostileBodies() []asked {
	cascade := func(s string) string { return `{"cascade": {"cascade_id": "x", ` + s + `}, "input": {"v": 1}}` }
	phases := `"phases": [{"name": "p", "instructions": "x"}]`
	bodies := map[string]string{
		"nothing": "", "no object": "[]", "null": "null", "a text": `"c.json"`, "cut": `{"file": `, "two values": `{"file": "c.json"} {}`, "a mark before it": "\ufeff" + `{"file": "c.json"}`, "UTF-16": "{\x00\"\x00f\x00",
		"no UTF-8": "{\"file\": \"\xff\xfe\"}", "an unknown member": `{"file": "c.json", "allow_commands": true}`, "a right": `{"file": "c.json", "roots": ["/"]}`, "an environment": `{"file": "c.json", "allow_env": ["OPENAI_API_KEY"]}`,
		"a member twice": `{"file": "nothing.json", "file": "c.json"}`, "both": `{"file": "c.json", "cascade": {}}`, "neither": `{}`, "file: up": `{"file": "../outside/secret.txt"}`, "file: absolute": `{"file": "{outside}/secret.txt"}`,
		"file: a system file": `{"file": "/etc/passwd"}`, "file: a link": `{"file": "link.json"}`, "file: through a link": `{"file": "folder/secret.txt"}`, "file: a pipe": `{"file": "pipe.json"}`, "file: a folder": `{"file": "."}`,
		"file: NUL": `{"file": "c.json\u0000.txt"}`, "file: a URL": `{"file": "http://127.0.0.1/c.json"}`, "file: standard input": `{"file": "-"}`, "file: empty": `{"file": ""}`, "file: a device": `{"file": "/dev/zero"}`, "file: long": `{"file": "` + strings.Repeat("a", 100_000) + `"}`,
		"file: not there": `{"file": "nothing.json"}`, "session: up": `{"file": "c.json", "session_id": "../../x"}`, "session: dots": `{"file": "c.json", "session_id": ".."}`, "session: slash": `{"file": "c.json", "session_id": "a/b"}`,
		"session: NUL": `{"file": "c.json", "session_id": "a\u0000"}`, "session: a line": `{"file": "c.json", "session_id": "a\nb"}`, "session: long": `{"file": "c.json", "session_id": "` + strings.Repeat("a", 65) + `"}`, "session: taken": `{"file": "c.json", "session_id": "done"}`,
		"session: empty": `{"file": "c.json", "session_id": ""}`, "session: a flag": `{"file": "c.json", "session_id": "--help"}`, "model: an equals sign": `{"file": "c.json", "model": "p=x"}`, "models: no text": `{"file": "c.json", "models": {"p": 1}}`,
		"budget: more": `{"file": "c.json", "budget": {"max_usd": 1000}}`, "budget: none": `{"file": "c.json", "budget": {"max_usd": 0}}`, "budget: below zero": `{"file": "c.json", "budget": {"max_usd": -1}}`, "budget: huge": `{"file": "c.json", "budget": {"max_usd": 1e400}}`,
		"budget: a text": `{"file": "c.json", "budget": {"max_usd": "NaN"}}`, "budget: unknown": `{"file": "c.json", "budget": {"max_evil": 1}}`, "input: no object": `{"file": "c.json", "input": []}`, "input: deep": `{"file": "c.json", "input": {"a": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`,
		"deep": strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "huge": `{"file": "` + strings.Repeat("a", 17<<20) + `"}`, "numbers": `{"file": "c.json", "budget": {"max_tokens": 1e999999999}}`,
		"cascade: a command":                  cascade(`"tools": [{"tool_id": "t", "type": "shell", "command": "touch {marker}"}], "phases": [{"name": "p", "tool": "t"}]`),
		"cascade: a request":                  cascade(`"tools": [{"tool_id": "t", "type": "http", "url": "http://127.0.0.1/"}], "phases": [{"name": "p", "tool": "t"}]`),
		"cascade: a validator with a command": cascade(`"phases": [{"name": "p", "instructions": "x", "rules": {"loop_until": "command:touch {marker}"}}]`),
		"cascade: a hidden validator":         cascade(`"phases": [{"name": "p", "instructions": "x", "on_error": {"instructions": "y", "rules": {"loop_until": "command:touch {marker}"}}}]`),
		"cascade: a validator that is a tool": cascade(`"tools": [{"tool_id": "t", "type": "shell", "command": "touch {marker}"}], "phases": [{"name": "p", "instructions": "x", "rules": {"loop_until": "t"}}]`),
		"cascade: run_command":                cascade(`"phases": [{"name": "p", "tool": "run_command", "inputs": {"command": "touch {marker}"}, "unknown": 1}]`),
		"cascade: the environment":            cascade(`"phases": [{"name": "p", "instructions": "{{ env.OPENAI_API_KEY }}", "unknown": 1}]`),
		"cascade: a template that never ends": cascade(`"phases": [{"name": "p", "instructions": "{% for i in range(1000000000) %}x"}]`),
		"cascade: invalid":                    cascade(`"phases": []`), "cascade: a text": `{"cascade": "c.json"}`, "cascade: offline without a script": `{"cascade": {"cascade_id": "x", ` + phases + `}, "session_id": "inline", "model": "a=b"}`,
		"cascade: a million phases": cascade(`"phases": [` + strings.TrimSuffix(strings.Repeat(`{"name":"p"},`, 300_000), ",") + `]`),
		"schema: many of all":       cascade(`"inputs_schema": {"type": "object", "allOf": [` + strings.TrimSuffix(strings.Repeat(`{"minProperties":1},`, 100_000), ",") + `]}, ` + phases),
		"schema: nested":            cascade(`"inputs_schema": {"type": "object", "properties": {"v": ` + strings.Repeat(`{"anyOf":[{"type":"string"},`, 60) + `{}` + strings.Repeat("]}", 60) + `}}, ` + phases),
		"schema: a file":            cascade(`"inputs_schema": {"type": "object", "$ref": "file://{outside}/secret.txt"}, ` + phases),
	}
	var out []asked
	for _, name := range sortedKeys(bodies) {
		r := asked{"body: " + name, post("/api/runs", bodies[name]), refusals}
		if name == "huge" || strings.Contains(bodies[name], "{dir}") {
			r.status = []int{413, 422}
		}
		out = append(out, r)
	}
	return out
}

// hostileMessages are no good HTTP.
func hostileMessages() []asked {
	head := "POST /api/runs HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nContent-Type: application/json\r\n"
	smuggled := "GET /api/sessions HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	return []asked{
		{"message: two lengths", head + "Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}" + smuggled, refusals},
		{"message: a length and chunks", head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n", refusals},
		{"message: an unknown encoding", head + "Transfer-Encoding: gzip\r\nConnection: close\r\n\r\n{}", refusals},
		{"message: chunks that lie", head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nFFFFFFFFFFFFFFFF\r\n{}", refusals},
		{"message: chunks without a number", head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", refusals},
		{"message: a negative length", head + "Content-Length: -1\r\nConnection: close\r\n\r\n{}", refusals},
		{"message: a length beyond integers", head + "Content-Length: 99999999999999999999\r\nConnection: close\r\n\r\n{}", refusals},
		{"message: a header in two lines", "GET /api/sessions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer\r\n " + serveToken + "\r\nConnection: close\r\n\r\n", slices.Concat(refusals, []int{200})},
		{"message: a space before the colon", "GET /api/sessions HTTP/1.1\r\nHost: {host}\r\nAuthorization : Bearer " + serveToken + "\r\nConnection: close\r\n\r\n", refusals},
		{"message: NUL in a header", "GET /api/sessions HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nX: a\x00b\r\nConnection: close\r\n\r\n", refusals},
		{"message: headers of a megabyte", "GET /api/sessions HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", refusals},
		{"message: a hundred thousand headers", "GET /api/sessions HTTP/1.1\r\nHost: {host}\r\n{auth}\r\n" + strings.Repeat("X: a\r\n", 100_000) + "\r\n", refusals},
		{"message: a long address", get("/api/sessions?" + strings.Repeat("a", 100_000)), refusals},
		{"message: HTTP/0.9", "GET /api/sessions\r\n", refusals},
		{"message: HTTP/9.9", "GET /api/sessions HTTP/9.9\r\nHost: {host}\r\n{auth}\r\n\r\n", refusals},
		{"message: HTTP/2 in the clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", refusals},
		{"message: an upgrade", get("/api/sessions/nobody", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), refusals},
		{"message: TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 600), refusals},
		{"message: CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nConnection: close\r\n\r\n", refusals},
		{"message: a star", "OPTIONS * HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nConnection: close\r\n\r\n", slices.Concat(refusals, []int{200})},
		{"message: another protocol", "EHLO evil.example\r\nMAIL FROM: <a>\r\n", refusals},
		{"message: noise", strings.Repeat("\x00\xff\r\n", 1000), refusals},
	}
}

// serveStarts are servers that must not come to be.
var serveStarts = []command{
	{name: "start: a short token", args: []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0"}, files: map[string]string{"token": "short"}, want: []check{exits(exitUsage, "at least 16")}},
	{name: "start: an empty token", args: []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0"}, files: map[string]string{"token": "\n"}, want: []check{fails}},
	{name: "start: a token of two words", args: []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0"}, files: map[string]string{"token": "two words of a long token"}, want: []check{exits(exitUsage, "one word")}},
	{name: "start: a token with a control character", args: []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0"}, files: map[string]string{"token": "a-long-token-with\x07a-bell"}, want: []check{fails}},
	{name: "start: a huge token", args: []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0"}, prepare: func(w *lab.World) {
		w.File("token", strings.Repeat("a", 16))
		w.Must(os.Truncate(w.Path("token"), 1<<40))
	}, want: []check{fails}},
	{name: "start: a root that is not there", args: []string{"serve", "--root", "nothing", "--listen", "127.0.0.1:0"}, want: []check{exits(exitUsage, "nothing")}},
	{name: "start: a root that is a file", args: []string{"serve", "--root", "f", "--listen", "127.0.0.1:0"}, files: map[string]string{"f": "x"}, want: []check{fails}},
	{name: "start: no runs", args: []string{"serve", "--max-runs", "0", "--listen", "127.0.0.1:0"}, want: []check{exits(exitUsage, "--max-runs")}},
}
