package memory

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile are paths that no command takes.
func hostile() []string {
	paths := []string{
		// Elsewhere.
		"", "/", "//", ".", "..", "~", "~/memories/a", "a", "memories", "memories/a", "./memories/a", "/etc/passwd", "/Memories/a", "/MEMORIES",
		"/memorie", "/memorie/s", " /memories/a", "\t/memories/a", "//memories/a", "/./memories/a", "/tmp/../memories/a", "/memoriesa", "/memories.md",
		"/memories-old/a", "/memories /a", "/memories.", "/memories..", "file:///memories/a", "C:/memories/a", `C:\memories\a`, `\memories\a`, `\\host\memories\a`,
		"/proc/self/root/memories", "/dev/stdin", "/memories\x00", "/\x00memories/a", "/memorieѕ/a", "/ｍemories/a", "/\u200bmemories/a", "／memories／a",
		// Out of it and back.
		"/memories/..", "/memories/../", "/memories/../etc/passwd", "/memories/../../../../etc/passwd", "/memories/a/../../b", "/memories/a/../b",
		"/memories/a/..", "/memories/../memories", "/memories/../memories/a", "/memories/..//a", "/memories/.", "/memories/./", "/memories/./a", "/memories/a/.",
		"/memories/a/./b", "/memories/.../../a", "/memories/a/b/../../../c", "/memories/.. /a", "/memories/ ../a",
		// Nothing between slashes.
		"/memories//", "/memories//a", "/memories///a", "/memories/a//b", "/memories/a//", "/memories/ /a", "/memories/a/ ",
		// Backslashes.
		`/memories\..\a`, `/memories/..\a`, `/memories/a\b`, `/memories/\`, `/memories\a`, `/memories/a\`, `/memories/＼a`, `/memories/﹨a`,
		// Percent-encoded.
		"/memories/%2e%2e/a", "/memories/%2E%2E/a", "/memories/%2e%2E%2f", "/memories/..%2fa", "/memories/a%2Fb", "/memories/a%5cb", "/memories/a%5Cb",
		"/memories/%2e", "/memories%2f..%2fa", "%2fmemories/a", "/memories/a.%2e/b",
		// What looks like dots and slashes.
		"/memories/．．/a", "/memories/\u2025/a", "/memories/\u2024/a", "/memories/\u2024\u2024", "/memories/a／b", "/memories/a\u2215b", "/memories/a\u2044b",
		"/memories/a\u29f8b", "/memories/℀",
		// What is not UTF-8.
		"/memories/\xff", "/memories/a\xc0\xafb", "/memories/\xc0\xae\xc0\xae/a", "/memories/\xed\xa0\x80", "/memories/a\xf0\x9f", "/memories/\ufffd",
		// Spaces and characters that combine.
		"/memories/a ", "/memories/ a", "/memories/a /b", "/memories/a\u00a0b", "/memories/a\u2003b", "/memories/a\u3000b", "/memories/\u0338a", "/memories/a/\u0301",
		// Length.
		"/memories/" + strings.Repeat("a", 256), "/memories/" + strings.Repeat("ä", 128), "/memories/" + strings.Repeat("a/", 251) + "a", "/memories/" + strings.Repeat("a", 100_000),
		strings.Repeat("/memories", 100), "/memories" + strings.Repeat("/", 100_000), "/memories" + strings.Repeat("/..", 10_000),
	}
	// Hidden characters, at every place of a name.
	for r := range rune(0x20) {
		paths = append(paths, fmt.Sprintf("/memories/a%cb", r))
	}
	for _, r := range []rune{
		0x7F, 0x80, 0x85, 0x9B, 0x9F, 0xAD, 0x34F, 0x61C, 0x115F, 0x1680, 0x17B4, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C,
		0x202D, 0x202E, 0x2060, 0x2061, 0x2066, 0x2067, 0x2068, 0x2069, 0x206F, 0x2800, 0x3164, 0xE000, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFE, 0xE0001, 0xE0041, 0xE0100, 0x10FFFF,
	} {
		paths = append(paths, fmt.Sprintf("/memories/a%cb", r), fmt.Sprintf("/memories/%ca", r), fmt.Sprintf("/memories/a%c", r), fmt.Sprintf("/memories/d/%c/a", r))
	}
	return paths
}

// Every command refuses every hostile path with an error that says where paths begin, and that has nothing hidden.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	paths := hostile()
	require.Greater(t, len(paths), 100)
	files := Files{"/memories/a": "text", "/memories/b/c.md": "text"}
	before := maps.Clone(files)
	line := 0
	for _, p := range paths {
		for _, c := range []Command{
			{Command: commandView, Path: p},
			{Command: commandView, Path: p, ViewRange: []int{1, -1}},
			{Command: commandCreate, Path: p, FileText: "x"},
			{Command: commandReplace, Path: p, OldStr: "text", NewStr: "x"},
			{Command: commandInsert, Path: p, InsertLine: &line, InsertText: "x"},
			{Command: commandDelete, Path: p},
			{Command: commandRename, OldPath: p, NewPath: "/memories/new.md"},
			{Command: commandRename, OldPath: "/memories/a", NewPath: p},
			{Command: commandRename, OldPath: p, NewPath: p},
		} {
			r := c.Run(files)
			require.True(t, r.Failed, "%s %q: %s", c.Command, p, r.Text)
			require.Equal(t, Result{Text: r.Text, Failed: true}, r)
			require.Contains(t, r.Text, Root)
			require.Regexp(t, `^(Path must start with /memories, got: |Path .* would escape /memories directory$|Error: Invalid path .*\. Paths begin with /memories, for example /memories/notes\.md$)`, r.Text)
			require.False(t, strings.ContainsFunc(r.Text, isHidden), "%q", r.Text)
			require.Less(t, len(r.Text), 1500)
		}
	}
	require.Equal(t, before, files)
}

// Names that only look strange are names.
func TestGoodPaths(t *testing.T) {
	t.Parallel()
	files := Files{}
	for _, p := range []string{
		"/memories/a", "/memories/a.md", "/memories/.plan", "/memories/..a", "/memories/a..", "/memories/...", "/memories/-rf", "/memories/~", "/memories/$HOME",
		"/memories/a b", "/memories/CON", "/memories/nul.txt", "/memories/100%", "/memories/%41", "/memories/ä.md", "/memories/e\u0301.md", "/memories/日本語.md",
		"/memories/📝.md", "/memories/½", "/memories/…", "/memories/memories/x", "/memories/d/" + strings.Repeat("x", 255), "/memories/" + strings.Repeat("x/", 250) + "xx",
	} {
		r := (&Command{Command: commandCreate, Path: p}).Run(files)
		require.False(t, r.Failed, "%q: %s", p, r.Text)
		files = files.With(r.Changes)
		require.Contains(t, files, p)
	}
}
