package tool_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/protection"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
)

func writing(t *testing.T, path, content string) string {
	t.Helper()
	args, err := json.Marshal(map[string]any{"path": path, "content": content})
	require.NoError(t, err)
	return string(args)
}

func appending(t *testing.T, path, content string) string {
	t.Helper()
	args, err := json.Marshal(map[string]any{"path": path, "content": content, "append": true})
	require.NoError(t, err)
	return string(args)
}

// Links are followed before anything is decided, and a refusal makes nothing.
func TestWhatIsWrittenIsTheResolvedPath(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	b.file(t, ".git/config", "[core]\n")
	b.file(t, "docs/page.md", "page\n")
	b.file(t, "deep/er/x", "")
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(b.dir, name))) }
	link("../.git", "docs/ref")
	link("docs/ref", "again")
	link("../../docs/../again", "deep/er/round")
	link(".git/config", "settings")
	for path, resolved := range map[string]string{
		"docs/ref/config": ".git/config", "docs/ref/hooks/pre-commit": ".git/hooks/pre-commit", "again/config": ".git/config",
		"deep/er/round/config": ".git/config", "./docs/../docs/ref/./new/config": ".git/new/config",
	} {
		text := b.fails(t, "not_allowed", tool.WriteFile, writing(t, path, "[core]\n\tfsmonitor = evil\n"))
		require.Contains(t, text, "("+resolved+"): not written without a grant: git runs ")
		require.Contains(t, text, "--allow-write '"+resolved+"'")
		b.fails(t, "not_allowed", tool.WriteFile, appending(t, path, "[core]\n\tfsmonitor = evil\n"))
	}
	require.Equal(t, "write settings: it is a symbolic link; write to the file that it leads to",
		b.fails(t, "failed", tool.WriteFile, writing(t, "settings", "x")))
	link("loop", "loop")
	link("../..", "deep/out")
	link("nowhere/../docs", "odd")
	link("docs/page.md", "page")
	for path, text := range map[string]string{
		"loop/x":     "write loop/x: too many symbolic links",
		"page/x":     "write page/x: not a directory",
		"deep/out/x": "write deep/out/x: a symbolic link in it leads outside the granted folder",
		"odd/x":      "write odd/x: there is no such file; list_files shows what there is",
	} {
		res := b.call(t, tool.WriteFile, writing(t, path, "x"))
		require.True(t, res.Failed)
		require.Equal(t, text, res.Parts[0].Text)
	}
	require.NoDirExists(t, filepath.Join(b.dir, ".git", "hooks"))
	require.NoDirExists(t, filepath.Join(b.dir, ".git", "new"))
	config, err := os.ReadFile(filepath.Join(b.dir, ".git", "config"))
	require.NoError(t, err)
	require.Equal(t, "[core]\n", string(config))
}

// A file of the table is refused under every name that a file system could take for it.
func TestWhatProgramsExecuteIsNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	for path, text := range map[string]string{
		".git/hooks/pre-commit":           "git runs ",
		"vendor/lib/.GIT/config":          "git runs ",
		".git":                            "git runs ",
		".git./config":                    "git runs ",
		".git /config":                    "git runs ",
		".git::$INDEX_ALLOCATION/config":  "git runs ",
		"GIT~1/config":                    "git runs ",
		".g\u200cit/config":               "git runs ",
		"windlass.json":                   "windlass runs ",
		"sub/Windlass.JSON":               "windlass runs ",
		"WINDLA~1.JSO":                    "windlass runs ",
		"cascades/fix.tool.json":          "windlass runs ",
		"cascades/FIX.Tool.Json":          "windlass runs ",
		".envrc":                          "direnv, ",
		"sub/.vscode/tasks.json":          "editors run ",
		".husky/pre-commit":               "git runs ",
		".pre-commit-config.yaml":         "git runs ",
		".ssh/authorized_keys":            "ssh ",
		".\u017fsh/config":                "ssh ",
		".bashrc":                         "shells run ",
		".config/systemd/user/evil.unit":  "the desktop ",
		"home/.config/fish/conf.d/x.fish": "shells run ",
		".devcontainer/devcontainer.json": "editors run ",
		"Library/LaunchAgents/evil.plist": "the desktop ",
	} {
		for _, args := range []string{writing(t, path, "x"), appending(t, path, "x")} {
			got := b.fails(t, "not_allowed", tool.WriteFile, args)
			require.Contains(t, got, "write "+path+": not written without a grant: "+text, path)
		}
	}
	left, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Empty(t, left)
	for _, path := range []string{
		"Makefile", "package.json", "main.go", "conftest.py", ".gitignore", ".gitattributes", "gitignore", ".github/workflows/ci.yml", "git/config",
		"digit~1", "docs/.envrc.md", "tool.json", "envrc", "HEAD", "data/config.json", ".env", "ssh/config", "a b. c", "vscode.json",
	} {
		b.ok(t, tool.WriteFile, writing(t, path, "x"))
	}
}

