package authoring_test

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/authoring"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/waits"
	"github.com/windlass-run/windlass/schema"
)

const (
	good   = `{"cascade_id": "good", "description": "Says hello.", "inputs_schema": {"topic": "what about"}, "phases": [{"name": "draft", "instructions": "Write about {{ input.topic }}."}, {"name": "check", "instructions": "Check it."}]}` + "\n"
	broken = "cascade_id: broken\nphases:\n  - name: a\n    instructons: x\n"
)

// bench is a page with the screens over a folder, and a browser that has a login.
type bench struct {
	t      *testing.T
	dir    string
	page   *page.Page
	cookie string
	audit  []audit.Line
	runs   fakeRuns
}

type fakeRuns struct {
	asked []*server.RunRequest
	err   error
}

func (f *fakeRuns) Start(_ context.Context, r *server.RunRequest) (*server.Session, error) {
	f.asked = append(f.asked, r)
	if f.err != nil {
		return nil, f.err
	}
	out := &server.Session{}
	out.ID = "run-1"
	return out, nil
}

// newBench opens the screens over files.
func newBench(t *testing.T, files map[string]string, change func(*authoring.Options)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for name, text := range files {
		b.write(name, text)
	}
	g, err := grants.Open(grants.Options{Rights: core.Rights{Roots: []string{b.dir}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	o := authoring.Options{Grants: g, Runs: &b.runs, Edit: true}
	if change != nil {
		change(&o)
	}
	b.open(o)
	return b
}

func (b *bench) open(o authoring.Options) {
	b.t.Helper()
	p, err := page.New(page.Options{
		Desk: page.OfHome(waits.Desk{Home: b.t.TempDir()}, func() {}), By: "ann", Screens: []page.Screens{authoring.New(o)},
		Audit: func(l audit.Line) error {
			b.audit = append(b.audit, l)
			return nil
		},
	})
	require.NoError(b.t, err)
	b.page = p
	r := b.ask(http.MethodGet, p.Enter(), nil)
	require.Equal(b.t, http.StatusSeeOther, r.Code)
	b.cookie, _, _ = strings.Cut(r.Header().Get("Set-Cookie"), ";")
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o640))
}

func (b *bench) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	require.NoError(b.t, err)
	return string(text)
}

func (b *bench) ask(method, target string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8765"
	site := "none"
	if method == http.MethodPost {
		site = "same-origin"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range map[string]string{"Cookie": b.cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.page.ServeHTTP(w, r)
	return w
}

// get returns a page that is there.
func (b *bench) get(target string) string {
	b.t.Helper()
	w := b.ask(http.MethodGet, target, nil)
	require.Equal(b.t, http.StatusOK, w.Code, "%s: %s", target, w.Body)
	return w.Body.String()
}

var (
	hidden = regexp.MustCompile(`<input type="hidden" name="(token|version)" value="([^"]*)">`)
	text   = regexp.MustCompile(`(?s)<textarea id="text"[^>]*>\n(.*?)</textarea>`)
	note   = regexp.MustCompile(`(?s)<p (?:class="note bad"[^>]*|role="status")>([^<]*)</p>`)
)

// form returns what a browser sends of the page of a file.
func (b *bench) form(name string) url.Values {
	b.t.Helper()
	shown := b.get("/cascades/" + name)
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(shown, -1)[1:] { // the first is of the button that logs out
		out.Set(m[1], m[2])
	}
	if m := text.FindStringSubmatch(shown); m != nil {
		out.Set("text", strings.ReplaceAll(html.UnescapeString(m[1]), "\n", "\r\n")) // as browsers do
	}
	return out
}

// post sends the form of a file with changes: names and values.
func (b *bench) post(name string, changes ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	form := b.form(name)
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return b.ask(http.MethodPost, "/cascades/"+name, form)
}

// noteOf returns what a page says of a request.
func noteOf(w *httptest.ResponseRecorder) string {
	m := note.FindStringSubmatch(w.Body.String())
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// TestList: the list has the cascade files with their phases and what is wrong with them, and no others.
func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"flows/good.json": good, "broken.yaml": broken, "package.json": `{"name": "x"}`, ".hidden/x.json": good, "node_modules/x.json": good,
		"good.script.json": `{"phases": {}}`, "t.tool.json": `{"tool_id": "t"}`, "windlass.json": `{}`,
	}, nil)
	shown := b.get("/cascades")
	require.Equal(t, []string{"/cascades/broken.yaml", "/cascades/flows/good.json"}, hrefs(shown, "/cascades/"))
	require.Contains(t, shown, `<code>good</code> <span class="hint about" dir="auto">Says hello.</span>`)
	require.Contains(t, shown, `dir="auto">draft, check</td>`)
	require.Contains(t, shown, `<span class="state bad">2 errors</span>`)
	require.Contains(t, shown, "<code>4:5</code> ")
	require.Contains(t, shown, `<span class="state">ok</span>`)
	require.NotContains(t, shown, "changes none")
	require.Contains(t, shown, `<code>broken</code></td>`)
	require.Contains(t, shown, `dir="auto">a</td>`, "a file with errors has phases, too")
	require.Equal(t, []string{"/cascades/flows/good.json"}, hrefs(b.get("/cascades?file=ws/g"), "/cascades/"))
	require.Contains(t, b.get("/cascades?file=none"), "No cascade file has that in its name.")
	require.Contains(t, newBench(t, nil, nil).get("/cascades"), "There are no cascades here.")
}

