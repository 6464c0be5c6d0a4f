// Package filetype says which files can be inputs of a run, and tells them by their first bytes.
package filetype

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif"  // reads its head
	_ "image/jpeg" // reads its head
	_ "image/png"  // reads its head
	"slices"
	"strings"
)

// Kind is what an input takes that is a file: the "format" of a string in an inputs_schema.
type Kind string

// The kinds of files.
const (
	Image Kind = "image"
	PDF   Kind = "pdf"
	Any   Kind = "file" // an image or a PDF
)

var types = map[Kind][]string{
	Image: {"image/png", "image/jpeg", "image/gif", "image/webp"},
	PDF:   {"application/pdf"},
	Any:   {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"},
}

// IsKnown reports whether there is such a kind.
func (k Kind) IsKnown() bool { return types[k] != nil }

// Takes reports whether a file of a media type is of the kind.
func (k Kind) Takes(mediaType string) bool { return slices.Contains(types[k], mediaType) }

// Noun names one file of the kind.
func (k Kind) Noun() string {
	switch k {
	case Image:
		return "image"
	case PDF:
		return "PDF"
	case Any:
	}
	return "image or PDF"
}

func (k Kind) String() string {
	switch k {
	case Image:
		return "images (png, jpeg, gif, webp)"
	case PDF:
		return "PDFs"
	case Any:
	}
	return "images (png, jpeg, gif, webp) and PDFs"
}

// magics are the first bytes of the types that are known; a dot stands for any byte. At least so many
// bytes a file has that is whole.
var magics = []struct {
	is, begins string
	least      int
}{
	{"image/png", "\x89PNG\r\n\x1a\n", 57}, // with IHDR, IDAT and IEND
	{"image/jpeg", "\xff\xd8\xff", 20},
	{"image/gif", "GIF87a", 14},
	{"image/gif", "GIF89a", 14},
	{"image/webp", "RIFF....WEBPVP8", 20},
	{"application/pdf", "%PDF-", 20},
}

// Of returns the type of a file by its first bytes, "" for none that is known, and whether it has
// more than the beginning of such a file.
func Of(data []byte) (is string, whole bool) {
	for _, m := range magics {
		n := min(len(data), len(m.begins))
		if n >= 3 && fits(data[:n], m.begins[:n]) {
			return m.is, len(data) >= m.least
		}
	}
	return "", false
}

func fits(data []byte, pattern string) bool {
	for part := range strings.SplitSeq(pattern, ".") {
		if !bytes.HasPrefix(data, []byte(part)) {
			return false
		}
		data = data[min(len(part)+1, len(data)):]
	}
	return true
}

// Size returns how many pixels an image has, by its head alone; zeros where that does not say it. The error says why
// the head cannot be read.
func Size(data []byte) (width, height int, err error) {
	if is, _ := Of(data); is == "image/webp" {
		width, height = webpSize(data)
		return width, height, nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	return c.Width, c.Height, err
}

// webpSize reads the size of a WebP image, in each of its three formats.
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	switch head := data[20:]; string(data[12:16]) {
	case "VP8X":
		return 1 + int(binary.LittleEndian.Uint32(head[4:])&0xffffff), 1 + int(binary.LittleEndian.Uint32(head[6:])>>8)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(head[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(head[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(head[8:]) & 0x3fff)
	}
	return 0, 0
}
