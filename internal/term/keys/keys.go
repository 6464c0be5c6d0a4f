// Package keys reads what a person presses on a terminal.
package keys

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Key is a key that was pressed, or a text that was pasted.
type Key struct {
	Name Name
	Text string // of Char one character, of Paste all that was pasted
}

// Name is which key it is.
type Name int

// The keys. Those that a form has no use for are None.
const (
	None Name = iota
	Char
	Paste
	Enter
	NewLine // Alt-Enter or Ctrl-J: a line in a text
	Done    // Ctrl-D
	Escape
	Tab
	BackTab
	Up
	Down
	Left
	Right
	Home
	End
	PageUp
	PageDown
	Backspace
	Delete
	DeleteWord // Ctrl-W
	DeleteLine // Ctrl-U: to the beginning of the line
	DeleteRest // Ctrl-K: to the end of the line
	Editor     // Ctrl-X
	Suspend    // Ctrl-Z: stops the process, as the terminal does otherwise
)

// Of returns the key of a character.
func Of(r rune) Key { return Key{Char, string(r)} }

// controls are the keys of single bytes.
var controls = map[byte]Name{
	'\r': Enter, '\n': NewLine, '\t': Tab, 0x7f: Backspace, 0x08: Backspace, 0x04: Done, 0x01: Home, 0x05: End, 0x02: Left, 0x06: Right, 0x10: Up, 0x0e: Down,
	0x17: DeleteWord, 0x15: DeleteLine, 0x0b: DeleteRest, 0x18: Editor, 0x1a: Suspend,
}

// sequences are the keys of escape sequences, without their beginning.
var sequences = map[string]Name{
	"A": Up, "B": Down, "C": Right, "D": Left, "H": Home, "F": End, "Z": BackTab,
	"1~": Home, "7~": Home, "4~": End, "8~": End, "3~": Delete, "5~": PageUp, "6~": PageDown,
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
	maxPaste    = 1 << 20 // bytes; the rest of a longer one is dropped
	maxSequence = 32      // bytes of an escape sequence
)

// Decoder makes keys of the bytes that a terminal sends.
type Decoder struct {
	rest    []byte // of a key that is not whole
	pasting bool
	pasted  bytes.Buffer
}

// Feed returns the keys that bytes have completed.
func (d *Decoder) Feed(b []byte) []Key {
	d.rest = append(d.rest, b...)
	var out []Key
	for len(d.rest) > 0 {
		k, n := d.next()
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if k.Name != None {
			out = append(out, k)
		}
	}
	return out
}

// Pause returns the key that a beginning of a sequence is when nothing follows: Escape.
func (d *Decoder) Pause() []Key {
	if d.pasting || len(d.rest) == 0 {
		return nil
	}
	alone := d.rest[0] == 0x1b && len(d.rest) == 1
	d.rest = nil
	if alone {
		return []Key{{Name: Escape}}
	}
	return nil
}

// next returns the first key and how many bytes it takes; 0: it is not whole.
func (d *Decoder) next() (Key, int) {
	if d.pasting {
		return d.paste()
	}
	b := d.rest[0]
	switch {
	case b == 0x1b:
		return d.sequence()
	case b < 0x20 || b == 0x7f:
		return Key{Name: controls[b]}, 1
	case !utf8.FullRune(d.rest) && len(d.rest) < utf8.UTFMax:
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(d.rest)
	if r == utf8.RuneError {
		return Key{}, n
	}
	return Of(r), n
}

// sequence returns the key of an escape sequence.
func (d *Decoder) sequence() (Key, int) {
	if len(d.rest) == 1 {
		return Key{}, 0
	}
	switch d.rest[1] {
	case '[', 'O':
	case '\r', '\n':
		return Key{Name: NewLine}, 2
	case 0x1b: // Escape, and the beginning of another key
		return Key{Name: Escape}, 1
	default: // Alt with a key that has no use here
		_, n := utf8.DecodeRune(d.rest[1:])
		return Key{}, 1 + n
	}
	for i := 2; i < len(d.rest); i++ {
		if c := d.rest[i]; c >= 0x40 && c <= 0x7e {
			return d.named(string(d.rest[:i+1])), i + 1
		}
		if i > maxSequence {
			return Key{}, i
		}
	}
	return Key{}, 0
}

func (d *Decoder) named(sequence string) Key {
	if sequence == pasteBegins {
		d.pasting = true
		return Key{}
	}
	final := sequence[2:]
	if at := strings.LastIndexByte(final, ';'); at >= 0 { // with Shift, Alt or Ctrl
		modified := final[len(final)-1:]
		final = strings.TrimSuffix(final[:at]+modified, "1"+modified)
		if final == "" {
			final = modified
		}
	}
	return Key{Name: sequences[final]}
}

// paste takes what is pasted up to its end.
func (d *Decoder) paste() (Key, int) {
	at := bytes.Index(d.rest, []byte(pasteEnds))
	if at < 0 { // all but what may be the beginning of the end
		n := len(d.rest) - min(len(pasteEnds)-1, len(d.rest))
		d.keep(d.rest[:n])
		return Key{}, n
	}
	d.keep(d.rest[:at])
	text := strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(d.pasted.String()), "")
	d.pasting = false
	d.pasted.Reset()
	return Key{Paste, text}, at + len(pasteEnds)
}

func (d *Decoder) keep(b []byte) {
	d.pasted.Write(b[:min(len(b), max(maxPaste-d.pasted.Len(), 0))])
}
