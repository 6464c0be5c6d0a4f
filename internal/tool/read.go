package tool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

const (
	defaultReadLines = 1000
	maxReadLines     = 5000
	sniffSize        = 8000 // bytes in which a NUL tells that a file is not text
)

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func readTool(f *folders) tool {
	return tool{
		spec: effect.ToolSpec{
			Name:       ReadFile,
			Idempotent: true,
			Description: fmt.Sprintf("Read a text file of the granted folders. Returns at most %d lines from the line offset on, "+
				"and at most %d KiB; a note at the end says how to go on when there is more.", defaultReadLines, maxText>>10),
			Parameters: object([]string{"path"}, property{"path", "string", "the file, relative to the working folder", ""},
				property{"offset", "integer", "the first line to return, from 1", `"minimum":1,"default":1`},
				integer("limit", "the number of lines to return", 1, maxReadLines, defaultReadLines)),
		},
		run: typed(func(ctx context.Context, _ *call, a readArgs) (string, error) { return f.read(ctx, a) }),
	}
}

func (f *folders) read(ctx context.Context, a readArgs) (string, error) {
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	file, info, err := f.open("read", p)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info.IsDir() {
		return "", fmt.Errorf("read %s: it is a folder; use list_files", p.show)
	}
	in := bufio.NewReaderSize(file, 64<<10)
	if binary(in) {
		return "", fmt.Errorf("read %s: it is not a text file (%d bytes)", p.show, info.Size())
	}
	w := window{from: max(a.Offset, 1), lines: within(a.Limit, defaultReadLines, maxReadLines)}
	if err := w.read(ctx, in); err != nil {
		return "", f.explain("read", p, err)
	}
	return w.text(p.show, info.Size(), f.secrets), nil
}

// binary reports whether what comes is not text.
func binary(in *bufio.Reader) bool {
	start, _ := in.Peek(sniffSize) // less than asked for is the whole file
	return bytes.IndexByte(start, 0) >= 0
}

// within returns n, or otherwise when it is not set, and at most limit.
func within(n, otherwise, limit int) int {
	return min(cmp.Or(max(n, 0), otherwise), limit)
}

// window is a stretch of a file's lines.
type window struct {
	from, lines int

	buf   bytes.Buffer
	line  int  // the line that comes next
	more  bool // there are lines after the window
	split bool // the last line was cut
	seen  bool // there was a line in the window
}

// read goes over the file up to the first byte after the window.
func (w *window) read(ctx context.Context, in *bufio.Reader) error {
	for w.line = 1; ; {
		piece, err := in.ReadSlice('\n')
		if w.line >= w.from+w.lines || w.buf.Len() >= maxText {
			w.more = len(piece) > 0
			w.split = w.more && w.line < w.from+w.lines && !bytes.HasSuffix(w.buf.Bytes(), []byte("\n"))
			return nil
		}
		if w.line >= w.from && len(piece) > 0 {
			w.seen = true
			w.keep(piece)
		}
		if len(piece) > 0 && piece[len(piece)-1] == '\n' {
			w.line++
			if w.line%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			if ctx.Err() != nil {
				return ctx.Err()
			}
		case err != nil:
			return err
		}
		if w.split {
			return nil
		}
	}
}

func (w *window) keep(piece []byte) {
	room := maxText - w.buf.Len()
	if len(piece) <= room {
		w.buf.Write(piece)
		return
	}
	for room > 0 && !utf8.RuneStart(piece[room]) {
		room--
	}
	w.buf.Write(piece[:room])
	w.split = true
}

func (w *window) text(name string, size int64, secrets *secret.Set) string {
	text := strings.ToValidUTF8(w.buf.String(), "\uFFFD")
	if w.split {
		text = secrets.Head(text)
	}
	switch {
	case size == 0:
		return fmt.Sprintf("[%s is empty]", name)
	case !w.seen:
		return fmt.Sprintf("[%s ends before line %d]", name, w.from)
	case w.split:
		return fmt.Sprintf("%s\n[cut inside line %d after %d KiB; the file has %d bytes; go on with offset=%d]",
			text, w.line, maxText>>10, size, w.line+1)
	case w.more:
		return fmt.Sprintf("%s[lines %d to %d; there is more: go on with offset=%d]", endLine(text), w.from, w.line-1, w.line)
	}
	return text
}

func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
