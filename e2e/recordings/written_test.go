//go:build unix

package recordings

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// blocks of the page have a recording each, which the comment before them names.
var blocks = regexp.MustCompile("(?s)<!-- (recordings/[a-z0-9-]+\\.txt) -->\n```text\n.*?```\n")

// TestPage compares the blocks of docs/recordings.md with the recordings; every one in 80 columns has its block.
func TestPage(t *testing.T) {
	path := filepath.Join(theDocs, "recordings.md")
	page, err := os.ReadFile(path)
	must(t, err)
	shown := map[string]bool{}
	now := blocks.ReplaceAllFunc(page, func(old []byte) []byte {
		name := string(blocks.FindSubmatch(old)[1])
		shown[name] = true
		text, err := os.ReadFile(filepath.Join(theDocs, name))
		must(t, err)
		return []byte("<!-- " + name + " -->\n```text\n" + string(text) + "```\n")
	})
	for _, list := range [][]scene{scenes, readings} {
		for _, s := range list {
			if name := "recordings/" + s.name + "-80.txt"; !shown[name] {
				t.Errorf("docs/recordings.md has no block of %s", name)
			}
		}
	}
	switch {
	case *update:
		must(t, os.WriteFile(path, now, 0o600))
	case string(now) != string(page):
		t.Error("the blocks of docs/recordings.md are not the recordings: make recordings FLAGS=-update writes them")
	}
}
