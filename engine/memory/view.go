package memory

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/excerpt"
)

const (
	maxLines = 999_999 // a number of a line has six digits
	maxDepth = 2       // the levels of folders that a listing has

	numberWidth = 8 // bytes of the number of a line, with the tab after it and the line's end
)

func (f Files) view(c *Command, path string) Result {
	text, ok := f[path]
	switch {
	case ok:
		return c.viewFile(path, text)
	case f.exists(path):
		return Result{Text: f.list(path)}
	}
	return failed(fmt.Sprintf("The path %s does not exist. Please provide a valid path.", path))
}

func (c *Command) viewFile(path, text string) Result {
	lines := strings.Split(text, "\n")
	if len(lines) > maxLines {
		return failed(fmt.Sprintf("File %s exceeds maximum line limit of 999,999 lines.", path))
	}
	first, last := 1, len(lines)
	if c.ViewRange != nil {
		var ok bool
		if first, last, ok = within(c.ViewRange, len(lines)); !ok {
			return failed(fmt.Sprintf("Error: Invalid `view_range` parameter: %s. It should be [first, last] within the range of lines of the file: [1, %d], or [first, -1] for all lines from the first on",
				shownRange(c.ViewRange), len(lines)))
		}
	}
	return Result{Text: shown(path, lines, first, last), Read: []string{path}}
}

// shown returns some lines of a file, as many of them as an answer has room for.
func shown(path string, lines []string, first, last int) string {
	size, upTo := 0, first-1
	for upTo < last && (upTo < first || size+len(lines[upTo])+numberWidth <= MaxAnswer) {
		size += len(lines[upTo]) + numberWidth
		upTo++
	}
	text := fmt.Sprintf("Here's the content of %s with line numbers:\n%s", path, numbered(lines, first, upTo))
	if upTo < last {
		text += fmt.Sprintf("\n[the lines up to %d of %d; view_range [%d, -1] shows the others]", upTo, last, upTo+1)
	}
	return text
}

// Shown returns a file as view shows it.
func Shown(path, text string) string {
	lines := strings.Split(text, "\n")
	return shown(path, lines, 1, len(lines))
}

// within returns the first and the last line of a range, counted from 1. A range may end after the last line.
func within(r []int, lines int) (first, last int, ok bool) {
	if len(r) != 2 {
		return 0, 0, false
	}
	first, last = r[0], min(r[1], lines)
	if r[1] == -1 {
		last = lines
	}
	return first, last, first >= 1 && first <= last
}

// shownRange writes a range as JSON has it, whatever its length.
func shownRange(r []int) string {
	return excerpt.Clip("["+strings.Trim(strings.ReplaceAll(fmt.Sprint(r), " ", ", "), "[]"), 60) + "]"
}

// numbered returns some lines with their numbers, counted from 1.
func numbered(lines []string, first, last int) string {
	var out strings.Builder
	for n := first; n <= last; n++ {
		if n > first {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%6d\t%s", n, lines[n-1])
	}
	return out.String()
}

// list returns what a folder has, without what is hidden in it. The size of a folder is that of all files in it, hidden
// ones too.
func (f Files) list(folder string) string {
	sizes, isFolder := map[string]int{}, map[string]bool{}
	total := 0
	for _, path := range f.below(folder) {
		size := len(f[path])
		total += size
		names := strings.Split(path[len(folder)+1:], "/")
		for i, name := range names[:min(len(names), maxDepth)] {
			if strings.HasPrefix(name, ".") || name == "node_modules" {
				break
			}
			at := strings.Join(names[:i+1], "/")
			sizes[at] += size
			isFolder[at] = i+1 < len(names)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n", folder)
	fmt.Fprintf(&out, "%s\t%s", formatSize(total), folder)
	for _, at := range slices.SortedFunc(maps.Keys(sizes), byNames) {
		fmt.Fprintf(&out, "\n%s\t%s/%s", formatSize(sizes[at]), folder, at)
		if isFolder[at] {
			out.WriteByte('/')
		}
	}
	return out.String()
}

// byNames compares paths name by name: what is in a folder follows the folder.
func byNames(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// formatSize writes a number of bytes as a person reads it, in powers of 1024: 0B, 512B, 1K, 5.5K, 1.2M.
func formatSize(bytes int) string {
	if bytes == 0 {
		return "0B"
	}
	const units = "BKMG"
	unit := min((bits.Len(uint(bytes))-1)/10, len(units)-1)
	scale := 1 << (10 * unit)
	if bytes%scale == 0 {
		return fmt.Sprintf("%d%c", bytes/scale, units[unit])
	}
	return fmt.Sprintf("%.1f%c", float64(bytes)/float64(scale), units[unit])
}
