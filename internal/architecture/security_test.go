package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecurityPageNamesTests: every test and every group of attacks that docs/security.md names is there, every group has its
// row, and every right has a test.
func TestSecurityPageNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	tests, groups := namesOfTests(t)
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(page), -1) {
		require.Contains(t, tests, m[1])
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`attack: ([a-z_]+(?:, [a-z_]+)*)`).FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			if name != "name" { // the word that stands for all of them
				named[name] = true
				require.Contains(t, groups, name)
			}
		}
	}
	for name := range groups {
		require.True(t, named[name], "no promise names the group %s", name)
		require.Contains(t, string(page), "\n| "+name+" | ")
	}
	_, rights, ok := strings.Cut(string(page), "\n## Rights\n")
	require.True(t, ok)
	rights, _, _ = strings.Cut(rights, "\n## ")
	rows := 0
	for line := range strings.Lines(rights) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| right ") {
			rows++
			require.Regexp(t, "attack: |`Test", line)
		}
	}
	require.Greater(t, rows, 10)
}

// namesOfTests returns the names of all tests of all modules, and of the groups of attacks.
func namesOfTests(t *testing.T) (tests, groups map[string]bool) {
	t.Helper()
	tests, groups = map[string]bool{}, map[string]bool{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	group := regexp.MustCompile(`return group\{\s+name:\s+"(\w+)"`)
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		for _, m := range group.FindAllStringSubmatch(string(text), -1) {
			groups[m[1]] = true
		}
		return err
	}))
	require.Len(t, groups, 16)
	return tests, groups
}
