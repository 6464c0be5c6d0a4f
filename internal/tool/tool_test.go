package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/schema"
)

type testBundle struct {
	dir string
	reg *tool.Registry
}

func setup(t *testing.T, o tool.Options) testBundle {
	t.Helper()
	if len(o.Roots) == 0 {
		o.Roots = []string{t.TempDir()}
	}
	reg, err := tool.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close()) })
	return testBundle{o.Roots[0], reg}
}

func (b testBundle) file(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func (b testBundle) call(t *testing.T, name, args string) effect.ToolResult {
	t.Helper()
	res, err := b.reg.Call(context.Background(), effect.ToolRequest{Name: name, Arguments: json.RawMessage(args), SessionID: "s1"})
	require.NoError(t, err)
	require.Len(t, res.Parts, 1)
	return res
}

func (b testBundle) ok(t *testing.T, name, args string) string {
	t.Helper()
	res := b.call(t, name, args)
	require.False(t, res.Failed, res.Parts[0].Text)
	return res.Parts[0].Text
}

func (b testBundle) fails(t *testing.T, kind, name, args string) string {
	t.Helper()
	res := b.call(t, name, args)
	require.True(t, res.Failed, res.Parts[0].Text)
	require.Equal(t, kind, res.Kind, res.Parts[0].Text)
	return res.Parts[0].Text
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	b.file(t, "a.txt", "one\ntwo\nthree\nfour")
	b.file(t, "bin", "a\x00b")
	b.file(t, "empty", "")
	b.file(t, "long", strings.Repeat("x", 100_000)+"\nend\n")
	require.Equal(t, "one\ntwo\nthree\nfour", b.ok(t, "read_file", `{"path":"a.txt"}`))
	require.Equal(t, "two\nthree\n[lines 2 to 3; there is more: go on with offset=4]", b.ok(t, "read_file", `{"path":"./a.txt","offset":2,"limit":2}`))
	require.Equal(t, "four", b.ok(t, "read_file", `{"path":"a.txt","offset":4}`))
	require.Equal(t, "[a.txt ends before line 9]", b.ok(t, "read_file", `{"path":"a.txt","offset":9}`))
	require.Equal(t, "[empty is empty]", b.ok(t, "read_file", `{"path":"empty"}`))
	require.Equal(t, "one\ntwo\nthree\nfour", b.ok(t, "read_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(b.dir, "a.txt"))))
	require.Equal(t, "read bin: it is not a text file (3 bytes)", b.fails(t, "failed", "read_file", `{"path":"bin"}`))
	require.Equal(t, "read nope: there is no such file; list_files shows what there is", b.fails(t, "not_found", "read_file", `{"path":"nope"}`))
	require.Equal(t, "read .: it is a folder; use list_files", b.fails(t, "failed", "read_file", `{"path":"."}`))
	long := b.ok(t, "read_file", `{"path":"long"}`)
	require.Less(t, len(long), 66_000)
	require.Contains(t, long, "[cut inside line 1 after 64 KiB; the file has 100005 bytes; go on with offset=2]")
	require.Equal(t, "end\n", b.ok(t, "read_file", `{"path":"long","offset":2}`))
}

func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	b := setup(t, tool.Options{})
	b.file(t, "sub/in.txt", "inside")
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(b.dir, name))) }
	link(outside, "out")
	link(filepath.Join(outside, "secret"), "file")
	link("../../../../../../../../etc/passwd", "up")
	link("sub", "good")
	link("loop", "loop")
	require.Equal(t, "inside", b.ok(t, "read_file", `{"path":"good/in.txt"}`))
	for _, path := range []string{
		"../x", "sub/../../x", "/etc/passwd", outside + "/secret", "out/secret", "file", "up", "sub/../out/secret", b.dir + "/../x",
		"out/../out/secret",
	} {
		args, err := json.Marshal(map[string]any{"path": path, "content": "x", "pattern": "secret"})
		require.NoError(t, err)
		require.NotContains(t, b.fails(t, "not_allowed", "read_file", string(args)), "root:", path)
		for _, name := range []string{"write_file", "search_files", "list_files"} {
			res := b.call(t, name, string(args))
			text := res.Parts[0].Text
			require.True(t, res.Failed || strings.HasPrefix(text, "[no ") || strings.Contains(text, "(symbolic link)"), "%s %s: %s", name, path, text)
			require.NotContains(t, text, "secret:1")
		}
	}
	require.True(t, b.call(t, "read_file", `{"path":"loop"}`).Failed)
	require.Equal(t, "a path cannot hold a NUL character", b.fails(t, "invalid_arguments", "read_file", `{"path":"a\u0000b"}`))
	require.Equal(t, "the path has 5000 bytes, more than 4096", b.fails(t, "invalid_arguments", "write_file", `{"path":"`+strings.Repeat("a/", 2500)+`","content":""}`))
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, left, 1)
	text, err := os.ReadFile(filepath.Join(outside, "secret"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(text))
}

func TestLinksThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	b := setup(t, tool.Options{})
	b.file(t, "real/keep", "")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		path := filepath.Join(b.dir, "dir")
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, to := range []string{outside, "real"} {
				_ = os.Remove(path)
				_ = os.Symlink(to, path)
			}
		}
	}()
	for range 500 {
		b.call(t, "write_file", `{"path":"dir/new.txt","content":"x"}`)
	}
	close(stop)
	<-done
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestListAndSearch(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	b.file(t, "b.go", "package b\n\nfunc B() {}\n")
	b.file(t, "a/x/deep.go", "package x // TODO one\nvar y = 1\n// todo two\n")
	b.file(t, "a/note.md", "TODO three")
	b.file(t, ".git/config", "TODO hidden")
	b.file(t, "node_modules/m.js", "TODO hidden")
	b.file(t, "bin.go", "TODO\x00")
	require.Equal(t, "a/\na/note.md (10)\na/x/\na/x/deep.go (44)\nb.go (23)\nbin.go (5)", b.ok(t, "list_files", `{}`))
	require.Equal(t, "a/\nb.go (23)\nbin.go (5)", b.ok(t, "list_files", `{"depth":1}`))
	require.Equal(t, "a/x/deep.go (44)\nb.go (23)\nbin.go (5)", b.ok(t, "list_files", `{"pattern":"*.go"}`))
	require.Equal(t, "a/x/deep.go (44)", b.ok(t, "list_files", `{"pattern":"a/**/*.{go,rs}"}`))
	require.Equal(t, "a/note.md (10)", b.ok(t, "list_files", `{"path":"a","depth":1,"pattern":"*.[a-m]?"}`))
	require.Equal(t, "a/\na/note.md (10)\n[the first 2 entries; there is more: give a path or a pattern]", b.ok(t, "list_files", `{"limit":2}`))
	require.Contains(t, b.ok(t, "list_files", `{"all":true}`), ".git/config (11)")
	require.Equal(t, "[no files in a]", b.ok(t, "list_files", `{"path":"a","pattern":"*.zig"}`))
	require.Equal(t, "a/note.md:1: TODO three\na/x/deep.go:1: package x // TODO one", b.ok(t, "search_files", `{"pattern":"TODO"}`))
	require.Equal(t, "a/x/deep.go:1: package x // TODO one\na/x/deep.go-2- var y = 1\na/x/deep.go:3: // todo two",
		b.ok(t, "search_files", `{"pattern":"todo \\w+$","ignore_case":true,"glob":"**/*.go","context":1}`))
	require.Equal(t, "a/note.md:1: TODO three\n[there is more: narrow the pattern, the path or the glob]",
		b.ok(t, "search_files", `{"pattern":"TODO","max_results":1}`))
	require.Equal(t, "b.go:3: func B() {}", b.ok(t, "search_files", `{"pattern":"func","path":"b.go"}`))
	require.Equal(t, "[no matches in 1 files]", b.ok(t, "search_files", `{"pattern":"zzz","path":"b.go"}`))
	require.Contains(t, b.fails(t, "invalid_arguments", "search_files", `{"pattern":"(?=x)"}`), "the pattern is not a regular expression of RE2")
	require.Contains(t, b.fails(t, "not_found", "list_files", `{"path":"zzz"}`), "there is no such file")
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	require.Equal(t, "wrote 5 bytes to new/dir/f.txt", b.ok(t, "write_file", `{"path":"new/dir/f.txt","content":"hello"}`))
	require.Equal(t, "added 2 bytes to new/dir/f.txt", b.ok(t, "write_file", `{"path":"new/dir/f.txt","content":"!\n","append":true}`))
	require.Equal(t, "hello!\n", b.ok(t, "read_file", `{"path":"new/dir/f.txt"}`))
	b.file(t, "run.sh", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750))
	b.ok(t, "write_file", `{"path":"run.sh","content":"new"}`)
	info, err := os.Stat(filepath.Join(b.dir, "run.sh"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	require.NoError(t, os.Symlink("run.sh", filepath.Join(b.dir, "link")))
	require.Equal(t, "write link: it is a symbolic link; write to the file that it leads to", b.fails(t, "failed", "write_file", `{"path":"link","content":"x"}`))
	require.Equal(t, "write new: it is a folder", b.fails(t, "failed", "write_file", `{"path":"new","content":"x"}`))
	require.Contains(t, b.fails(t, "not_allowed", "write_file", `{"path":".git/hooks/pre-commit","content":"x"}`), "not written without a grant: git runs hooks")
	require.Contains(t, b.fails(t, "failed", "write_file", `{"path":"run.sh/x","content":"x"}`), "write run.sh/x: ")
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.NotContains(t, e.Name(), ".tmp")
	}
}

