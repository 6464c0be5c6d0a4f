package source

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Inside returns the offset of a line and column (from 1) of a decoded string; where the notation
// cannot be followed, as in a folded YAML scalar, the string's start.
func (f *File) Inside(n *Node, p Pos) int {
	if n == nil || n.Kind != String || n.Start >= len(f.data) {
		if n == nil {
			return 0
		}
		return n.Start
	}
	if f.plain {
		return f.offset(p)
	}
	if !f.yaml {
		return f.insideJSON(n, p)
	}
	if f.data[n.Start] == '|' {
		return f.insideLiteral(n, p)
	}
	return f.insideYAML(n, p)
}

func (f *File) insideJSON(n *Node, p Pos) int {
	line, col := 1, 1
	at := n.Start + 1
	for at < n.End-1 && (line < p.Line || line == p.Line && col < p.Col) {
		r, size := utf8.DecodeRune(f.data[at:])
		if r == '\\' {
			r, size = unescape(f.data[at:])
		}
		if r == '\n' {
			if line == p.Line {
				break
			}
			line, col = line+1, 0
		}
		at += size
		col++
	}
	return at
}

// insideLiteral follows a literal block: its lines are the file's without the indentation.
func (f *File) insideLiteral(n *Node, p Pos) int {
	header := f.Pos(n.Start).Line
	indent := -1
	for line := header + 1; line <= len(f.lines) && indent < 0; line++ {
		if text := f.Line(line); strings.TrimSpace(text) != "" {
			indent = len(text) - len(strings.TrimLeft(text, " "))
		}
	}
	if indent < 0 || header+p.Line > len(f.lines) {
		return n.Start
	}
	return f.offset(Pos{Line: header + p.Line, Col: indent + p.Col})
}

// insideYAML follows a plain or quoted scalar as long as its notation is the text itself.
func (f *File) insideYAML(n *Node, p Pos) int {
	start := n.Start
	if f.data[start] == '"' || f.data[start] == '\'' {
		start++
	}
	prefix := prefixUpTo(n.Text, p)
	if bytes.HasPrefix(f.data[start:], []byte(prefix)) {
		return start + len(prefix)
	}
	return n.Start
}

func prefixUpTo(text string, p Pos) string {
	at := 0
	for line := 1; line < p.Line; line++ {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	for col := 1; col < p.Col && at < len(text) && text[at] != '\n'; col++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at]
}
