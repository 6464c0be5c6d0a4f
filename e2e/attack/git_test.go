//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// git is about the repository that a run works in: windlass asks git about it and runs nothing that it configures.
func git() group {
	return group{
		name:   "git",
		mutant: gitMutant,
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, r := range repositories {
				out = append(out, r.attempt())
			}
			return out
		},
	}
}

// repository is a hostile repository. make is given the program that makes the marker.
type repository struct {
	name string
	make func(w *lab.World, program string)
}

func (r repository) attempt() attempt {
	return attempt{r.name, func(w *lab.World) error {
		w.Env = append(w.Env, "GIT_CONFIG_GLOBAL="+filepath.Join(w.Base, "gitconfig"))
		gitRun(w, "init", "-q", "-b", "trunk")
		gitRun(w, "config", "user.email", "a@example.com")
		gitRun(w, "config", "user.name", "A")
		w.File("kept.txt", "one\n")
		w.File("sub/changed.txt", "first\n")
		gitRun(w, "add", ".")
		gitRun(w, "commit", "-q", "-m", "x")
		w.File("sub/changed.txt", "secon\n") // as long as before: git has to read it
		r.make(w, program(w))
		w.Must(removed(w.Marker)) // what preparing has run
		// Only a phase that may have changed files has windlass ask git.
		o := w.Ask(lab.Asked{Calls: []lab.Call{{Tool: "write_file", Args: map[string]any{"path": "written.txt", "content": "x"}}}, Flags: []string{"--session", "s"}})
		want := []check{exits(exitOK, "")}
		if r.name != "a bare repository" { // nothing is written there, so nobody asks
			want = append(want, asksGit)
		}
		if err := met(w, o, want...); err != nil {
			return err
		}
		return met(w, w.Run("sessions", "handoff", "s", "--no-clickhouse"))
	}}
}

// asksGit demands that what git was asked is in the record: an attempt in which nobody asks proves nothing.
func asksGit(_ *lab.World, o *lab.Outcome) error {
	if !strings.Contains(o.Journal, `"workspace"`) {
		return errorf("git was not asked: %s", clip(o.Err))
	}
	return nil
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// program writes the attacker's program outside of the working folder.
func program(w *lab.World) string {
	path := filepath.Join(w.Base, "program")
	w.Must(os.WriteFile(path, []byte("#!/bin/sh\ntouch '"+w.Marker+"'\ncat\nexit 0\n"), 0o600))
	w.Must(os.Chmod(path, 0o700))
	return path
}

func gitRun(w *lab.World, args ...string) {
	w.T.Helper()
	if o := w.Program("", "git", args...); o.Code != 0 {
		w.T.Fatalf("git %s: %s%s", strings.Join(args, " "), o.Out, o.Err)
	}
}

func configured(key string, attributes string) func(*lab.World, string) {
	return func(w *lab.World, program string) {
		if attributes != "" {
			w.File(attributes, "* filter=x diff=x merge=x\n")
		}
		w.File(".git/config", readFile(w, ".git/config")+section(key, program))
	}
}

func readFile(w *lab.World, name string) string {
	w.T.Helper()
	data, err := os.ReadFile(w.Path(name))
	w.Must(err)
	return string(data)
}

// section writes a key such as filter.x.clean as git's configuration has it.
func section(key, value string) string {
	first, rest, _ := strings.Cut(key, ".")
	head, name := first, rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		head, name = first+` "`+rest[:i]+`"`, rest[i+1:]
	}
	return "[" + head + "]\n\t" + name + " = " + value + "\n"
}

func hook(name string) func(*lab.World, string) {
	return func(w *lab.World, program string) {
		w.Must(os.MkdirAll(w.Path(".git/hooks"), 0o700))
		w.Must(os.Rename(program, w.Path(".git/hooks/"+name)))
	}
}