func TestRunCommand(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		v, ok := map[string]string{
			"PATH": os.Getenv("PATH"), "OPENAI_API_KEY": "sk-very-secret", "WINDLASS_CLICKHOUSE_DSN": "clickhouse://u:pw@h",
			"OTHER": "hidden", "GIVEN": "given-value",
		}[name]
		return v, ok
	}
	b := setup(t, tool.Options{AllowCommands: true, Getenv: env, AllowEnv: []string{"GIVEN", "OPENAI_API_KEY", "ABSENT"}})
	require.Equal(t, "out\nerr\n", b.ok(t, "run_command", `{"command":"echo out; echo err >&2"}`))
	require.Equal(t, "[no output]", b.ok(t, "run_command", `{"command":"true"}`))
	require.Equal(t, "x\n[exit status 2]", b.fails(t, "exit_status", "run_command", `{"command":"echo x; exit 2"}`))
	require.Equal(t, "a\n[timed out after 200ms and was killed]", b.fails(t, "timeout", "run_command", `{"command":"echo a; sleep 3821","timeout_seconds":0.2}`))
	seen := b.ok(t, "run_command", `{"command":"env"}`)
	require.Contains(t, seen, "GIVEN=[value of GIVEN]")
	for _, hidden := range []string{"sk-very-secret", "clickhouse://", "hidden", "given-value", "OPENAI"} {
		require.NotContains(t, seen, hidden)
	}
	require.Equal(t, "in", b.ok(t, effect.CommandTool, `{"command":"cat","stdin":"in"}`))
	_, offered := b.reg.Spec(effect.CommandTool)
	require.False(t, offered)
}

func TestRunCommandNeedsPermission(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{TrustedCommands: []string{"echo ok", "printf *"}})
	require.Equal(t, "ok\n", b.ok(t, "run_command", `{"command":" echo ok "}`))
	require.Equal(t, "a-b", b.ok(t, "run_command", `{"command":"printf a-b"}`))
	for _, line := range []string{
		"echo", "echo ok more", "echo ok; id", "printf x; id", "printf x && id", "printf $(id)", "printf `id`", "printf x > f",
		"printf x\nid", "printfx", "PATH=. printf x", "printf 'x'", "printf x &", "printf *", "printf ~", "printf x # y", "  ; printf x",
	} {
		args, err := json.Marshal(map[string]string{"command": line})
		require.NoError(t, err)
		require.Equal(t, "this command is not allowed: commands run only with --allow-commands, or when they are trusted; trusted are: echo ok, printf *",
			b.fails(t, "not_allowed", "run_command", string(args)), line)
	}
	none := setup(t, tool.Options{})
	require.Equal(t, "this command is not allowed: commands run only with --allow-commands, or when they are trusted",
		none.fails(t, "not_allowed", "run_command", `{"command":"true"}`))
}

func declared(t *testing.T, text string) cascade.Tool {
	t.Helper()
	var d cascade.Tool
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	return d
}

