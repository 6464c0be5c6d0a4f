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

// parser reads the published file as a stream: 300 MB of JSON would be several gigabytes when decoded at once. The file is
//
//	{"size": N, "dimensions": D, "l2NormIndex": D, "wordIndex": D+1, ...,
//	 "vectors": {"the": [D numbers, length, place], ...}, ...}
//
// with the head before the vectors. Other members are passed over.
type parser struct {
	in     *bufio.Reader
	at     int64
	buf    []byte
	header map[string]float64
}

// parse calls begin once with the head, and then each for every word. The numbers are the parser's own and change with
// the next word.
func parse(in io.Reader, begin func(header) error, each func(word string, numbers []float64) error) error {
	p := &parser{in: bufio.NewReaderSize(in, 1<<20), header: map[string]float64{}}
	found := false
	err := p.object(func(key string) error {
		if key != "vectors" {
			return p.member(key)
		}
		h, err := p.head()
		if err != nil {
			return err
		}
		if found {
			return errors.New("it has vectors twice")
		}
		found = true
		if err := begin(h); err != nil {
			return err
		}
		return p.vectors(h, each)
	})
	if err == nil && !found {
		err = errors.New("it has no vectors")
	}
	if err != nil {
		return fmt.Errorf("the file of word vectors is not as expected, near byte %d: %w", p.at, err)
	}
	return nil
}

// head checks what was read before the vectors.
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
func (p *parser) member(key string) error {
	c, err := p.peek()
	if err != nil {
		return err
	}
	switch c {
	case '[':
		return p.array(p.scalar)
	case '"':
		_, err = p.str()
		return err
	}
	n, err := p.number()
	p.header[key] = n
	return err
}

// scalar passes over a string or a number.
func (p *parser) scalar() error {
	c, err := p.peek()
	if err != nil {
		return err
	}
	if c == '"' {
		_, err = p.str()
		return err
	}
	_, err = p.number()
	return err
}

func (p *parser) vectors(h header, each func(string, []float64) error) error {
	numbers := make([]float64, 0, h.dims+2)
	return p.object(func(word string) error {
		numbers = numbers[:0]
		err := p.array(func() error {
			n, err := p.number()
			if len(numbers) == cap(numbers) {
				return fmt.Errorf("%q has more than %d numbers", word, cap(numbers))
			}
			numbers = append(numbers, n)
			return err
		})
		if err != nil {
			return err
		}
		if len(numbers) != h.dims+2 {
			return fmt.Errorf("%q has %d numbers, expected %d", word, len(numbers), h.dims+2)
		}
		return each(word, numbers)
	})
}

// object reads an object; member reads one value, the key of which it is given.
func (p *parser) object(member func(key string) error) error {
	return p.list('{', '}', func() error {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		return member(key)
	})
}

func (p *parser) array(element func() error) error { return p.list('[', ']', element) }

// list reads what stands between two brackets, with commas.
func (p *parser) list(open, end byte, element func() error) error {
	if err := p.expect(open); err != nil {
		return err
	}
	switch c, err := p.peek(); {
	case err != nil:
		return err
	case c == end:
		return p.expect(end)
	}
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := p.next()
		switch {
		case err != nil:
			return err
		case c == end:
			return nil
		case c != ',':
			return fmt.Errorf("%q where a comma or %q is expected", c, end)
		}
	}
}

// str reads a string.
func (p *parser) str() (string, error) {
	if err := p.expect('"'); err != nil {
		return "", err
	}
	p.buf = append(p.buf[:0], '"')
	for escaped := false; ; {
		c, err := p.read()
		if err != nil {
			return "", err
		}
		if p.buf = append(p.buf, c); len(p.buf) > maxString {
			return "", errors.New("a string has no end")
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	var s string
	if err := json.Unmarshal(p.buf, &s); err != nil {
		return "", fmt.Errorf("read a string: %w", err)
	}
	return s, nil
}

// number reads a number, which ends before a comma, a bracket or white space.
func (p *parser) number() (float64, error) {
	c, err := p.peek()
	if err != nil {
		return 0, err
	}
	p.buf = p.buf[:0]
	for ; c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E' || '0' <= c && c <= '9'; c = p.ahead() {
		if _, err := p.read(); err != nil {
			return 0, err
		}
		if p.buf = append(p.buf, c); len(p.buf) > maxNumber {
			return 0, errors.New("a number has no end")
		}
	}
	n, err := strconv.ParseFloat(string(p.buf), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", p.buf)
	}
	return n, nil
}

// ahead returns the next byte without reading it, 0 at the end.
func (p *parser) ahead() byte {
	b, err := p.in.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

func (p *parser) expect(want byte) error {
	c, err := p.next()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%q where %q is expected", c, want)
	}
	return nil
}

// next reads the next byte that is not white space.
func (p *parser) next() (byte, error) {
	if _, err := p.peek(); err != nil {
		return 0, err
	}
	return p.read()
}

// peek returns the next byte that is not white space, and leaves it there.
func (p *parser) peek() (byte, error) {
	for {
		b, err := p.in.Peek(1)
		if err != nil {
			return 0, ended(err)
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			if _, err := p.read(); err != nil {
				return 0, err
			}
		default:
			return b[0], nil
		}
	}
}

func (p *parser) read() (byte, error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, ended(err)
	}
	p.at++
	return c, nil
}

// ended says that the file should have gone on.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