var repositories = []repository{
	{"a clean filter", configured("filter.x.clean", ".gitattributes")},
	{"a smudge filter", configured("filter.x.smudge", ".gitattributes")},
	{"a process filter", configured("filter.x.process", ".gitattributes")},
	{"a filter by info/attributes", configured("filter.x.clean", ".git/info/attributes")},
	{"a filter with a dot in its name", func(w *lab.World, p string) {
		configured("filter.x.y.clean", "")(w, p)
		w.File(".gitattributes", "* filter=x.y\n")
	}},
	{"a filter by attributes of a folder", configured("filter.x.clean", "sub/.gitattributes")},
	{"a watcher", configured("core.fsmonitor", "")},
	{"an external diff", configured("diff.external", "")},
	{"a diff driver", configured("diff.x.command", ".gitattributes")},
	{"a text conversion", configured("diff.x.textconv", ".gitattributes")},
	{"a pager", configured("core.pager", "")},
	{"a pager of status", configured("pager.status", "")},
	{"an editor", configured("core.editor", "")},
	{"an alias", func(w *lab.World, p string) { configured("alias.status", "")(w, "!"+p) }},
	{"a credential helper", configured("credential.helper", "")},
	{"a signer", func(w *lab.World, p string) {
		configured("gpg.program", "")(w, p)
		configured("log.showSignature", "")(w, "true")
	}},
	{"an ssh command", configured("core.sshCommand", "")},
	{"a proxy", configured("core.gitProxy", "")},
	{"an askpass", configured("core.askPass", "")},
	{"hooks elsewhere", func(w *lab.World, p string) { configured("core.hooksPath", "")(w, filepath.Dir(p)) }},
	{"post-index-change", hook("post-index-change")},
	{"fsmonitor-watchman", func(w *lab.World, p string) {
		hook("fsmonitor-watchman")(w, p)
		configured("core.fsmonitor", "")(w, ".git/hooks/fsmonitor-watchman")
	}},
	{"post-checkout", hook("post-checkout")},
	{"reference-transaction", hook("reference-transaction")},
	{"an include", func(w *lab.World, p string) {
		w.File("settings", section("filter.x.clean", p))
		w.File(".gitattributes", "* filter=x\n")
		configured("include.path", "")(w, "../settings")
	}},
	{"an include of a branch", func(w *lab.World, p string) {
		w.File("settings", section("core.fsmonitor", p))
		w.File(".git/config", readFile(w, ".git/config")+"[includeIf \"onbranch:trunk\"]\n\tpath = ../settings\n")
	}},
	{"an include from outside", func(w *lab.World, p string) {
		w.Must(os.WriteFile(filepath.Join(w.Base, "settings"), []byte(section("core.fsmonitor", p)), 0o600))
		configured("include.path", "")(w, filepath.Join(w.Base, "settings"))
	}},
	{"attributes elsewhere", func(w *lab.World, p string) {
		configured("filter.x.clean", "")(w, p)
		w.File("rules", "* filter=x\n")
		configured("core.attributesFile", "")(w, w.Path("rules"))
	}},
	{"the configuration of a worktree", func(w *lab.World, p string) {
		configured("extensions.worktreeConfig", "")(w, "true")
		w.File(".git/config.worktree", section("core.fsmonitor", p))
	}},
	{"a file in the place of .git", func(w *lab.World, p string) {
		configured("core.fsmonitor", "")(w, p)
		w.Must(os.Rename(w.Path(".git"), filepath.Join(w.Base, "there")))
		w.File(".git", "gitdir: "+filepath.Join(w.Base, "there")+"\n")
	}},
	{"a link in the place of .git", func(w *lab.World, p string) {
		configured("core.fsmonitor", "")(w, p)
		w.Must(os.Rename(w.Path(".git"), w.Path("there")))
		w.Link("there", ".git")
	}},
	{"a working tree elsewhere", func(w *lab.World, p string) {
		configured("core.fsmonitor", "")(w, p)
		configured("core.worktree", "")(w, w.Outside)
	}},
	{"a submodule", func(w *lab.World, p string) {
		w.File("module/a.txt", "x")
		gitRun(w, "init", "-q", "module")
		w.File("module/.git/config", readFile(w, "module/.git/config")+section("core.fsmonitor", p))
		w.File(".gitmodules", "[submodule \"module\"]\n\tpath = module\n\turl = ./module\n\tupdate = !"+p+"\n")
	}},
	{"a repository above", func(w *lab.World, p string) {
		configured("core.fsmonitor", "")(w, p)
		w.Dir = w.Path("sub")
	}},
	{"a bare repository", func(w *lab.World, p string) {
		configured("core.fsmonitor", "")(w, p)
		configured("core.bare", "")(w, "false")
		w.Must(os.Rename(w.Path(".git"), w.Path("bare")))
		w.Dir = w.Path("bare")
	}},
	{"the configuration of a person", func(w *lab.World, p string) {
		w.Must(os.WriteFile(filepath.Join(w.Base, "gitconfig"), []byte(section("core.fsmonitor", p)), 0o600))
	}},
	{"git in the working folder", func(w *lab.World, p string) { w.Must(os.Rename(p, w.Path("git"))) }},
	{"a remote helper", func(w *lab.World, p string) {
		configured("remote.origin.url", "")(w, "ext::"+p)
		configured("remote.origin.promisor", "")(w, "true")
		configured("extensions.partialClone", "")(w, "origin")
		configured("protocol.allow", "")(w, "always")
		gitRun(w, "rm", "-q", "--cached", "kept.txt")
	}},
	{"a branch that commands the terminal", func(w *lab.World, _ string) { w.File(".git/HEAD", "ref: refs/heads/\x1b]0;owned\x07\n") }},
	{"a file's name with a line", func(w *lab.World, _ string) { w.File("a\nb\x1b[2J.txt", "x") }},
	{"an index that is none", func(w *lab.World, _ string) { w.File(".git/index", strings.Repeat("\x00DIRC", 10_000)) }},
	{"a configuration that is none", func(w *lab.World, _ string) { w.File(".git/config", "[core\n\x00") }},
	{"a configuration that is a pipe", func(w *lab.World, _ string) { w.Must(os.Remove(w.Path(".git/config"))); w.Fifo(".git/config") }},
	{"an index that is a pipe", func(w *lab.World, _ string) { w.Must(os.Remove(w.Path(".git/index"))); w.Fifo(".git/index") }},
	{"a head that is a pipe", func(w *lab.World, _ string) { w.Must(os.Remove(w.Path(".git/HEAD"))); w.Fifo(".git/HEAD") }},
}
