package clickhouse

import (
	"bytes"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/record"
)

// selectionRow is a row of unified_selections, with the lists of all rows of the batch so far.
type selectionRow struct {
	entry   echo.Entry
	place   place // of the model call
	dialect string
	sizes   sizes
	lists   cellLists

	decision decision
}

func selectionTable() table[selectionRow] {
	return table[selectionRow]{name: "unified_selections", what: "selection", columns: slices.Concat(
		lift(func(r *selectionRow) *echo.Entry { return &r.entry }, headColumns()),
		lift(func(r *selectionRow) *place { return &r.place }, placeColumns()),
		[]column[selectionRow]{
			{"model", few, func(r *selectionRow) any { return &r.entry.Model }},
			{"dialect", few, func(r *selectionRow) any { return &r.dialect }},
			{"message_seq", "Array(UInt64)", func(r *selectionRow) any { return &r.lists.seqs }},
			{"hash", "Array(String) CODEC(ZSTD(3))", func(r *selectionRow) any { return &r.lists.hashes }},
			{"form", "Array(" + few + ")", func(r *selectionRow) any { return &r.lists.forms }},
			{"reason", "Array(" + few + ")", func(r *selectionRow) any { return &r.lists.reasons }},
			{"tokens", "Array(Int64)", func(r *selectionRow) any { return &r.lists.tokens }},
			{
				"sent_json", "Array(String) CODEC(ZSTD(3))",
				func(r *selectionRow) any { return &r.lists.sent },
			},
		},
		lift(func(r *selectionRow) *sizes { return &r.sizes }, sizeColumns()),
		lift(func(r *selectionRow) *decision { return &r.decision }, decisionColumns()))}
}

// set makes the row of a selection, and adds its lists to those of the batch.
func (r *selectionRow) set(x *row) {
	r.entry, r.place, r.dialect = *x.Entry, placeOf(x.CascadeID, x.selected.key), x.selected.dialect.String()
	r.entry.Model, r.sizes, r.decision = x.selected.model, x.selected.sizes, x.selected.decision
	r.lists.add(x.selected.cells)
}

// row is an entry on its way to unified_logs, and a selection also to unified_selections.
type row struct {
	*echo.Entry
	rendered *echo.Message // the entry's message as the visit's model is sent it
	selected *selected     // nil: the entry is no selection
}

type selected struct {
	key     echo.Key // of the call, or of the selection between phases
	dialect dialect.Dialect
	model   string
	cells   []*cell // one for each message of the history; rows share them

	sizes    sizes
	decision decision
}

// cell is what became of one message of a history, until something else does. It never changes.
type cell struct {
	seq    uint64 // of the entry that has the message
	hash   string
	form   string
	reason string
	tokens int64
	sent   string // a JSON array of what was sent in place of the message; "": the message itself
}

// recorder makes rows of one session from all its entries in order. It belongs to one goroutine.
type recorder struct {
	requests *record.Requests
	visits   map[echo.Key]*selectedVisit // by conversation
	settings map[echo.Key]phaseSettings  // by visit
}

func newRecorder() *recorder {
	return &recorder{requests: record.NewRequests(), visits: map[echo.Key]*selectedVisit{}, settings: map[echo.Key]phaseSettings{}}
}

// row returns the row of the next entry; with an error, without its selection, which does not fit.
func (rec *recorder) row(e *echo.Entry) (*row, error) {
	v := rec.visit(e)
	req, err := rec.requests.Read(e)
	r := &row{Entry: e, rendered: rec.requests.Rendered(e)}
	if err != nil {
		v.behind = true
		return r, err
	}
	s := rec.settingsFor(e)
	switch {
	case req != nil:
		r.selected = &selected{
			key: req.Key(), dialect: req.Dialect, model: e.Model, cells: v.follow(req), sizes: sizesOf(e.Selection),
			decision: s.decision(decidesCall, s.strategy),
		}
	case e.NodeType == echo.NodeInter:
		r.selected = s.betweenPhases(e)
	}
	return r, nil
}

// settingsFor returns the settings of an entry's visit, until that ends well.
func (rec *recorder) settingsFor(e *echo.Entry) phaseSettings {
	visit := e.Key.VisitKey()
	if e.NodeType == echo.NodePhaseStart {
		rec.settings[visit] = settingsOf(e)
	}
	if f := record.FallbackOf(e); f != nil {
		s := rec.settings[visit]
		s.model, s.price = f.To, paidPrice(f.Context)
		rec.settings[visit] = s
	}
	s := rec.settings[visit]
	if e.NodeType == echo.NodePhaseEnd && e.Error == nil && record.Conversation(e.Key) == visit {
		delete(rec.settings, visit)
	}
	return s
}

// visit returns what is known of an entry's visit or branch, until that begins anew or ends well.
func (rec *recorder) visit(e *echo.Entry) *selectedVisit {
	id := record.Conversation(e.Key)
	v := rec.visits[id]
	if v == nil || e.NodeType == echo.NodePhaseStart {
		v = &selectedVisit{}
		rec.visits[id] = v
	}
	if e.NodeType == echo.NodePhaseEnd && e.Error == nil {
		v.cells = nil
	}
	return v
}

// selectedVisit is what became of the messages of a visit in its newest call.
type selectedVisit struct {
	behind bool    // a selection could not be read, so that more may have changed than the next one says
	cells  []*cell // one for each message of the history; rows share them
}

// follow returns a cell for each message of the next request; the slice must not be written to.
func (v *selectedVisit) follow(req *record.Request) []*cell {
	sel := req.Selection.Selection
	switch {
	case v.behind || !sel.Delta:
		v.behind, v.cells = false, nil
		v.set(req, 0, len(req.Sent))
	default:
		if known := len(v.cells); slices.ContainsFunc(sel.Spans, func(s echo.Span) bool { return s.From < known }) {
			v.cells = slices.Clone(v.cells) // the rows before keep what was
		}
		for i := range sel.Spans {
			s := &sel.Spans[i]
			v.set(req, s.From, s.From+s.Count)
		}
	}
	return slices.Clip(v.cells)
}

func (v *selectedVisit) set(req *record.Request, from, to int) {
	made := make([]cell, to-from)
	for i := from; i < to; i++ {
		c, s := &made[i-from], &req.Sent[i]
		*c = cell{
			seq: req.History[i].Seq, hash: string(s.Hash), form: s.Form, reason: s.Reason, tokens: s.Tokens,
		}
		if !s.Full {
			c.sent = messagesJSON(req.Rendered(i))
		}
		if i < len(v.cells) {
			v.cells[i] = c
		} else {
			v.cells = append(v.cells, c)
		}
	}
}

func messagesJSON(messages []*echo.Message) string {
	list := make([][]byte, len(messages))
	for i, m := range messages {
		list[i] = m.JSON()
	}
	return "[" + string(bytes.Join(list, []byte(","))) + "]"
}
