package authoring_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server/authoring"
	"github.com/windlass-run/windlass/internal/server/grants"
)

// written returns the text that a page has in its editor.
func written(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := text.FindStringSubmatch(w.Body.String())
	require.NotNil(t, m, w.Body)
	return html.UnescapeString(m[1])
}

// refuses sends a form of a file as it was opened, with another text, and holds what is answered: the page with the text.
func (b *bench) refuses(form url.Values, code int, want string) {
	b.t.Helper()
	mine := strings.Replace(good, "hello", "what I wrote", 1)
	form.Set("text", strings.ReplaceAll(mine, "\n", "\r\n"))
	form.Set("do", "save")
	b.audit = nil
	w := b.ask(http.MethodPost, "/cascades/x.json", form)
	require.Equal(b.t, code, w.Code, w.Body)
	require.Equal(b.t, want, noteOf(w))
	require.Equal(b.t, mine, written(b.t, w))
	require.Len(b.t, b.audit, 1)
	line := b.audit[0]
	require.Equal(b.t, audit.Line{At: line.At, By: "ann", Via: "page", What: audit.CascadeSave, Target: "x.json", Outcome: audit.Refused, Reason: line.Reason}, line)
}

// live returns what the script of the editor is told.
func (b *bench) live(form url.Values) (told struct {
	State, Note string
	Bad         bool
	Found       []finding
},
) {
	b.t.Helper()
	form.Set("name", "x.json")
	w := b.ask(http.MethodPost, "/cascades/check", form)
	require.Equal(b.t, http.StatusOK, w.Code, w.Body)
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &told))
	return told
}

// TestFileWentAway: whatever has become of a file since it was opened, no text that was written is lost.
func TestFileWentAway(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(path string) error
		code   int
		want   string
	}{
		"removed": {os.Remove, 409, "The file is not there any more: it was removed or renamed since it was opened here. Nothing was saved: your text is below, and Save makes the file again."},
		"a folder": {func(path string) error {
			_ = os.Remove(path)
			return os.Mkdir(path, 0o700)
		}, 404, "x.json is there, but it is not a cascade file any more. Try: look at what it is now, on the machine of the server"},
		"no cascade": {func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) }, 404, "x.json is there, but it is not a cascade file any more. Try: look at what it is now, on the machine of the server"},
		"a link out": {func(path string) error {
			_ = os.Remove(path)
			return os.Symlink("/etc/hostname", path)
		}, 403, "a link in x.json leads out of the folder that this server was started with. Try: name a file below a --root of the server"},
		"closed": {func(path string) error { return os.WriteFile(path, []byte(good+"\r\n\n"), 0o600) }, 403, "the text of the file cannot be changed on this page. Try: another editor"},
		"login":  {func(string) error { return nil }, 403, "This page is of a login that has ended, or was not sent by this form. Nothing was changed. Your text is below: look at it, and press the button again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"x.json": good}, nil)
			form := b.form("x.json")
			require.NoError(t, tt.change(filepath.Join(b.dir, "x.json")))
			if name == "login" { // of a server that was started again
				g, err := grants.Open(grants.Options{Rights: core.Rights{Roots: []string{b.dir}}})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, g.Close()) })
				b.open(authoring.Options{Grants: g, Edit: true})
			}
			b.refuses(form, tt.code, tt.want)
		})
	}
}

// TestSaveAgain: where the file is gone the answer to a save has a form that makes it again; Check offers the same.
func TestSaveAgain(t *testing.T) {
	t.Parallel()
	for _, do := range []string{"check", "save"} {
		b := newBench(t, map[string]string{"x.json": good}, nil)
		form := b.form("x.json")
		require.NoError(t, os.Remove(filepath.Join(b.dir, "x.json")))
		require.Equal(t, "The file is not there any more: it was removed or renamed since it was opened here.", b.live(form).Note)
		form.Set("do", do)
		w := b.ask(http.MethodPost, "/cascades/x.json", form)
		require.Contains(t, noteOf(w), " makes ")
		require.NoFileExists(t, filepath.Join(b.dir, "x.json"))
		for _, m := range hidden.FindAllStringSubmatch(w.Body.String(), -1)[1:] {
			form.Set(m[1], m[2])
		}
		require.Empty(t, form.Get("version"))
		form.Set("do", "save")
		w = b.ask(http.MethodPost, "/cascades/x.json", form)
		require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
		require.Equal(t, good, b.read("x.json"))
	}
}

