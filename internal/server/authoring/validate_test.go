package authoring_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/server/authoring"
	"github.com/windlass-run/windlass/internal/server/grants"
)

type finding struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	EndCol   int    `json:"end_col"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

// TestWhatValidateSays: of every cascade of the examples, and of every one that is wrong in some way, the page says what
// windlass validate says in the same project, no more, no less, and in the same words.
func TestWhatValidateSays(t *testing.T) {
	t.Setenv("WINDLASS_HOME", t.TempDir())
	for dir, least := range map[string]int{"../../../examples/cascades": 20, "../../../cascade/testdata": 150, "../../../testdata": 2} {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			project := t.TempDir()
			require.NoError(t, os.CopyFS(project, os.DirFS(dir)))
			require.NoError(t, os.WriteFile(filepath.Join(project, "windlass.json"), []byte("{}"), 0o600))
			t.Chdir(project)
			files, err := core.FindFiles(".")
			require.NoError(t, err)
			files = slices.DeleteFunc(files, func(file string) bool { return cascade.IsToolFile(file) || script.IsFile(file) })
			require.GreaterOrEqual(t, len(files), least)
			g, err := grants.Open(grants.Options{Rights: core.Rights{Roots: []string{"."}}})
			require.NoError(t, err)
			defer func() { require.NoError(t, g.Close()) }()
			listed, notes := g.Files(t.Context())
			require.Equal(t, files, listed)
			require.Empty(t, notes)
			b := &bench{t: t, dir: dir}
			b.open(authoring.Options{Grants: g})
			for _, file := range files {
				b.same(file)
			}
		})
	}
}

// same holds what the page says of a file against what the command says.
func (b *bench) same(file string) {
	b.t.Helper()
	said, err := core.CheckFile(b.t.Context(), file, nil, core.KnownFor(core.RunOptions{}))
	if err != nil {
		require.ErrorAs(b.t, err, new(*cascade.InvalidError), file)
	}
	want := []finding{}
	for _, d := range said {
		f := finding{string(d.Severity), string(d.Code), d.File, d.Line, d.Col, d.EndCol, d.Message, d.Hint}
		if f.File == file {
			f.File = ""
		}
		f.Message, _ = excerpt.Unhidden(f.Message)
		f.Hint, _ = excerpt.Unhidden(f.Hint)
		want = append(want, f)
	}
	address := strings.TrimPrefix(file, "./")
	shown := b.get("/cascades/" + address)
	require.Equal(b.t, places(want), shownPlaces(shown), file)
	form := b.form(address)
	if !form.Has("text") {
		return // a browser would change it
	}
	form.Set("name", file)
	w := b.ask(http.MethodPost, "/cascades/check", form)
	require.Equal(b.t, http.StatusOK, w.Code, "%s: %s", file, w.Body)
	var told struct{ Found []finding }
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &told))
	require.Equal(b.t, want, told.Found, file)
}

func places(found []finding) (out []string) {
	for _, f := range found {
		place := fmt.Sprintf("%d:%d", f.Line, f.Col)
		if f.File != "" {
			place = f.File + ":" + place
		}
		out = append(out, place+" "+f.Severity+" "+f.Message+" "+f.Code+" "+f.Hint)
	}
	return out
}

var row = regexp.MustCompile(`<li class="(\w+)"><p dir="auto"><code>([^<]*)</code> <span class="kind">\w+</span> ([^<]*) <code class="hint">(\w+)</code></p>(?:<p class="hint" dir="auto">([^<]*)</p>)?</li>`)

func shownPlaces(shown string) (out []string) {
	for _, m := range row.FindAllStringSubmatch(shown, -1) {
		for i := range m {
			m[i] = html.UnescapeString(m[i])
		}
		out = append(out, m[2]+" "+m[1]+" "+m[3]+" "+m[4]+" "+m[5])
	}
	return out
}
