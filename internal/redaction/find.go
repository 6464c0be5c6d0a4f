// Package redaction takes the content of a message out of a recorded session: the message itself,
// what was made of it, and copies of it. It reads and makes values; files are changed elsewhere.
//
// A mark that names the message is in the place of each text that is taken out. What models wrote
// of the message in words of their own is not found; where lines or long words of it are left in
// other messages is reported.
package redaction

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/quantity"
)

// MinDigits is how many digits of a content hash are enough to name a message.
const MinDigits = 12

const hashDigits = 16

// HashError says that a text cannot be a content hash.
type HashError struct{ Given string }

func (e *HashError) Error() string {
	return fmt.Sprintf("%.40q is no content hash: that has %d hexadecimal digits in lower case, of which the first %d are enough", e.Given, hashDigits, MinDigits)
}

// UnknownError says that a session has no message with a content hash.
type UnknownError struct {
	Session, Given string
	Messages       int // that it has
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("session %s has no message with the content hash %s: it has %s", e.Session, e.Given, quantity.Of(e.Messages, "message"))
}

// AmbiguousError says that several messages have content hashes that begin so.
type AmbiguousError struct {
	Given  string
	Hashes []echo.Hash
}

func (e *AmbiguousError) Error() string {
	all := make([]string, len(e.Hashes))
	for i, h := range e.Hashes {
		all[i] = string(h)
	}
	return fmt.Sprintf("several messages have content hashes that begin with %s: %s", e.Given, strings.Join(all, ", "))
}

// Find returns the whole content hash of a message that is given by its beginning. The error is a
// [*HashError], an [*UnknownError] or an [*AmbiguousError].
func Find(session, given string, entries []*echo.Entry) (echo.Hash, error) {
	if len(given) < MinDigits || len(given) > hashDigits || strings.Trim(given, "0123456789abcdef") != "" {
		return "", &HashError{given}
	}
	known := map[echo.Hash]bool{}
	for _, e := range entries {
		if e.Message != nil {
			known[e.Message.Hash()] = true
		}
	}
	var found []echo.Hash
	for _, h := range slices.Sorted(maps.Keys(known)) {
		if strings.HasPrefix(string(h), given) {
			found = append(found, h)
		}
	}
	switch len(found) {
	case 0:
		return "", &UnknownError{Session: session, Given: given, Messages: len(known)}
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousError{Given: given, Hashes: found}
}

// Places returns where the recording of another session has the texts of the message, or parts of them.
func (l *Leftover) Places(rec *journal.Recording) (places []Place, err error) {
	r := &redactor{messages: l.all, data: l.all, shape: shape{names: namesIn(rec), numbers: new(int)}}
	left := false
	for _, part := range []struct {
		raw []byte
		at  *echo.ContentPlace
	}{{rec.Header.Input, someData}, {rec.Header.Options, optionsPlace}, {rec.Header.Cascade, cascadePlace}, {rec.Header.Library, libraryPlace}} {
		if _, err := r.json(part.raw, part.at, leftIn(l.all, &left), nil); err != nil {
			return nil, fmt.Errorf("look through the header of session %s: %w", rec.Header.SessionID, err)
		}
	}
	if left {
		places = append(places, Place{})
	}
	for _, e := range rec.Entries {
		hash, left, err := r.leftIn(e)
		if err != nil {
			return nil, fmt.Errorf("look through entry %d (%s) of session %s: %w", e.Seq, e.Key, rec.Header.SessionID, err)
		}
		if left {
			places = append(places, Place{Seq: e.Seq, Node: e.NodeType, Hash: hash})
		}
	}
	return places, nil
}
