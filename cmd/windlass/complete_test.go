package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/completion"
)

// complete returns what a shell is offered for the last of some words, and the directive.
func (l *lab) complete(words ...string) (offered []string, directive string) {
	l.t.Helper()
	lines := strings.Split(strings.TrimSpace(l.run(exitOK, append([]string{"__complete"}, words...)...).out.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// What a shell is told besides the words.
const (
	noFiles        = ":4"
	noFilesInOrder = ":36"
	noFilesNoSpace = ":6"
	filesByEnding  = ":8"
	onlyFolders    = ":16"
)

func TestCompletionOfSessions(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	offered, directive := l.complete("show", "")
	require.Empty(t, offered, "there is no home yet")
	require.Equal(t, noFilesInOrder, directive)
	require.NoDirExists(t, l.home)

	manySessions(t, l.home, 30, false)
	l.file("ask.json", recorded["ask.json"])
	l.file("ask.script.json", `{"default": [{"text": "Done."}]}`)
	l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet", "--session", "nightly-7")
	l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet")
	dirs := sessionsOf(l.home)
	newest := filepath.Base(dirs[len(dirs)-2]) // nightly-7 sorts behind
	short := newest[len(newest)-5:]

	offered, directive = l.complete("show", "")
	require.Equal(t, noFilesInOrder, directive)
	require.Len(t, offered, 29, "last, the newest 20, and their cascades")
	require.Equal(t, []string{"last\task, completed, just now", short + "\task, completed, just now", "nightly-7\task, completed, just now"}, offered[:3])
	for _, line := range offered[3:21] {
		require.Regexp(t, `^[0-9a-z]{5,}\tc\d, completed, \d+ days ago$`, line)
	}
	for _, words := range [][]string{
		{"resume"}, {"verify"}, {"replay"}, {"sessions", "show"}, {"sessions", "handoff"}, {"context", "stats"}, {"test", "freeze"}, {"ship"}, {"simulate"}, {"soundings"},
	} {
		again, _ := l.complete(append(words, "")...)
		require.Equal(t, offered, again, words)
	}
	first := func(words ...string) string {
		offered, _ := l.complete(words...)
		require.Len(t, offered, 1, words)
		name, _, _ := strings.Cut(offered[0], "\t")
		return name
	}
	require.Equal(t, "last", first("show", "la"))
	require.Equal(t, "nightly-7", first("show", "ni"))
	require.Equal(t, short, first("show", short[:4]))
	require.Equal(t, newest, first("show", newest[:20]), "an id that was begun is completed")
	ids, _ := l.complete("sessions", "delete", "")
	require.Equal(t, offered[1:21], ids, "what is deleted has no name that changes")
	ids, _ = l.complete("sessions", "redact", "")
	require.Equal(t, offered[1:21], ids, "nor has what is redacted")
	more, _ := l.complete("ship", short, "")
	require.NotContains(t, more, offered[1], "each once")
	none, directive := l.complete("show", "last", "")
	require.Empty(t, none)
	require.Equal(t, noFiles, directive)
	files, directive := l.complete("simulate", "talks")
	require.Equal(t, []string{"jsonl"}, files)
	require.Equal(t, filesByEnding, directive)
}

func TestCompletionOfPhasesModelsAndFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("few.json", fewForCompletion)
	l.file("few.script.json", `{"default": [{"text": "Done."}]}`)
	l.file("windlass.json", `{"models": {"our-model": {"base_url": "http://127.0.0.1:1/v1"}}}`)
	l.run(exitOK, "run", "few.json", "--offline", "--no-clickhouse", "--quiet", "--session", "s1")
	for _, words := range [][]string{
		{"resume", "last", "--fork", ""}, {"context", "show", "s1", "--phase", ""}, {"context", "select", "few", "--phase", ""}, {"soundings", "s1", ""},
	} {
		offered, directive := l.complete(words...)
		require.Equal(t, []string{"draft", "check_facts"}, offered, words)
		require.Equal(t, noFilesInOrder, directive)
	}
	for _, words := range [][]string{{"soundings", "s1", "draft", ""}, {"soundings", "gone", ""}} {
		offered, directive := l.complete(words...)
		require.Empty(t, offered, words)
		require.Equal(t, noFiles, directive, words)
	}
	offered, _ := l.complete("resume", "--fork", "")
	require.Empty(t, offered, "of which session is not known yet")
	offered, directive := l.complete("run", "few.json", "--model", "")
	require.Contains(t, offered, "our-model")
	require.Contains(t, offered, "draft=\ta model for the phase draft")
	require.Equal(t, noFilesNoSpace, directive)
	offered, directive = l.complete("run", "few.json", "--model", "draft=our")
	require.Equal(t, []string{"draft=our-model"}, offered)
	require.Equal(t, noFiles, directive)
	offered, _ = l.complete("run", "nothing.json", "--model", "our")
	require.Equal(t, []string{"our-model"}, offered)
	offered, _ = l.complete("models", "our")
	require.Equal(t, []string{"our-model"}, offered)
	offered, _ = l.complete("cost", "--by", "s")
	require.Equal(t, []string{"cascade", "phase", "model", "session", "day", "tag"}, offered, "shells choose")
	for _, words := range [][]string{{"run", ""}, {"validate", "few.json", ""}, {"resume", "last", "--cascade", ""}, {"run", "few.json", "--input-file", ""}} {
		offered, directive = l.complete(words...)
		require.Equal(t, []string{"json", "yaml", "yml"}, offered, words)
		require.Equal(t, filesByEnding, directive)
	}
	_, directive = l.complete("run", "few.json", "--root", "")
	require.Equal(t, onlyFolders, directive)
}

const fewForCompletion = `{"cascade_id": "few", "phases": [{"name": "draft", "instructions": "x"}, {"name": "check_facts", "instructions": "y"}]}`

// TestCompletionTouchesNothing: it makes, fetches and starts nothing, whatever is there, and waits
// for nobody; what a session says cannot get at the shell.
func TestCompletionTouchesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, "clickhouse://127.0.0.1:1/nowhere")
	l.env = append(l.env, "WINDLASS_CACHE="+filepath.Join(l.dir, "nothing-is-cached"))
	writeHostile(t, l.home)
	l.file("windlass.json", `{"models": {`)
	l.file("bad.json", `{"phases": "\u001b]0;owned\u0007"}`)
	before := filesBelow(t, l.dir)
	for _, words := range [][]string{
		{"show", ""},
		{"resume", "last", "--fork", ""},
		{"resume", "../..", "--fork", ""},
		{"run", "bad.json", "--model", ""},
		{"models", ""},
		{"sessions", "delete", "../"},
		{"show", "\x1b"},
		{"run", "-", "--model", "x"},
		{"context", "show", strings.Repeat("x", 1<<15), "--phase", ""},
	} {
		p := l.run(exitOK, append([]string{"__complete"}, words...)...)
		requireHarmless(t, p.out.String())
		for line := range strings.Lines(p.out.String()) {
			require.LessOrEqual(t, strings.Count(line, "\t"), 1, line)
		}
	}
	require.Equal(t, before, filesBelow(t, l.dir))
}

