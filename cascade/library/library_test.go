package library_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
)

var known = cascade.Known{Tools: []string{"read_file"}}

// text is a cascade with a phase for each other cascade that it names.
func text(id string, refs ...string) string {
	phases := []any{map[string]any{"name": "a", "instructions": "x"}}
	for i, ref := range refs {
		phases = append(phases, map[string]any{"name": fmt.Sprintf("p%d", i), "instructions": "x", "sub_cascades": []string{ref}})
	}
	list, _ := json.Marshal(phases)
	return fmt.Sprintf(`{"cascade_id": %q, "phases": %s}`, id, list)
}

// tackle is a cascade whose phase has tools.
func tackle(id string, names ...string) string {
	list, _ := json.Marshal(names)
	return fmt.Sprintf(`{"cascade_id": %q, "phases": [{"name": "a", "instructions": "x", "tackle": %s}]}`, id, list)
}

// write writes files below a folder of the test.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

// told are errors and hints, with paths relative to the folder of the test.
func told(dir string, found cascade.Diagnostics) []string {
	var out []string
	for _, d := range found {
		out = append(out, strings.ReplaceAll(fmt.Sprintf("%s: %s: %s [%s] | %s", d.File, d.Severity, d.Message, d.Code, d.Hint), dir+"/", ""))
	}
	return out
}