// What windlass would run is seen in the text, of the file that is there and of the one there would
// be.
func TestCascadesAreNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	const refused = ": not written without a grant: windlass runs "
	for name, text := range map[string]string{
		"one.json":     `{"cascade_id": "x", "phases": []}`,
		"escaped.json": `{"cascade\u005fid": "x"}`,
		"two.yaml":     "# mine\ncascade_id: x\nphases: []\n",
		"three.yml":    "\"cascade\\x5fid\": x\n",
		"four":         "? cascade_id\n: x\n",
		"five.md":      "base: &b {cascade_id: x}\n<<: *b\n",
		"six.txt":      "\ufeff{\"phases\": [], \"cascade_id\": 1}",
	} {
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, name, text)), "write "+name+refused, name)
		b.file(t, "there/"+name, text)
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, "there/"+name, "harmless")), refused, name)
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, appending(t, "there/"+name, " ")), refused, name)
	}
	b.ok(t, tool.WriteFile, writing(t, "parts.yaml", "phases: []\n"))
	require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, appending(t, "parts.yaml", "cascade_id: x\n")), refused)
	b.ok(t, tool.WriteFile, writing(t, "parts.json", `{"cascade`))
	require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, appending(t, "parts.json", `_id": "x"}`)), refused)
	for name, text := range map[string]string{
		"data.json": `{"runs": [{"cascade_id": "x"}]}`, "page.md": "A cascade has a `cascade_id`:\n\n    cascade_id: x\n", "a.go": "const key = \"cascade_id\"\n",
		"log.jsonl": "{\"a\": 1}\n{\"cascade_id\": \"x\"}\n",
	} {
		b.ok(t, tool.WriteFile, writing(t, name, text))
		b.ok(t, tool.WriteFile, appending(t, name, "\n"))
	}
}

// A folder becomes a repository with the last of its parts; git then runs what its configuration
// names, which can be there already.
func TestBareRepositoriesAreNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	b.ok(t, tool.WriteFile, writing(t, "made/config", "[core]\n\tfsmonitor = evil\n"))
	b.ok(t, tool.WriteFile, writing(t, "made/objects/x", ""))
	b.ok(t, tool.WriteFile, writing(t, "made/HEAD", "ref: refs/heads/main\n"))
	const text = "git runs hooks and programs that a repository's configuration names"
	require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, "made/refs/x", "")), text)
	b.file(t, "there.git/HEAD", "ref: refs/heads/main\n")
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "there.git", "objects"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "there.git", "refs"), 0o755))
	for _, path := range []string{"there.git/config", "there.git/hooks/post-receive", "there.git/a/b/c"} {
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, path, "x")), text)
	}
	b.ok(t, tool.WriteFile, writing(t, "tree/HEAD", "ref: refs/heads/main\n"))
	require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, "tree/commondir", "../made\n")), text)
}

