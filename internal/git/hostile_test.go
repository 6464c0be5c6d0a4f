//go:build unix

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// hostile is a repository in which every file must be compared, and the program that its
// configuration names.
type hostile struct {
	dir, program, mark string
}

func newHostile(t *testing.T) hostile {
	t.Helper()
	h := hostile{dir: newRepository(t), mark: filepath.Join(t.TempDir(), "ran")}
	h.program = h.script(t, "program")
	write(t, h.dir, "changed.txt", "secon\n") // as long as before: git has to read it
	return h
}

// script makes a program that leaves its mark.
func (h hostile) script(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nenv > "+h.mark+"\nexit 1\n"), 0o700))
	return path
}

// filtered configures a filter under a name and gives it every file.
func (h hostile) filtered(t *testing.T, name, kind, attributes string) {
	t.Helper()
	run(t, h.dir, "config", "filter."+name+"."+kind, h.program)
	run(t, h.dir, "config", "filter."+name+".required", "true")
	write(t, h.dir, attributes, "* filter="+name+"\n")
}

// attacks are the ways in which a repository makes "git status" run a program. Each is proved by
// the git of this machine, with proves, before it is held against Look.
var attacks = []struct {
	name   string
	proves []string // arguments of git that run the program; nil: "status"
	set    func(t *testing.T, h *hostile)
}{
	{name: "clean filter", set: func(t *testing.T, h *hostile) { h.filtered(t, "x", "clean", ".gitattributes") }},
	{name: "process filter", set: func(t *testing.T, h *hostile) { h.filtered(t, "x", "process", ".gitattributes") }},
	{name: "filter with = in its name", set: func(t *testing.T, h *hostile) { h.filtered(t, "a=b", "clean", ".git/info/attributes") }},
	{name: "filter in another file", set: func(t *testing.T, h *hostile) {
		write(t, h.dir, "settings", "[filter \"x\"]\n\tclean = "+h.program+"\n")
		run(t, h.dir, "config", "include.path", "../settings")
		write(t, h.dir, ".gitattributes", "* filter=x\n")
	}},
	{name: "filter of a branch", set: func(t *testing.T, h *hostile) {
		write(t, h.dir, "settings", "[filter \"x\"]\n\tclean = "+h.program+"\n")
		run(t, h.dir, "config", "includeIf.onbranch:trunk.path", "../settings")
		write(t, h.dir, ".gitattributes", "* filter=x\n")
	}},
	{name: "filter by an attributes file", set: func(t *testing.T, h *hostile) {
		run(t, h.dir, "config", "filter.x.clean", h.program)
		write(t, h.dir, "rules", "* filter=x\n")
		run(t, h.dir, "config", "core.attributesFile", filepath.Join(h.dir, "rules"))
	}},
	{name: "filter of a worktree", set: func(t *testing.T, h *hostile) {
		run(t, h.dir, "config", "extensions.worktreeConfig", "true")
		run(t, h.dir, "config", "--worktree", "filter.x.clean", h.program)
		write(t, h.dir, ".gitattributes", "* filter=x\n")
	}},
	{name: "watcher of files", set: func(t *testing.T, h *hostile) { run(t, h.dir, "config", "core.fsmonitor", h.program) }},
	{name: "hook", proves: []string{"update-index", "--refresh"}, set: func(t *testing.T, h *hostile) {
		hooks := filepath.Dir(h.script(t, "post-index-change"))
		run(t, h.dir, "config", "core.hooksPath", hooks)
		require.NoError(t, os.Chtimes(filepath.Join(h.dir, "kept.txt"), long, long)) // the index is to be refreshed
	}},
	{name: "folder of git elsewhere", set: func(t *testing.T, h *hostile) {
		h.filtered(t, "x", "clean", ".gitattributes")
		there := filepath.Join(t.TempDir(), "there")
		require.NoError(t, os.Rename(filepath.Join(h.dir, ".git"), there))
		write(t, h.dir, ".git", "gitdir: "+there+"\n")
	}},
	{name: "working tree elsewhere", set: func(t *testing.T, h *hostile) {
		h.filtered(t, "x", "clean", ".gitattributes")
		run(t, h.dir, "config", "core.worktree", h.dir)
	}},
	{name: "repository inside the repository", set: func(t *testing.T, h *hostile) {
		inner := filepath.Join(h.dir, "inner")
		require.NoError(t, os.Mkdir(inner, 0o755))
		run(t, inner, "init", "-q")
		write(t, inner, "file", "first\n")
		run(t, inner, "add", ".")
		run(t, inner, "commit", "-q", "-m", "first")
		run(t, h.dir, "add", "inner")
		run(t, h.dir, "commit", "-q", "-m", "second")
		run(t, inner, "config", "core.fsmonitor", h.program)
		run(t, inner, "config", "filter.x.clean", h.program)
		write(t, inner, ".gitattributes", "* filter=x\n")
		write(t, inner, "file", "secon\n")
	}},
	{name: "transport of a promised object", set: func(t *testing.T, h *hostile) { h.promised(t, "ext::"+h.program) }},
	{name: "program at the other end", set: func(t *testing.T, h *hostile) {
		h.promised(t, h.dir)
		run(t, h.dir, "config", "remote.origin.uploadpack", h.program)
	}},
	{name: "ssh", set: func(t *testing.T, h *hostile) {
		h.promised(t, "ssh://host.example.com/x")
		run(t, h.dir, "config", "core.sshCommand", h.program)
	}},
}