// reached are the files that the names of a cascade reach, with those below them.
func reached(dir string, c *cascade.Cascade) []string {
	var out []string
	for _, ref := range slices.Sorted(maps.Keys(c.Reaches)) {
		to := c.Reaches[ref]
		out = append(out, fmt.Sprintf("%s=%s", ref, strings.TrimPrefix(to.File, dir+"/")))
		for _, below := range reached(dir, to.Cascade) {
			out = append(out, "  "+below)
		}
	}
	return out
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string // reached
		told  []string
	}{
		"a path": {
			files: map[string]string{"flows/main.json": text("main", "sub/child.json", "../other.yaml"), "flows/sub/child.json": text("child"), "other.yaml": text("other")},
			want:  []string{"../other.yaml=other.yaml", "sub/child.json=flows/sub/child.json"},
		},
		"an id beside the file, before the folders": {
			files: map[string]string{"flows/main.json": text("main", "child"), "flows/x.json": text("child"), "cascades/y.json": text("child")},
			want:  []string{"child=flows/x.json"},
		},
		"an id in cascades, before tackle": {
			files: map[string]string{"flows/main.json": text("main", "child"), "cascades/x.yml": "# a\ncascade_id: 'child' # b\nphases: [{name: a, instructions: x}]\n", "tackle/y.json": text("child")},
			want:  []string{"child=cascades/x.yml"},
		},
		"an id in tackle, before examples":        {files: map[string]string{"flows/main.json": text("main", "child"), "tackle/x.json": text("child"), "examples/y.json": text("child")}, want: []string{"child=tackle/x.json"}},
		"an id in examples, before further paths": {files: map[string]string{"flows/main.json": text("main", "child"), "examples/x.json": text("child"), "more/y.json": text("child")}, want: []string{"child=examples/x.json"}},
		"an id in a further path":                 {files: map[string]string{"flows/main.json": text("main", "child"), "more/y.json": text("child")}, want: []string{"child=more/y.json"}},
		"a tool has the name": {
			files: map[string]string{"flows/main.json": tackle("main", "read_file", "child"), "flows/read_file.json": text("read_file"), "flows/x.json": text("child")},
			want:  []string{"child=flows/x.json"},
		},
		"what is reached reaches more, each relative to its file": {
			files: map[string]string{
				"flows/main.json": text("main", "sub/b.json", "c"), "flows/sub/b.json": text("b", "c.json"), "flows/sub/c.json": text("c", "d"), "flows/c.json": text("c"),
				"cascades/d.json": text("d"),
			},
			want: []string{"c=flows/c.json", "sub/b.json=flows/sub/b.json", "  c.json=flows/sub/c.json", "    d=cascades/d.json"},
		},
		"broken neighbours": {
			files: map[string]string{
				"flows/main.json": text("main", "child"), "flows/x.json": text("child"), "flows/a.json": `{"cascade_id": "half", "phases"`, "flows/b.json": "[", "flows/c.yaml": "a: [",
				"flows/d.yaml": "\x00", "flows/e.json": "", "flows/f.json": `{"phases": {"cascade_id": "child"}}`, "flows/g.json": `{"cascade_id": 7}`, "flows/x.tool.json": `{"tool_id": "child_tool", "type": "shell", "command": "true"}`,
			},
			want: []string{"child=flows/x.json"},
		},
		"not found": {
			files: map[string]string{"flows/main.json": tackle("main", "chidl"), "cascades/x.json": text("child"), "tackle": "a file"},
			told: []string{`flows/main.json: error: the tackle of phase "a" names "chidl", which is neither a tool nor a cascade [unknown_tool] | ` +
				`did you mean "child"? the folders that were read: flows, cascades, tackle (no folder), examples (not there), more (not there)`},
		},
		"not found, but a file of the name": {
			files: map[string]string{"flows/main.json": tackle("main", "grammar"), "cascades/grammar.json": text("checks_the_grammar")},
			told: []string{`flows/main.json: error: the tackle of phase "a" names "grammar", which is neither a tool nor a cascade [unknown_tool] | ` +
				`the cascade_id of cascades/grammar.json is "checks_the_grammar"; the folders that were read: flows, cascades, tackle (not there), examples (not there), more (not there)`},
		},
		"no file": {
			files: map[string]string{"flows/main.json": text("main", "sub/chidl.json", "none.yaml"), "flows/sub/child.json": text("child")},
			told: []string{
				`flows/main.json: error: "sub_cascades" of phase "p0": there is no file flows/sub/chidl.json [invalid_cascade] | did you mean "child.json"?`,
				`flows/main.json: error: "sub_cascades" of phase "p1": there is no file flows/none.yaml [invalid_cascade] | check the path: it is relative to the folder of flows/main.json`,
			},
		},
		"two files with one id": {
			files: map[string]string{"flows/main.json": text("main", "child"), "cascades/x.json": text("child"), "cascades/y.yaml": text("child")},
			told: []string{`flows/main.json: error: "sub_cascades" of phase "p0": 2 files have the cascade_id "child": cascades/x.json, cascades/y.yaml [invalid_cascade] | ` +
				`give each cascade an id of its own, or name the file by its path`},
		},
		"itself": {
			files: map[string]string{"flows/main.json": text("main", "main", "main.json")},
			told: []string{
				`flows/main.json: error: "sub_cascades" of phase "p0": the cascade flows/main.json would run below itself: flows/main.json -> flows/main.json [invalid_cascade] | a cascade cannot run below itself; a phase that is to run again has a hand-off to itself, or for_each`,
				`flows/main.json: error: "sub_cascades" of phase "p1": the cascade flows/main.json would run below itself: flows/main.json -> flows/main.json [invalid_cascade] | a cascade cannot run below itself; a phase that is to run again has a hand-off to itself, or for_each`,
			},
		},
		"a circle": {
			files: map[string]string{"flows/main.json": text("main", "b"), "flows/b.json": text("b", "c"), "flows/c.json": text("c", "b")},
			told: []string{
				`flows/c.json: error: "sub_cascades" of phase "p0": the cascade flows/b.json would run below itself: flows/b.json -> flows/c.json -> flows/b.json [invalid_cascade] | a cascade cannot run below itself; a phase that is to run again has a hand-off to itself, or for_each`,
			},
		},
		"a circle, and something else": {
			files: map[string]string{"flows/main.json": text("main", "b", "c"), "flows/b.json": text("b", "c"), "flows/c.json": text("c", "b", "d.json")},
			told: []string{
				`flows/main.json: error: "sub_cascades" of phase "p0": the cascade flows/b.json is not valid: it has 1 error [invalid_cascade] | mend what is reported of it`,
				`flows/b.json: error: "sub_cascades" of phase "p0": the cascade flows/c.json is not valid: it has 2 errors [invalid_cascade] | mend what is reported of it`,
				`flows/c.json: error: "sub_cascades" of phase "p0": the cascade flows/b.json would run below itself: flows/b.json -> flows/c.json -> flows/b.json [invalid_cascade] | a cascade cannot run below itself; a phase that is to run again has a hand-off to itself, or for_each`,
				`flows/c.json: error: "sub_cascades" of phase "p1": there is no file flows/d.json [invalid_cascade] | did you mean "b.json"?`,
				`flows/main.json: error: "sub_cascades" of phase "p1": the cascade flows/c.json is not valid: it has 2 errors [invalid_cascade] | mend what is reported of it`,
			},
		},
		"five deep": {files: chain(5), want: []string{"f1=flows/f1.json", "  f2=flows/f2.json", "    f3=flows/f3.json", "      f4=flows/f4.json", "        f5=flows/f5.json"}},
		"broken, named twice": {
			files: map[string]string{"flows/main.json": text("main", "b", "c", "b.json"), "flows/b.json": `{"cascade_id": "b", "phases": []}`, "flows/c.json": text("c", "b")},
			told: []string{
				`flows/main.json: error: "sub_cascades" of phase "p0": the cascade flows/b.json is not valid: it has 1 error [invalid_cascade] | mend what is reported of it`,
				`flows/b.json: error: the cascade has no phases [no_phases] | add at least one, as {"name": "answer", "instructions": "..."}`,
				`flows/main.json: error: "sub_cascades" of phase "p1": the cascade flows/c.json is not valid: it has 1 error [invalid_cascade] | mend what is reported of it`,
				`flows/c.json: error: "sub_cascades" of phase "p0": the cascade flows/b.json is not valid: it has 1 error [invalid_cascade] | mend what is reported of it`,
				`flows/main.json: error: "sub_cascades" of phase "p2": the cascade flows/b.json is not valid: it has 1 error [invalid_cascade] | mend what is reported of it`,
			},
		},
		"warnings of what is reached": {
			files: map[string]string{"flows/main.json": text("main", "b"), "flows/b.json": tackle("b", "read_file", "read_file")},
			want:  []string{"b=flows/b.json"},
			told:  []string{`flows/b.json: warning: the tackle of phase "a" lists "read_file" twice [no_effect] | remove one of the two`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, tt.files)
			f := library.Folders{Project: dir, Paths: []string{filepath.Join(dir, "more")}}
			c, found, err := f.Load(t.Context(), filepath.Join(dir, "flows/main.json"), known)
			require.Equal(t, tt.told, told(dir, found))
			if n, _ := found.Count(); n > 0 {
				require.ErrorAs(t, err, new(*cascade.InvalidError))
				require.Nil(t, c)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, reached(dir, c))
		})
	}
}

