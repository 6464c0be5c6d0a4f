package effect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Model answers one request. Implementations are safe for concurrent use.
//
// Complete returns when the answer is whole. It retries what can be retried itself and honours ctx. An error is a
// [*ModelError] whenever the provider was reached or could not be; when ctx ended, ctx's error is in the chain.
type Model interface {
	Complete(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
}

// ModelRequest is one call to a model. It must not be changed once passed on.
type ModelRequest struct {
	Site Site

	Model           string
	Messages        []*echo.Message // valid for the provider, in order
	Tools           []ToolSpec
	NoToolCalls     bool // the tools are declared, as the conversation so far used them, but must not be called now
	Prompted        bool // the tools are described in the messages; calls are read from the answer's JSON blocks
	Temperature     *float64
	MaxOutputTokens int                        // 0: the provider's default
	Options         map[string]json.RawMessage // further members of the request body, sent as they are

	// ToolsDigest is [DigestTools] of Tools, for who sends many requests with the same ones; zero: it is computed.
	ToolsDigest [sha256.Size]byte
	// AnswerLength is how many tokens the answer is asked to have, below what it may have; 0: nothing is said.
	AnswerLength int

	// Parse, when set, reads the answer before it becomes an outcome: a prompted model's tool calls are in its text.
	Parse func(*echo.Message) *echo.Message

	// OnDelta, when set, is told about the answer as it streams in, from the goroutine that called Complete.
	OnDelta func(Delta)
}

// Delta is a piece of a streamed answer.
type Delta struct {
	Text      string // new text, possibly empty
	ToolCall  string // the name of a tool call that began, or empty
	Retrying  string // why the request is sent again, or empty: what was streamed before is void
	RetryWait time.Duration
}

// Hash identifies what is sent: SHA-256 in hexadecimal over the digests of the messages and all other members.
func (r *ModelRequest) Hash() string {
	tools := r.ToolsDigest
	if tools == ([sha256.Size]byte{}) {
		tools = DigestTools(r.Tools)
	}
	h := sha256.New()
	h.Write(mustJSON(struct {
		Model           string
		NoToolCalls     bool                       `json:",omitempty"`
		Prompted        bool                       `json:",omitempty"`
		Temperature     *float64                   `json:",omitempty"`
		MaxOutputTokens int                        `json:",omitempty"`
		Options         map[string]json.RawMessage `json:",omitempty"`
	}{r.Model, r.NoToolCalls, r.Prompted, r.Temperature, r.MaxOutputTokens, r.Options}))
	h.Write(tools[:])
	for _, m := range r.Messages {
		d := m.Digest()
		h.Write(d[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// DigestTools identifies a set of tools as a model sees it.
func DigestTools(tools []ToolSpec) [sha256.Size]byte {
	type sent struct {
		Name, Description string
		Parameters        json.RawMessage
	}
	list := make([]sent, len(tools))
	for i, t := range tools {
		list[i] = sent{t.Name, t.Description, t.Parameters}
	}
	return sha256.Sum256(mustJSON(list))
}

// ModelResponse is a whole answer.
type ModelResponse struct {
	Message      *echo.Message // role assistant
	Provider     string        // host of the endpoint, or "scripted"
	Model        string        // as the provider names it
	Scripted     bool
	Usage        echo.Usage
	CostUSD      *float64         // nil: unknown
	FinishReason string           // stop, tool_calls, length, content_filter
	Retries      int              // requests that failed before this one
	RetryKinds   []ModelErrorKind // why each of them failed
	Ignored      string           // what the endpoint reports that cannot be true, for a warning
}

// ModelErrorKind is what went wrong with a model call; it decides what is tried next and the exit code.
type ModelErrorKind string

// The kinds of model errors.
const (
	ModelErrConfig        ModelErrorKind = "config"         // no key, no endpoint: nothing was sent
	ModelErrAuth          ModelErrorKind = "auth"           // 401, 403
	ModelErrUnknownModel  ModelErrorKind = "unknown_model"  // 404 on the model
	ModelErrRateLimited   ModelErrorKind = "rate_limited"   // 429, after all retries
	ModelErrQuota         ModelErrorKind = "quota"          // 429 or 402 that will not pass by waiting
	ModelErrContextLength ModelErrorKind = "context_length" // the request does not fit the model's window
	ModelErrBadRequest    ModelErrorKind = "bad_request"    // any other 4xx
	ModelErrServer        ModelErrorKind = "server"         // 5xx, after all retries
	ModelErrNetwork       ModelErrorKind = "network"        // no connection, reset, stream cut off, after all retries
	ModelErrTimeout       ModelErrorKind = "timeout"        // no answer in time, after all retries
	ModelErrBadResponse   ModelErrorKind = "bad_response"   // an answer that is not one, after all retries
	ModelErrScript        ModelErrorKind = "script"         // the scripted model has no answer for this call
)

// ModelError is a model call that failed for good.
type ModelError struct {
	Kind       ModelErrorKind
	Provider   string // host, or "scripted"
	Model      string
	Status     int              // HTTP status, 0 if none
	Message    string           // what the provider or the network said, secrets removed
	Hint       string           // what to try next
	Retries    int              // requests tried before this one
	RetryKinds []ModelErrorKind // why each of them failed
	Unpaid     bool             // nothing was generated by any of them, so that the call cost nothing; else its cost is unknown
	Err        error            // the cause, may be nil
}

// Error says what failed and why, in one line; the hint is left to whoever shows it.
func (e *ModelError) Error() string {
	s := "model " + e.Model
	if e.Provider != "" && e.Provider != e.Model {
		s += " at " + e.Provider
	}
	return s + ": " + e.Message
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
