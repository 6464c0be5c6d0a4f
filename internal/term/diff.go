package term

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the lines of a unified diff of two texts, each with a mark: a minus, a plus, or a space.
// There are none where the texts are the same.
func Diff(before, after string) []string {
	text := diff.Diff("before", []byte(before+"\n"), "after", []byte(after+"\n"))
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	const head = 3 // the command, and the names of both sides
	if len(lines) <= head {
		return nil
	}
	return lines[head:]
}