// chain is a cascade with so many others below it.
func chain(n int) map[string]string {
	files := map[string]string{}
	for i := range n + 1 {
		name, below := fmt.Sprintf("f%d", i), []string{fmt.Sprintf("f%d", i+1)}
		if i == n {
			below = nil
		}
		if i == 0 {
			name = "main"
		}
		files["flows/"+name+".json"] = text(name, below...)
	}
	return files
}

// TestTooDeep: whichever way a file is reached first, the chain is told.
func TestTooDeep(t *testing.T) {
	t.Parallel()
	dir := write(t, chain(6))
	_, found, err := library.Folders{}.Load(t.Context(), filepath.Join(dir, "flows/main.json"), known)
	require.Error(t, err)
	all := told(dir, found)
	require.Len(t, all, 1, "one error, not one for each file of the chain")
	require.Equal(t, `flows/f5.json: error: "sub_cascades" of phase "p0": cascades run at most 5 deep below the first: flows/main.json -> flows/f1.json -> flows/f2.json -> flows/f3.json -> flows/f4.json -> flows/f5.json -> flows/f6.json [invalid_cascade] | `+
		`let one of them do the work of the one below it`, all[0])

	files := chain(6)
	files["flows/main.json"] = text("main", "f3", "f1") // f3 is loaded before it stands third
	dir = write(t, files)
	_, found, err = library.Folders{}.Load(t.Context(), filepath.Join(dir, "flows/main.json"), known)
	require.Error(t, err)
	require.Contains(t, strings.Join(told(dir, found), "\n"), "at most 5 deep below the first: flows/main.json -> flows/f1.json -> flows/f2.json -> flows/f3.json -> flows/f4.json -> flows/f5.json -> flows/f6.json")
}

