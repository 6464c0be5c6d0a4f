package clickhouse

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/contextcards"
)

type cardRow struct {
	contextcards.Card

	keywords               string // packed
	dimensions             uint32 // of the embedding that it was written with
	visit, attempt, turn   uint32
	order                  int64
	generatedAt, messageAt time.Time
}

func cardTable() table[cardRow] {
	return table[cardRow]{name: "unified_cards", what: "card", columns: []column[cardRow]{
		{"session_id", "String", func(r *cardRow) any { return &r.SessionID }},
		{"content_hash", "String", func(r *cardRow) any { return (*string)(&r.Hash) }},
		{"summary", "String", func(r *cardRow) any { return &r.Summary }},
		{"keywords", "Array(String)", func(r *cardRow) any { return packed{&r.Keywords, &r.keywords} }},
		{"embedding_model", few, func(r *cardRow) any { return &r.EmbeddingModel }},
		{"dimensions", "UInt32", func(r *cardRow) any { return &r.dimensions }},
		{"estimated_tokens", "Int64", func(r *cardRow) any { return &r.Tokens }},
		{"role", few, func(r *cardRow) any { return (*string)(&r.Role) }},
		{"phase_name", few, func(r *cardRow) any { return &r.Phase }},
		{"visit", "UInt32", func(r *cardRow) any { return &r.visit }},
		{"attempt", "UInt32", func(r *cardRow) any { return &r.attempt }},
		{"turn_number", "UInt32", func(r *cardRow) any { return &r.turn }},
		{"message_order", "Int64", func(r *cardRow) any { return &r.order }},
		{"is_anchor", "Bool", func(r *cardRow) any { return &r.Anchor }},
		{"callout_name", "String", func(r *cardRow) any { return &r.Callout }},
		{"generated_at", "DateTime64(6, 'UTC')", func(r *cardRow) any { return &r.generatedAt }},
		{"generator_model", few, func(r *cardRow) any { return &r.Generator }},
		{"message_timestamp", "DateTime64(6, 'UTC')", func(r *cardRow) any { return &r.messageAt }},
	}}
}

func embeddingTable() table[cardRow] {
	return table[cardRow]{name: "unified_embeddings", what: "embedding", columns: []column[cardRow]{
		{"session_id", "String", func(r *cardRow) any { return &r.SessionID }},
		{"content_hash", "String", func(r *cardRow) any { return (*string)(&r.Hash) }},
		{"embedding_model", few, func(r *cardRow) any { return &r.EmbeddingModel }},
		{"dimensions", "UInt32", func(r *cardRow) any { return &r.dimensions }},
		{"embedding", "Array(Float32) CODEC(NONE)", func(r *cardRow) any { return &r.Embedding }},
		{"generated_at", "DateTime64(6, 'UTC')", func(r *cardRow) any { return &r.generatedAt }},
	}}
}

func (r *cardRow) set(c *contextcards.Card) {
	*r = cardRow{
		Card: *c, dimensions: uint32(len(c.Embedding)), visit: uint32(c.Visit), attempt: uint32(c.Attempt), turn: uint32(c.Turn),
		order: int64(c.Order), generatedAt: toColumn(c.GeneratedAt), messageAt: toColumn(c.MessageAt),
	}
}

// restored returns the row with its card completed, after it was read. The embedding is not in it.
func (r cardRow) restored() (cardRow, error) {
	r.Visit, r.Attempt, r.Turn, r.Order = int(r.visit), int(r.attempt), int(r.turn), int(r.order)
	r.GeneratedAt, r.MessageAt = fromColumn(r.generatedAt), fromColumn(r.messageAt)
	var err error
	if r.Keywords, err = unpackTexts(r.keywords); err != nil {
		return r, fmt.Errorf("the keywords of message %s: %w", r.Hash, err)
	}
	return r, nil
}

// toColumn is how a time is stored: an unknown one as 0.
func toColumn(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return t
}

func fromColumn(t time.Time) time.Time {
	if t.UnixMicro() == 0 {
		return time.Time{}
	}
	return t
}

// The driver takes arrays apart element by element, ten times as long as all the rest, so they come
// packed: in RowBinary, the number of elements before them.

func unpackVector(packed string) ([]float32, error) {
	b := []byte(packed)
	n, head := binary.Uvarint(b)
	if b = b[max(head, 0):]; head <= 0 || n != uint64(len(b))/4 || len(b)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no list of numbers", len(packed))
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}

// unpackTexts reads a packed Array(String), nil when it is empty.
func unpackTexts(packed string) ([]string, error) {
	r := strings.NewReader(packed)
	var out []string
	count, err := binary.ReadUvarint(r)
	for ; err == nil && count > 0; count-- {
		var n uint64
		if n, err = binary.ReadUvarint(r); err == nil && n > uint64(r.Len()) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			from := len(packed) - r.Len()
			out = append(out, packed[from:from+int(n)])
			_, err = r.Seek(int64(n), io.SeekCurrent)
		}
	}
	if err != nil || r.Len() > 0 {
		return nil, fmt.Errorf("%d bytes are no list of texts", len(packed))
	}
	return out, nil
}

// vectorLiteral writes a vector in SQL. It reports false for one without a direction.
func vectorLiteral(v []float32) (sql string, ok bool) {
	square := 0.0
	out := []byte{'['}
	for i, x := range v {
		square += float64(x) * float64(x)
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
	}
	if !(square > 0) || math.IsInf(square, 1) { // NaN is not above 0 either
		return "", false
	}
	return string(append(out, ']')), true
}
