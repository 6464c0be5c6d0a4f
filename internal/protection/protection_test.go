package protection_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/protection"
)

// names cuts a path into its names.
func names(path string) []string {
	if path = strings.Trim(path, "/"); path == "" {
		return []string{}
	}
	return strings.Split(path, "/")
}

func file(above, path string) protection.File {
	f := protection.File{Path: names(path)}
	if above != "" {
		f.Above = names(above)
	}
	return f
}

func rules(t *testing.T, protect, allow []string) *protection.Rules {
	t.Helper()
	r, err := protection.New(protect, allow)
	require.NoError(t, err)
	return r
}

// The table of docs/security.md is the one of the code.
func TestTableOfTheDocumentation(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| files | why |\n|---|---|\n")
	for _, row := range protection.Table() {
		what := row.Other
		for i, name := range row.Names {
			if i > 0 {
				what += ", "
			}
			what += "`" + name + "`"
		}
		fmt.Fprintf(&b, "| %s | %s %s |\n", what, row.By, row.What)
	}
	text, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	require.Contains(t, string(text), b.String()+"\n", "the section \"Files that tools never write\" has this table:\n\n%s", b.String())
}

// Every row does what it says: each of its names is protected, anywhere, with what is in it.
func TestEveryNameOfTheTableIsProtected(t *testing.T) {
	t.Parallel()
	r := rules(t, nil, nil)
	for _, row := range protection.Table() {
		for _, name := range row.Names {
			example := strings.NewReplacer("*", "x").Replace(name)
			if strings.HasPrefix(name, "/") {
				require.Error(t, r.Check(file("/", example)), name)
				require.NoError(t, r.Check(file("/home/n", example)), "it is an absolute path")
				continue
			}
			for _, path := range []string{example, "sub/" + example, example + "/inner", strings.ToUpper(example)} {
				var refused *protection.RefusedError
				require.ErrorAs(t, r.Check(file("/home/n", path)), &refused, "%s: %s", name, path)
				require.ErrorAs(t, r.Check(file("", path)), &refused, "%s: %s", name, path)
			}
			require.Error(t, r.Check(file("/home/n/"+example, "x")), "the granted folder lies in it")
		}
	}
}

// One name has several spellings for a file system.
func TestSpellings(t *testing.T) {
	t.Parallel()
	r := rules(t, []string{"schlüssel", "a:b"}, nil)
	for _, path := range []string{
		".Git/x", ".git./x", ".git /x", ".git . ./x", ".git::$INDEX_ALLOCATION/x", ".git:stream", "GIT~1/x", "git~2", ".g\u200dit/x", "\ufeff.git/x", ".gi\u206ft",
		`sub\.git\config`, ".\u017fSH/config", "\u00dfh", ".\u00dfh/config", ".con\ufb01g/\ufb01sh/x", ".\u212aube/config", "windla~1.jso", "WINDLA~12.JSO",
		"wi1a2b~1.jso", "xtool~1.jso", "ENVRC~1", "schlu\u0308ssel/x", "SCHLÜSSEL", "a",
	} {
		if path == "\u00dfh" {
			require.NoError(t, r.Check(file("/r", path)), "ssh without its dot")
			continue
		}
		require.Error(t, r.Check(file("/r", path)), "%q", path)
	}
	for _, path := range []string{"git", "digit~1", "git~1x", "x.git", ".gitx", ".gi", "windlass~1.json", "w~x.json", "tool.json", "notes~1.md", "schluessel", "x~1"} {
		require.NoError(t, r.Check(file("/r", path)), "%q", path)
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		allow, above, path string
		granted            bool
	}{
		{".git/hooks/*", "/r", ".git/hooks/pre-commit", true},
		{".git/hooks/*", "/r", ".git/hooks/deep/er", false},
		{".git/hooks/**", "/r", ".git/hooks/deep/er", true},
		{".git/hooks/*", "/r", ".git/config", false},
		{".git/hooks/*", "/r", "sub/.git/hooks/pre-commit", false},
		{"**/.git/hooks/*", "/r", "sub/deep/.git/hooks/pre-commit", true},
		{".git/hooks/*", "/r", ".GIT/hooks/pre-commit", false},
		{"**", "/r", ".git/config", false},
		{"*/config", "/r", ".git/config", false},
		{".gi[t]/config", "/r", ".git/config", false},
		{".gi?/config", "/r", ".git/config", false},
		{`\.git/config`, "/r", ".git/config", true},
		{"GIT~1/config", "/r", "GIT~1/config", true},
		{".git/**", "/r", ".git/modules/.git/config", false},
		{"**", "/r", ".vscode/tasks.json", true},
		{"**", "/r", "windlass.json", true},
		{"*", "/r", "windlass.json", true},
		{"*", "/r", ".vscode/tasks.json", false},
		{".vscode", "/r", ".vscode/tasks.json", false},
		{"windlass.json", "/r", "Windlass.json", false},
		{"/r/.git/config", "/r", ".git/config", true},
		{"/r/**", "/r", ".git/config", false},
		{"/r/**", "/r", ".envrc", true},
		{"/r/.git/hooks/*", "/r/.git/hooks", "x", true},
		{"*", "/r/.git/hooks", "x", false},
		{"/r/*/hooks/*", "/r/.git/hooks", "x", false},
		{"*", "/r/.vscode", "x", true},
		{"/r/.envrc", "", ".envrc", false},
		{".envrc", "", ".envrc", true},
	} {
		err := rules(t, nil, []string{test.allow}).Check(file(test.above, test.path))
		require.Equal(t, test.granted, err == nil, "%s grants %s in %s: %v", test.allow, test.path, test.above, err)
	}
}

