// Package linediff compares two texts line by line.
package linediff

import (
	"strings"

	"github.com/windlass-run/windlass/internal/quantity"
)

// Op says where a line is.
type Op byte

// Where a line can be.
const (
	Both Op = ' '
	Old  Op = '-'
	New  Op = '+'
	Gap  Op = '@' // of [Around]: lines of both that are left out; the text says how many
)

// Line is a line of one text, or of both.
type Line struct {
	Op   Op
	Text string
}

// maxCells bounds the table of a comparison. What is longer between its equal ends is old and new as a whole.
const maxCells = 4 << 20

// Of returns the lines of two texts, with as many as possible in both; what was removed stands before what was added.
func Of(old, changed string) []Line {
	a, b := strings.Split(old, "\n"), strings.Split(changed, "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := add(nil, Both, a[:head])
	out = between(out, a[head:len(a)-tail], b[head:len(b)-tail])
	return add(out, Both, a[len(a)-tail:])
}

// Changed reports whether there is a line that only one of the texts has.
func Changed(lines []Line) bool {
	for _, l := range lines {
		if l.Op != Both {
			return true
		}
	}
	return false
}

// Around keeps the lines that only one of the texts has, and so many on each side of them. A line stands for those left out between.
func Around(lines []Line, side int) (out []Line) {
	next := 0 // the first line that is neither kept nor left out
	for i := range lines {
		if lines[i].Op == Both {
			continue
		}
		out = append(leaveOut(out, lines[next:max(next, i-side)]), lines[max(next, i-side):i+1]...)
		next = i + 1
		for next < min(i+1+side, len(lines)) && lines[next].Op == Both {
			out = append(out, lines[next])
			next++
		}
	}
	return leaveOut(out, lines[next:])
}

// leaveOut adds a line in place of several; of one it adds that.
func leaveOut(out, lines []Line) []Line {
	if len(lines) < 2 {
		return append(out, lines...)
	}
	return append(out, Line{Gap, quantity.Of(len(lines), "line") + " the same"})
}

func add(out []Line, op Op, lines []string) []Line {
	for _, l := range lines {
		out = append(out, Line{op, l})
	}
	return out
}

// between compares lines by their longest common subsequence.
func between(out []Line, a, b []string) []Line {
	if len(a)*len(b) > maxCells {
		return add(add(out, Old, a), New, b)
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, Line{Both, a[i]})
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, Line{Old, a[i]})
			i++
		default:
			out = append(out, Line{New, b[j]})
			j++
		}
	}
	return add(add(out, Old, a[i:]), New, b[j:])
}
