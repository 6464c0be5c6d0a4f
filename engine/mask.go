package engine

import (
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
)

// Mask takes secrets out of what is recorded, kept, or sent to another model than the one that a template was rendered for.
// It puts something readable in their place, and what it returns it leaves as it is.
type Mask interface {
	Text(text string) string
	// JSON takes secrets out of the strings of a JSON value, and Any out of a value that encoding/json decoded.
	JSON(raw []byte) []byte
	Any(value any) any
}

// noMask knows no secrets.
type noMask struct{}

func (noMask) Text(text string) string { return text }
func (noMask) JSON(raw []byte) []byte  { return raw }
func (noMask) Any(value any) any       { return value }

// A run masks what it records, and never what is recorded: which secrets are known changes, and a record made when fewer
// were, or by a windlass that knew none, is followed as it is. So where something follows from a template, it may stand in
// the record in either form, and the run goes on with the one that stands there.

// withoutSecrets returns an entry as it is recorded. The message is left to who made it.
func withoutSecrets(mask Mask, e *echo.Entry) *echo.Entry {
	clean := *e
	if e.Error != nil {
		clean.Error = &echo.Failure{Kind: e.Error.Kind, Message: mask.Text(e.Error.Message)}
	}
	if e.Tool != nil {
		use := *e.Tool
		use.Arguments = maskedArguments(mask, use.Arguments)
		clean.Tool = &use
	}
	if len(e.Data) > 0 {
		clean.Data = mask.JSON(e.Data)
	}
	return &clean
}

// maskedArguments returns the arguments of a call as they are recorded. What a model wrote may be no JSON.
func maskedArguments(mask Mask, arguments string) string {
	if json.Valid([]byte(arguments)) {
		return string(mask.JSON([]byte(arguments)))
	}
	return mask.Text(arguments)
}

// maskedRequest returns a request without secrets in its messages, the same one when there are none.
func maskedRequest(mask Mask, req *ModelRequest) *ModelRequest {
	out := *req
	out.Messages = make([]*echo.Message, len(req.Messages))
	same := true
	for i, m := range req.Messages {
		out.Messages[i] = m.Rewritten(mask.Text)
		same = same && out.Messages[i] == m
	}
	if same {
		return req
	}
	return &out
}

// openRequest returns a request with the messages as they are sent.
func openRequest(req *ModelRequest) *ModelRequest {
	out := *req
	out.Messages = make([]*echo.Message, len(req.Messages))
	for i, m := range req.Messages {
		out.Messages[i] = m.Open()
	}
	return &out
}

// isOthers reports whether a request goes to a model for another purpose than the conversation of a phase: it gets no
// secret, whatever a template of the phase shows to the phase's own.
func isOthers(req *ModelRequest) bool { return req.Site.Purpose != "" }

// asRecorded reports whether a request is the one with a hash: as it is, without secrets, or, of a record made before they
// were masked, with them.
func asRecorded(mask Mask, req *ModelRequest, hash string) bool {
	return req.Hash() == hash || maskedRequest(mask, req).Hash() == hash || openRequest(req).Hash() == hash
}

// sameButSecrets is compare for an entry that may have been recorded when fewer secrets were known.
func sameButSecrets(mask Mask, recorded, now *echo.Entry) error {
	clean := withoutSecrets(mask, now)
	err := compare(recorded, clean)
	if err == nil || compare(withoutSecrets(mask, recorded), clean) == nil {
		return nil
	}
	return err
}

// kept returns a message in the form in which it enters the history under a key, and is recorded: without secrets, or as far
// as the record has it without them. A message that the phase's author wrote is sent with what its templates rendered.
func (v *visit) kept(key echo.Key, m *echo.Message, own bool) *echo.Message {
	clean := m.Rewritten(v.mask.Text)
	if clean == m {
		return m
	}
	if e := v.past.peek(echo.NodeMessage, key); e != nil && e.Message != nil && e.Message.Rewritten(v.mask.Text).Hash() == clean.Hash() {
		clean = e.Message
	}
	if own {
		return clean.SentAs(m)
	}
	return clean
}

// shown returns a message that is recorded by the hash of its request alone.
func (v *visit) shown(m *echo.Message) *echo.Message {
	if clean := m.Rewritten(v.mask.Text); clean != m {
		return clean.SentAs(m)
	}
	return m
}

// stateData is what only a state entry has.
type stateData struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// stateKept returns a value in the form in which it is kept under a name of the session's state.
func (v *visit) stateKept(name string, value any) any {
	clean := v.mask.Any(value)
	e := v.past.peek(echo.NodeState, v.here().Named(echo.StepState, name))
	if e == nil || string(v.mask.JSON(e.Data)) != string(mustJSON(stateData{name, clean})) {
		return clean
	}
	if string(e.Data) == string(mustJSON(stateData{name, value})) {
		return value
	}
	var recorded stateData
	if decode(e.Data, &recorded) != nil {
		return clean
	}
	return recorded.Value
}

// fresh returns what templates see of the session so far, without secrets that were recorded before they were known to be
// some. What is rendered again from the record is rendered as it was.
func (v *visit) fresh(value any) any {
	if v.past.pending() != nil {
		return value
	}
	return v.mask.Any(value)
}
