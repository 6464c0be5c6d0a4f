package clickhouse

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// selectionRow is a row of unified_selections: a selection, whole. The lists have an element for
// every message of the history, by its address: the driver takes every element in an interface.
type selectionRow struct {
	entry   echo.Entry
	place   place // of the model call
	dialect string
	sizes   sizes

	seqs                         []*uint64
	hashes, forms, reasons, sent []*string
	tokens                       []*int64
}

func selectionTable() table[selectionRow] {
	return table[selectionRow]{name: "unified_selections", what: "selection", columns: slices.Concat(
		lift(func(r *selectionRow) *echo.Entry { return &r.entry }, headColumns()),
		lift(func(r *selectionRow) *place { return &r.place }, placeColumns()),
		[]column[selectionRow]{
			{"model", few, func(r *selectionRow) any { return &r.entry.Model }},
			{"dialect", few, func(r *selectionRow) any { return &r.dialect }},
			{"message_seq", "Array(UInt64) COMMENT 'the entry that has the message'", func(r *selectionRow) any { return &r.seqs }},
			{"hash", "Array(String) CODEC(ZSTD(3))", func(r *selectionRow) any { return &r.hashes }},
			{"form", "Array(" + few + ")", func(r *selectionRow) any { return &r.forms }},
			{"reason", "Array(" + few + ")", func(r *selectionRow) any { return &r.reasons }},
			{"tokens", "Array(Int64)", func(r *selectionRow) any { return &r.tokens }},
			{
				"sent_json", "Array(String) COMMENT 'a JSON array of the messages sent in place of the message; empty: the message itself' CODEC(ZSTD(3))",
				func(r *selectionRow) any { return &r.sent },
			},
		},
		lift(func(r *selectionRow) *sizes { return &r.sizes }, sizeColumns()))}
}

// set makes the row of a selection. The lists take the place of those of the row before it.
func (r *selectionRow) set(x *row) {
	r.entry, r.place, r.dialect = *x.Entry, placeOf(x.CascadeID, x.selected.key), x.selected.dialect.String()
	r.sizes = sizesOf(x.Selection)
	n := len(x.selected.cells)
	r.seqs, r.tokens = resized(r.seqs, n), resized(r.tokens, n)
	r.hashes, r.forms, r.reasons, r.sent = resized(r.hashes, n), resized(r.forms, n), resized(r.reasons, n), resized(r.sent, n)
	for i, c := range x.selected.cells {
		r.seqs[i], r.hashes[i], r.forms[i], r.reasons[i], r.tokens[i], r.sent[i] = &c.seq, &c.hash, c.form, c.reason, &c.tokens, c.sent
	}
}

func resized[T any](list []T, n int) []T { return slices.Grow(list[:0], n)[:n] }