// A file with several names is one file: what is added under one name is in all of them.
func TestAppendingThroughAHardLink(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("outside\n"), 0o600))
	b := setup(t, tool.Options{})
	b.file(t, ".git/config", "[core]\n")
	require.NoError(t, os.Link(outside, filepath.Join(b.dir, "linked.txt")))
	require.NoError(t, os.Link(filepath.Join(b.dir, ".git", "config"), filepath.Join(b.dir, "inner.txt")))
	for _, name := range []string{"linked.txt", "inner.txt"} {
		require.Equal(t, "write "+name+": nothing is added to it, as the file has 2 names (hard links), and another one may be outside the granted "+
			"folders or protected; write it as a whole, which gives this name a file of its own",
			b.fails(t, "not_allowed", tool.WriteFile, appending(t, name, "added\n")))
		b.ok(t, tool.WriteFile, writing(t, name, "own\n"))
		b.ok(t, tool.WriteFile, appending(t, name, "added\n"))
		require.Equal(t, "own\nadded\n", b.ok(t, tool.ReadFile, `{"path":"`+name+`"}`))
	}
	for path, want := range map[string]string{outside: "outside\n", filepath.Join(b.dir, ".git", "config"): "[core]\n"} {
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestGrantedWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, tool.Options{
		Roots: []string{dir}, AllowWrite: []string{".git/hooks/*", "flows/*.json", ".envrc"}, ProtectPaths: []string{"deploy", "*.lock"},
	})
	b.file(t, "flows/old.json", `{"cascade_id": "old"}`)
	require.NoError(t, os.Symlink(".git", filepath.Join(dir, "ref")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	for _, path := range []string{".git/hooks/pre-commit", "ref/hooks/post-commit", ".envrc", "flows/old.json", "flows/new.json"} {
		b.ok(t, tool.WriteFile, writing(t, path, `{"cascade_id": "new"}`))
		b.ok(t, tool.WriteFile, appending(t, path, "\n"))
	}
	for _, path := range []string{".git/config", "ref/config", "flows/deep/new.json", "sub/.envrc", "deploy/x", "sub/deploy", "a.lock"} {
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, path, `{"cascade_id": "new"}`)), "not written without a grant: ", path)
	}
	_, err := tool.New(tool.Options{Roots: []string{dir}, AllowWrite: []string{""}})
	require.EqualError(t, err, `--allow-write "": it is empty`)
}

// What is above a granted folder counts, as the folder is where programs look. Where the session's
// own folder is nobody chose.
func TestGrantedFoldersInProtectedPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{".git/hooks", ".git/windlass/work", "repo.git/hooks", "repo.git/objects", "repo.git/refs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "repo.git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	for _, path := range []string{".git/hooks", "repo.git/hooks"} {
		root := filepath.Join(dir, path)
		b := setup(t, tool.Options{Roots: []string{root}, AllowWrite: []string{"**", filepath.Join(real, "*", "**")}})
		require.Contains(t, b.fails(t, "not_allowed", tool.WriteFile, writing(t, "post-receive", "x")),
			"grant with --allow-write '"+filepath.ToSlash(filepath.Join(real, path, "post-receive"))+"'")
		b = setup(t, tool.Options{Roots: []string{root}, AllowWrite: []string{filepath.Join(real, path, "*")}})
		b.ok(t, tool.WriteFile, writing(t, "post-receive", "x"))
	}
	b := setup(t, tool.Options{Work: filepath.Join(dir, ".git", "windlass", "work")})
	b.ok(t, tool.WriteFile, writing(t, "draft.md", "x"))
	b.fails(t, "not_allowed", tool.WriteFile, writing(t, ".envrc", "x"))
}