// TestProjectOfTheFile: without a windlass.json the folder of the first file is that of the project,
// also for files in other folders that it reaches.
func TestProjectOfTheFile(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"p/main.json": text("main", "../q/b.json"), "q/b.json": text("b", "c"), "p/cascades/c.json": text("c")})
	c, found, err := library.Folders{}.Load(t.Context(), filepath.Join(dir, "p/main.json"), known)
	require.NoError(t, err, found)
	require.Equal(t, []string{"../q/b.json=q/b.json", "  c=p/cascades/c.json"}, reached(dir, c))
}

// TestText: a text stands for a file of the working folder, here that of the package.
func TestText(t *testing.T) {
	t.Parallel()
	c, found, err := library.Folders{}.Parse(t.Context(), "<stdin>", []byte(text("main", "a_child_of_tests")), known)
	require.NoError(t, err, found)
	require.Equal(t, []string{"a_child_of_tests=cascades/child.json"}, reached("", c))
}

// TestTrees: over HTTP, and for files within a program, nothing leads out.
func TestTrees(t *testing.T) {
	t.Parallel()
	one := &library.Tree{Name: "/one", Searched: library.Searched, FS: fstest.MapFS{
		"flows/main.json": {Data: []byte(text("main", "child", "../b.json", "deep", "there"))}, "b.json": {Data: []byte(text("b"))},
		"cascades/x.json": {Data: []byte(text("child"))}, "flows/sub/c.json": {Data: []byte(text("deep"))}, "flows/d.json": {Data: []byte(text("deep"))},
		"flows/out.json": {Data: []byte(text("out", "../../etc/passwd.json"))}, "flows/absolute.json": {Data: []byte(text("out", "/etc/passwd.json"))},
	}}
	two := &library.Tree{Name: "/two", Searched: []string{"."}, FS: fstest.MapFS{"there.json": {Data: []byte(text("there"))}}}
	trees := library.Trees{one, two}
	c, found, err := trees.Load(t.Context(), one, "flows/main.json", known)
	require.NoError(t, err, found)
	require.Equal(t, []string{"../b.json=one/b.json", "child=one/cascades/x.json", "deep=one/flows/d.json", "there=two/there.json"}, reached("", c))

	for _, name := range []string{"out", "absolute"} {
		_, found, err = trees.Load(t.Context(), one, "flows/"+name+".json", known)
		require.Error(t, err)
		require.Contains(t, told("", found)[0], `leads out of the folder whose cascades may be used here [invalid_cascade] | name a file of the folder, or a cascade_id`)
	}

	c, found, err = trees.Parse(t.Context(), "cascade", []byte(text("main", "there.json", "flows/sub/c.json", "child")), known)
	require.NoError(t, err, found)
	require.Equal(t, []string{"child=one/cascades/x.json", "flows/sub/c.json=one/flows/sub/c.json", "there.json=two/there.json"}, reached("", c))

	_, found, err = library.Trees{}.Parse(t.Context(), "cascade", []byte(text("main", "there.json", "child")), known)
	require.Error(t, err)
	for _, text := range told("", found) {
		require.Contains(t, text, "load the cascade that names it from a file")
	}
}