func TestDeclaredShellTools(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{Declared: []cascade.Tool{
		declared(t, `{"tool_id":"show","type":"shell","command":"printf '<%s>' {{ word }} {{ input.word }}","inputs_schema":{"word":"a word"}}`),
		declared(t, `{"tool_id":"noisy","type":"shell","command":"echo noise >&2; echo '{\"a\":[1,2]}'","response_jq":".a[]"}`),
		declared(t, `{"tool_id":"quiet","type":"shell","command":"echo noise >&2; echo result","idempotent":true}`),
		declared(t, `{"tool_id":"bad","type":"shell","command":"echo out; echo why >&2; exit 4"}`),
		declared(t, `{"tool_id":"slow","type":"shell","command":"sleep 3831","timeout":"200ms"}`),
		declared(t, `{"tool_id":"nojson","type":"shell","command":"echo no","response_jq":"."}`),
		declared(t, `{"tool_id":"env","type":"shell","command":"echo {{ env.SECRET_ENV }}"}`),
	}})
	require.Equal(t, `<$(id); ' "><$(id); ' ">`, b.ok(t, "show", `{"word":"$(id); ' \""}`))
	require.Equal(t, "command: the argument word is missing", b.fails(t, "invalid_arguments", "show", `{}`))
	require.Equal(t, "1\n2", b.ok(t, "noisy", `{}`))
	require.Equal(t, "result\n", b.ok(t, "quiet", `{}`))
	require.Equal(t, "out\n[standard error]\nwhy\n[exit status 4]", b.fails(t, "exit_status", "bad", `{}`))
	require.Equal(t, "[timed out after 200ms and was killed]", b.fails(t, "timeout", "slow", `{}`))
	require.Contains(t, b.fails(t, "failed", "nojson", `{}`), "response_jq: the result is not JSON")
	require.Equal(t, "command: the environment variable SECRET_ENV is not set, or not granted with --allow-env", b.fails(t, "not_allowed", "env", `{}`))
	spec, ok := b.reg.Spec("quiet")
	require.True(t, ok)
	require.True(t, spec.Idempotent)
	for text, want := range map[string]string{
		`{"tool_id":"x","type":"shell","command":"echo '{{ a }}'"}`:           `tool "x": command: template, line 1, column 7: a value cannot stand inside single quotes`,
		`{"tool_id":"x","type":"shell","command":"true","response_jq":".a["}`: `tool "x": response_jq: `,
		`{"tool_id":"x","type":"http","url":"https://{{ host }}/"}`:           `tool "x": url: template, line 1, column 9: a value would choose the host of the URL`,
		`{"tool_id":"read_file","type":"shell","command":"true"}`:             `tool "read_file": there is a tool of that name already`,
		`{"tool_id":"x","type":"soap"}`:                                       `tool "x": type: there are shell and http tools, not "soap"`,
	} {
		_, err := tool.New(tool.Options{Declared: []cascade.Tool{declared(t, text)}})
		require.ErrorContains(t, err, want)
	}
	_, err := tool.New(tool.Options{Roots: []string{filepath.Join(t.TempDir(), "gone")}})
	require.ErrorContains(t, err, "open granted folder")
}

