package vectors

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Bounds of what is read, far above the published file's 341,479 words of 100 dimensions.
const (
	maxWords  = 1 << 20
	maxDims   = 1024
	maxCodes  = 1 << 27 // words times dimensions
	maxWord   = 255     // bytes
	maxString = 4096    // bytes of a string in the file, escapes included
	maxNumber = 64
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
// with the head before the vectors. Other members are passed over. After the first error nothing
// more is read, and what the methods return is void.
type parser struct {
	in     *bufio.Reader
	at     int64
	err    error
	buf    []byte
	header map[string]float64
}

// parse calls begin once with the head, and then each for every word. The numbers are valid until
// the next word.
func parse(in io.Reader, begin func(header), each func(word string, numbers []float64) error) error {
	p := &parser{in: bufio.NewReaderSize(in, 1<<20), header: map[string]float64{}}
	found := false
	p.object(func(key string) {
		if key != "vectors" {
			p.member(key)
			return
		}
		h, err := p.head()
		if err == nil && found {
			err = errors.New("it has vectors twice")
		}
		if p.fail(err); err == nil {
			found = true
			begin(h)
			p.vectors(h, each)
		}
	})
	if !found {
		p.fail(errors.New("it has no vectors"))
	}
	if p.err != nil {
		return fmt.Errorf("the file of word vectors is not as expected, near byte %d: %w", p.at, p.err)
	}
	return nil
}

// fail keeps the first error; nil is none.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
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

// member reads a member that is not the vectors: a number is kept, anything else is passed over.
func (p *parser) member(key string) {
	switch p.peek() {
	case '[':
		p.array(p.scalar)
	case '"':
		p.str()
	default:
		p.header[key] = p.number()
	}
}

func (p *parser) scalar() {
	if p.peek() == '"' {
		p.str()
	} else {
		p.number()
	}
}

func (p *parser) vectors(h header, each func(string, []float64) error) {
	numbers := make([]float64, 0, h.dims+2)
	p.object(func(word string) {
		numbers = numbers[:0]
		p.array(func() {
			n := p.number()
			if len(numbers) == cap(numbers) {
				p.fail(fmt.Errorf("%q has more than %d numbers", word, cap(numbers)))
				return
			}
			numbers = append(numbers, n)
		})
		switch {
		case p.err != nil:
		case len(numbers) != h.dims+2:
			p.fail(fmt.Errorf("%q has %d numbers, expected %d", word, len(numbers), h.dims+2))
		default:
			p.fail(each(word, numbers))
		}
	})
}

// object reads an object; member reads one value, the key of which it is given.
func (p *parser) object(member func(key string)) {
	p.list('{', '}', func() {
		key := p.str()
		if p.expect(':'); p.err == nil {
			member(key)
		}
	})
}

func (p *parser) array(element func()) { p.list('[', ']', element) }

// list reads what stands between two brackets, with commas.
func (p *parser) list(open, end byte, element func()) {
	if p.expect(open); p.peek() == end {
		p.read()
		return
	}
	for p.err == nil {
		element()
		switch c := p.next(); c {
		case end:
			return
		case ',':
		default:
			p.fail(fmt.Errorf("%q where a comma or %q is expected", c, end))
		}
	}
}

func (p *parser) str() (s string) {
	p.expect('"')
	p.buf = append(p.buf[:0], '"')
	for escaped := false; p.err == nil; {
		c := p.read()
		if p.buf = append(p.buf, c); len(p.buf) > maxString {
			p.fail(errors.New("a string has no end"))
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if err := json.Unmarshal(p.buf, &s); err != nil {
		p.fail(fmt.Errorf("read a string: %w", err))
	}
	return s
}

// number reads a number, which ends before a comma, a bracket or white space.
func (p *parser) number() float64 {
	p.buf = p.buf[:0]
	for c := p.peek(); c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E' || '0' <= c && c <= '9'; c = p.ahead() {
		p.read()
		if p.buf = append(p.buf, c); len(p.buf) > maxNumber {
			p.fail(errors.New("a number has no end"))
		}
	}
	n, err := strconv.ParseFloat(string(p.buf), 64)
	if err != nil {
		p.fail(fmt.Errorf("%q is no number", p.buf))
	}
	return n
}

// ahead returns the next byte without reading it, 0 at the end.
func (p *parser) ahead() byte {
	if b, err := p.in.Peek(1); err == nil && p.err == nil {
		return b[0]
	}
	return 0
}

func (p *parser) expect(want byte) {
	if c := p.next(); c != want {
		p.fail(fmt.Errorf("%q where %q is expected", c, want))
	}
}

// next reads the next byte that is not white space.
func (p *parser) next() byte {
	p.peek()
	return p.read()
}

// peek returns the next byte that is not white space, and leaves it there.
func (p *parser) peek() byte {
	for p.err == nil {
		b, err := p.in.Peek(1)
		if err == nil && b[0] != ' ' && b[0] != '\t' && b[0] != '\r' && b[0] != '\n' {
			return b[0]
		}
		p.read()
	}
	return 0
}

// read reads a byte. The file may not end here.
func (p *parser) read() byte {
	if p.err != nil {
		return 0
	}
	c, err := p.in.ReadByte()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		p.fail(err)
		return 0
	}
	p.at++
	return c
}