// TestFind: what a model names is found in the project folder only.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"p/flows/main.json": text("main"), "p/cascades/x.json": text("child", "grandchild"), "p/flows/y.json": text("grandchild"), "p/b.json": text("b"), "secret.json": text("secret"),
		"p/cascades/out.json": text("out", "../../secret.json"), "more/m.json": text("more"), "p/cascades/twice.json": text("twice"), "p/cascades/twice2.json": text("twice"),
		"p/flows/broken.json": `{"cascade_id": "broken", "phases": []}`,
	})
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(dir, "p/cascades/link.json")))
	f := library.Folders{Project: filepath.Join(dir, "p"), Paths: []string{filepath.Join(dir, "more"), filepath.Join(dir, "none")}}
	for ref, want := range map[string]string{"b": "", "../b.json": "p/b.json", "more": "more/m.json", "y.json": "p/flows/y.json", "grandchild": "p/flows/y.json"} {
		r, err := f.Find(t.Context(), filepath.Join(dir, "p/flows/main.json"), ref, known)
		if want == "" {
			require.ErrorContains(t, err, `find the cascade "b": no cascade has the cascade_id "b"`)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, filepath.Join(dir, want), r.File)
		require.Equal(t, library.Hash(r.Cascade), r.Hash)
	}
	for ref, want := range map[string]string{
		"../../secret.json":     `"../../secret.json" leads out of the folder whose cascades may be used here`,
		dir + "/secret.json":    `leads out of the folder whose cascades may be used here`,
		"../cascades/link.json": "the cascade cascades/link.json cannot be read: ",
		"secret":                `no cascade has the cascade_id "secret"`, "\x00.json": `no cascade has the cascade_id "\x00.json"`, "": `no cascade has the cascade_id ""`,
		"twice":  `2 files have the cascade_id "twice": cascades/twice.json, cascades/twice2.json`,
		"broken": "the cascade flows/broken.json is not valid: it has 1 error", "out": "the cascade cascades/out.json is not valid: it has 1 error",
	} {
		_, err := f.Find(t.Context(), filepath.Join(dir, "p/flows/main.json"), ref, known)
		var e *library.NameError
		require.ErrorAs(t, err, &e, ref)
		require.Contains(t, e.Error(), want)
		require.Equal(t, strings.Contains(want, "not valid"), len(e.Found) > 0)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := f.Find(ended, filepath.Join(dir, "p/flows/main.json"), "child", known)
	require.True(t, errors.Is(err, context.Canceled))
}

// TestRecorded: what is read of a record is what was loaded, whatever has become of the files.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"main.json": text("main", "x/a.json", "y/a.json", "b"), "x/a.json": text("a", "b.json"), "y/a.json": text("a", "b.json"),
		"x/b.json": text("b_of_x"), "y/b.json": text("b_of_y"), "cascades/b.json": text("b"),
	})
	c, found, err := library.Folders{}.Load(t.Context(), filepath.Join(dir, "main.json"), known)
	require.NoError(t, err, found)
	require.NotEqual(t, c.Reaches["x/a.json"].Hash, c.Reaches["y/a.json"].Hash, "the same text, which reaches others")
	lib, err := library.Encode(c)
	require.NoError(t, err)
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "b_of_x")
	require.NoError(t, os.RemoveAll(dir))

	again, found, err := library.Read("s/cascade", raw, lib, known)
	require.NoError(t, err, found)
	require.Equal(t, reached(dir, c), reached(dir, again))
	require.Equal(t, library.Hash(c), library.Hash(again))
	twice, err := library.Encode(again)
	require.NoError(t, err)
	require.JSONEq(t, string(lib), string(twice))

	none, err := library.Encode(&cascade.Cascade{})
	require.NoError(t, err)
	require.Nil(t, none)
}

