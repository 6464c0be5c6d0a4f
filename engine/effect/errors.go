package effect

import (
	"errors"
	"fmt"

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