// promised makes a partial clone that misses the tree of its commit.
func (h hostile) promised(t *testing.T, url string) {
	t.Helper()
	tree := run(t, h.dir, "rev-parse", "HEAD^{tree}")
	run(t, h.dir, "config", "core.repositoryformatversion", "1")
	run(t, h.dir, "config", "extensions.partialClone", "origin")
	run(t, h.dir, "config", "remote.origin.promisor", "true")
	run(t, h.dir, "config", "remote.origin.url", url)
	run(t, h.dir, "config", "protocol.allow", "always")
	write(t, h.dir, "staged.txt", "x\n")
	run(t, h.dir, "add", "staged.txt") // the index differs from the tree, which is read now
	require.NoError(t, os.Remove(filepath.Join(h.dir, ".git", "objects", tree[:2], tree[2:])))
}

// Nothing that a repository configures is run, and no program that git could run would see a
// secret.
func TestLookRunsNothingOfARepository(t *testing.T) {
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", "sk-very-secret")
			t.Setenv("GIT_ALLOW_PROTOCOL", "") // the person's own settings do not decide what is proved
			require.NoError(t, os.Unsetenv("GIT_ALLOW_PROTOCOL"))
			proof := newHostile(t)
			attack.set(t, &proof)
			args := attack.proves
			if args == nil {
				args = []string{"status"}
			}
			try(t, proof.dir, args...)
			require.FileExists(t, proof.mark, "with git %s the repository runs a program", strings.Join(args, " "))

			h := newHostile(t)
			attack.set(t, &h)
			w := Look(t.Context(), h.dir)
			require.NoFileExists(t, h.mark)
			require.NotNil(t, w)
		})
	}
}

// What the keys of a configuration name that git does not run for "status" is not run either, and
// what was asked is still answered.
func TestLookRunsNoneOfTheProgramsOfAConfiguration(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	for _, key := range []string{
		"core.pager", "pager.status", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand", "credential.helper",
		"diff.external", "diff.x.command", "diff.x.textconv", "merge.x.driver", "alias.status", "gpg.program", "gpg.ssh.program",
		"sequence.editor", "uploadpack.packObjectsHook", "interactive.diffFilter", "hook.x.command", "submodule.x.update",
	} {
		run(t, h.dir, "config", key, "!"+h.program)
	}
	for _, event := range []string{"post-index-change", "pre-commit"} {
		run(t, h.dir, "config", "--add", "hook.x.event", event)
	}
	write(t, h.dir, ".gitattributes", "* diff=x merge=x\n")
	w := Look(t.Context(), h.dir)
	require.NoFileExists(t, h.mark)
	require.Empty(t, w.Problem)
	require.Equal(t, []echo.FileChange{{Path: "changed.txt", Change: "modified"}, {Path: ".gitattributes", Change: "untracked"}}, w.Files)
}

// Settings that come with the environment of windlass do not reach git.
func TestLookRunsNothingOfTheEnvironment(t *testing.T) {
	h := newHostile(t)
	write(t, h.dir, ".gitattributes", "* filter=x\n")
	t.Setenv("GIT_CONFIG_COUNT", "2")
	t.Setenv("GIT_CONFIG_KEY_0", "filter.x.clean")
	t.Setenv("GIT_CONFIG_VALUE_0", h.program)
	t.Setenv("GIT_CONFIG_KEY_1", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_1", h.program)
	try(t, h.dir, "status")
	require.FileExists(t, h.mark)
	require.NoError(t, os.Remove(h.mark))
	Look(t.Context(), h.dir)
	require.NoFileExists(t, h.mark)
}

// A filter of a person's own configuration, as git-lfs has one, is not run either; the files that
// it is for are compared as they are.
func TestLookWithAFilterOfThePerson(t *testing.T) {
	h := newHostile(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	write(t, home, ".gitconfig", fmt.Sprintf("[filter \"lfs\"]\n\tclean = %s\n\tprocess = %[1]s\n\trequired = true\n[core]\n\texcludesFile = ~/ignored\n", h.program))
	write(t, home, "ignored", "*.log\n")
	write(t, h.dir, ".gitattributes", "* filter=lfs\n")
	write(t, h.dir, "a.log", "x")
	w := Look(t.Context(), h.dir)
	require.NoFileExists(t, h.mark)
	require.Empty(t, w.Problem)
	require.Equal(t, []echo.FileChange{{Path: "changed.txt", Change: "modified"}, {Path: ".gitattributes", Change: "untracked"}}, w.Files,
		"unchanged files are not reported, and what the person ignores is ignored")
}
