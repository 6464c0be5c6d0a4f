package effect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
)

// RecordError is a record that could not be written: what is not recorded must not be paid for.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return "the run's record cannot be written: " + e.Err.Error() }

func (e *RecordError) Unwrap() error { return e.Err }

// ErrEndOfRecord ends a run that may use nothing but its record, where the record ends.
var ErrEndOfRecord = errors.New("the record ends here")

// EndError is [ErrEndOfRecord] with what the run came to that is not recorded.
type EndError struct {
	Node echo.NodeType
	Key  echo.Key
}

func (e *EndError) Error() string {
	return fmt.Sprintf("%v, before %s at %s", ErrEndOfRecord, e.Node, e.Key)
}

func (e *EndError) Unwrap() error { return ErrEndOfRecord }

// IsRecordError reports whether the record is why a run ended. Nothing more is recorded then.
func IsRecordError(err error) bool {
	var re *RecordError
	var de *DivergenceError
	var ue *UnansweredError
	return errors.As(err, &re) || errors.As(err, &de) || errors.As(err, &ue) || errors.Is(err, ErrEndOfRecord)
}

// DivergenceError is a run that does not follow its recording. Nothing is recorded after it.
type DivergenceError struct {
	Seq      uint64 // of the entry of the record
	Node     echo.NodeType
	Key      echo.Key
	Field    string // what differs: content, request, ...; "": another entry than the recorded one
	Recorded string // shortened
	Now      string // shortened
	Redacted bool   // it may be so because what it follows from was redacted
	Hidden   bool   // what differs is not said: it may have what was redacted
}

func (e *DivergenceError) Error() string {
	why := ""
	if e.Redacted {
		why = "; what was recorded before it is redacted, and what followed from that cannot be made again"
	}
	if e.Field == "" {
		return fmt.Sprintf("the run does not follow its record: entry %d is %s at %s, but now the run comes to %s%s", e.Seq, e.Node, e.Key, e.Now, why)
	}
	if e.Hidden {
		return fmt.Sprintf("the run does not follow its record: entry %d (%s at %s) has another %s, which is not shown, as numbers of the session are redacted%s",
			e.Seq, e.Node, e.Key, e.Field, why)
	}
	return fmt.Sprintf("the run does not follow its record: entry %d (%s at %s) has another %s: recorded %s, now %s%s",
		e.Seq, e.Node, e.Key, e.Field, e.Recorded, e.Now, why)
}

func other(recorded *echo.Entry, node echo.NodeType, key echo.Key) error {
	return &DivergenceError{Seq: recorded.Seq, Node: recorded.NodeType, Key: recorded.Key, Now: fmt.Sprintf("%s at %s", node, key)}
}

func differs(recorded *echo.Entry, field, was, now string) error {
	was, now = difference(was, now)
	return &DivergenceError{
		Seq: recorded.Seq, Node: recorded.NodeType, Key: recorded.Key, Field: field, Recorded: was, Now: now,
	}
}

// compare returns the first difference between entries other than times, nil when there is none.
func compare(recorded, now *echo.Entry) error {
	switch {
	case recorded.Message == nil != (now.Message == nil):
		return differs(recorded, "message", present(recorded.Message), present(now.Message))
	case now.Message != nil && recorded.Message.Hash() != now.Message.Hash():
		return differs(recorded, "content", string(recorded.Message.JSON()), string(now.Message.JSON()))
	case now.Message != nil && recorded.Message.Kind() != now.Message.Kind():
		return differs(recorded, "kind", string(recorded.Message.Kind()), string(now.Message.Kind()))
	case now.Message == nil && recorded.ContentHash != now.ContentHash:
		return differs(recorded, "content_hash", string(recorded.ContentHash), string(now.ContentHash))
	case recorded.Model != now.Model:
		return differs(recorded, "model", recorded.Model, now.Model)
	}
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"tool", recorded.Tool, now.Tool},
		{"selection", recorded.Selection, now.Selection},
		{"usage", recorded.Usage, now.Usage},
		{"cost_usd", recorded.CostUSD, now.CostUSD},
		{"pretend", recorded.Pretend, now.Pretend},
		{"error", recorded.Error, now.Error},
	} {
		if a, b := MustJSON(f.a), MustJSON(f.b); !bytes.Equal(a, b) {
			return differs(recorded, f.name, string(a), string(b))
		}
	}
	if a, b := comparable(recorded), comparable(now); a != b {
		return differs(recorded, "data", a, b)
	}
	return nil
}

// comparable returns the data of an entry without what a run does not depend on.
func comparable(e *echo.Entry) string {
	if len(e.Data) == 0 {
		return ""
	}
	if start, err := echo.Read[echo.RunStart](e); err == nil {
		return string(MustJSON(echo.RunStart{Input: start.Input, WorkDir: start.WorkDir}))
	}
	if end, err := echo.Read[echo.PhaseEnd](e); err == nil && end.Hash != "" { // a redaction has noted it
		without := *e
		end.Hash = ""
		without.Set(end)
		e = &without
	}
	var b bytes.Buffer
	if json.Compact(&b, e.Data) == nil {
		return string(MustJSON(json.RawMessage(b.Bytes())))
	}
	return string(e.Data)
}

func present(m *echo.Message) string {
	if m == nil {
		return "none"
	}
	return string(m.JSON())
}

// How many bytes are shown on either side of where two texts begin to differ.
const (
	shownBefore = 40
	shownAfter  = 80
)

// difference shortens two texts to where they begin to differ.
func difference(a, b string) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return around(a, same), around(b, same)
}

func around(s string, at int) string {
	from, to := max(at-shownBefore, 0), min(at+shownAfter, len(s))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	b.WriteString(s[from:to])
	if to < len(s) {
		b.WriteString("…")
	}
	return fmt.Sprintf("%q", b.String())
}
