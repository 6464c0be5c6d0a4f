//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// protected is about files that windlass or a program of the machine runs by convention: a model that may write files does
// not get to write these, under no name that leads to them.
func protected() group {
	return group{
		name:   "protected",
		mutant: protectedMutant,
		attempts: func(*testing.T, string) []attempt {
			var rows []calls
			for _, name := range runByConvention {
				rows = append(rows, writing("new: "+name, name, nil))
			}
			rows = append(rows, otherSpellings...)
			return append(of(rows), granted()...)
		},
	}
}

// runByConvention are files that run although nobody asked for the code of the project.
var runByConvention = []string{
	".git/config", ".git/hooks/pre-commit", ".git/info/attributes", "sub/.git/config", "a/b/c/.git/hooks/post-checkout", ".git", ".gitconfig", ".config/git/config", ".githooks/pre-commit", ".husky/pre-commit", ".husky/_/husky.sh",
	".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".hg/hgrc", ".envrc", "sub/.envrc", ".direnv/x", ".tool-versions", ".mise.toml", "mise.toml", ".vscode/tasks.json", ".vscode/settings.json", "x.code-workspace",
	".devcontainer/devcontainer.json", ".idea/workspace.xml", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".mcp.json", ".claude/settings.json", ".cursor/mcp.json", ".bashrc", ".profile", ".zshenv", ".zshrc", ".bash_profile",
	".config/fish/config.fish", ".ssh/authorized_keys", ".ssh/config", ".gnupg/gpg.conf", ".xinitrc", ".local/bin/git", ".config/autostart/x.desktop", ".config/systemd/user/x.service", ".Rprofile", ".gdbinit", ".lldbinit", ".pdbrc", ".tmux.conf",
	"windlass.json", "sub/windlass.json", "x.tool.json", "sub/x.tool.yaml", "deep/er/x.tool.yml",
}

// writing is an attempt to write one file.
func writing(name, path string, prepare func(*lab.World)) calls {
	return calls{name: name, prepare: prepare, want: []check{refusedAs("not_allowed")}, calls: []lab.Call{
		{Tool: "write_file", Args: map[string]any{"path": path, "content": "touch {marker}\n"}},
		{Tool: "write_file", Args: map[string]any{"path": path, "content": "touch {marker}\n", "append": true}},
	}}
}

// refusedAs demands that every call failed as a failure of this kind.
func refusedAs(kind string) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		if len(o.Tools) == 0 {
			return errorf("no tool was called: exit %d, %s%s", o.Code, o.Out, o.Err)
		}
		for _, r := range o.Tools {
			if !r.Failed || r.Kind != kind {
				return errorf("%s %s returned %q (failed: %v, %s), not a failure of the kind %s", r.Name, clip(r.Arguments), clip(r.Text), r.Failed, r.Kind, kind)
			}
		}
		return nil
	}
}

const aCascade = `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`

// withGit makes a folder .git.
func withGit(w *lab.World) {
	w.File(".git/HEAD", "ref: refs/heads/trunk\n")
	w.File(".git/config", "[core]\n")
	w.Must(os.MkdirAll(w.Path(".git/objects"), 0o700))
	w.Must(os.MkdirAll(w.Path(".git/refs"), 0o700))
}

func content(name, path, text string, prepare func(*lab.World)) calls {
	return calls{name: name, prepare: prepare, want: []check{refusedAs("not_allowed")}, calls: []lab.Call{{Tool: "write_file", Args: map[string]any{"path": path, "content": text}}}}
}

