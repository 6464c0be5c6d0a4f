package journal

import (
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// decodeEntry reads a line with an entry of a session, and checks that its message is the one that
// was recorded or redacted, and that its fields say what its key says.
func decodeEntry(line []byte, of *Header) (*echo.Entry, error) {
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
	if err := checkSession(e, of.SessionID); err != nil {
		return nil, notWritten(err)
	}
	if err := e.CheckRedacted(of.Redacted()); err != nil {
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