// TestCheckOfChangedFile: a check says that the file is another one by now, and what the text would change in it.
func TestCheckOfChangedFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"x.json": good}, nil)
	form := b.form("x.json")
	require.Empty(t, b.live(form).Note)
	b.write("x.json", strings.Replace(good, "hello", "what another wrote", 1))
	require.Equal(t, "The file has changed since it was opened here.", b.live(form).Note)
	form.Set("do", "check")
	w := b.ask(http.MethodPost, "/cascades/x.json", form)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "The file has changed since it was opened here.", noteOf(w))
	require.Contains(t, w.Body.String(), "what another wrote")
	require.Equal(t, good, written(t, w))
	require.Empty(t, b.audit)
}

// TestHiddenCharacters: each character that is not seen is found at its place with its name, by the live check, by Check and by Save.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"x.json": good}, nil)
	typed := strings.Replace(good, "hello", "h\u200be\u00adl\u200el\u2028o\u0001\U000e0041", 1)
	form := b.form("x.json")
	form.Set("text", typed+"\n\ufeff")
	told := b.live(form)
	require.True(t, told.Bad)
	var places []string
	for _, f := range told.Found {
		if f.Code == "hidden_character" {
			places = append(places, placeOf(f)+" "+f.Message)
		}
	}
	require.Equal(t, []string{
		"1:46 U+200B (zero width space) is a character that is not seen", "1:48 U+00AD (soft hyphen) is a character that is not seen",
		"1:50 U+200E (left-to-right mark) is a character that is not seen", "1:52 U+2028 (line separator) is a character that is not seen",
		"1:54 U+0001 (control character) is a character that is not seen", "1:55 U+E0041 is a character that is not seen",
		"3:1 U+FEFF (byte order mark) is a character that is not seen",
	}, places)
	for do, code := range map[string]int{"check": 200, "save": 422} {
		form.Set("do", do)
		w := b.ask(http.MethodPost, "/cascades/x.json", form)
		require.Equal(t, code, w.Code)
		require.Equal(t, typed+"\n\ufeff", written(t, w))
		require.Contains(t, w.Body.String(), "<code>1:46</code>")
		require.Contains(t, w.Body.String(), "U&#43;200B (zero width space) is a character that is not seen")
		if do == "save" {
			require.Equal(t, "The text has characters that are not seen: U+200B (zero width space) at 1:46, U+00AD (soft hyphen) at 1:48, U+200E (left-to-right mark) at 1:50 and others. Nothing was changed. Try: remove them where the list below has them, or write them as escapes, and save again", noteOf(w))
		}
	}
	require.Equal(t, good, b.read("x.json"))
	require.Equal(t, `remove it, or write it as \u200b in double quotes`, told.Found[0].Hint)
	require.Equal(t, `remove it, or write it as \udb40\udc41 in double quotes`, told.Found[5].Hint)
	form.Set("text", strings.Repeat("\u200b", 70))
	told = b.live(form)
	require.Contains(t, told.Found[49].Hint, "; 20 more of them follow")
}

func placeOf(f finding) string {
	place, _, _ := strings.Cut(places([]finding{f})[0], " ")
	return place
}

