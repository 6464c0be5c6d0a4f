package effect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Mask takes secrets out of what is recorded, kept, or sent to another model. It is idempotent.
type Mask interface {
	Text(text string) string
	// JSON masks the strings of a JSON value, Any those of a value that encoding/json decoded.
	JSON(raw []byte) []byte
	Any(value any) any
	// Parts calls a function with the parts of a text, one after the other: with the name of each secret that Text
	// masks, and with "" for what stays.
	Parts(text string, part func(text, secret string))
}

// NoMask knows no secrets.
type NoMask struct{}

// Text returns the text.
func (NoMask) Text(text string) string { return text }

// JSON returns the JSON.
func (NoMask) JSON(raw []byte) []byte { return raw }

// Any returns the value.
func (NoMask) Any(value any) any { return value }

// Parts has the text as the only part.
func (NoMask) Parts(text string, part func(text, secret string)) { part(text, "") }

// A run masks what it records, never what is recorded: then fewer secrets may have been known. So
// what follows from a template may be recorded in either form, and the run continues with that.

// withoutSecrets returns an entry as it is recorded, the entry itself when it has no secrets; its
// message is left to who made it.
func withoutSecrets(mask Mask, e *echo.Entry) *echo.Entry {
	failure, use, data := e.Error, e.Tool, e.Data
	if e.Error != nil {
		if text := mask.Text(e.Error.Message); text != e.Error.Message {
			failure = &echo.Failure{Kind: e.Error.Kind, Message: text}
		}
	}
	if e.Tool != nil {
		if arguments := MaskedArguments(mask, e.Tool.Arguments); arguments != e.Tool.Arguments {
			use = &echo.ToolUse{Name: e.Tool.Name, CallID: e.Tool.CallID, Arguments: arguments}
		}
	}
	if len(e.Data) > 0 {
		data = mask.JSON(e.Data)
	}
	if failure == e.Error && use == e.Tool && bytes.Equal(data, e.Data) {
		return e
	}
	clean := *e
	clean.Error, clean.Tool, clean.Data = failure, use, data
	return &clean
}

// MaskedArguments returns the arguments of a call as they are recorded; they may be no JSON.
func MaskedArguments(mask Mask, arguments string) string {
	if json.Valid([]byte(arguments)) {
		return string(mask.JSON([]byte(arguments)))
	}
	return mask.Text(arguments)
}

func maskedRequest(mask Mask, req *ModelRequest) *ModelRequest {
	return withMessages(req, func(m *echo.Message) *echo.Message { return m.Rewritten(mask.Text) })
}

func withMessages(req *ModelRequest, change func(*echo.Message) *echo.Message) *ModelRequest {
	out := *req
	out.Messages = make([]*echo.Message, len(req.Messages))
	for i, m := range req.Messages {
		out.Messages[i] = change(m)
	}
	if slices.Equal(out.Messages, req.Messages) {
		return req
	}
	return &out
}

// asRecorded reports whether a request has a hash, without secrets or, in older records, with
// them.
func asRecorded(mask Mask, req *ModelRequest, hash string) bool {
	return req.Hash() == hash || maskedRequest(mask, req).Hash() == hash || withMessages(req, (*echo.Message).Open).Hash() == hash
}

// sameButSecrets is compare for an entry recorded when fewer secrets were known.
func sameButSecrets(mask Mask, recorded, now *echo.Entry) error {
	clean := withoutSecrets(mask, now)
	err := compare(recorded, clean)
	if err == nil || compare(withoutSecrets(mask, recorded), clean) == nil {
		return nil
	}
	return err
}
