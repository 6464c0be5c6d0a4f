package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

const (
	messageMember = `,"message":`
	afterMessage  = `,"content_hash":` // the member that follows; the log gives every message one
)

// encodeEntry returns what json.Marshal makes of an entry, byte for byte, in about half the time:
// encoding/json reads what a marshaler returns once more, and the message is most of an entry.
func encodeEntry(e *echo.Entry) ([]byte, error) {
	rest := *e
	rest.Message = nil
	line, err := json.Marshal(&rest)
	if err != nil || e.Message == nil {
		return line, err
	}
	// The first of these is the member itself: quotes in the values before it are escaped.
	at := bytes.Index(line, []byte(afterMessage))
	if at < 0 {
		return json.Marshal(e)
	}
	message, err := e.Message.MarshalJSON()
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 0, len(line)+len(messageMember)+len(message))
	whole = append(append(whole, line[:at]...), messageMember...)
	return append(append(whole, message...), line[at:]...), nil
}

// decodeEntry reads a line with an entry of a session, and checks that its message is the one that
// was recorded, and that its fields say what its key says.
func decodeEntry(line []byte, session string) (*echo.Entry, error) {
	e := &echo.Entry{}
	if err := json.Unmarshal(line, e); err != nil {
		return nil, err
	}
	if e.Message != nil && e.Message.Hash() != e.ContentHash {
		return nil, fmt.Errorf("entry %d: the content does not match its hash %s", e.Seq, e.ContentHash)
	}
	if err := e.CheckKey(); err != nil {
		return nil, notWritten(fmt.Errorf("entry %d: %w", e.Seq, err))
	}
	if err := checkSession(e, session); err != nil {
		return nil, notWritten(err)
	}
	return e, nil
}

func notWritten(err error) error {
	return fmt.Errorf("%w; windlass does not write such entries: restore the journal from a copy", err)
}

// checkSeq demands that an entry has the number that follows from its place.
func checkSeq(e *echo.Entry, seq uint64) error {
	if e.Seq != seq {
		return fmt.Errorf("entry %d stands where entry %d should", e.Seq, seq)
	}
	return nil
}
