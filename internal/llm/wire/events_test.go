package wire

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// events returns all events of a stream, and why it ended.
func events(r io.Reader) (out []string, err error) {
	e := NewEvents(r)
	defer e.Close()
	for {
		data, err := e.Next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

var streams = map[string][]string{
	"":                                nil,
	"\n\n\r\n":                        nil,
	"data: a\n\ndata:b\n\n":           {"a", "b"},
	"data: a\r\n\r\ndata:  b\r\n\r\n": {"a", "b"},
	": comment\n\ndata: a\n: another\ndata: b\n\n":       {"a\nb"},
	"data: a\ndata: b\ndata\ndata: c\n\ndata: d\n\n":     {"a\nb\n\nc", "d"},
	"event: x\nid: 1\nretry: 5\ndata: a\n\nevent: y\n\n": {"a"},
	"data: a\n\ndata: b":                                 {"a", "b"},
	"data: a\n\ndata: b\r":                               {"a", "b"},
	"data: a\ndata: b":                                   {"a\nb"},
	"data: a\n\ndat":                                     {"a"},
	"data:\n\ndata: \t\n\ndatas: x\n\n":                  nil,
	"data: " + strings.Repeat("x", 10_000) + "\n\ndata: " + strings.Repeat("y", 100_000) + "\ndata: z\n\n": {strings.Repeat("x", 10_000), strings.Repeat("y", 100_000) + "\nz"},
}

// However a stream arrives, it has the same events.
func TestEvents(t *testing.T) {
	t.Parallel()
	for stream, want := range streams {
		for _, r := range []io.Reader{
			strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream)), iotest.HalfReader(strings.NewReader(stream)),
			iotest.DataErrReader(strings.NewReader(stream)),
		} {
			got, err := events(r)
			require.Equal(t, io.EOF, err)
			require.Equal(t, want, got, "%.100q", stream)
		}
	}
}

func TestEventsOfABrokenStream(t *testing.T) {
	t.Parallel()
	broke := errors.New("broke off")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broke)))
	require.Equal(t, broke, err)
	require.Equal(t, []string{"a"}, got, "what broke off is no event")

	long := io.MultiReader(strings.NewReader("data: a\n\ndata: "), strings.NewReader(strings.Repeat("x", MaxLine)))
	got, err = events(long)
	require.Equal(t, bufio.ErrTooLong, err)
	require.Equal(t, []string{"a"}, got)

	_, err = events(empty{})
	require.Equal(t, io.ErrNoProgress, err)
	e := NewEvents(strings.NewReader("data: a\n\n"))
	e.Close()
	e.Close()
	_, err = e.Next()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// empty never has anything.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

// plainly is what events are, said line by line.
func plainly(stream string) (out []string) {
	var data []string
	for line := range strings.Lines(stream + "\n\n") {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		name, value, _ := strings.Cut(line, ":")
		switch {
		case name == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		case line == "":
			if text := strings.TrimSpace(strings.Join(data, "\n")); text != "" {
				out = append(out, text)
			}
			data = nil
		}
	}
	return out
}

func FuzzEvents(f *testing.F) {
	for stream := range streams {
		if len(stream) < 1000 {
			f.Add(stream)
		}
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want := plainly(stream)
		for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
			got, err := events(r)
			require.Equal(t, io.EOF, err)
			require.Equal(t, want, got)
		}
	})
}