func TestDeclaredHTTPTools(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/echo/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	mux.HandleFunc("/near", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo/near", http.StatusFound) })
	mux.HandleFunc("/fail", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such token-value", http.StatusNotFound)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("0123456789", 1<<20)) })
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"n":12345678901234567890},{"n":2}]}`)
	})
	mux.HandleFunc("/png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 0, 1})
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	h := func(id, rest string) cascade.Tool {
		return declared(t, strings.ReplaceAll(fmt.Sprintf(`{"tool_id":%q,"type":"http",%s}`, id, rest), "HOST", srv.URL))
	}
	b := setup(t, tool.Options{
		AllowEnv: []string{"TOKEN"}, Getenv: func(n string) (string, bool) { return "token-value", n == "TOKEN" },
		Declared: []cascade.Tool{
			h("get", `"url":"HOST/echo/{{ id }}?q={{ q }}","headers":{"Authorization":"Bearer {{ env.TOKEN }}"}`),
			h("post", `"method":"post","url":"HOST/echo/p","body":"{\"v\": {{ v }}, \"s\": \"x {{ v }}\"}"`),
			h("form", `"method":"POST","url":"HOST/echo/f","headers":{"content-type":"application/x-www-form-urlencoded"},"body":"a={{ v }}&b=1"`),
			h("away", `"url":"HOST/away"`), h("near", `"url":"HOST/near"`), h("fail", `"url":"HOST/fail"`), h("big", `"url":"HOST/big"`),
			h("json", `"url":"HOST/json","response_jq":"[.items[].n]"`), h("png", `"url":"HOST/png"`), h("slow", `"url":"HOST/slow","timeout":0.2`),
			h("header", `"url":"HOST/echo/h","headers":{"X-A":"{{ v }}"}`), h("bigjq", `"url":"HOST/big","response_jq":"."`),
			h("base", `"url":"{{ base | raw }}/x"`),
		},
	})
	require.Equal(t, "GET /echo/a%2F..%3Fx?q=1%262 Bearer [value of TOKEN]  ", b.ok(t, "get", `{"id":"a/..?x","q":"1&2"}`))
	require.Equal(t, `POST /echo/p  application/json {"v": "a\"b", "s": "x a\"b"}`, b.ok(t, "post", `{"v":"a\"b"}`))
	require.Equal(t, "POST /echo/f  application/x-www-form-urlencoded a=x%26y%3D1&b=1", b.ok(t, "form", `{"v":"x&y=1"}`))
	require.Contains(t, b.fails(t, "failed", "away", `{}`), "redirected to another host, which is not followed: "+other.URL)
	require.Contains(t, b.ok(t, "near", `{}`), "GET /echo/near")
	require.Equal(t, "no such [value of TOKEN]\n[HTTP status 404 Not Found]", b.fails(t, "http_status", "fail", `{}`))
	big := b.ok(t, "big", `{}`)
	require.Less(t, len(big), 70_000)
	require.Contains(t, big, "bytes left out")
	require.Equal(t, `[12345678901234567890,2]`, b.ok(t, "json", `{}`))
	require.Equal(t, "[3 bytes of image/png, which is no text]", b.ok(t, "png", `{}`))
	require.Equal(t, "timed out after 200ms", b.fails(t, "timeout", "slow", `{}`))
	require.Contains(t, b.fails(t, "invalid_arguments", "header", `{"v":"a\r\nX-B: c"}`), "line break")
	require.Contains(t, b.fails(t, "invalid_arguments", "get", `{"id":"..","q":""}`), `a part of the path is "." or ".."`)
	require.Contains(t, b.fails(t, "output_limit", "bigjq", `{}`), "more than the 4 MiB")
	require.Contains(t, b.fails(t, "invalid_arguments", "base", `{"base":"file:///etc"}`), "not an http or https URL")
	require.Contains(t, b.fails(t, "failed", "base", `{"base":"http://127.0.0.1:1"}`), "GET http://127.0.0.1:1/x: ")
	spec, _ := b.reg.Spec("get")
	require.True(t, spec.Idempotent)
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"properties":{"id":{},"q":{}}}`, string(spec.Parameters))
}

type querier func(sql string) ([]string, [][]any, error)

func (querier) Deliver(context.Context) (upTo, newest uint64) { return 9, 9 }

// late is a querier whose rows lag behind.
type late struct{ querier }

func (late) Deliver(ctx context.Context) (upTo, newest uint64) {
	if _, ok := ctx.Deadline(); !ok {
		panic("it may wait for ever")
	}
	return 7, 9
}

func (q querier) QuerySession(_ context.Context, session, sql string) ([]string, [][]any, error) {
	return q(session + ":" + sql)
}

