// Package source reads JSON and YAML files into one tree that knows the place of every key and
// value.
//
// A [Node] has byte offsets, which [File.Pos] turns into lines and columns from one. Columns count
// Unicode code points. Lines end with LF or CRLF.
//
// Anchors, aliases and merge keys of YAML are expanded. Size, nesting and expansion are bounded, so
// that no file makes the reader panic or use memory out of proportion.
package source

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

// The bounds of what is read, far above any file that a person writes.
const (
	MaxBytes     = 16 << 20 // of a JSON file
	MaxYAMLBytes = 4 << 20  // of a YAML file: its scanner takes about half a second for each MiB
	MaxDepth     = 200      // of nested arrays and objects
	maxTokens    = 50_000   // of a YAML file: its parser's time grows with the square of a collection's length
	maxNodes     = 500_000  // of a YAML file after its aliases are expanded
	maxProblems  = 1000     // nobody reads further
)

// Pos is a place in a file. Line and Col count from one; Col counts characters.
type Pos struct {
	Line int
	Col  int
}

// Problem is something wrong with a file's syntax, between two byte offsets.
type Problem struct {
	Code       ProblemCode
	Start, End int
	Message    string
	Hint       string // what to do about it; may be empty
}

// ProblemCode tells problems apart.
type ProblemCode string

// The problems a file's text can have.
const (
	ProblemSyntax       ProblemCode = "syntax"
	ProblemDuplicateKey ProblemCode = "duplicate_key"
	ProblemEncoding     ProblemCode = "encoding"
	ProblemTooLarge     ProblemCode = "too_large"
	ProblemTooDeep      ProblemCode = "too_deep"
)

// File is a parsed file. It is immutable.
type File struct {
	Name     string
	Root     *Node     // nil when the syntax is broken
	Problems []Problem // in the order of the file

	yaml  bool
	plain bool // see [Text]
	data  []byte
	lines []int // the offset at which each line starts
}

// Parse reads data as JSON or YAML, by the extension of name, else by its first character. Root is
// nil when there is no tree; Problems say why.
func Parse(name string, data []byte) *File {
	f := &File{Name: name, yaml: isYAML(name, data)}
	limit := MaxBytes
	if f.yaml {
		limit = MaxYAMLBytes
	}
	if len(data) > limit {
		f.lines = []int{0}
		f.problem(ProblemTooLarge, 0, 0, fmt.Sprintf("the file has %d bytes, more than the limit of %d", len(data), limit), "")
		return f
	}
	f.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f.lines = lineStarts(f.data)
	if at, ok := invalidUTF8(f.data); ok {
		f.problem(ProblemEncoding, at, at+1, fmt.Sprintf("invalid UTF-8: the byte 0x%02X is part of no character", f.data[at]),
			"save the file as UTF-8")
		return f
	}
	if f.yaml {
		parseYAML(f)
	} else {
		parseJSON(f)
	}
	sort.SliceStable(f.Problems, func(i, j int) bool { return f.Problems[i].Start < f.Problems[j].Start })
	return f
}

// Text returns data as a file whose root is a string: all of it.
func Text(name string, data []byte) *File {
	f := &File{Name: name, plain: true, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	f.lines = lineStarts(f.data)
	if at, ok := invalidUTF8(f.data); ok {
		f.problem(ProblemEncoding, at, at+1, fmt.Sprintf("invalid UTF-8: the byte 0x%02X is part of no character", f.data[at]),
			"save the file as UTF-8")
		return f
	}
	f.Root = &Node{Kind: String, Text: string(f.data), End: len(f.data)}
	return f
}

// Pos returns the place of a byte offset, moved into the file.
func (f *File) Pos(offset int) Pos {
	offset = min(max(offset, 0), len(f.data))
	line := sort.SearchInts(f.lines, offset+1) - 1
	return Pos{Line: line + 1, Col: utf8.RuneCount(f.data[f.lines[line]:offset]) + 1}
}

// Line returns the text of a line without its end; "" when there is no such line.
func (f *File) Line(line int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	return strings.TrimSuffix(string(f.data[f.lines[line-1]:f.lineEnd(line)]), "\r")
}

// LineEnd returns the column after the last character of a line.
func (f *File) LineEnd(line int) int { return utf8.RuneCountInString(f.Line(line)) + 1 }

// Around returns about limit characters of a line around an offset, and their first column.
func (f *File) Around(offset, limit int) (text string, col int) {
	line := f.Pos(offset).Line
	start, end := f.lines[line-1], f.lineEnd(line)
	if end > start && f.data[end-1] == '\r' {
		end--
	}
	if end-start <= limit {
		return string(f.data[start:end]), 1
	}
	offset = min(max(offset, start), end)
	from, to := offset, offset
	for n := 0; n < limit/2 && from > start; n++ {
		_, size := utf8.DecodeLastRune(f.data[start:from])
		from -= size
	}
	for n := 0; n < limit/2 && to < end; n++ {
		_, size := utf8.DecodeRune(f.data[to:end])
		to += size
	}
	return string(f.data[from:to]), f.Pos(from).Col
}

// lineEnd returns the offset of the line's LF, or of the file's end.
func (f *File) lineEnd(line int) int {
	if line < len(f.lines) {
		return f.lines[line] - 1
	}
	return len(f.data)
}

// offset returns the byte offset of a place, moved into the file and the line when it lies outside.
func (f *File) offset(p Pos) int {
	line := min(max(p.Line, 1), len(f.lines))
	at, end := f.lines[line-1], f.lineEnd(line)
	for col := 1; col < p.Col && at < end; col++ {
		_, size := utf8.DecodeRune(f.data[at:end])
		at += size
	}
	return at
}

func (f *File) problem(code ProblemCode, start, end int, message, hint string) {
	start = min(start, len(f.data))
	end = min(max(start, end), len(f.data))
	f.Problems = append(f.Problems, Problem{Code: code, Start: start, End: end, Message: message, Hint: hint})
}

func isYAML(name string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return true
	case ".json":
		return false
	}
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] != '{' && trimmed[0] != '['
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, b := range data {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func invalidUTF8(data []byte) (at int, found bool) {
	if utf8.Valid(data) {
		return 0, false
	}
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at, true
		}
		at += size
	}
	return 0, false
}
