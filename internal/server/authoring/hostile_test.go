package authoring_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// everywhere is a cascade that says a text wherever it can.
func everywhere(t *testing.T, text string) string {
	t.Helper()
	property := map[string]any{"type": "string", "description": text, "default": text}
	raw, err := json.Marshal(map[string]any{
		"cascade_id": "c", "description": text, "tags": []string{text},
		"inputs_schema": map[string]any{"type": "object", "required": []string{text}, "properties": map[string]any{
			text: property, "choice": map[string]any{"enum": []string{text, "other"}},
		}},
		"phases": []any{
			map[string]any{"name": "a", "instructions": "Do it.", "handoffs": []any{map[string]any{"target": "b", "description": text}, map[string]any{"target": "a", "description": text}}},
			map[string]any{"name": "b", "tool": "set_state", "inputs": map[string]any{"key": "k", "value": text}},
		},
	})
	require.NoError(t, err)
	return string(raw)
}

// wrong is one that has errors that repeat a text.
func wrong(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"cascade_id": text, text: text,
		"phases": []any{map[string]any{"name": text, "instructions": "{{ " + text + " }}", text: 1, "tackle": []string{text}, "sub_cascades": []string{text, text + ".json"}}},
	})
	require.NoError(t, err)
	return string(raw)
}

var picture = regexp.MustCompile(`<img id="picture" src="(data:image/svg&#43;xml;base64,[^"]*)" alt="[^"<>]*">`)

// harmless fails when a page, or the picture of a graph in it, is more than text.
func harmless(t *testing.T, address, page string) {
	t.Helper()
	if m := picture.FindStringSubmatch(page); m != nil {
		drawn, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(html.UnescapeString(m[1]), "data:image/svg+xml;base64,"))
		require.NoError(t, err)
		for dec := xml.NewDecoder(strings.NewReader(string(drawn))); ; {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, address)
			if e, ok := token.(xml.StartElement); ok {
				require.Contains(t, []string{"svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"}, e.Name.Local, address)
			}
		}
	}
	inspectortest.Harmless(t, address, picture.ReplaceAllString(page, ""))
}

// TestHostile: what a file says, and what it is called, is shown as text, also where a check or a run is refused.
func TestHostile(t *testing.T) {
	t.Parallel()
	for i, said := range inspectortest.Hostile() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"good.json": everywhere(t, said), "wrong.json": wrong(t, said), "raw.yaml": "cascade_id: " + said + "\nphases: " + said, "raw.json": `{"cascade_id": "` + said}
			b := newBench(t, files, nil)
			called := said + ".json"
			if err := os.WriteFile(filepath.Join(b.dir, called), []byte(good), 0o600); err == nil && utf8.ValidString(called) {
				files[called] = good
			}
			b.runs.err = server.NewProblem(server.NotGranted, said, "no: %s", said)
			harmless(t, "/cascades", b.get("/cascades"))
			harmless(t, "/cascades/new", b.ask(http.MethodGet, "/cascades/new?name="+url.QueryEscape(said), nil).Body.String())
			harmless(t, "/cascades/new", b.ask(http.MethodGet, "/cascades/new?name="+url.QueryEscape(said+".yaml"), nil).Body.String())
			for name := range files {
				b.hostile(name, said)
			}
		})
	}
}

// hostile opens a file, and does with it what can be done.
func (b *bench) hostile(name, said string) {
	b.t.Helper()
	address := "/cascades/" + url.PathEscape(name)
	w := b.ask(http.MethodGet, address, nil)
	harmless(b.t, address, w.Body.String())
	if w.Code != http.StatusOK {
		require.Equal(b.t, http.StatusNotFound, w.Code, "%q", name)
		return
	}
	form := b.form(url.PathEscape(name))
	for _, do := range []string{"check", "save", "run", said} {
		form["do"], form["more"], form["input.choice"], form["offline"] = []string{do}, []string{said}, []string{said}, []string{said}
		w := b.ask(http.MethodPost, address, form)
		if w.Code != http.StatusSeeOther { // it was saved
			harmless(b.t, address+" "+do, w.Body.String())
		}
	}
}