// TestBadRecords: no record makes the reader panic or run on.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	for lib, want := range map[string]string{
		`{"refs":{"b":"x"}}`:                       `read the cascade "b", which s/cascade reaches: there is none with the hash "x"`,
		`{"refs":{"b":"x"},"cascades":{"x":null}}`: `there is none with the hash "x"`,
		`{"refs":{"b":"x"},"cascades":{"x":{"file":"f","cascade":` + text("b", "c") + `,"refs":{"c":"x"}}}}`: `read the cascade "c", which s/cascade/library/x reaches: it reaches itself`,
		`{"refs":{"b":"x"},"cascades":{"x":{"file":"f","cascade":{}}}}`:                                      `the cascade has no "cascade_id"`,
		`{"refs":{"b":"x"},"cascades":{"x":{"file":"f"}}}`:                                                   `s/cascade/library/x:1:1: error: `,
		`{"refs":7}`: `read the other cascades of s/cascade: json: cannot unmarshal`,
		`{"refs":{"a":"x"},"cascades":{"x":{"file":"f","cascade":` + text("b") + `}}}`: `the session has recorded no cascade for "b" [unknown_cascade]`,
		``: `the session has recorded no cascade for "b" [unknown_cascade]`,
	} {
		_, _, err := library.Read("s/cascade", []byte(text("main", "b")), []byte(lib), known)
		require.ErrorContains(t, err, want)
	}
}

// TestPage: the example of docs/children.md reaches what the page says.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/children.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	dir := write(t, map[string]string{
		"flows/research.json": example, "flows/checks/sources.json": text("sources"), "cascades/w.json": text("web_search"), "tackle/t.yaml": text("translate"),
		"more/g.json": `{"cascade_id": "grammar_check", "inputs_schema": {"content": "what to check"}, "phases": [{"name": "a", "instructions": "x"}]}`,
	})
	c, found, err := library.Folders{Project: dir, Paths: []string{filepath.Join(dir, "more")}}.Load(t.Context(), filepath.Join(dir, "flows/research.json"), known)
	require.NoError(t, err, found)
	require.Empty(t, found)
	require.Equal(t, []string{
		"checks/sources.json=flows/checks/sources.json", "grammar_check=more/g.json", "translate=tackle/t.yaml", "web_search=cascades/w.json",
	}, reached(dir, c))
	for _, name := range library.Searched {
		require.Contains(t, string(page), "`"+name+"/`")
	}
}

// opens is a folder that counts the files that are opened.
type opens struct {
	fstest.MapFS
	count int
}

func (o *opens) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".json") {
		o.count++
	}
	return o.MapFS.Open(name)
}

// A search reads no file again that has not changed since one before has read it.
func TestIDsAreKept(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	files := &opens{MapFS: fstest.MapFS{}}
	put := func(name, id string, at time.Time) {
		files.MapFS[name] = &fstest.MapFile{Data: []byte(text(id)), ModTime: at}
	}
	for i := range 20 {
		put(fmt.Sprintf("cascades/%d.json", i), fmt.Sprintf("old%02d", i), old)
	}
	put("cascades/new.json", "fresh", time.Now())
	ctx := library.WithIDs(t.Context(), &library.IDs{})
	find := func(id string) (file string, read int) {
		files.count = 0
		tree := &library.Tree{FS: files, Name: "/project", Searched: []string{"cascades"}} // rebuilt for each search
		r, err := library.Trees{tree}.Find(ctx, tree, ".", id, known)
		if err != nil {
			require.ErrorContains(t, err, id)
			return "", files.count
		}
		return r.File, files.count
	}
	_, read := find("nobody")
	require.Equal(t, 21, read)
	_, read = find("nobody")
	require.Equal(t, 1, read, "a file that has just changed may change again at the same time")
	file, read := find("old07")
	require.Equal(t, 2, read, "the file itself")
	require.Equal(t, "/project/cascades/7.json", filepath.ToSlash(file))
	put("cascades/3.json", "nobody", old.Add(time.Minute))
	file, read = find("nobody")
	require.Equal(t, 1+1+1, read)
	require.Equal(t, "/project/cascades/3.json", filepath.ToSlash(file))
	put("cascades/more.json", "added", old)
	file, _ = find("added")
	require.NotEmpty(t, file)
	ctx = t.Context()
	_, read = find("nobody")
	require.Equal(t, 22+1, read, "who keeps none reads all")
}
