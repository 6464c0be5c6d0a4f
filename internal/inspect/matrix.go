package inspect

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Matrix says which calls were sent which messages, and in which form. Each call has a column; those of one conversation stand
// side by side.
type Matrix struct {
	Calls  []int       // the number of the call of each column
	Rows   []MatrixRow // the messages of all histories, in the order in which they were recorded
	Strips []Strip     // in the order of rows, and of columns within a row
}

// MatrixRow is a message of a history.
type MatrixRow struct {
	Seq    uint64 // of the entry that has it
	Hash   echo.Hash
	Role   echo.Role
	Tool   string
	Tokens int64 // of the most that was sent for it in one of the calls
}

// Strip is a message in columns side by side that were sent the same for it.
type Strip struct {
	Row         int // from 0
	First, Last int // columns, from 0
	Form        autocontext.Form
	Reason      autocontext.Reason
	Tokens      int64 // of what was sent in each call; 0: nothing was
	Cached      bool  // it lies in the common beginning with the request before, which a prefix cache can have
}

func (s *Strip) continues(next *Strip) bool {
	return s.Last == next.First-1 && s.Row == next.Row && s.Form == next.Form && s.Reason == next.Reason && s.Tokens == next.Tokens && s.Cached == next.Cached
}

// Matrix reads all calls. The time that it takes grows with the entries and with what changed from call to call.
func (r *Record) Matrix() (*Matrix, error) {
	l := &loom{rows: map[uint64]int{}, of: map[echo.Key]*weave{}, m: &Matrix{}}
	err := follow(r, func(n int, req *record.Request, t *thread) bool {
		l.weave(record.Conversation(req.Selection.Key)).add(l, n, req, t)
		return true
	})
	if err != nil {
		return nil, err
	}
	l.finish()
	return l.m, nil
}

// Between returns the part of a matrix that has the calls of columns from first to last, with the rows that they have.
func (m *Matrix) Between(first, last int) *Matrix {
	first, last = max(first, 0), min(last, len(m.Calls)-1)
	out := &Matrix{}
	if last < first {
		return out
	}
	out.Calls = m.Calls[first : last+1]
	row := -1 // in m
	for _, s := range m.Strips {
		if s.Last < first || s.First > last {
			continue
		}
		if s.Row != row {
			row = s.Row
			of := m.Rows[row]
			of.Tokens = 0
			out.Rows = append(out.Rows, of)
		}
		in := &out.Rows[len(out.Rows)-1]
		in.Tokens = max(in.Tokens, s.Tokens)
		s.Row, s.First, s.Last = len(out.Rows)-1, max(s.First, first)-first, min(s.Last, last)-first
		out.Strips = append(out.Strips, s)
	}
	return out
}

// loom makes a matrix. Until it is finished, columns count from the first call of their conversation, and rows in the order in
// which they are met.
type loom struct {
	m      *Matrix
	rows   map[uint64]int // by the number of the entry
	of     map[echo.Key]*weave
	weaves []*weave // in the order of their first calls
}

// weave has the strips of one conversation.
type weave struct {
	calls  []int
	open   []Strip // of each message of the history, up to the newest call
	bound  int     // so many messages were in the common beginning at the newest call
	strips []Strip // that have ended
}

func (l *loom) weave(conversation echo.Key) *weave {
	w := l.of[conversation]
	if w == nil {
		w = &weave{}
		l.of[conversation] = w
		l.weaves = append(l.weaves, w)
	}
	return w
}

// add takes a call.
func (w *weave) add(l *loom, n int, req *record.Request, t *thread) {
	if req.Anew {
		w.end()
	}
	column := len(w.calls)
	w.calls = append(w.calls, n)
	for _, c := range req.Changes {
		w.set(l, column, req, t, c.At)
	}
	bound := t.sizes.within(req.Selection.Selection.SharedSize)
	for i := min(bound, w.bound); i < max(bound, w.bound); i++ {
		w.set(l, column, req, t, i)
	}
	w.bound = bound
}

// end lets all strips end with the newest call.
func (w *weave) end() {
	for i := range w.open {
		w.close(i, len(w.calls)-1)
	}
	w.open, w.bound = w.open[:0], 0
}

func (w *weave) close(at, last int) {
	if s := w.open[at]; s.First <= last {
		s.Last = last
		w.strips = append(w.strips, s)
	}
}

// set has a message of the history be as it is from a column on.
func (w *weave) set(l *loom, column int, req *record.Request, t *thread, at int) {
	s := &req.Sent[at]
	next := Strip{
		Row: l.row(req.History[at], s.Tokens), First: column, Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens,
		Cached: t.cached(req, at),
	}
	if at == len(w.open) {
		w.open = append(w.open, next)
		return
	}
	was := w.open[at]
	was.Last = column - 1
	if was.continues(&next) {
		return
	}
	w.close(at, column-1)
	w.open[at] = next
}

// row returns the row of a message of which so many tokens are sent.
func (l *loom) row(e *echo.Entry, tokens int64) int {
	row, ok := l.rows[e.Seq]
	if !ok {
		row = len(l.m.Rows)
		l.rows[e.Seq] = row
		l.m.Rows = append(l.m.Rows, MatrixRow{Seq: e.Seq, Hash: e.Message.Hash(), Role: e.Message.Role(), Tool: e.Message.Tool()})
	}
	l.m.Rows[row].Tokens = max(l.m.Rows[row].Tokens, tokens)
	return row
}

// finish puts the columns of all conversations side by side, and the rows into the order in which their messages were recorded.
func (l *loom) finish() {
	order := make([]int, len(l.m.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(l.m.Rows[a].Seq, l.m.Rows[b].Seq) })
	rows, to := make([]MatrixRow, len(order)), make([]int, len(order))
	for i, from := range order {
		rows[i], to[from] = l.m.Rows[from], i
	}
	l.m.Rows = rows
	for _, w := range l.weaves {
		w.end()
		for _, s := range w.strips {
			s.Row, s.First, s.Last = to[s.Row], s.First+len(l.m.Calls), s.Last+len(l.m.Calls)
			l.m.Strips = append(l.m.Strips, s)
		}
		l.m.Calls = append(l.m.Calls, w.calls...)
	}
	slices.SortFunc(l.m.Strips, func(a, b Strip) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.First, b.First)) })
}
