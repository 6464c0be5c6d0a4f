package inspector

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/page"
)

// How much of a matrix a page has.
const (
	matrixCalls = 120
	matrixRows  = 400
)

// The measures of the drawing, in pixels.
const (
	labelWidth  = 230
	headHeight  = 22
	leastHeight = 11
	mostHeight  = 30
	mostCell    = 44
	drawnWidth  = 1100 // of the cells together, about
)

// matrixView is the screen of the context matrix.
type matrixView struct {
	head
	matrixPart
	matrixDrawing
	Steps []page.Link
	Whole *wholeView // nil: the part is the whole
	SQL   string
}

// matrixPart says which part of a matrix is shown.
type matrixPart struct {
	First, Last, Of   int // columns, from 1
	FirstRow, LastRow int // messages, from 1, of those that the columns have
	AllRows           int
}

// wholeView says what the script draws that is larger than a page has.
type wholeView struct {
	Path            string // of what [pack] writes
	Calls, Messages int
	Open            bool // the address asks for a part
}

// matrixDrawing is a part as it is drawn.
type matrixDrawing struct {
	Width, Height int
	Columns       []matrixColumn
	Rows          []matrixRow
	Cells         []matrixCell
	Forms         []string
}

// matrixColumn is the head of a call.
type matrixColumn struct {
	X, W   int
	Number int
	Shown  bool // its number has room
	Path   string
	Title  string
}

// matrixRow is the label of a message.
type matrixRow struct {
	Y, H, TextY int
	Label       string
	Path        string
}

// matrixCell is a message in some calls.
type matrixCell struct {
	X, Y, W, H int
	Form       string
	Cached     bool
	Path       string
	Title      string
}

func matrix(v *visit) error {
	r, err := v.of.Record()
	if err != nil {
		return err
	}
	whole, err := v.of.Matrix()
	if err != nil {
		return err
	}
	first, row := min(numberOf(v.Query(), "call"), max(len(whole.Calls), 1)), numberOf(v.Query(), "row")
	m := whole.Between(first-1, first+matrixCalls-2)
	view := matrixView{
		head: v.head("matrix"), SQL: matrixSQL(v.of.ID), matrixPart: matrixPart{
			First: first, Last: first + len(m.Calls) - 1, Of: len(r.Calls), AllRows: len(m.Rows), FirstRow: min(row, max(len(m.Rows), 1)),
		},
	}
	if len(whole.Calls) > matrixCalls || len(whole.Rows) > matrixRows {
		view.Whole = &wholeView{Path: pathOf(v.of.ID) + "/matrix/whole", Calls: len(whole.Calls), Messages: len(whole.Rows), Open: len(v.Query()) > 0}
		v.Scripts = []string{"/page/inspector/matrix.js"}
	}
	view.LastRow = min(view.FirstRow+matrixRows-1, len(m.Rows))
	view.draw(v.of.ID, r, m)
	view.steps(v.of.ID, first)
	return v.Show("matrix", v.of.ID+": context matrix", view)
}

// numberOf returns a number of the address, from 1.
func numberOf(q url.Values, name string) int {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return 1
	}
	return min(max(n, 1), math.MaxInt32)
}

func matrixPath(id string, call, row int) string {
	return fmt.Sprintf("%s/matrix?call=%d&row=%d", pathOf(id), call, row)
}

// steps lead to the rest of the matrix.
func (m *matrixView) steps(id string, first int) {
	add := func(fits bool, title string, call, row int) {
		if fits {
			m.Steps = append(m.Steps, page.Link{Title: title, Path: matrixPath(id, max(call, 1), max(row, 1))})
		}
	}
	add(first > 1, "Earlier calls", first-matrixCalls, m.FirstRow)
	add(m.Last < m.Of, "Later calls", first+matrixCalls, m.FirstRow)
	add(m.FirstRow > 1, "Messages above", first, m.FirstRow-matrixRows)
	add(m.LastRow < m.AllRows, "Messages below", first, m.FirstRow+matrixRows)
}

// draw places rows and cells.
func (m *matrixView) draw(id string, r *inspect.Record, of *inspect.Matrix) {
	cell := min(max(drawnWidth/max(len(of.Calls), 1), 8), mostCell)
	for i, n := range of.Calls {
		c := &r.Calls[n-1]
		m.Columns = append(m.Columns, matrixColumn{
			X: labelWidth + i*cell, W: cell, Number: n, Shown: cell >= 22 || i%5 == 0, Path: callPath(id, c.Key),
			Title: fmt.Sprintf("call %d, %s", n, c.Place()),
		})
	}
	y := headHeight
	tops, heights := map[int]int{}, map[int]int{}
	for i := m.FirstRow - 1; i < m.LastRow; i++ {
		row := &of.Rows[i]
		h := rowHeightOf(row.Tokens)
		tops[i], heights[i] = y, h
		label := fmt.Sprintf("%d %s %s", i+1, row.Role, row.Tool)
		m.Rows = append(m.Rows, matrixRow{Y: y, H: h, TextY: y + h/2 + 4, Label: label, Path: lifePath(id, row.Hash)})
		y += h + 1
	}
	m.Width, m.Height = labelWidth+len(of.Calls)*cell, y
	seen := map[string]bool{}
	for _, s := range of.Strips {
		top, shown := tops[s.Row]
		if !shown {
			continue
		}
		row := &of.Rows[s.Row]
		if form := string(s.Form); !seen[form] {
			seen[form] = true
			m.Forms = append(m.Forms, form)
		}
		m.Cells = append(m.Cells, matrixCell{
			X: labelWidth + s.First*cell, Y: top, W: (s.Last-s.First+1)*cell - 1, H: min(rowHeightOf(s.Tokens), heights[s.Row]), Form: string(s.Form), Cached: s.Cached,
			Path: lifePath(id, row.Hash), Title: stripTitle(&s, row, of.Calls),
		})
	}
}

func stripTitle(s *inspect.Strip, row *inspect.MatrixRow, numbers []int) string {
	calls := fmt.Sprintf("call %d", numbers[s.First])
	if s.Last > s.First {
		calls = fmt.Sprintf("calls %d to %d", numbers[s.First], numbers[s.Last])
	}
	text := fmt.Sprintf("%s: %s %s %s, %d tokens, %s", calls, row.Role, row.Tool, s.Form, s.Tokens, s.Reason)
	if s.Cached {
		text += ", equal to the call before"
	}
	return text
}

// rowHeightOf returns the height of a message of so many tokens: a logarithm, as messages differ by factors of thousands.
func rowHeightOf(tokens int64) int {
	return min(leastHeight+int(4*math.Log2(1+float64(tokens)/40)), mostHeight)
}
