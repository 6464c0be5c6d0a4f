package clickhouse

import (
	"bytes"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// The dialects, as rows name them.
const (
	dialectNative   = "native"
	dialectPrompted = "prompted"
)

// recorder makes rows of entries. It sees all entries of its sessions in their order, because a selection says only what
// changed since the one before it. It belongs to one goroutine.
type recorder struct {
	sessions map[string]*autocontext.RecordReader
	visits   map[visitID]*selectedVisit
	names    names
}

// visitID names a visit to a phase.
type visitID struct {
	session string
	visit   echo.Key
}

func newRecorder() *recorder {
	return &recorder{sessions: map[string]*autocontext.RecordReader{}, visits: map[visitID]*selectedVisit{}, names: names{}}
}

// row returns the row of the next entry. The error says that it is a selection that does not fit the entries before it;
// the row is then without it.
func (rec *recorder) row(e *echo.Entry) (*row, error) {
	reader := rec.sessions[e.SessionID]
	if reader == nil {
		reader = autocontext.NewRecordReader()
		rec.sessions[e.SessionID] = reader
	}
	v := rec.visit(e)
	req, err := reader.Read(e)
	r := &row{Entry: e}
	if e.Message != nil {
		r.worded = reader.Worded(e)
	}
	if req != nil {
		r.selection = newSelectionRow(req, v.follow(req, rec.names))
	}
	if err != nil {
		v.behind = true
	}
	return r, err
}

// visit returns what is known of the visit of an entry. A phase that begins has sent nothing yet, and one that ends well
// sends nothing more; one that was stopped may go on.
func (rec *recorder) visit(e *echo.Entry) *selectedVisit {
	id := visitID{e.SessionID, e.Key.VisitKey()}
	v := rec.visits[id]
	if v == nil {
		v = &selectedVisit{}
		rec.visits[id] = v
	}
	switch e.NodeType {
	case echo.NodePhaseStart:
		*v = selectedVisit{}
	case echo.NodePhaseEnd:
		if e.Error == nil {
			v.cells = nil
		}
	}
	return v
}

// selectedVisit is what became of the messages of a visit in its newest call.
type selectedVisit struct {
	behind bool    // a selection could not be read, so that more may have changed than the next one says
	cells  []*cell // one for each message of the history; rows share them
}

// cell is what became of one message of a history, until something else does. It never changes.
type cell struct {
	seq    uint64 // of the entry that has the message
	hash   string
	form   *string // one of the recorder's names
	reason *string // likewise
	tokens int64
	sent   *string // a JSON array of what was sent in place of the message; nil: the message itself
}

// follow takes the next request of the visit and returns a cell for each message of its history. It costs what changed;
// the slice must not be written to.
func (v *selectedVisit) follow(req *autocontext.Recorded, n names) []*cell {
	sel := req.Selection.Selection
	switch {
	case v.behind || !sel.Delta:
		v.behind, v.cells = false, nil
		v.set(req, n, 0, len(req.Sent))
	default:
		if known := len(v.cells); slices.ContainsFunc(sel.Spans, func(s echo.Span) bool { return s.From < known }) {
			v.cells = slices.Clone(v.cells) // the rows before keep what was
		}
		for i := range sel.Spans {
			s := &sel.Spans[i]
			v.set(req, n, s.From, s.From+s.Count)
		}
	}
	return slices.Clip(v.cells)
}

// set makes the cells of a stretch of the history.
func (v *selectedVisit) set(req *autocontext.Recorded, n names, from, to int) {
	made := make([]cell, to-from)
	for i := from; i < to; i++ {
		c, s := &made[i-from], &req.Sent[i]
		*c = cell{
			seq: req.History[i].Seq, hash: string(s.Hash), form: n.of(s.Form), reason: n.of(s.Reason), tokens: s.Tokens,
		}
		if !s.Full {
			sent := messagesJSON(req.Messages(i))
			c.sent = &sent
		}
		if i < len(v.cells) {
			v.cells[i] = c
		} else {
			v.cells = append(v.cells, c)
		}
	}
}

// names holds each of a few texts once. The driver keeps the texts of a LowCardinality column apart by their addresses
// when it is given pointers.
type names map[string]*string

func (n names) of(text string) *string {
	if p := n[text]; p != nil {
		return p
	}
	kept := text // text itself would be an allocation on every call
	n[text] = &kept
	return &kept
}

// selectionRow is a row of unified_selections.
type selectionRow struct {
	entry   *echo.Entry
	key     string
	dialect string
	cells   []*cell
}

func newSelectionRow(req *autocontext.Recorded, cells []*cell) *selectionRow {
	r := &selectionRow{entry: req.Selection, key: req.Key().String(), dialect: dialectNative, cells: cells}
	if req.Dialect == dialect.Prompted {
		r.dialect = dialectPrompted
	}
	return r
}

// messagesJSON writes messages as a request has them.
func messagesJSON(messages []*echo.Message) string {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.JSON())
	}
	b.WriteByte(']')
	return b.String()
}

// selectionColumns lists every column of unified_selections.
func selectionColumns() []column[*selectionRow] {
	var list []column[*selectionRow]
	place := []string{"session_id", "seq", "at", "cascade_id", "phase_name", "attempt", "turn", "sounding", "model"}
	ofEntry := slices.DeleteFunc(entryColumns(), func(c column[*echo.Entry]) bool { return !slices.Contains(place, c.name) })
	for _, c := range slices.Concat(ofEntry, sizeColumns()) {
		list = append(list, column[*selectionRow]{c.name, func(r *selectionRow) any { return c.value(r.entry) }})
	}
	return append(list,
		column[*selectionRow]{"key", func(r *selectionRow) any { return &r.key }},
		column[*selectionRow]{"dialect", func(r *selectionRow) any { return r.dialect }},
		ofCells("message_seq", func(c *cell) *uint64 { return &c.seq }),
		ofCells("hash", func(c *cell) *string { return &c.hash }),
		ofCells("form", func(c *cell) *string { return c.form }),
		ofCells("reason", func(c *cell) *string { return c.reason }),
		ofCells("tokens", func(c *cell) *int64 { return &c.tokens }),
		ofCells("sent_json", func(c *cell) *string { return c.sent }),
	)
}

// ofCells is a column with an array of a part of each cell. The driver takes every element in an interface, which holds a
// pointer as it is and would have to allocate each text and number. Each row overwrites the array of the one before it.
func ofCells[T any](name string, part func(*cell) *T) column[*selectionRow] {
	var list []*T
	return column[*selectionRow]{name, func(r *selectionRow) any {
		list = slices.Grow(list[:0], len(r.cells))
		for _, c := range r.cells {
			list = append(list, part(c))
		}
		return list
	}}
}