// A folder that is a link to the repository at times is never written through.
func TestLinksToProtectedFoldersThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	b.file(t, ".git/config", "")
	b.file(t, "dir/keep", "")
	at := func(name string) string { return filepath.Join(b.dir, name) }
	require.NoError(t, os.Symlink(".git", at("link")))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(at("dir"), at("folder"))
			_ = os.Rename(at("link"), at("dir"))
			_ = os.Rename(at("dir"), at("link"))
			_ = os.Rename(at("folder"), at("dir"))
		}
	}()
	written := 0
	for range 300 {
		if !b.call(t, tool.WriteFile, writing(t, "dir/new.txt", "x")).Failed {
			written++
		}
		b.call(t, tool.WriteFile, appending(t, "dir/config", "x"))
	}
	close(stop)
	<-done
	require.Positive(t, written, "some are written where they may be")
	left, err := os.ReadDir(filepath.Join(b.dir, ".git"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	config, err := os.ReadFile(filepath.Join(b.dir, ".git", "config"))
	require.NoError(t, err)
	require.Empty(t, config)
}

// Parts that calls add at the same time make no cascade either.
func TestCascadesAreNotWrittenInParts(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	for range 200 {
		b.ok(t, tool.WriteFile, writing(t, "x.yaml", "a: b\n"))
		var calls sync.WaitGroup
		for _, part := range []string{"cascade_", "id: x\n"} {
			calls.Go(func() { b.call(t, tool.WriteFile, appending(t, "x.yaml", part)) })
		}
		calls.Wait()
		text, err := os.ReadFile(filepath.Join(b.dir, "x.yaml"))
		require.NoError(t, err)
		require.False(t, protection.IsCascade(text), "%s", text)
	}
}

// Files are opened for writing, made and moved in one place, which checks them.
func TestNothingElseWrites(t *testing.T) {
	t.Parallel()
	writers := []string{
		"Create", "CreateTemp", "OpenFile", "WriteFile", "Mkdir", "MkdirAll", "MkdirTemp", "Rename", "Remove", "RemoveAll", "Symlink", "Link",
		"Truncate", "Chmod", "Chown", "Lchown", "Chtimes", "CopyFS",
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(writers, s.Sel.Name) {
				return true
			}
			if name == "target.go" {
				found++
				return true
			}
			require.True(t, name == "folders.go" && s.Sel.Name == "OpenFile", "%s calls %s: a tool writes files only by target.go", name, s.Sel.Name)
			return true
		})
	}
	require.Positive(t, found)
}

// TestParallelCallsMakeNoBareRepository: calls of one turn run in parallel, also on one folder.
func TestParallelCallsMakeNoBareRepository(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	for i := range 60 {
		dir := "p" + strconv.Itoa(i)
		var wg sync.WaitGroup
		for name, text := range map[string]string{
			"config": "[core]\n\tbare = false\n", "HEAD": "ref: refs/heads/main\n", "objects/k": "k", "refs/k": "k",
		} {
			wg.Go(func() {
				args, err := json.Marshal(map[string]any{"path": dir + "/" + name, "content": text})
				if err == nil {
					_, err = b.reg.Call(t.Context(), effect.ToolRequest{Name: "write_file", Arguments: args})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		parts := 0
		for _, name := range []string{"HEAD", "objects", "refs"} {
			if _, err := os.Stat(filepath.Join(b.dir, dir, name)); err == nil {
				parts++
			}
		}
		require.Less(t, parts, 3, "%s is a repository", dir)
	}
}

// TestCutTextsHoldNoPartOfASecret: what is cut is cleaned before.
func TestCutTextsHoldNoPartOfASecret(t *testing.T) {
	t.Parallel()
	const key = "sk-pl4nt-0123456789abcdef"
	b := setup(t, tool.Options{Secrets: secret.New(secret.Value{Name: "KEY", Value: key})})
	b.file(t, "line", strings.Repeat("p", 373)+key+strings.Repeat("q", 3000)+"MATCHME")
	b.file(t, "long", strings.Repeat("p", 65512)+key+strings.Repeat("q", 3000))
	require.NotContains(t, b.ok(t, "search_files", `{"pattern": "MATCHME"}`), key[:8])
	require.NotContains(t, b.ok(t, "read_file", `{"path": "long"}`), key[:8])
}
