package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"time"
)

// glanceSize has room for the members of a header up to the session that has begun it.
const glanceSize = 384

// Glimpse is what [Glance] sees of a session.
type Glimpse struct {
	StartedAt time.Time
	ChildOf   string // the session that has begun it, "" when none has
}

// Glance returns what the first bytes of a journal say of its session. Nothing is checked:
// ok is false when they do not say it in the way in which this package writes it, and a journal
// that is damaged may say anything. It is for sorting sessions of which [Look] reads only a few.
// Without a file the error is [os.ErrNotExist].
func Glance(path string) (seen Glimpse, ok bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Glimpse{}, false, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return Glimpse{}, false, err
	}
	defer f.Close() //nolint:errcheck // only read from
	var start [glanceSize]byte
	n, err := f.Read(start[:])
	if err != nil && !errors.Is(err, io.EOF) {
		return Glimpse{}, false, err
	}
	seen, ok = glimpseOf(start[:n])
	return seen, ok, nil
}

// glimpseOf reads the beginning of a header.
func glimpseOf(header []byte) (seen Glimpse, ok bool) {
	rest, ok := bytes.CutPrefix(header, []byte(headerStart+strconv.Itoa(Version)+`,"rules":`))
	if !ok {
		return Glimpse{}, false
	}
	rest = bytes.TrimLeft(rest, "0123456789")
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"session_id":"`)); !ok {
		return Glimpse{}, false
	}
	_, rest, _ = bytes.Cut(rest, []byte{'"'}) // the id: IsSessionID
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"started_at":`)); !ok {
		return Glimpse{}, false
	}
	end := bytes.IndexByte(rest, ',')
	if end <= 0 || seen.StartedAt.UnmarshalJSON(rest[:end]) != nil || seen.StartedAt.IsZero() {
		return Glimpse{}, false
	}
	if of, is := bytes.CutPrefix(rest[end:], []byte(`,"child_of":"`)); is {
		parent, _, _ := bytes.Cut(of, []byte{'"'}) // the id: IsSessionID
		seen.ChildOf = string(parent)
	}
	return seen, true
}
