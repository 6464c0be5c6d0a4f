package document

import (
	"bytes"
	"encoding/json"
	"strings"
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
