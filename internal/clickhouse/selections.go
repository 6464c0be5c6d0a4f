package clickhouse

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
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
	partial  bool            // entries were left out: only visits whose start was seen can be read
	begun    map[string]bool // the visits whose start was seen, by session and key
}

func newRecorder() *recorder {
	return &recorder{sessions: map[string]*autocontext.RecordReader{}, begun: map[string]bool{}}
}

// forget makes a recorder that goes on after entries were left out.
func (rec *recorder) forget() {
	*rec = *newRecorder()
	rec.partial = true
}

// row returns the row of the next entry. The error says that it is a selection that does not fit the entries before it;
// the row is then without it.
func (rec *recorder) row(e *echo.Entry) (*row, error) {
	reader := rec.sessions[e.SessionID]
	if reader == nil {
		reader = autocontext.NewRecordReader()
		rec.sessions[e.SessionID] = reader
	}
	visit := e.SessionID + "/" + echo.VisitOf(e.Key)
	if e.NodeType == echo.NodePhaseStart {
		rec.begun[visit] = true
	}
	req, err := reader.Read(e)
	r := &row{Entry: e}
	if e.Message != nil {
		r.worded = reader.Worded(e)
	}
	switch {
	case e.NodeType == echo.NodeSelection && rec.partial && !rec.begun[visit]:
		err = fmt.Errorf("entry %d (%s): entries before the selection were left out", e.Seq, e.Key)
	case req != nil:
		r.selection = newSelectionRow(req)
	}
	return r, err
}

// selectionRow is a row of unified_selections. The slices have an element for each message of the history.
type selectionRow struct {
	entry      *echo.Entry
	key        string
	dialect    string
	messageSeq []uint64
	hash       []string
	form       []string
	reason     []string
	tokens     []int64
	sent       []string // a JSON array of what was sent in place of the message; "": the message itself
}

func newSelectionRow(req *autocontext.Recorded) *selectionRow {
	n := len(req.Sent)
	r := &selectionRow{
		entry: req.Selection, key: req.Key(), dialect: dialectNative,
		messageSeq: make([]uint64, n), hash: make([]string, n), form: make([]string, n), reason: make([]string, n),
		tokens: make([]int64, n), sent: make([]string, n),
	}
	if req.Dialect == autocontext.Prompted {
		r.dialect = dialectPrompted
	}
	for i := range req.Sent {
		s := &req.Sent[i]
		r.messageSeq[i] = req.History[i].Seq
		r.hash[i], r.form[i], r.reason[i], r.tokens[i] = string(s.Hash), s.Form, s.Reason, s.Tokens
		if !s.Full {
			r.sent[i] = messagesJSON(req.Messages(i))
		}
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
		column[*selectionRow]{"key", func(r *selectionRow) any { return r.key }},
		column[*selectionRow]{"dialect", func(r *selectionRow) any { return r.dialect }},
		column[*selectionRow]{"message_seq", func(r *selectionRow) any { return r.messageSeq }},
		column[*selectionRow]{"hash", func(r *selectionRow) any { return r.hash }},
		column[*selectionRow]{"form", func(r *selectionRow) any { return r.form }},
		column[*selectionRow]{"reason", func(r *selectionRow) any { return r.reason }},
		column[*selectionRow]{"tokens", func(r *selectionRow) any { return r.tokens }},
		column[*selectionRow]{"sent_json", func(r *selectionRow) any { return r.sent }},
	)
}
