package echo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Payload is what entries of one kind say, such as [RunStart]: [Entry.Set] writes, [Read] reads it.
// The types are values: Read is called with [RunStart], not with a pointer.
type Payload interface {
	kind() kind
}

// kind is what entries have that a payload belongs to.
type kind struct {
	node NodeType
	step StepKind // the last step of their keys, which tells values apart; "": any
}

func (k kind) String() string {
	switch {
	case k.node == "":
		return "nothing known"
	case k.step == "":
		return string(k.node)
	}
	return fmt.Sprintf("%s (%s)", k.node, k.step)
}

// kindOf returns the kind of an entry as far as a payload of some kind tells entries apart.
func kindOf(e *Entry, asked kind) kind {
	is := kind{node: e.NodeType}
	if asked.step != "" || e.NodeType == NodeValue {
		p := e.Key.Path()
		is.step = p.Last().Kind
	}
	return is
}

// checked is a payload with fields that it cannot do without.
type checked interface {
	check() error
}

// ReadError is an entry that cannot be read as what was asked for.
type ReadError struct {
	Seq   uint64
	Key   Key
	Is    string // what the entry is: run_end, value (clock), ...
	Asked string // what it was read as
	Err   error  // why its data cannot be read; nil: the entry is something else
}

// Error says which entry it is, and why it cannot be read.
func (e *ReadError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("read entry %d (%s) as %s: it is %s", e.Seq, e.Key, e.Asked, e.Is)
	}
	return fmt.Sprintf("read entry %d (%s) as %s: %v; a newer windlass may be able to read it", e.Seq, e.Key, e.Asked, e.Err)
}

// Unwrap returns why the data cannot be read.
func (e *ReadError) Unwrap() error { return e.Err }

// Read returns what an entry says. The error is a [*ReadError]. Members of the data that T does not
// have are ignored. Numbers in values of users are [json.Number], so that none is rounded.
func Read[T Payload](e *Entry) (T, error) {
	var out, none T
	var err error
	asked := out.kind()
	is := kindOf(e, asked)
	if is == asked {
		if err = decode(e.Data, &out); err == nil {
			return out, nil
		}
	}
	return none, &ReadError{Seq: e.Seq, Key: e.Key, Is: is.String(), Asked: asked.String(), Err: err}
}

// Decode is [Read] for data that comes without its entry, as the outcome of an effect does.
func Decode[T Payload](data json.RawMessage) (T, error) {
	var out, none T
	if err := decode(data, &out); err != nil {
		return none, fmt.Errorf("read %s: %w", none.kind(), err)
	}
	return out, nil
}

// NewEntry returns an entry that says p.
func NewEntry(key Key, p Payload) *Entry {
	e := &Entry{Key: key}
	e.Set(p)
	return e
}

// Set makes p what the entry says, and its kind. What JSON cannot express fails [Log.Append].
func (e *Entry) Set(p Payload) {
	e.NodeType = p.kind().node
	e.Data, e.invalid = encodePayload(p)
	if e.invalid != nil {
		e.invalid = fmt.Errorf("encode %s (%s): %w", p.kind(), e.Key, e.invalid)
	}
}

var (
	errNoData   = errors.New("it has no data")
	errNullData = errors.New("its data is null")
	errMoreData = errors.New("its data is more than one JSON value")
)

func decode(data json.RawMessage, into any) error {
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return errNoData
	case string(text) == "null":
		return errNullData
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.InputOffset() < int64(len(text)) {
		return errMoreData
	}
	if c, ok := into.(checked); ok {
		return c.check()
	}
	return nil
}
