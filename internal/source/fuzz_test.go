package source

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// Within the bounds of this package the scanner accepts what encoding/json does, and reads it
// alike.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -2.5e3, true, null, "x\u00e9\n"], "b": {}}`, `[01]`, `{"a":1,}`, `"\ud83d\ude00\ud800"`, "\ufeff{}", `{"a":1,"a":2}`, `[1e400]`, "[\"\x7f\"]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Parse("x.json", data)
		checkPlaces(t, file)
		var want any
		err := json.Unmarshal(file.data, &want)
		if file.Root == nil {
			if err == nil && utf8.Valid(data) && file.Problems[0].Code == ProblemSyntax && !outOfRange(file) {
				t.Fatalf("refused: %+v", file.Problems)
			}
			return
		}
		if err != nil {
			t.Fatalf("accepted, but encoding/json says: %v", err)
		}
		var got any
		if err := json.Unmarshal(file.Root.JSON(nil), &got); err != nil {
			t.Fatalf("wrote bad JSON: %v", err)
		}
		if len(file.Problems) == 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
	})
}

// outOfRange reports whether the file was refused for a number that is too small or too long here.
func outOfRange(file *File) bool {
	return strings.HasPrefix(file.Problems[0].Message, "the number ")
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"a: &x [1, 2]\nb: *x\n", "a: |\n  x\n", "<<: {a: 1}\nb: 2\n", "? a\n: b\n", "- - - a\n", "a: !!str 1\n", "{a: [b, c]}\n", "a: \"\\x41\"\r\n",
		"a: >-\n  x\n\n  y\n", "&a a: *a\n", "!!map {a: b}", "---\n...\n---\n", "a: 'x\n  y'\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Parse("x.yaml", data)
		checkPlaces(t, file)
		if file.Root == nil {
			if len(file.Problems) == 0 {
				t.Fatal("neither a tree nor a problem")
			}
			return
		}
		if raw := file.Root.JSON(nil); !json.Valid(raw) {
			t.Fatalf("wrote bad JSON: %s", raw)
		}
	})
}

// checkPlaces checks that every offset lies in the file.
func checkPlaces(t *testing.T, file *File) {
	t.Helper()
	inside := func(start, end int) {
		if start < 0 || end < start || end > len(file.data) {
			t.Fatalf("offsets %d to %d are not in a file of %d bytes", start, end, len(file.data))
		}
	}
	for _, p := range file.Problems {
		inside(p.Start, p.End)
	}
	var walk func(n *Node)
	walk = func(n *Node) {
		inside(n.Start, n.End)
		for _, item := range n.Items {
			walk(item)
		}
		for _, m := range n.Members {
			inside(m.KeyStart, m.KeyEnd)
			walk(m.Value)
		}
		if n.Kind == String {
			for _, p := range []Pos{{1, 1}, {1, 5}, {2, 3}, {100, 1}} {
				at := file.Inside(n, p)
				inside(at, at)
			}
		}
	}
	if file.Root != nil {
		walk(file.Root)
	}
}