var otherSpellings = []calls{
	writing("a link to .git", "docs/ref/config", func(w *lab.World) { withGit(w); w.Link("../.git", "docs/ref") }),
	writing("a link to a link to .git", "a/config", func(w *lab.World) { withGit(w); w.Link("b", "a"); w.Link(".git", "b") }),
	writing("a link to the folder above .git", "a/.git/config", func(w *lab.World) { w.File("sub/.git/config", ""); w.Link("sub", "a") }),
	writing("a link inside .git", "a/pre-commit", func(w *lab.World) { withGit(w); w.File(".git/hooks/x", ""); w.Link(".git/hooks", "a") }),
	writing("dots into .git", "docs/../.git/config", withGit),
	writing("a dot into .git", "./.git/./config", withGit),
	writing("slashes into .git", ".git//config", withGit),
	writing("absolute into .git", "{dir}/.git/config", withGit),
	writing("capitals", ".GIT/config", nil),
	writing("mixed letters", ".Git/hooks/pre-commit", nil),
	writing("capitals of windlass.json", "WINDLASS.JSON", nil),
	writing("capitals of .envrc", ".ENVRC", nil),
	writing("an ignorable character", ".g\u200cit/config", nil),
	writing("an ignorable character at the end", ".git\u200d/config", nil),
	writing("a dot at the end", ".git./config", nil),
	writing("a space at the end", ".git /config", nil),
	writing("the short name of Windows", "GIT~1/config", nil),
	writing("a stream of Windows", ".git::$INDEX_ALLOCATION/config", nil),
	writing("a backslash", ".git\\config", nil),
	{
		name: "a hard link to the configuration", want: []check{refused("")}, prepare: func(w *lab.World) { withGit(w); w.Must(os.Link(w.Path(".git/config"), w.Path("notes.txt"))) },
		calls: []lab.Call{{Tool: "write_file", Args: map[string]any{"path": "notes.txt", "content": "x", "append": true}}},
	},
	content("a cascade", "new.json", aCascade, nil),
	content("a cascade as YAML", "new.yaml", "cascade_id: c\nphases: []\n", nil),
	content("a cascade as yml", "new.yml", "# x\ncascade_id: c\n", nil),
	content("a cascade with a mark before it", "new.json", "\ufeff"+aCascade, nil),
	content("a cascade behind a comment", "new.yaml", "---\n# "+"x\n\"cascade_id\": c\n", nil),
	content("a cascade with an escaped key", "new.json", `{"cascade\u005fid": "c", "phases": []}`, nil),
	content("a cascade of YAML with an escaped key", "new.yaml", `"cascade\x5fid": c`+"\n", nil),
	content("a cascade of YAML in a file of JSON", "new.json", "cascade_id: c\nphases: []\n", nil),
	content("a cascade with a merge key", "new.yaml", "a: &a {cascade_id: c}\n<<: *a\nphases: []\n", nil),
	content("a cascade with a complex key", "new.yaml", "? cascade_id\n: c\n", nil),
	content("over a cascade", "there.json", "{}", func(w *lab.World) { w.File("there.json", aCascade) }),
	content("over a cascade by a link", "link/there.json", "{}", func(w *lab.World) { w.File("sub/there.json", aCascade); w.Link("sub", "link") }),
	content("over a tool", "there.tool.json", "{}", func(w *lab.World) { w.File("there.tool.json", `{"tool_id": "x"}`) }),
	content("a cascade without an ending that says so", "new", aCascade, nil),
	{
		name: "a cascade in two pieces", one: true, want: []check{someRefused},
		calls: []lab.Call{
			{Tool: "write_file", Args: map[string]any{"path": "new.json", "content": `{"cascade_`}},
			{Tool: "write_file", Args: map[string]any{"path": "new.json", "content": `id": "c", "phases": []}`, "append": true}},
		},
	},
	{
		name: "a bare repository", one: true, want: []check{someRefused},
		calls: []lab.Call{
			{Tool: "write_file", Args: map[string]any{"path": "bare/HEAD", "content": "ref: refs/heads/x\n"}},
			{Tool: "write_file", Args: map[string]any{"path": "bare/objects/x", "content": "x"}},
			{Tool: "write_file", Args: map[string]any{"path": "bare/refs/x", "content": "x"}},
			{Tool: "write_file", Args: map[string]any{"path": "bare/config", "content": "[core]\n\tfsmonitor = touch {marker}\n"}},
		},
	},
	{
		name: "protect_paths", want: []check{refusedAs("not_allowed")}, prepare: func(w *lab.World) {
			w.JSON("windlass.json", map[string]any{"protect_paths": []string{"deploy/**", "*.sh"}})
		},
		calls: []lab.Call{{Tool: "write_file", Args: map[string]any{"path": "deploy/x", "content": "x"}}, {Tool: "write_file", Args: map[string]any{"path": "sub/run.sh", "content": "x"}}},
	},
	{
		name: "appending through a hard link", want: []check{refused("")}, prepare: func(w *lab.World) { w.Must(os.Link(filepath.Join(w.Outside, "secret.txt"), w.Path("a.txt"))) },
		calls: []lab.Call{{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": "x", "append": true}}},
	},
}

// someRefused demands that not every call succeeded: what stands for a program is complete only with the last one.
func someRefused(_ *lab.World, o *lab.Outcome) error {
	for _, r := range o.Tools {
		if r.Failed && r.Kind == "not_allowed" {
			return nil
		}
	}
	return errorf("all of it was written: %d calls", len(o.Tools))
}

// granted are runs with grants that must not reach further than they say.
func granted() []attempt {
	grant := func(name, pattern, path string, prepare func(*lab.World)) attempt {
		c := writing("granted "+name, path, prepare)
		c.flags = []string{"--allow-write", pattern}
		return c.attempt()
	}
	return []attempt{
		grant("another file", ".envrc", ".vscode/tasks.json", nil),
		grant("in another folder", "sub/.envrc", ".envrc", nil),
		grant("a folder, without what is deeper", ".vscode/*", ".vscode/a/b", nil),
		grant("other letters", ".envrc", ".ENVRC", nil),
		grant("a link to something else", "docs/*", "docs/config", func(w *lab.World) { withGit(w); w.Link(".git", "docs") }),
		grant("up from there", "docs/**", "docs/../.envrc", nil),
		grant("what is outside", "**", "../outside/.envrc", nil),
	}
}