// The grant that an error names grants the file, whatever characters it has.
func TestTheGrantThatIsNamedHolds(t *testing.T) {
	t.Parallel()
	bare := file("/srv/repo.git", "hooks/post-receive")
	bare.Bare = []bool{false, false, true, false}
	for _, f := range []protection.File{
		file("/r", ".git/hooks/x"), file("/r", `.vscode/a[b]*?\c.json`), file("/r/.git", "config"), file("/r", "it's/.envrc"), file("", ".envrc"), bare,
	} {
		var refused *protection.RefusedError
		require.ErrorAs(t, rules(t, nil, nil).Check(f), &refused)
		require.NoError(t, rules(t, nil, []string{refused.Grant}).Check(f), refused.Grant)
	}
	require.EqualError(t, rules(t, nil, nil).Check(file("/r", "it's/.envrc")),
		`not written without a grant: direnv, mise, asdf, rvm and autoenv run it when a folder is entered; grant with --allow-write 'it'\''s/.envrc'`)
	require.Error(t, rules(t, nil, []string{"**"}).Check(bare), "a bare repository is granted by its name only")
}

func TestProtectPaths(t *testing.T) {
	t.Parallel()
	r := rules(t, []string{"deploy/", "config/*.yaml", "a/**/z", "/srv/data"}, []string{"deploy/notes.md"})
	for _, path := range []string{"deploy/x", "sub/Deploy/x/y", "config/a.yaml", "sub/config/a.yaml/x", "a/z", "a/b/c/z"} {
		require.ErrorContains(t, r.Check(file("/r", path)), "windlass.json protects it (protect_paths: ", path)
	}
	require.Error(t, r.Check(file("/srv/data/x", "y")))
	for _, path := range []string{"deploy/notes.md", "deployed", "config/a/b.yaml", "a/b", "srv/data/x"} {
		require.NoError(t, r.Check(file("/r", path)), path)
	}
}

func TestPatternsThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":       "it is empty",
		"a//b":   "it has an empty name in it; everything in a folder is FOLDER/**",
		"a/":     "it has an empty name in it; everything in a folder is FOLDER/**",
		"./a":    `it has "." in it; paths are compared with links followed and without it`,
		"a/../b": `it has ".." in it; paths are compared with links followed and without it`,
		"a\x00":  "it holds a NUL character",
		"a/[b":   `"[b" is no pattern: a [ or a \ at its end is not closed`,
		`a\`:     `"a\" is no pattern: a [ or a \ at its end is not closed`,
	} {
		require.EqualError(t, protection.CheckGrant(text), want)
		if text != "a/" {
			require.EqualError(t, protection.CheckPath(text), want)
		}
	}
	_, err := protection.New(nil, []string{"a//b"})
	require.EqualError(t, err, `--allow-write "a//b": it has an empty name in it; everything in a folder is FOLDER/**`)
	_, err = protection.New([]string{"a//b"}, nil)
	require.EqualError(t, err, `protect_paths: "a//b": it has an empty name in it; everything in a folder is FOLDER/**`)
}

// FuzzRules holds the rules against any pattern and any path: no grant but one that names it
// reaches a .git, and nothing makes them panic.
func FuzzRules(f *testing.F) {
	f.Add("deploy", "**", "sub/.git/config")
	f.Add("a/**/b", "/r/.gi?/*", ".git/x")
	f.Add("[a-", "*", "GIT~1")
	f.Fuzz(func(t *testing.T, protect, allow, path string) {
		if len(protect)+len(allow)+len(path) > 4096 {
			return
		}
		r, err := protection.New([]string{protect}, nil)
		if err == nil {
			_ = r.Check(file("/r", path))
		}
		if r, err = protection.New(nil, []string{allow}); err != nil {
			return
		}
		err = r.Check(file("/r", ".git/"+path))
		if !strings.Contains(strings.ReplaceAll(allow, `\`, ""), ".git/") {
			require.Error(t, err)
		}
	})
}
