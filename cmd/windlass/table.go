package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// narrowest is the width that no column is cut below.
const narrowest = 8

// table is text in columns, for people. Numbers stand right-aligned. On a terminal the widest columns of text are cut to
// fit; elsewhere nothing is cut. It holds no colours.
type table struct {
	heads []string
	right []bool // the column holds numbers
	rows  [][]string
}

// newTable makes a table with these column heads. A head that begins with ">" is that of a column of numbers.
func newTable(heads ...string) *table {
	t := &table{}
	for _, h := range heads {
		name, right := strings.CutPrefix(h, ">")
		t.heads, t.right = append(t.heads, name), append(t.right, right)
	}
	return t
}

func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = printable(c)
	}
	t.rows = append(t.rows, row)
}

// printable puts a value on one line and takes away what would control the terminal, because values come from models.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// render writes the table; width is that of the terminal, 0 for none.
func (t *table) render(w io.Writer, width int) error {
	widths := t.widths()
	if width > 0 {
		t.shrink(widths, width)
	}
	var b strings.Builder
	t.line(&b, t.heads, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	t.line(&b, rule, widths)
	for _, row := range t.rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) widths() []int {
	widths := make([]int, len(t.heads))
	for i, h := range t.heads {
		widths[i] = runewidth.StringWidth(h)
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
	}
	return widths
}

// shrink takes from the widest column of text, again and again, until the table fits or nothing is left to take.
func (t *table) shrink(widths []int, width int) {
	total := 2 * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for ; total > width; total-- {
		widest := -1
		for i, n := range widths {
			if !t.right[i] && n > narrowest && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *table) line(b *strings.Builder, cells []string, widths []int) {
	var line strings.Builder
	for i, c := range cells {
		if i > 0 {
			line.WriteString("  ")
		}
		if runewidth.StringWidth(c) > widths[i] {
			c = runewidth.Truncate(c, widths[i], "…")
		}
		space := strings.Repeat(" ", widths[i]-runewidth.StringWidth(c))
		if t.right[i] {
			line.WriteString(space + c)
		} else {
			line.WriteString(c + space)
		}
	}
	fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
}

// tableWidth returns the width of the terminal that w is, 0 if it is none.
func tableWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// show renders a table to standard output.
func (a *app) show(t *table) error { return t.render(a.out, tableWidth(a.out)) }
