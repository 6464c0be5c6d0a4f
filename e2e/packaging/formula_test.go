package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// theFormula writes the formula as make dist does, with checksums of no archive, and returns its path.
func theFormula(t *testing.T) string {
	t.Helper()
	values := map[string]string{"@VERSION@": strings.TrimPrefix(version, "v"), "@TAG@": version}
	for i, name := range []string{"@DARWIN_AMD64@", "@DARWIN_ARM64@", "@LINUX_AMD64@", "@LINUX_ARM64@"} {
		values[name] = strings.Repeat(fmt.Sprint(i+1), 64)
	}
	text := read(t, filepath.Join(root(t), "packaging/homebrew/windlass.rb.in"))
	for name, value := range values {
		if !strings.Contains(text, name) {
			t.Errorf("the formula has no %s", name)
		}
		text = strings.ReplaceAll(text, name, value)
	}
	if left := regexp.MustCompile(`@[A-Z0-9_]+@`).FindString(text); left != "" {
		t.Errorf("%s of the formula is nothing", left)
	}
	path := filepath.Join(t.TempDir(), "windlass.rb")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Ruby reads the formula without a warning, and each platform gets its own archive. There is no Homebrew here: a stand-in runs it.
func TestFormula(t *testing.T) {
	t.Parallel()
	formula := theFormula(t)
	if said := run(t, ".", nil, "bash", "-c", `ruby -wc "$0" 2>&1`, formula); strings.TrimSpace(said) != "Syntax OK" {
		t.Error(said)
	}
	for i, platform := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"} {
		said := run(t, ".", nil, "ruby", "testdata/formula.rb", formula, platform)
		want := fmt.Sprintf("https://github.com/windlass-run/windlass/releases/download/%s/windlass_%s_%s.tar.gz\n%s\n",
			version, version, strings.ReplaceAll(platform, "/", "_"), strings.Repeat(fmt.Sprint(i+1), 64))
		if said != want {
			t.Errorf("%s: %q, want %q", platform, said, want)
		}
	}
}

// requireFormulaInstalls has the stand-in for Homebrew install the archive of this platform, and run the formula's test.
func requireFormulaInstalls(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	unpacked, prefix := filepath.Join(dir, "unpacked"), filepath.Join(dir, "prefix")
	check(t, os.Mkdir(prefix, 0o700))
	for name, content := range files {
		path := filepath.Join(unpacked, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(content), 0o755))
	}
	env := []string{"HOME=" + dir, "WINDLASS_HOME=" + filepath.Join(dir, "home"), "WINDLASS_CACHE=" + filepath.Join(dir, "cache"), "OPENAI_BASE_URL=http://127.0.0.1:9"}
	run(t, ".", env, "ruby", "testdata/formula.rb", theFormula(t), runtime.GOOS+"/"+runtime.GOARCH, unpacked, prefix)
	for _, name := range []string{
		"bin/windlass", "etc/bash_completion.d/windlass", "share/zsh/site-functions/_windlass", "share/fish/vendor_completions.d/windlass.fish",
		"share/doc/windlass/README.md", "share/doc/windlass/LICENSES.csv",
	} {
		if read(t, filepath.Join(prefix, name)) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}
