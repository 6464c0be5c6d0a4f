package inspector

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/inspect"
)

// wholeMatrix sends a matrix to the script that draws it on a canvas: see [packed].
func wholeMatrix(v *visit) error {
	m, err := v.of.Matrix()
	if err != nil {
		return err
	}
	b, err := pack(m)
	if err != nil {
		return err
	}
	v.Bytes("application/octet-stream", b)
	return nil
}

// wordsOf are the texts of a matrix, each once; strips and rows have their indexes.
type wordsOf struct {
	Forms   []string `json:"forms"`
	Reasons []string `json:"reasons"`
	Labels  []string `json:"labels"` // of rows: a role, and the name of a tool
}

// pack writes a matrix as numbers of 32 bits, the least significant byte first:
//
//	bytes of the words, columns, rows, strips,
//	the number of the call of each column,
//	of each row: the first 8 digits of the hash, the next 8, the label, the most tokens,
//	the first strip of each row, and the number of strips,
//	of each strip: the first column, the last one, what it is (form, reason and cached, see kindOf), the tokens,
//
// and then the words as JSON. Some 20 bytes a strip: a session of 100,000 messages has about 6 MB.
func pack(m *inspect.Matrix) ([]byte, error) {
	var words wordsOf
	forms, reasons, labels := index{&words.Forms, nil}, index{&words.Reasons, nil}, index{&words.Labels, nil}
	b := make([]byte, 16, 16+4*(len(m.Calls)+5*len(m.Rows)+1+4*len(m.Strips)))
	add := func(list ...int64) {
		for _, n := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(min(max(n, 0), math.MaxUint32)))
		}
	}
	for _, n := range m.Calls {
		add(int64(n))
	}
	for i := range m.Rows {
		row := &m.Rows[i]
		label := string(row.Role)
		if row.Tool != "" {
			label += " " + row.Tool
		}
		add(digits(string(row.Hash), 0), digits(string(row.Hash), 8), labels.of(waiting.VisibleText(excerpt.Clip(label, 200))), row.Tokens)
	}
	for row, at := 0, 0; row <= len(m.Rows); row++ {
		for at < len(m.Strips) && m.Strips[at].Row < row {
			at++
		}
		add(int64(at))
	}
	for i := range m.Strips {
		s := &m.Strips[i]
		add(int64(s.First), int64(s.Last), kindOf(forms.of(string(s.Form)), reasons.of(waiting.VisibleText(excerpt.Clip(string(s.Reason), 200))), s.Cached), s.Tokens)
	}
	text, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	for i, n := range []int{len(text), len(m.Calls), len(m.Rows), len(m.Strips)} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(n)) //nolint:gosec // a session has fewer than 4 billion entries
	}
	return append(b, text...), nil
}

// kindOf packs what a strip is: the index of its form in the low 15 bits, then whether it is cached, then that of its reason.
func kindOf(form, reason int64, cached bool) int64 {
	k := min(form, 1<<15-1) | min(reason, 1<<16-1)<<16
	if cached {
		k |= 1 << 15
	}
	return k
}

// digits returns 8 digits of a hash as a number.
func digits(hash string, from int) int64 {
	if len(hash) < from+8 {
		return 0
	}
	n, err := strconv.ParseUint(hash[from:from+8], 16, 32)
	if err != nil {
		return 0 // hashes have hexadecimal digits
	}
	return int64(n) //nolint:gosec // of 32 bits
}

// index gives each text a number, from 0.
type index struct {
	list *[]string
	at   map[string]int64
}

func (x *index) of(text string) int64 {
	if at, ok := x.at[text]; ok {
		return at
	}
	if x.at == nil {
		x.at = map[string]int64{}
	}
	at := int64(len(*x.list))
	x.at[text] = at
	*x.list = append(*x.list, text)
	return at
}