// writeHostile makes folders that are no sessions, and one session whose cascade is hostile.
func writeHostile(t *testing.T, home string) {
	t.Helper()
	manySessions(t, home, 1, false)
	dir := sessionsOf(home)[0]
	for _, name := range []string{"a\x1b[2J", "with space", "-x", "$(touch owned)"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, "sessions", name), 0o700))
		data, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, "sessions", name, "journal.jsonl"), data, 0o600))
	}
	hostile, err := json.Marshal("x\x1b]0;owned\x07\ty\nz")
	require.NoError(t, err)
	writeSession(t, home, "hostile", time.Now(), `{"cascade_id":`+string(hostile)+`,"phases":[{"name":`+string(hostile)+`}]}`)
}

// TestCompletersAreThere: each is of a command or a flag that there is, and every command about
// sessions has one.
func TestCompletersAreThere(t *testing.T) {
	t.Parallel()
	root := newRootCommand(&console{})
	paths := map[string]*cobra.Command{}
	each(root, func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "windlass ")
		paths[path] = cmd
		if strings.Contains(cmd.Use, "SESSION") || strings.Contains(cmd.Use, "[ID...]") {
			require.Contains(t, completion.Names(), path)
		}
	})
	for _, name := range completion.Names() {
		path, flag, isFlag := strings.Cut(name, " --")
		require.NotNil(t, paths[path], name)
		if isFlag {
			require.NotNil(t, paths[path].Flags().Lookup(flag), name)
		}
	}
}

// TestCompletionScripts: there is one for each shell; bash reads its own.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script := l.run(exitOK, "completion", shell).out.String()
		require.Contains(t, script, "__complete", shell)
		if shell == "bash" {
			l.file("completion.bash", script)
			out, err := exec.Command("bash", "-n", filepath.Join(l.dir, "completion.bash")).CombinedOutput()
			require.NoError(t, err, string(out))
		}
	}
}

