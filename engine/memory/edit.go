package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/excerpt"
)

const (
	around      = 2    // lines before and after the changed ones in the answer to str_replace
	maxNumbers  = 100  // numbers of lines in the error of several matches
	maxOldShown = 2000 // bytes of old_str in an error
)

func (f Files) create(c *Command, path string) Result {
	if f.exists(path) {
		return failed(fmt.Sprintf("Error: File %s already exists", path))
	}
	if problem := f.noPlace(path); problem != "" {
		return failed(problem)
	}
	return f.written(path, c.FileText, "File created successfully at: "+path)
}

func (f Files) replace(c *Command, path string) Result {
	text, ok := f[path]
	if !ok {
		return failed(fmt.Sprintf("Error: The path %s does not exist. Please provide a valid path.", path))
	}
	if c.OldStr == "" {
		return failed("Error: The argument old_str is empty. Use insert to add text")
	}
	old := excerpt.Clip(c.OldStr, maxOldShown)
	switch found := matches(text, c.OldStr); {
	case len(found) == 0:
		return failed(fmt.Sprintf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, path))
	case len(found) > 1:
		return failed(fmt.Sprintf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique", old, strings.Join(found, ", ")))
	}
	before, after, _ := strings.Cut(text, c.OldStr)
	changed := before + c.NewStr + after
	r := f.written(path, changed, "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"+
		snippet(changed, strings.Count(before, "\n")+1, strings.Count(c.NewStr, "\n")))
	if !r.Failed {
		r.Read = []string{path}
	}
	return r
}

// matches returns the number of the line in which each match begins, matches that overlap too. Of very many it returns the
// first, and an ellipsis.
func matches(text, old string) []string {
	var found []string
	line, at := 1, 0
	for {
		i := strings.Index(text[at:], old)
		switch {
		case i < 0:
			return found
		case len(found) == maxNumbers:
			return append(found, "…")
		}
		line += strings.Count(text[at:at+i], "\n")
		found = append(found, strconv.Itoa(line))
		if text[at+i] == '\n' {
			line++
		}
		at += i + 1
	}
}

// snippet returns the lines of a text from first on, and as many after it as have changed too, with those around them.
func snippet(text string, first, more int) string {
	lines := strings.Split(text, "\n")
	return numbered(lines, max(first-around, 1), min(first+more+around, len(lines)))
}

func (f Files) insert(c *Command, path string) Result {
	text, ok := f[path]
	switch {
	case !ok:
		return failed(fmt.Sprintf("Error: The path %s does not exist", path))
	case c.InsertLine == nil:
		return failed(missing(commandInsert, "insert_line"))
	}
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	if *c.InsertLine < 0 || *c.InsertLine > len(lines) {
		return failed(fmt.Sprintf("Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", *c.InsertLine, len(lines)))
	}
	lines = slices.Insert(lines, *c.InsertLine, strings.TrimRight(c.InsertText, "\n"))
	return f.written(path, strings.Join(lines, "\n")+"\n", fmt.Sprintf("The file %s has been edited.", path))
}
