package ledger

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/internal/failure"
)

// Sealed returns a line with its checksum, and that.
func Sealed(value any, before chain.Sum) ([]byte, chain.Sum, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, before, err
	}
	if err := chain.CheckLength(len(text)); err != nil {
		return nil, before, err
	}
	open := text[:len(text)-1]
	sum := before.Next(open)
	return chain.End(open, sum), sum, nil
}

// Read checks the checksum of a line, and reads what else it says.
func Read(line []byte, before chain.Sum, into any) (chain.Sum, error) {
	sum, err := before.Check(line)
	if err == nil {
		err = json.Unmarshal(append(line[:len(line)-chain.Size:len(line)-chain.Size], '}'), into)
	}
	return sum, err
}

// DamageError says which line of a ledger is not what was written, and why.
type DamageError struct {
	Noun string // what the ledger is: "bank"
	Path string
	Line int // from 1; the head is line 1
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s %s is damaged at line %d: %v", e.Noun, e.Path, e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Damaged returns the error of a line that is not what was written.
func Damaged(noun, path string, line int, err error) error {
	return failure.New(failure.Damaged, &DamageError{noun, path, line, err}, "put a sound copy of the "+noun+" in its place, or move it away")
}

// Failed says what failed with a ledger, where that is not known yet.
func Failed(noun, verb, path string, err error) error {
	var known *failure.Error
	if errors.As(err, &known) {
		return err
	}
	return failure.New(failure.StorageFailed, fmt.Errorf("%s %s %s: %w", verb, noun, path, err), "")
}