func hrefs(shown, begin string) (out []string) {
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(shown, -1) {
		if strings.HasPrefix(m[1], begin) {
			out = append(out, m[1])
		}
	}
	return out
}

// TestShow: a file has its text, what is wrong with it, its graph, and a form with its inputs.
func TestShow(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good, "broken.yaml": "\n" + broken}, nil)
	shown := b.get("/cascades/good.json")
	require.Equal(t, strings.ReplaceAll(good, "\n", "\r\n"), b.form("good.json").Get("text"))
	require.Contains(t, shown, `<img id="picture" src="data:image/svg&#43;xml;base64,`)
	require.Contains(t, shown, "cascade good\n")
	require.Contains(t, shown, `name="input.topic"`)
	require.Contains(t, shown, `name="offline" value="1" checked>`)
	require.Equal(t, strings.ReplaceAll("\n"+broken, "\n", "\r\n"), b.form("broken.yaml").Get("text"), "a browser drops the first newline of a text")
	shown = b.get("/cascades/broken.yaml")
	require.Contains(t, shown, `<code>5:5</code> <span class="kind">error</span> `)
	require.Contains(t, shown, "The graph is drawn when the text has no errors.")
	require.NotContains(t, shown, `value="run"`)
}

// TestCheck: a text is checked in the place of the file, which stays as it is; without a script the page shows what was found.
func TestCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good}, nil)
	w := b.post("good.json", "do", "check", "text", "{\r\n\"cascade_id\": 1}")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "<code>2:15</code>")
	require.Contains(t, w.Body.String(), "{\n&#34;cascade_id&#34;: 1}</textarea>")
	require.Equal(t, good, b.read("good.json"))
	require.Empty(t, b.audit)

	form := b.form("good.json")
	form.Set("name", "good.json")
	w = b.ask(http.MethodPost, "/cascades/check", form)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var told struct {
		State string
		Found []any
		Graph struct{ Picture, Text string }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &told))
	require.Equal(t, "ok", told.State)
	require.Empty(t, told.Found)
	require.True(t, strings.HasPrefix(told.Graph.Picture, "data:image/svg+xml;base64,"))
	form.Set("token", "x")
	require.Equal(t, http.StatusForbidden, b.ask(http.MethodPost, "/cascades/check", form).Code)
}