// TestBashAlone completes in a bash without the package bash-completion: with a word that bash splits, too.
func TestBashAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", `{"cascade_id": "ask", "inputs_schema": {"hours": "how many", "host": "where"}, "phases": [{"name": "one", "instructions": "x {{ input.hours }}{{ input.host }}"}]}`)
	l.file("ask.script.json", `{"default": [{"text": "Done."}]}`)
	l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet", "--input", "hours=1", "--input", "host=b", "--session", "s1")
	l.file("completion.bash", l.run(exitOK, "completion", "bash").out.String())
	for line, want := range map[string]string{
		"windlass show la": "last", "windlass  show  as": "ask", "windlass run ask.json --input ho": "hours=", "windlass run ask.json --model one": "one=",
		"windlass run ask.json --session=x --input h": "hours=", "windlass show ": "last",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "=", " = "))
		if strings.HasSuffix(line, " ") {
			words = append(words, "''")
		}
		script := fmt.Sprintf("source ./completion.bash; COMP_TYPE=9; COMP_LINE=%q; COMP_POINT=%d; COMP_WORDS=(%s); COMP_CWORD=%d; __start_windlass 2>/dev/null; printf '%%s\\n' \"${COMPREPLY[@]}\"",
			line, len(line), strings.Join(words, " "), len(words)-1)
		cmd := exec.Command("bash", "--norc", "--noprofile", "-c", script)
		cmd.Dir, cmd.Env = l.dir, l.env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), want, line)
		require.NotContains(t, string(out), "not found")
	}
	_, names, _ := strings.Cut(l.run(exitOK, "__complete", "show", "").out.String(), "\n")
	require.Contains(t, names, "\nask\tthe newest session of this cascade\n")
}

func TestCompletionOfMemos(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	offered, directive := l.complete("memos", "show", "")
	require.Empty(t, offered)
	require.Equal(t, noFiles, directive)
	require.NoDirExists(t, l.home, "nothing is made")
	l.run(exitOK, "memos", "add", "A fact.\nMore of it.")
	l.run(exitOK, "memos", "add", "Another one.", "--global")
	for _, command := range []string{"show", "history", "edit", "delete", "forget"} {
		offered, directive := l.complete("memos", command, "m")
		require.Len(t, offered, 2, command)
		require.Regexp(t, "^m[0-9a-f]{8}\tA fact\\.", offered[0])
		require.Regexp(t, "^m[0-9a-f]{8}\tAnother one\\.$", offered[1])
		require.Equal(t, noFiles, directive)
	}
	offered, directive = l.complete("memos", "import", "")
	require.Equal(t, []string{"jsonl"}, offered)
	require.Equal(t, filesByEnding, directive)
	offered, directive = l.complete("memos", "import", "a", "")
	require.Empty(t, offered)
	require.Equal(t, noFiles, directive)
}

func TestCompletionOfBanks(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	offered, directive := l.complete("memory", "show", "")
	require.Empty(t, offered)
	require.Equal(t, noFiles, directive)
	require.NoDirExists(t, l.home, "nothing is made")
	l.file("text", "text\n")
	l.run(exitOK, "memory", "edit", "notes", "plans/may.md", "--file", "text")
	l.run(exitOK, "memory", "edit", "notes", "todo.md", "--file", "text")
	l.run(exitOK, "memory", "edit", "shared:style", "gone.md", "--file", "text")
	l.run(exitOK, "memory", "edit", "shared:style", "gone.md", "--delete")
	for _, command := range []string{"show", "history", "edit", "forget", "export", "import"} {
		offered, directive := l.complete("memory", command, "")
		require.Equal(t, []string{"shared:style\t0 files", "notes\t2 files"}, offered, command)
		require.Equal(t, noFiles, directive)
	}
	offered, directive = l.complete("memory", "show", "notes", "")
	require.Len(t, offered, 2)
	require.Regexp(t, `^plans/may\.md\t5 bytes, by .+$`, offered[0])
	require.Equal(t, noFiles, directive)
	offered, _ = l.complete("memory", "forget", "notes", "/memories/t")
	require.Len(t, offered, 1)
	require.Regexp(t, `^/memories/todo\.md\t`, offered[0])
	offered, _ = l.complete("memory", "edit", "shared:style", "")
	require.Empty(t, offered)
	offered, directive = l.complete("memory", "import", "notes", "")
	require.Equal(t, []string{"jsonl"}, offered)
	require.Equal(t, filesByEnding, directive)
	offered, directive = l.complete("memory", "show", "notes", "todo.md", "")
	require.Empty(t, offered)
	require.Equal(t, noFiles, directive)
}
