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
// A word's place is its rank by frequency, from 0. The slots are a hash table with linear probing.
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

	slots, ends, scales, text, vectors []byte
}

func (b *builder) write(out io.Writer) error {
	if b.mass == 0 {
		return errors.New("it has no words")
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	sum := crc32.New(castagnoli)
	w := io.MultiWriter(buffered, sum)
	for _, part := range b.parts() {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	if err := binary.Write(buffered, binary.LittleEndian, sum.Sum32()); err != nil {
		return err
	}
	return buffered.Flush()
}

// parts returns the parts of the file in order, but for the checksum.
func (b *builder) parts() []any {
	mean := make([]float32, b.dims)
	for d, x := range b.mean {
		mean[d] = float32(x / b.mass)
	}
	n := slotsFor(len(b.rows))
	slots := make([]uint32, n)
	var ends []uint32
	var scales []float32
	var text []byte
	for i, r := range b.rows {
		at := slotOf(r.word, n)
		for slots[at] != 0 {
			at = (at + 1) % n
		}
		slots[at] = uint32(i + 1)
		text = append(text, r.word...)
		ends, scales = append(ends, uint32(len(text))), append(scales, r.scale)
	}
	head := []uint32{uint32(len(b.rows)), uint32(b.dims), uint32(n), uint32(len(text))}
	return []any{[]byte(magic), head, mean, slots, ends, scales, text, b.codes}
}

func slotsFor(words int) int {
	n := 1
	for n*slotsPer < words*slotsTimes {
		n *= 2
	}
	return n
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

// errDamaged is the reason why a table cannot be used. It is rebuilt then.
var errDamaged = errors.New("the table of word vectors is damaged")

// readTable reads a table where it lies, and checks its checksum and that no search runs beyond it.
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

// check reports a slot that names no word, or a word that is no part of the text.
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
