package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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

// A link in a folder is followed before anything is decided, and nothing is made on the way to a refusal.
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

// What windlass would run is seen in the text: of the file that is there, and of the file that there would be.
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

// A folder becomes a repository with the last of its parts; git then runs what its configuration names, which can be
// there already.
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