// TestBegin: a new cascade begins with the smallest text, and there is a file when it is saved, which is never another one.
func TestBegin(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"flows/x.json": good}, nil)
	require.Contains(t, b.get("/cascades"), `<form method="get" action="/cascades/new"`)
	for _, name := range []string{"flows/new one.json", "second.yaml", "third.yml"} {
		w := b.ask(http.MethodGet, "/cascades/new?name="+url.QueryEscape(name), nil)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Contains(t, w.Body.String(), `class="state">ok<`, name)
		require.NotContains(t, w.Body.String(), `value="run"`)
		require.NoFileExists(t, filepath.Join(b.dir, name))
		form := url.Values{"text": {written(t, w)}, "do": {"check"}}
		for _, m := range hidden.FindAllStringSubmatch(w.Body.String(), -1)[1:] {
			form.Set(m[1], m[2])
		}
		address := hrefs(strings.ReplaceAll(w.Body.String(), "action=", "href="), "/cascades/")[0]
		require.Empty(t, noteOf(b.ask(http.MethodPost, address, form)))
		require.NoFileExists(t, filepath.Join(b.dir, name))
		form.Set("do", "run")
		require.Equal(t, "only what is saved is run, and the text is not. Try: save it first", noteOf(b.ask(http.MethodPost, address, form)))
		form.Set("do", "save")
		w = b.ask(http.MethodPost, address, form)
		require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
		require.Equal(t, form.Get("text"), b.read(name))
		require.Contains(t, b.get(w.Header().Get("Location")), "Saved.")
		form.Set("text", good)
		w = b.ask(http.MethodPost, address, form)
		require.Equal(t, http.StatusConflict, w.Code)
		require.Equal(t, "There is a file with this name by now. Nothing was saved: your text is below, with what it would change in the file as it is now. Save then puts your text in its place.", noteOf(w))
		require.Equal(t, good, written(t, w))
	}
	for name, tt := range map[string]struct {
		code int
		want string
	}{
		"flows/x.json": {409, "there is something with the name flows/x.json already, and it is not replaced."},
		"a.txt":        {422, "a.txt does not end in .json, .yaml or .yml. Try: a name such as report.json"},
		"../a.json":    {422, "../a.json is not a path below the folders of this server, which has no .., no \\ and no / at its begin or end. Try: a name such as report.json"},
		"none/a.json":  {422, "there is no folder none in the folders that this server was started with. Try: create the folder first, or name a file in one that is there"},
		"":             {422, "the new file has no name. Try: a name such as report.json"},
	} {
		w := b.ask(http.MethodGet, "/cascades/new?name="+url.QueryEscape(name), nil)
		require.Equal(t, tt.code, w.Code, name)
		require.Equal(t, tt.want, noteOf(w))
		require.Contains(t, w.Body.String(), `name="name" value="`+name+`"`)
	}
	closed := newBench(t, nil, func(o *authoring.Options) { o.Edit = false })
	require.NotContains(t, closed.get("/cascades"), "/cascades/new")
	w := closed.ask(http.MethodGet, "/cascades/new?name=a.json", nil)
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Equal(t, "This server changes no files. Try: windlass ui --edit", noteOf(w))
}

// TestListIsShort: texts of any length are cut in the list, and a server without a folder says how it gets one.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 200_000)
	b := newBench(t, map[string]string{
		"a.json": `{"cascade_id": "` + long + `", "description": "` + long + `", "phases": [{"name": "` + long + `", "instructions": "x"}]}`,
		"c.json": `{"cascade_id": "c", "description": "` + long + `", "phases": [{"name": "a", "instructions": "x"}]}`,
		"b.json": `{"cascade_id": "b", "` + long + `": 1, "phases": [{"name": "a", "instructions": "x"}]}`,
	}, nil)
	shown := b.get("/cascades")
	require.Less(t, len(shown), 20_000)
	require.Regexp(t, `<span class="hint about" dir="auto">(long )+…</span>`, shown)
	g, err := grants.Open(grants.Options{})
	require.NoError(t, err)
	b.open(authoring.Options{Grants: g, Edit: true})
	shown = b.get("/cascades")
	require.Contains(t, shown, "This server was started without a folder of cascades. Start it with one: <code>windlass ui --root cascades</code>")
	require.NotContains(t, shown, "/cascades/new")
}

// TestSaveOver: who has seen what a text would change in a file that has changed can save it.
func TestSaveOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good}, nil)
	form := b.form("good.json")
	form.Set("do", "save")
	form.Set("text", strings.Replace(good, "hello", "goodbye", 1))
	changed := strings.Replace(good, "hello", "welcome", 1)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "good.json"), []byte(changed), 0o600))
	w := b.ask(http.MethodPost, "/cascades/good.json", form)
	require.Equal(t, http.StatusConflict, w.Code)
	require.Equal(t, changed, b.read("good.json"))
	require.Contains(t, w.Body.String(), "<del>- ")
	for _, m := range hidden.FindAllStringSubmatch(w.Body.String(), -1)[1:] {
		form.Set(m[1], m[2])
	}
	for range 2 { // a browser may send a form again
		w = b.ask(http.MethodPost, "/cascades/good.json", form)
		require.Equal(t, http.StatusSeeOther, w.Code)
		require.Equal(t, form.Get("text"), b.read("good.json"))
	}
}

// TestSaveKeepsInputs: the inputs of a run that were typed are there after a save.
func TestSaveKeepsInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"good.json": good}, nil)
	form := b.form("good.json")
	form.Set("do", "save")
	form.Set("text", strings.Replace(good, "hello", "goodbye", 1))
	form.Set("input.topic", "the sea")
	w := b.ask(http.MethodPost, "/cascades/good.json", form)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "Saved.")
	require.Contains(t, w.Body.String(), "the sea</textarea>")
	require.Equal(t, form.Get("text"), b.read("good.json"))
}
