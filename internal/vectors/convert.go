package vectors

import (
	"fmt"
	"io"
	"math"
)

type row struct {
	word  string
	scale float32
}

// builder takes the words of the original, in any order, each at its place.
type builder struct {
	dims  int
	rows  []row
	codes []int8 // the vectors of all rows, one after the other
	got   int
	law   law
	mean  []float64
	mass  float64 // the weights in mean
}

// convert reads the published file and writes the table. See [parser] for the form of the file.
func convert(in io.Reader, out io.Writer) error {
	var b *builder
	begin := func(h header) {
		b = &builder{
			dims: h.dims, rows: make([]row, h.size), codes: make([]int8, h.size*h.dims),
			law: newLaw(h.size), mean: make([]float64, h.dims),
		}
	}
	if err := parse(in, begin, func(word string, numbers []float64) error { return b.add(word, numbers) }); err != nil {
		return err
	}
	if b.got != len(b.rows) {
		return fmt.Errorf("it has %d words, %d were announced", b.got, len(b.rows))
	}
	return b.write(out)
}

// add takes a word's numbers: its vector, the length, and the word's place by frequency, from 0.
func (b *builder) add(word string, numbers []float64) error {
	place := numbers[b.dims+1]
	if place != math.Trunc(place) || place < 0 || place >= float64(len(b.rows)) {
		return fmt.Errorf("the place of %q is %g, of %d words", word, place, len(b.rows))
	}
	i := int(place)
	switch {
	case word == "" || len(word) > maxWord:
		return fmt.Errorf("the word at place %d has %d bytes", i, len(word))
	case b.rows[i].word != "":
		return fmt.Errorf("%q and %q are at the same place", b.rows[i].word, word)
	}
	vector := numbers[:b.dims]
	b.rows[i] = row{word: word, scale: quantize(b.codes[i*b.dims:(i+1)*b.dims], vector)}
	b.got++
	p := b.law.frequency(i)
	w := p * weightOf(p)
	for d, x := range vector {
		b.mean[d] += w * x
	}
	b.mass += w
	return nil
}

// quantize writes a vector as integers from -127 to 127 and returns what one of them stands for.
func quantize(codes []int8, vector []float64) float32 {
	var largest float64
	for _, x := range vector {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return 0
	}
	for d, x := range vector {
		codes[d] = int8(math.Round(x / largest * math.MaxInt8))
	}
	return float32(largest / math.MaxInt8)
}