func TestSQLQuery(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{SQL: querier(func(sql string) ([]string, [][]any, error) {
		switch sql {
		case "s1:panic":
			panic("secret stack")
		case "s1:many":
			return []string{"n"}, make([][]any, 5000), nil
		case "s1:none":
			return []string{"n"}, nil, nil
		case "s1:wide": // of one row: 1,000 columns of 2,000 bytes
			row := make([]any, 1000)
			for i := range row {
				row[i] = strings.Repeat("w", 2000)
			}
			return slices.Repeat([]string{"c"}, len(row)), [][]any{row, row}, nil
		case "s1:names":
			return slices.Repeat([]string{strings.Repeat("n", 1000)}, 1000), [][]any{{1}}, nil
		case "s1:name":
			return []string{strings.Repeat("n", 2<<20)}, [][]any{{1}}, nil
		case "s1:cell":
			return []string{"c"}, [][]any{{strings.Repeat("\t", 2<<20)}}, nil
		case "s1:two":
			return []string{"a", "b"}, [][]any{{"x\ty\n", 1}, {nil, []string{"q"}}}, nil
		}
		return nil, nil, errors.New("no such table")
	})})
	require.Equal(t, "a\tb\nx\\ty\\n\t1\nnull\t[\"q\"]", b.ok(t, "sql_query", `{"sql":"two"}`))
	require.Equal(t, "n\n[no rows]", b.ok(t, "sql_query", `{"sql":"none"}`))
	behind := setup(t, tool.Options{SQL: late{func(string) ([]string, [][]any, error) { return []string{"n"}, [][]any{{7}}, nil }}})
	require.Equal(t, "n\n7\n[the rows go up to entry 7 of 9: the others have not reached ClickHouse yet]", behind.ok(t, "sql_query", `{"sql":"x"}`))
	require.Contains(t, b.ok(t, "sql_query", `{"sql":"many"}`), "[1000 of 5000 rows; use LIMIT or aggregate]")
	for query, note := range map[string]string{
		"wide":  "\n[row 1 of 2 ends after 31 of 1000 columns: more than 64 KiB; select fewer columns, or parts of them by substring(column, from, length)]",
		"names": "\n[the names of 65 of 1000 columns; select fewer]",
		"name":  "... (2097152 bytes)\n1",
		"cell":  `\t... (2097152 bytes)`,
	} {
		text := b.ok(t, "sql_query", `{"sql":"`+query+`"}`)
		require.True(t, strings.HasSuffix(text, note), "%s ends with %q", query, text[max(0, len(text)-200):])
		require.LessOrEqual(t, len(text), 64<<10+200, query)
	}
	require.Equal(t, "query: no such table", b.fails(t, "failed", "sql_query", `{"sql":"x"}`))
	require.Equal(t, "the tool sql_query failed by an error of its own; try other arguments", b.fails(t, "failed", "sql_query", `{"sql":"panic"}`))
	require.Equal(t, "there is no ClickHouse in this run, so that sql_query cannot be used",
		setup(t, tool.Options{}).fails(t, "unsupported", "sql_query", `{"sql":"x"}`))
}

// TestContract holds for every tool.
func TestContract(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{AllowCommands: true, Declared: []cascade.Tool{
		declared(t, `{"tool_id":"sh","type":"shell","command":"echo {{ a }}"}`),
		declared(t, `{"tool_id":"web","type":"http","url":"http://127.0.0.1:1/{{ a }}"}`),
	}})
	for _, name := range append(tool.BuiltinNames(), "sh", "web") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, ok := b.reg.Spec(name)
			require.True(t, ok)
			require.Equal(t, name, spec.Name)
			_, err := schema.Compile(spec.Parameters)
			require.NoError(t, err)
			require.Contains(t, string(spec.Parameters), `"additionalProperties":false`)
			for _, args := range []string{"", "null", "[]", "1", `"x"`, "{", `{"path":1}`, `{"a":{"b":[1]}}`, "\xff"} {
				res, err := b.reg.Call(context.Background(), effect.ToolRequest{Name: name, Arguments: json.RawMessage(args)})
				require.NoError(t, err, args)
				require.NotEmpty(t, res.Parts)
				require.Equal(t, res.Failed, res.Kind != "", args)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err = b.reg.Call(ctx, effect.ToolRequest{Name: name, Arguments: json.RawMessage(`{}`)})
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	_, err := b.reg.Call(context.Background(), effect.ToolRequest{Name: "nope"})
	require.EqualError(t, err, `no tool named "nope"`)
	_, ok := b.reg.Spec("nope")
	require.False(t, ok)
}

func TestRunningToolsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{AllowCommands: true})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := b.reg.Call(ctx, effect.ToolRequest{Name: "run_command", Arguments: json.RawMessage(`{"command":"sleep 3841"}`)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A failure may quote what a model wrote, of any length.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	text := setup(t, tool.Options{}).fails(t, "invalid_arguments", "search_files", `{"pattern": "`+strings.Repeat("(", 1<<20)+`"}`)
	require.Less(t, len(text), 140<<10)
	require.Contains(t, text, "the pattern is not a regular expression of RE2")
	require.Contains(t, text, "bytes left out")
}
