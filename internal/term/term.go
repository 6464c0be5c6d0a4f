// Package term writes for people: tables, numbers, colours, safe texts, and redrawn lines.
package term

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	xterm "golang.org/x/term"
)

// fileOf returns the file that w is, or the terminal on which w shows what it is given.
func fileOf(w io.Writer) (*os.File, bool) {
	if shown, ok := w.(interface{ Terminal() *os.File }); ok {
		return shown.Terminal(), true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// IsTerminal reports whether w is a terminal, or what shows its text on one, as a pager.
func IsTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

// CanDraw reports whether w is a terminal that can move its cursor.
func CanDraw(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

// Size returns the columns and lines of the terminal that w is, zeros if it is none.
func Size(w io.Writer) (width, height int) {
	f, ok := fileOf(w)
	if !ok {
		return 0, 0
	}
	width, height, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// Width returns the columns of the terminal that w is, 0 if it is none.
func Width(w io.Writer) int {
	width, _ := Size(w)
	return width
}

// IsUTF8 reports whether the locale of an environment has every character, by the variables that POSIX
// reads, in their order. Without any of them it is that of POSIX, which has ASCII. The terminals of
// Windows have no locale, and every character.
func IsUTF8(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return runtime.GOOS == "windows" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// WriteJSON writes a value as indented JSON, with <, > and & as they are. A terminal is shown what would control it as
// escapes, which mean the same.
func WriteJSON(w io.Writer, v any) error {
	if !IsTerminal(w) {
		return encodeJSON(w, v)
	}
	var b bytes.Buffer
	if err := encodeJSON(&b, v); err != nil {
		return err
	}
	_, err := w.Write(EscapedJSON(b.Bytes()))
	return err
}

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// EscapedJSON returns valid JSON with an escape for each character that controls a terminal or changes the order of words:
// such characters are in strings only, but for line breaks.
func EscapedJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) { // what is no UTF-8 becomes U+FFFD
		switch {
		case r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// IsTerminalInput reports whether r is a terminal, so that somebody can be asked.
func IsTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && xterm.IsTerminal(int(f.Fd()))
}
