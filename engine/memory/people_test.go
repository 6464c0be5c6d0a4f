package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxFile)
	for _, c := range []struct{ path, text, want string }{
		{"/memories/a", long, ""},
		{"/memories/a", "", ""},
		{"/memories", "", "Error: /memories is the path of a folder"},
		{"/memories/a/", "", "Error: /memories/a/ is the path of a folder"},
		{"a", "", "Path must start with /memories, got: a"},
		{"/memories/../a", "", "Path /memories/../a would escape /memories directory"},
		{"/memories/a", "\xff", "Error: The text of /memories/a would not be valid UTF-8"},
		{"/memories/a", "\x00", "Error: The text of /memories/a would have a NUL character"},
		{"/memories/a", long + "x", "Error: The file /memories/a would have 102401 bytes, the limit is 102400. Split it into several files"},
	} {
		require.Equal(t, c.want, CheckFile(c.path, c.text), c.path)
	}
}

func TestCheckFiles(t *testing.T) {
	t.Parallel()
	many, large := Files{}, Files{}
	for i := range MaxFiles + 1 {
		many[fmt.Sprintf("%s/%d", Root, i)] = ""
	}
	for i := range MaxBank/MaxFile + 1 {
		large[fmt.Sprintf("%s/%d", Root, i)] = strings.Repeat("x", MaxFile)
	}
	for _, c := range []struct {
		files Files
		want  string
	}{
		{nil, ""},
		{Files{"/memories/a": "a", "/memories/b/c": "c"}, ""},
		{Files{"/memories/a": "a", "/memories/A": "A"}, ""}, // two machines may have made them
		{Files{"/memories/a": "a", "/memories/a/b/c": "c"}, "Error: The path /memories/a/b/c cannot be in /memories/a, which is a file"},
		{many, "Error: There would be 1001 files in /memories, the limit is 1000. Delete or merge files first"},
		{large, "Error: The files in /memories would have 16793600 bytes together, the limit is 16777216. Delete or shorten files first"},
	} {
		require.Equal(t, c.want, c.files.Check())
	}
}

func TestPut(t *testing.T) {
	t.Parallel()
	files := Files{"/memories/a": "a", "/memories/d/b": "b"}
	for _, c := range []struct{ path, text, want string }{
		{"/memories/a", "new", ""},
		{"/memories/new/file", "new", ""},
		{"/memories/d", "x", "Error: File /memories/d already exists"},
		{"/memories/a/b", "x", "Error: The path /memories/a/b cannot be in /memories/a, which is a file"},
		{"/memories/a", "\x00", "Error: The text of /memories/a would have a NUL character"},
		{"/etc/passwd", "x", "Path must start with /memories, got: /etc/passwd"},
	} {
		res := files.Put(c.path, c.text)
		if c.want != "" {
			require.Equal(t, Result{Text: c.want, Failed: true}, res)
			continue
		}
		require.False(t, res.Failed, res.Text)
		require.Equal(t, []Change{{Path: c.path, Text: c.text}}, res.Changes)
		require.Equal(t, []string{c.path}, res.Paths)
	}
}
