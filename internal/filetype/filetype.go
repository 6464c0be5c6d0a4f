// Package filetype says which files can be inputs of a run, and tells them by their first bytes.
package filetype

import (
	"bytes"
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
