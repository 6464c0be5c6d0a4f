package inspect

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Matrix says which calls of a stretch were sent which messages, and in which form.
type Matrix struct {
	First, Last int         // calls of the stretch, by their numbers; Last < First: there are none
	Rows        []MatrixRow // the messages of their histories, in the order in which they were recorded
	Strips      []Strip     // in the order of rows, and of calls within a row
}

// MatrixRow is a message of a history.
type MatrixRow struct {
	Seq    uint64 // of the entry that has it
	Hash   echo.Hash
	Role   echo.Role
	Tool   string
	Tokens int64 // of the most that was sent for it in one of the calls
}

// Strip is a message in calls that follow each other and were sent the same for it.
type Strip struct {
	Row         int // from 0
	First, Last int // calls, by their numbers
	Form        autocontext.Form
	Reason      autocontext.Reason
	Tokens      int64 // of what was sent in each call; 0: nothing was
	Cached      bool  // it lies in the common beginning with the request before, which a prefix cache can have
}

func (s *Strip) continues(next *Strip) bool {
	return s.Last == next.First-1 && s.Form == next.Form && s.Reason == next.Reason && s.Tokens == next.Tokens && s.Cached == next.Cached
}

// Matrix reads the calls from first to last. The time that it takes grows with the messages of the requests of these calls,
// and with the entries before them.
func (r *Record) Matrix(first, last int) (*Matrix, error) {
	first, last = max(first, 1), min(last, len(r.Calls))
	m := &Matrix{First: first, Last: last}
	at := map[uint64]int{} // the row of a message, in the order in which rows are met
	var strips [][]Strip   // of each row
	if last < first {
		return m, nil
	}
	err := r.walk(func(n int, req *record.Request) bool {
		if n < first {
			return true
		}
		c := &r.Calls[n-1]
		var sum int64
		for i, s := range req.Sent {
			sum += s.Tokens
			e := req.History[i]
			row, ok := at[e.Seq]
			if !ok {
				row = len(m.Rows)
				at[e.Seq] = row
				m.Rows = append(m.Rows, MatrixRow{Seq: e.Seq, Hash: e.Message.Hash(), Role: e.Message.Role(), Tool: e.Message.Tool()})
				strips = append(strips, nil)
			}
			m.Rows[row].Tokens = max(m.Rows[row].Tokens, s.Tokens)
			strips[row] = extend(strips[row], &Strip{
				First: n, Last: n, Form: autocontext.Form(s.Form), Reason: autocontext.Reason(s.Reason), Tokens: s.Tokens,
				Cached: s.Tokens > 0 && sum <= c.SharedSize,
			})
		}
		return n < last
	})
	if err != nil {
		return nil, err
	}
	m.sort(strips)
	return m, nil
}

func extend(list []Strip, next *Strip) []Strip {
	if k := len(list) - 1; k >= 0 && list[k].continues(next) {
		list[k].Last = next.Last
		return list
	}
	return append(list, *next)
}

// sort puts the rows into the order in which their messages were recorded.
func (m *Matrix) sort(strips [][]Strip) {
	order := make([]int, len(m.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(m.Rows[a].Seq, m.Rows[b].Seq) })
	rows := make([]MatrixRow, len(order))
	for to, from := range order {
		rows[to] = m.Rows[from]
		for _, s := range strips[from] {
			s.Row = to
			m.Strips = append(m.Strips, s)
		}
	}
	m.Rows = rows
}
