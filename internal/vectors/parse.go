package vectors

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Bounds of what is read, far above the published file's 341,479 words of 100 dimensions.
const (
	maxWords = 1 << 20
	maxDims  = 1024
	maxCodes = 1 << 27 // words times dimensions
	maxWord  = 255     // bytes
	maxValue = 1 << 18 // bytes of a string, of a number, or of the numbers of a word
)

// header is what the file says of itself before its vectors.
type header struct {
	size, dims int
}

// parser reads the published file as a stream: 300 MB of JSON would be several gigabytes when
// decoded at once. The file is
//
//	{"size": N, "dimensions": D, "l2NormIndex": D, "wordIndex": D+1, ...,
//	 "vectors": {"the": [D numbers, length, place], ...}, ...}
//
// with the head before the vectors. Other members are numbers, strings, and arrays of them.
type parser struct {
	in     *io.LimitedReader // as far as the next value may reach
	json   *json.Decoder
	header map[string]float64
}

// parse calls begin once with the head, and then each for every word. The numbers are valid until
// the next word.
func parse(in io.Reader, begin func(header), each func(word string, numbers []float64) error) error {
	limited := &io.LimitedReader{R: bufio.NewReaderSize(in, 1<<20)}
	p := &parser{in: limited, json: json.NewDecoder(limited), header: map[string]float64{}}
	err := p.file(begin, each)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if p.in.N <= 0 && errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("a value has no end")
	}
	if err != nil {
		return fmt.Errorf("the file of word vectors is not as expected, near byte %d: %w", p.json.InputOffset(), err)
	}
	return nil
}

func (p *parser) file(begin func(header), each func(word string, numbers []float64) error) error {
	found := false
	err := p.object(func(key string) error {
		if key != "vectors" {
			return p.member(key)
		}
		h, err := p.head()
		if err == nil && found {
			err = errors.New("it has vectors twice")
		}
		if err != nil {
			return err
		}
		found = true
		begin(h)
		return p.vectors(h, each)
	})
	if err == nil && !found {
		err = errors.New("it has no vectors")
	}
	return err
}

func (p *parser) head() (header, error) {
	size, dims := p.header["size"], p.header["dimensions"]
	switch {
	case size < 1 || size > maxWords || size != math.Trunc(size):
		return header{}, fmt.Errorf("its size is %g", size)
	case dims < 1 || dims > maxDims || dims != math.Trunc(dims):
		return header{}, fmt.Errorf("it has %g dimensions", dims)
	case size*dims > maxCodes:
		return header{}, fmt.Errorf("it has %g words of %g dimensions", size, dims)
	case p.header["l2NormIndex"] != dims || p.header["wordIndex"] != dims+1:
		return header{}, errors.New("a word's numbers are in another order")
	}
	return header{size: int(size), dims: int(dims)}, nil
}

// member reads a member that is not the vectors: a number is kept, a string or an array passed over.
func (p *parser) member(key string) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if n, ok := t.(float64); ok {
		p.header[key] = n
	}
	scalar := func(t json.Token) error {
		switch t.(type) {
		case float64, string:
			return nil
		}
		return fmt.Errorf("%q is no number, no string, and no array of them", key)
	}
	if t == json.Delim('[') {
		return p.list(scalar)
	}
	return scalar(t)
}

func (p *parser) vectors(h header, each func(string, []float64) error) error {
	numbers := make([]float64, h.dims+2)
	return p.object(func(word string) error {
		for i := range numbers {
			numbers[i] = math.NaN() // where the file has null, it stays
		}
		got := numbers
		p.in.N = maxValue
		if err := p.json.Decode(&got); err != nil {
			return fmt.Errorf("read the numbers of %q: %w", word, err)
		}
		if len(got) != len(numbers) {
			return fmt.Errorf("%q has %d numbers, expected %d", word, len(got), len(numbers))
		}
		if slices.ContainsFunc(got, math.IsNaN) {
			return fmt.Errorf("%q has null among its numbers", word)
		}
		return each(word, got)
	})
}

// object reads an object; member reads one value, the key of which it is given.
func (p *parser) object(member func(key string) error) error {
	t, err := p.token()
	if err == nil && t != json.Delim('{') {
		err = fmt.Errorf("%v where an object is expected", t)
	}
	if err != nil {
		return err
	}
	return p.list(func(t json.Token) error {
		key, _ := t.(string)
		return member(key)
	})
}

// list reads what stands before the closing bracket.
func (p *parser) list(element func(json.Token) error) error {
	for p.json.More() {
		t, err := p.token()
		if err == nil {
			err = element(t)
		}
		if err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// token reads a bracket, a key, or a value without brackets.
func (p *parser) token() (json.Token, error) {
	p.in.N = maxValue
	return p.json.Token()
}