// TestSave: a sound text replaces that of the file with its permissions and ends of lines, and the audit has who did it.
func TestSave(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": strings.ReplaceAll(good, "\n", "\r\n"), "a b/ü;?.yaml": "cascade_id: x\nphases: [{name: a, instructions: b}]\n"}, nil)
	w := b.post("good.json", "do", "save", "text", strings.Replace(good, "hello", "goodbye", 1))
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.Equal(t, strings.ReplaceAll(strings.Replace(good, "hello", "goodbye", 1), "\n", "\r\n"), b.read("good.json"))
	require.Contains(t, b.get(w.Header().Get("Location")), `<p class="note good" role="status">Saved.</p>`)
	info, err := os.Stat(filepath.Join(b.dir, "good.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Len(t, b.audit, 1)
	require.Equal(t, audit.Line{At: b.audit[0].At, By: "ann", Via: "page", What: audit.CascadeSave, Target: "good.json", Outcome: audit.Done}, b.audit[0])

	odd := "a%20b/%C3%BC%3B%3F.yaml"
	w = b.post(odd, "do", "save", "text", "cascade_id: y\nphases: [{name: a, instructions: b}]\n")
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.Contains(t, b.read("a b/ü;?.yaml"), "cascade_id: y")
	require.Contains(t, b.get(w.Header().Get("Location")), "Saved.")
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left over")
}

// TestSaveRefuses: what is not saved is said in words, with the text that a person has written.
func TestSaveRefuses(t *testing.T) {
	t.Parallel()
	other := strings.Replace(good, "hello", "goodbye", 1)
	for name, tt := range map[string]struct {
		change func(*bench, *authoring.Options)
		sent   []string
		code   int
		want   string
	}{
		"errors":      {nil, []string{"text", broken}, 422, "the text has errors, and is not saved with them. Try: correct what is listed, and save again"},
		"no right":    {func(_ *bench, o *authoring.Options) { o.Edit = false }, []string{"text", other}, 403, "this server changes no files. Try: windlass ui --edit"},
		"stale":       {func(b *bench, _ *authoring.Options) { b.write("x.json", good+"\n") }, []string{"text", other, "version", strings.Repeat("0", 64)}, 409, "The file has changed since it was opened here. Nothing was saved: your text is below, with what it would change in the file as it is now. Save then puts your text in its place."},
		"too large":   {nil, []string{"text", good + strings.Repeat(" ", 512<<10)}, 422, "The text has 524512 bytes, and this page takes 512 KiB at most. Nothing was changed."},
		"far too":     {nil, []string{"text", strings.Repeat(" ", 3<<20)}, 413, "The answer is longer than the page takes. Nothing was changed."},
		"not seen":    {nil, []string{"text", strings.Replace(good, "hello", "hel\u202elo", 1)}, 422, "The text has characters that are not seen: U+202E (right-to-left override) at 1:48. Nothing was changed. Try: remove them where the list below has them, or write them as escapes, and save again"},
		"not UTF-8":   {nil, []string{"text", strings.Replace(good, "hello", "hel\xfflo", 1)}, 422, "The text is not UTF-8. Nothing was changed."},
		"other token": {nil, []string{"text", other, "token", "x"}, 403, "This page is of a login that has ended, or was not sent by this form. Nothing was changed. Your text is below: look at it, and press the button again."},
		"nothing":     {nil, []string{"do", "delete"}, 422, "The form says nothing that can be done here: check, save or run."},
		"a link": {func(b *bench, _ *authoring.Options) {
			require.NoError(b.t, os.Rename(filepath.Join(b.dir, "x.json"), filepath.Join(b.dir, "y.json")))
			require.NoError(b.t, os.Symlink("y.json", filepath.Join(b.dir, "x.json")))
		}, []string{"text", other}, 403, "x.json is a link, and nothing is written through links. Try: change what it leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"x.json": good}, nil)
			if tt.change != nil {
				g, err := grants.Open(grants.Options{Rights: core.Rights{Roots: []string{b.dir}}})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, g.Close()) })
				o := authoring.Options{Grants: g, Edit: true}
				tt.change(b, &o)
				b.open(o)
			}
			before := b.read("x.json")
			w := b.post("x.json", append([]string{"do", "save"}, tt.sent...)...)
			require.Equal(t, tt.code, w.Code, w.Body)
			require.Equal(t, tt.want, noteOf(w))
			require.Equal(t, before, b.read("x.json"))
			require.Len(t, b.audit, 1, "who was refused is kept")
			if name == "stale" {
				require.Contains(t, w.Body.String(), "<del>- "+html.EscapeString(strings.TrimSpace(good))+"</del>")
				require.Contains(t, w.Body.String(), "<ins>+ "+html.EscapeString(strings.TrimSpace(other))+"</ins>")
			}
			require.Equal(t, audit.Refused, b.audit[0].Outcome)
			if name == "far too" { // nothing of it was read
				return
			}
			require.Equal(t, "x.json", b.audit[0].Target)
			want := good
			if tt.sent[0] == "text" {
				want = strings.ToValidUTF8(tt.sent[1], "\uFFFD")
			} else {
				require.Equal(t, audit.Request, b.audit[0].What)
			}
			m := text.FindStringSubmatch(w.Body.String())
			require.NotNil(t, m, w.Body)
			require.Equal(t, want, html.UnescapeString(m[1]), "the text that was written is still there")
		})
	}
}

