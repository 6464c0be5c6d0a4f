package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// KindOf returns the first byte of a JSON value, which tells its type: 'n' is null.
func KindOf(data []byte) byte {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return data[0]
}

// ReadEither reads the short form when the JSON begins with one of the bytes, else the object.
func ReadEither(data []byte, begins string, short, object any) error {
	if strings.IndexByte(begins, KindOf(data)) >= 0 {
		return json.Unmarshal(data, short)
	}
	return json.Unmarshal(data, object)
}

// First bytes of JSON values.
const (
	AString  = `"`
	ABoolean = "tf"
	ANumber  = "-0123456789"
)

// OneOrMany reads a list, or a single element as a list of one.
type OneOrMany[T any] []T

// UnmarshalJSON reads either form.
func (l *OneOrMany[T]) UnmarshalJSON(data []byte) error {
	switch KindOf(data) {
	case 'n':
		return nil
	case '[':
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = OneOrMany[T]{one}
	return nil
}

// Duration is a time span. In a file it is seconds, or a string like "90s", "5m" or "1h30m".
type Duration time.Duration

// UnmarshalJSON reads seconds or a string as in "1m30s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	switch KindOf(data) {
	case 'n':
		return nil
	case '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		v, err := time.ParseDuration(text)
		*d = Duration(v)
		return err
	}
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return err
	}
	if limit := time.Duration(1<<63 - 1).Seconds(); seconds >= limit || seconds <= -limit {
		return fmt.Errorf("%g seconds are more than a duration holds", seconds)
	}
	*d = Duration(seconds * float64(time.Second))
	return nil
}

// MarshalJSON writes the form of [time.Duration.String].
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

func (d Duration) String() string { return time.Duration(d).String() }
