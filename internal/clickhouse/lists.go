package clickhouse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	columns "github.com/ClickHouse/clickhouse-go/v2/lib/column"
)

// A row of unified_selections names every message of a history, and repeats most of what the row
// before it says. The driver takes 50 to 200 ns for each element of a list. So lists are encoded
// here, in ClickHouse's Native format, and the driver's columns read that as if a server sent it.

// cellLists are the lists of a batch of rows: what becomes of each message.
type cellLists struct {
	before []*cell // of the newest row
	ends   []byte  // UInt64s: how many elements there are up to the end of each row
	total  uint64

	seqs, tokens   numbers
	hashes, sent   texts
	forms, reasons fewTexts
}

// elements is a column of lists. Its rows end where [cellLists.ends] says.
type elements interface {
	reset(n int)  // for so many elements
	repeat(n int) // begins a row with the first elements of the row before it
	readers() []io.Reader
}

func (l *cellLists) all() [6]elements {
	return [6]elements{&l.seqs, &l.hashes, &l.forms, &l.reasons, &l.tokens, &l.sent}
}

// reset empties the lists for the rows of the next batch.
func (l *cellLists) reset(rows []*row) {
	n := 0
	for _, r := range rows {
		n += len(r.selected.cells)
	}
	l.before, l.ends, l.total = nil, slices.Grow(l.ends[:0], 8*len(rows)), 0
	for _, c := range l.all() {
		c.reset(n)
	}
}

// add adds a row. Cells that the row before has are copied as they were encoded.
func (l *cellLists) add(cells []*cell) {
	same := 0
	for same < min(len(cells), len(l.before)) && cells[same] == l.before[same] {
		same++
	}
	for _, c := range l.all() {
		c.repeat(same)
	}
	for _, c := range cells[same:] {
		l.seqs.add(c.seq)
		l.hashes.add(c.hash)
		l.forms.add(c.form)
		l.reasons.add(c.reason)
		l.tokens.add(uint64(c.tokens))
		l.sent.add(c.sent)
	}
	l.before, l.total = cells, l.total+uint64(len(cells))
	l.ends = binary.LittleEndian.AppendUint64(l.ends, l.total)
}

// numbers are Array(UInt64) or Array(Int64).
type numbers struct {
	row  int // where the newest begins
	text []byte
}

func (l *numbers) reset(n int) { l.row, l.text = 0, slices.Grow(l.text[:0], 8*n) }

func (l *numbers) repeat(n int) {
	from := l.row
	l.row = len(l.text)
	l.text = append(l.text, l.text[from:from+8*n]...)
}

func (l *numbers) add(n uint64)         { l.text = binary.LittleEndian.AppendUint64(l.text, n) }
func (l *numbers) readers() []io.Reader { return []io.Reader{bytes.NewReader(l.text)} }

// texts are Array(String).
type texts struct {
	row  int   // where the newest begins
	ends []int // of its elements, from there
	text []byte

	usual int // bytes of most elements
}

func (l *texts) reset(n int) {
	l.row, l.ends, l.text = 0, l.ends[:0], slices.Grow(l.text[:0], l.usual*n)
}

func (l *texts) repeat(n int) {
	from, size := l.row, 0
	if l.ends = l.ends[:n]; n > 0 {
		size = l.ends[n-1]
	}
	l.row = len(l.text)
	l.text = append(l.text, l.text[from:from+size]...)
}

func (l *texts) add(s string) {
	l.text = appendText(l.text, s)
	l.ends = append(l.ends, len(l.text)-l.row)
}

func (l *texts) readers() []io.Reader { return []io.Reader{bytes.NewReader(l.text)} }

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// fewTexts are Array(LowCardinality(String)). The dictionary begins with "", as the format wants.
type fewTexts struct {
	row        int // where the newest begins
	keys       []uint32
	numbers    map[string]uint32
	dictionary []byte
}

func (l *fewTexts) reset(n int) {
	l.row, l.keys, l.dictionary = 0, slices.Grow(l.keys[:0], n), append(l.dictionary[:0], 0)
	if l.numbers == nil {
		l.numbers = map[string]uint32{}
	}
	clear(l.numbers)
	l.numbers[""] = 0
}

func (l *fewTexts) repeat(n int) {
	from := l.row
	l.row = len(l.keys)
	l.keys = append(l.keys, l.keys[from:from+n]...)
}

func (l *fewTexts) add(s string) {
	n, known := l.numbers[s]
	if !known {
		n = uint32(len(l.numbers))
		l.numbers[s] = n
		l.dictionary = appendText(l.dictionary, s)
	}
	l.keys = append(l.keys, n)
}

// How LowCardinality says that it has a dictionary of its own, and the size of its keys.
const (
	ownDictionary = 1<<9 | 1<<10
	keysOf8Bits   = 0
	keysOf32Bits  = 2
)

func (l *fewTexts) readers() []io.Reader {
	size, keys := uint64(keysOf8Bits), []byte(nil)
	if len(l.numbers) > 1<<8 {
		size = keysOf32Bits
		for _, k := range l.keys {
			keys = binary.LittleEndian.AppendUint32(keys, k)
		}
	} else {
		keys = make([]byte, len(l.keys))
		for i, k := range l.keys {
			keys[i] = byte(k)
		}
	}
	head := binary.LittleEndian.AppendUint64(nil, ownDictionary|size)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(l.numbers)))
	count := binary.LittleEndian.AppendUint64(nil, uint64(len(l.keys)))
	return []io.Reader{bytes.NewReader(head), bytes.NewReader(l.dictionary), bytes.NewReader(count), bytes.NewReader(keys)}
}

// give lets a column of the driver, which has no rows yet, read a list of the batch.
func (l *cellLists) give(col columns.Interface, sql string, from elements) error {
	if t := string(col.Type()); !strings.HasPrefix(sql, t) {
		return fmt.Errorf("the column %s is %s and not %s", col.Name(), t, sql)
	}
	if l.total == 0 && len(l.ends) == 0 {
		return nil
	}
	r, ok := nativeReaders.Get().(*nativeReader)
	if !ok {
		r = newNativeReader()
	}
	defer nativeReaders.Put(r)
	readers := []io.Reader{bytes.NewReader(l.ends)}
	if l.total > 0 {
		readers = append(readers, from.readers()...)
	}
	r.source.Reader = io.MultiReader(readers...)
	if err := col.Decode(r.Reader, len(l.ends)/8); err != nil {
		return fmt.Errorf("encode the column %s: %w", col.Name(), err)
	}
	return nil
}

// nativeReader reads one text after the other: its buffer is large, and empty after each.
type nativeReader struct {
	*proto.Reader
	source *struct{ io.Reader }
}

var nativeReaders sync.Pool

func newNativeReader() *nativeReader {
	source := &struct{ io.Reader }{}
	return &nativeReader{Reader: proto.NewReader(source), source: source}
}