// TestNames: nothing is opened but cascade files below the roots.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"x.json": good, "windlass.json": `{"trusted_commands": []}`, "x.script.json": `{"phases": {}}`, "t.tool.json": `{"tool_id": "t", "phases": 1}`,
		".git/x.json": good, "node_modules/x.json": good, "notes.txt": good, "d.json/x.json": good,
	}, nil)
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(b.dir, "out.json")))
	token := b.form("x.json").Get("token")
	for _, name := range []string{
		"none.json", "windlass.json", "x.script.json", "t.tool.json", ".git/x.json", "node_modules/x.json", "notes.txt", "d.json", "x.json%00", "x%5C..%5Cx.json", "check",
		"%2E%2E/x.json", "..%2Fx.json", "%2Fetc%2Fhostname", "./x.json/", "%2e/x.json", "a%2F%2Fx.json", "",
	} {
		w := b.ask(http.MethodGet, "/cascades/"+name, nil)
		if w.Code == http.StatusTemporaryRedirect || w.Code == http.StatusMovedPermanently || name == "./x.json/" {
			continue // the address is cleaned
		}
		require.Equal(t, http.StatusNotFound, w.Code, "%s: %s", name, w.Body)
		require.Contains(t, noteOf(w), "There is no such cascade file in the folders that this server was started with.", name)
		w = b.ask(http.MethodPost, "/cascades/"+name, url.Values{"token": {token}, "do": {"save"}, "text": {good}})
		require.Contains(t, []int{http.StatusNotFound, http.StatusForbidden, http.StatusMovedPermanently, http.StatusTemporaryRedirect}, w.Code, name)
	}
	w := b.ask(http.MethodGet, "/cascades/out.json", nil)
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Equal(t, "a link in out.json leads out of the folder that this server was started with. Try: name a file below a --root of the server", noteOf(w))
	require.Equal(t, []string{"/cascades/d.json/x.json", "/cascades/x.json"}, hrefs(b.get("/cascades"), "/cascades/"))
}

// TestClosed: a file that a browser would change by sending it back is shown, but not changed here.
func TestClosed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"The lines of the text end in different ways.":                    good + "\r\n\n",
		"The text is not UTF-8.":                                          strings.Replace(good, "hello", "hel\xfflo", 1),
		"The text has 524513 bytes, and this page takes 512 KiB at most.": good + strings.Repeat(" ", 512<<10+1),

		"The text has characters that are not seen: U+200B (zero width space) at 1:48.": strings.Replace(good, "hello", "hel\u200blo", 1),
	} {
		b := newBench(t, map[string]string{"x.json": text}, nil)
		require.Equal(t, name+" Change it with another editor.", noteOf(b.ask(http.MethodGet, "/cascades/x.json", nil)))
		w := b.post("x.json", "do", "save", "text", good)
		require.Equal(t, http.StatusForbidden, w.Code)
		require.Equal(t, text, b.read("x.json"))
	}
}

// TestRun: the form starts a run as the API does, with the inputs that have a value, offline unless that is taken away.
func TestRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good, "typed.json": `{"cascade_id": "typed", "inputs_schema": {"type": "object", "required": ["n"], "properties": {
		"n": {"type": "integer", "description": "how many"}, "list": {"type": "array"}, "mode": {"enum": ["fast", "slow"]}, "picture": {"type": "string", "format": "image"}, "note": {"type": "string"}}},
		"phases": [{"name": "a", "instructions": "{{ input.n }} {{ input.loose }} {{ input.deep.er }}"}]}`}, nil)
	w := b.post("good.json", "do", "run", "input.topic", "boats\r\nand oars", "offline", "1")
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.Equal(t, "/sessions/run-1", w.Header().Get("Location"))
	require.Equal(t, &server.RunRequest{File: "good.json", Input: json.RawMessage(`{"topic":"boats\nand oars"}`), Offline: true}, b.runs.asked[0])
	require.Equal(t, audit.Line{At: b.audit[0].At, By: "ann", Via: "page", What: audit.Run, Session: "run-1", Target: "good.json", Outcome: audit.Done}, b.audit[0])

	shown := b.get("/cascades/typed.json")
	require.Equal(t, []string{"input.deep", "input.loose", "input.n", "input.list", "input.mode", "input.note"}, fields(shown), "what is needed comes first")
	require.Contains(t, shown, "<code>--input NAME=@FILE</code>: <code>picture</code>.")
	w = b.post("typed.json", "do", "run", "input.n", "3", "input.list", "[1, 2]", "input.mode", "slow", "input.note", "7", "input.deep", `{"er": 1}`, "more", `{"z": 1e300}`)
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.JSONEq(t, `{"n": 3, "list": [1, 2], "mode": "slow", "note": "7", "deep": {"er": 1}, "z": 1e300}`, string(b.runs.asked[1].Input))
	require.False(t, b.runs.asked[1].Offline)
}

