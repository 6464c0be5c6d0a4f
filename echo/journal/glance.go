package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"time"
)

// glanceSize has room for the members of a header up to the time of its start.
const glanceSize = 256

// Glance returns when the session of a journal began, as its first bytes say. Nothing is checked:
// ok is false when they do not say it in the way in which this package writes it, and a journal
// that is damaged may say anything. It is for sorting sessions of which [Look] reads only a few.
// Without a file the error is [os.ErrNotExist].
func Glance(path string) (started time.Time, ok bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return time.Time{}, false, err
	}
	defer f.Close() //nolint:errcheck // only read from
	var start [glanceSize]byte
	n, err := f.Read(start[:])
	if err != nil && !errors.Is(err, io.EOF) {
		return time.Time{}, false, err
	}
	started, ok = startOf(start[:n])
	return started, ok, nil
}

// startOf reads the time of the start from the beginning of a header.
func startOf(header []byte) (started time.Time, ok bool) {
	rest, ok := bytes.CutPrefix(header, []byte(headerStart+strconv.Itoa(Version)+`,"rules":`))
	if !ok {
		return time.Time{}, false
	}
	rest = bytes.TrimLeft(rest, "0123456789")
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"session_id":"`)); !ok {
		return time.Time{}, false
	}
	_, rest, _ = bytes.Cut(rest, []byte{'"'}) // the id: IsSessionID
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"started_at":`)); !ok {
		return time.Time{}, false
	}
	end := bytes.IndexByte(rest, ',')
	return started, end > 0 && started.UnmarshalJSON(rest[:end]) == nil && !started.IsZero()
}
