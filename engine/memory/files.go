package memory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/internal/quantity"
)

// Files are the files of a bank: path ("/memories/a/b.md") to text. A folder exists only through the files in it.
type Files map[string]string

// Change is what a command does to one file.
type Change struct {
	Path string
	Text string // the whole new text; empty when Gone
	Gone bool   // the file is deleted or renamed
	From string // the path that the file had before it was renamed; that path has a change with Gone
}

// Result is the answer to a command.
type Result struct {
	Text    string   // for the model
	Failed  bool     // Text is an error, and there is nothing else
	Changes []Change // in the order of their paths, each path once
	Read    []string // the paths of the files whose text, or a part of it, is in Text
	Paths   []string // the paths that must be as Files had them for Changes to be right, in order
}

// With returns a copy of the files with the changes applied. The order of changes with different paths does not matter.
func (f Files) With(changes []Change) Files {
	out := make(Files, len(f)+len(changes))
	maps.Copy(out, f)
	for _, c := range changes {
		if c.Gone {
			delete(out, c.Path)
		} else {
			out[c.Path] = c.Text
		}
	}
	return out
}

func failed(problem string) Result { return Result{Text: problem, Failed: true} }

// below returns the paths of the files in a folder and in its folders, in order.
func (f Files) below(folder string) []string {
	var paths []string
	for path := range f {
		if isBelow(path, folder) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func isBelow(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }

func (f Files) isFile(path string) bool {
	_, ok := f[path]
	return ok
}

// exists reports whether a path is one of a file or a folder.
func (f Files) exists(path string) bool {
	if path == Root || f.isFile(path) {
		return true
	}
	for other := range f {
		if isBelow(other, path) {
			return true
		}
	}
	return false
}

// noPlace says why no file can be at a path at which nothing is: a folder on the way to it is a file, or a disk may take a
// name in it for an existing one.
func (f Files) noPlace(path string) string {
	for folder := range folders(path) {
		if f.isFile(folder) {
			return fmt.Sprintf("Error: The path %s cannot be in %s, which is a file", path, folder)
		}
	}
	if other := f.lookalike(path); other != "" {
		return fmt.Sprintf("Error: The path %s is the same as the existing %s but for upper and lower case or the encoding of characters, "+
			"and some disks cannot keep both. Use the existing name, or one that differs more", path, other)
	}
	return ""
}

// written returns the result of a command that gives a file a new text.
func (f Files) written(path, text, answer string) Result {
	if problem := f.unfit(path, text); problem != "" {
		return failed(problem)
	}
	return Result{Text: answer, Changes: []Change{{Path: path, Text: text}}, Paths: []string{path}}
}

// unfit says why a file cannot have a text.
func (f Files) unfit(path, text string) string {
	switch {
	case !utf8.ValidString(text):
		return fmt.Sprintf("Error: The text of %s would not be valid UTF-8", path)
	case strings.ContainsRune(text, 0):
		return fmt.Sprintf("Error: The text of %s would have a NUL character", path)
	case len(text) > MaxFile:
		return fmt.Sprintf("Error: The file %s would have %s, the limit is %d. Split it into several files", path, quantity.Of(len(text), "byte"), MaxFile)
	}
	count, total := len(f), len(text)-len(f[path])
	for _, t := range f {
		total += len(t)
	}
	if !f.isFile(path) {
		count++
	}
	switch {
	case count > MaxFiles:
		return fmt.Sprintf("Error: There would be %s in %s, the limit is %d. Delete or merge files first", quantity.Of(count, "file"), Root, MaxFiles)
	case total > MaxBank:
		return fmt.Sprintf("Error: The files in %s would have %s together, the limit is %d. Delete or shorten files first", Root, quantity.Of(total, "byte"), MaxBank)
	}
	return ""
}