func fields(shown string) (out []string) {
	for _, m := range regexp.MustCompile(`name="(input\.[^"]*)"`).FindAllStringSubmatch(shown, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestRunRefuses: why nothing was started is said in words, with what was filled in.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good, "broken.yaml": broken}, nil)
	for _, tt := range []struct {
		name string
		sent []string
		err  error
		code int
		want string
	}{
		{"good.json", []string{"text", good + " "}, nil, 422, "only what is saved is run, and the text is not. Try: save it first"},
		{"broken.yaml", nil, nil, 422, "the cascade has errors, and cannot be run. Try: correct what is listed"},
		{"good.json", []string{"more", "["}, nil, 422, `the other inputs cannot be read: expected a JSON object: it ends in the middle. Try: {"name": "value"}`},
		{"good.json", nil, server.NewProblem(server.TooManyRuns, "try again", "8 runs are going on"), 429, "8 runs are going on. Try: try again"},
		{"good.json", nil, server.NewProblem(server.NotGranted, "", "no"), 403, "no."},
	} {
		b.runs.err = tt.err
		w := b.post(tt.name, append([]string{"do", "run", "input.topic", "</textarea>oars"}, tt.sent...)...)
		require.Equal(t, tt.code, w.Code, w.Body)
		require.Equal(t, tt.want, noteOf(w))
		if tt.name == "good.json" {
			require.Contains(t, w.Body.String(), "&lt;/textarea&gt;oars</textarea>")
			require.NotContains(t, w.Body.String(), `name="offline" value="1" checked`)
		}
	}
	none := newBench(t, map[string]string{"good.json": good}, func(o *authoring.Options) { o.Runs = nil })
	w := none.post("good.json", "do", "run")
	require.Equal(t, "this server runs nothing.", noteOf(w))
}

// TestSchema: the JSON Schema of cascades is a file that a browser keeps while it is the same.
func TestSchema(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	w := b.ask(http.MethodGet, "/page/authoring/cascade.schema.json", nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Equal(t, schema.CascadeJSON(), w.Body.Bytes())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/page/authoring/cascade.schema.json", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	b.page.ServeHTTP(again, r)
	require.Equal(t, http.StatusNotModified, again.Code)
}

// TestDraftOfSeveralFiles: a text that is not saved is found by its new id, and what is wrong with a file that it names is
// reported of that file.
func TestDraftOfSeveralFiles(t *testing.T) {
	t.Parallel()
	naming := func(id, child string) string {
		return `{"cascade_id": "` + id + `", "phases": [{"name": "a", "instructions": "x", "sub_cascades": ["` + child + `"]}]}`
	}
	b := newBench(t, map[string]string{"main.json": naming("main", "child.json"), "child.json": naming("child", "leaf"), "leaf.yaml": "cascade_id: leaf\nphases: [{name: a, instructions: x}]\n"}, nil)
	require.Contains(t, b.get("/cascades/main.json"), `class="state">ok<`)
	w := b.post("main.json", "do", "check", "text", naming("leaf", "child.json"))
	require.Contains(t, w.Body.String(), "leaf&#34;: leaf.yaml, main.json", "two files have the id by now")
	b.write("child.json", broken)
	shown := b.get("/cascades/main.json")
	require.Contains(t, shown, "<code>child.json:")
	require.Contains(t, shown, "the cascade child.json is not valid")
}

// TestSaveFails: a file that cannot be written stays as it is, and the page says why. Its name has no room for that of the new
// content beside it.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("x", 240) + ".json"
	b := newBench(t, map[string]string{name: good}, nil)
	w := b.post(name, "do", "save", "text", strings.Replace(good, "hello", "goodbye", 1))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Regexp(t, `^save x+\.json: openat \S+: file name too long\. Try: on the server: check that the server may write its folder$`, noteOf(w))
	require.Equal(t, good, b.read(name))
	require.Equal(t, audit.Refused, b.audit[0].Outcome)
}
