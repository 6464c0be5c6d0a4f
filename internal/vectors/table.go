package vectors

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// The table is one file, little-endian, and is used as it lies there:
//
//	magic       8 bytes
//	words       uint32
//	dims        uint32
//	slots       uint32, a power of two
//	text        uint32, bytes of all words
//	mean        dims of float32
//	slots       uint32 each: 1 + the place of a word, 0 when free
//	ends        words of uint32: where each word ends in the text
//	scales      words of float32: what a 1 in the word's vector stands for
//	text        all words, one after the other, by place
//	vectors     words times dims of int8
//	checksum    CRC-32C of everything before it, uint32
//
// A word's place is its rank by frequency, from 0. It is looked for in the slots from the one that its hash names on.
const (
	magic      = "WLVECS1\n"
	headSize   = len(magic) + 4*4
	wordBytes  = 4
	maxFile    = 1 << 30
	slotsTimes = 3 // there are at least 3/2 slots a word, so that a search ends soon
	slotsPer   = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// table is an open table. It is never written to.
type table struct {
	words, dims int
	law         law
	mean        []float32
	slots       []byte
	ends        []byte
	scales      []byte
	text        []byte
	vectors     []byte
}

// write writes the table of the rows.
func (b *builder) write(out io.Writer) error {
	if b.mass == 0 {
		return errors.New("it has no words")
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	sum := crc32.New(castagnoli)
	w := io.MultiWriter(buffered, sum)
	for _, part := range [][]byte{b.head(), b.slots(), b.ends(), b.scales()} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	for i := range b.rows {
		if _, err := io.WriteString(w, b.rows[i].word); err != nil {
			return err
		}
	}
	codes := make([]byte, b.dims)
	for i := range b.rows {
		for d, c := range b.rows[i].codes {
			codes[d] = byte(c)
		}
		if _, err := w.Write(codes); err != nil {
			return err
		}
	}
	if _, err := buffered.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return err
	}
	return buffered.Flush()
}

func (b *builder) head() []byte {
	text := 0
	for i := range b.rows {
		text += len(b.rows[i].word)
	}
	out := []byte(magic)
	for _, n := range []int{len(b.rows), b.dims, slotsFor(len(b.rows)), text} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, x := range b.mean {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x/b.mass)))
	}
	return out
}

// slotsFor returns the number of slots for so many words.
func slotsFor(words int) int {
	n := 1
	for n*slotsPer < words*slotsTimes {
		n *= 2
	}
	return n
}

func (b *builder) slots() []byte {
	n := slotsFor(len(b.rows))
	out := make([]byte, n*wordBytes)
	for i := range b.rows {
		at := slotOf(b.rows[i].word, n)
		for binary.LittleEndian.Uint32(out[at*wordBytes:]) != 0 {
			at = (at + 1) % n
		}
		binary.LittleEndian.PutUint32(out[at*wordBytes:], uint32(i+1))
	}
	return out
}

func (b *builder) ends() []byte {
	var out []byte
	end := 0
	for i := range b.rows {
		end += len(b.rows[i].word)
		out = binary.LittleEndian.AppendUint32(out, uint32(end))
	}
	return out
}

func (b *builder) scales() []byte {
	var out []byte
	for i := range b.rows {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(b.rows[i].scale))
	}
	return out
}

// slotOf returns the slot that a word is looked for in first, of n (FNV-1a).
func slotOf[T string | []byte](word T, n int) int {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	h ^= h >> 15 // the low bits of FNV depend on few characters
	return int(h) & (n - 1)
}

// errDamaged is the reason why a table cannot be used. It is made anew then.
var errDamaged = errors.New("the table of word vectors is damaged")

// readTable reads a table where it lies. Its checksum is checked, so that nothing in it needs to be doubted afterwards.
func readTable(data []byte) (*table, error) {
	if len(data) < headSize || len(data) > maxFile || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin like one", errDamaged)
	}
	number := func(i int) int { return int(binary.LittleEndian.Uint32(data[len(magic)+i*wordBytes:])) }
	t := &table{words: number(0), dims: number(1), law: newLaw(number(0))}
	slots, text := number(2), number(3)
	if t.words > maxWords || t.dims > maxDims || slots != slotsFor(t.words) || text > t.words*maxWord {
		return nil, fmt.Errorf("%w: its head is wrong", errDamaged)
	}
	sizes := []int{t.dims * wordBytes, slots * wordBytes, t.words * wordBytes, t.words * wordBytes, text, t.words * t.dims}
	whole := headSize + wordBytes
	for _, n := range sizes {
		whole += n
	}
	if len(data) != whole {
		return nil, fmt.Errorf("%w: it has %d bytes, expected %d", errDamaged, len(data), whole)
	}
	body := data[:whole-wordBytes]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[whole-wordBytes:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", errDamaged)
	}
	var mean []byte
	rest := body[headSize:]
	for i, part := range []*[]byte{&mean, &t.slots, &t.ends, &t.scales, &t.text, &t.vectors} {
		*part, rest = rest[:sizes[i]:sizes[i]], rest[sizes[i]:]
	}
	for d := range t.dims {
		t.mean = append(t.mean, floatAt(mean, d))
	}
	return t, t.check()
}

// check makes sure that no search runs beyond the table: each slot names a word, and each word is a part of the text.
func (t *table) check() error {
	used, end := 0, uint32(0)
	for at := 0; at < len(t.slots); at += wordBytes {
		n := binary.LittleEndian.Uint32(t.slots[at:])
		if n > uint32(t.words) {
			return fmt.Errorf("%w: a slot names no word", errDamaged)
		}
		if n > 0 {
			used++
		}
	}
	for i := range t.words {
		next := binary.LittleEndian.Uint32(t.ends[i*wordBytes:])
		if next < end || int(next) > len(t.text) {
			return fmt.Errorf("%w: the word at place %d has no end", errDamaged, i)
		}
		end = next
	}
	if used != t.words {
		return fmt.Errorf("%w: %d of %d words are in a slot", errDamaged, used, t.words)
	}
	return nil
}

func floatAt(b []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[i*wordBytes:]))
}

// place returns a word's rank by frequency, from 0, or -1.
func (t *table) place(word []byte) int {
	n := len(t.slots) / wordBytes
	for at := slotOf(word, n); ; at = (at + 1) & (n - 1) {
		i := int(binary.LittleEndian.Uint32(t.slots[at*wordBytes:])) - 1
		if i < 0 || string(t.word(i)) == string(word) {
			return i
		}
	}
}

// word returns the word at a place.
func (t *table) word(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = binary.LittleEndian.Uint32(t.ends[(i-1)*wordBytes:])
	}
	return t.text[start:binary.LittleEndian.Uint32(t.ends[i*wordBytes:])]
}

// add adds the vector of the word at a place, times a weight, to sum.
func (t *table) add(sum []float32, i int, weight float32) {
	weight *= floatAt(t.scales, i)
	codes := t.vectors[i*t.dims : (i+1)*t.dims]
	for d := range sum {
		sum[d] += weight * float32(int8(codes[d]))
	}
}
