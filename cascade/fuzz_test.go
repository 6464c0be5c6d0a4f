package cascade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No file makes the loader panic. It returns either a cascade or an error, and every diagnostic has
// its place inside the file.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/invalid/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(files, "testdata/everything.yaml", "testdata/soundings/all_with_cost.json") {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, strings.HasSuffix(path, ".yaml"))
	}
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		name := "x.json"
		if yaml {
			name = "x.yaml"
		}
		if in, _, err := ParseIntra(name, data); err == nil && in.Window < 0 {
			t.Fatalf("settings with a window of %d turns", in.Window)
		}
		c, found, err := Parse(name, data, testKnown())
		if (c == nil) != (err != nil) {
			t.Fatalf("cascade %v with error %v", c, err)
		}
		lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		for _, d := range found {
			if d.File != name {
				continue // of another cascade
			}
			if d.Line < 1 || d.Line > len(lines) {
				t.Fatalf("%v: there are %d lines", d, len(lines))
			}
			if width := len([]rune(lines[d.Line-1])); d.Col < 1 || d.Col > width+1 || d.EndCol < d.Col || d.EndCol > width+1 {
				t.Fatalf("%v to column %d: the line has %d characters", d, d.EndCol, width)
			}
			if d.Message == "" || d.Code == "" || d.Severity == "" {
				t.Fatalf("incomplete: %+v", d)
			}
		}
	})
}
