package effect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Model answers requests, for concurrent use. Complete returns the whole answer, retries what can
// be retried and honours ctx. An error is a [*ModelError] if the provider was reached or could not
// be; when ctx ended, its error is in the chain.
type Model interface {
	Complete(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
}

// ThinkingRoom is how many output tokens a request for a summary or a choice has beyond its
// length: models that reason count that as output.
const ThinkingRoom = 8192

// ModelRequest is one call to a model. It must not be changed once passed on.
type ModelRequest struct {
	Site Site

	Model           string
	Messages        []*echo.Message // valid for the provider, in order
	Tools           []ToolSpec
	NoToolCalls     bool // tools are declared, as the conversation used them, but must not be called
	Prompted        bool // tools are described in the messages, calls are JSON blocks in the answer
	Temperature     *float64
	MaxOutputTokens int                        // 0: the provider's default
	Options         map[string]json.RawMessage // further members of the request body, sent as they are

	// CacheMarks are indexes of messages, ascending, up to and with which the provider is asked to keep
	// the request in its prefix cache; most providers keep it without being asked.
	CacheMarks []int

	// ToolsDigest is [DigestTools] of Tools, for many requests with the same ones; zero: computed.
	ToolsDigest [sha256.Size]byte
	// AnswerLength is how many tokens the answer is asked, not allowed, to have; 0: not said.
	AnswerLength int

	// Parse reads the answer before it becomes an outcome, for prompted calls; may be nil.
	Parse func(*echo.Message) *echo.Message
	// OnDelta gets pieces of the answer, on the goroutine that called Complete; may be nil.
	OnDelta func(Delta)
}

// Delta is a piece of a streamed answer.
type Delta struct {
	Text      string // new text, possibly empty
	ToolCall  string // the name of a tool call that began, or empty
	Retrying  string // why the request is sent again, or empty: what was streamed before is void
	RetryWait time.Duration
}

// Hash identifies what is sent: SHA-256 in hexadecimal.
func (r *ModelRequest) Hash() string {
	tools := r.ToolsDigest
	if tools == ([sha256.Size]byte{}) {
		tools = DigestTools(r.Tools)
	}
	h := sha256.New()
	h.Write(MustJSON(struct {
		Model           string
		NoToolCalls     bool                       `json:",omitempty"`
		Prompted        bool                       `json:",omitempty"`
		Temperature     *float64                   `json:",omitempty"`
		MaxOutputTokens int                        `json:",omitempty"`
		Options         map[string]json.RawMessage `json:",omitempty"`
		CacheMarks      []int                      `json:",omitempty"`
	}{r.Model, r.NoToolCalls, r.Prompted, r.Temperature, r.MaxOutputTokens, r.Options, r.CacheMarks}))
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
	return sha256.Sum256(MustJSON(list))
}

// ModelResponse is a whole answer.
type ModelResponse struct {
	Message      *echo.Message // role assistant
	Provider     string        // host of the endpoint, or "scripted"
	Model        string        // as the provider names it
	Scripted     bool
	Usage        echo.Usage
	CostUSD      *float64              // nil: unknown
	Pretend      *echo.Pretend         // of a script with prices of a model; else nil
	FinishReason string                // stop, tool_calls, length, content_filter
	Retries      int                   // requests that failed before this one
	RetryKinds   []echo.ModelErrorKind // why each of them failed
	CacheWritten int64                 // of the tokens sent: those that the provider wrote to its prefix cache
	Ignored      string                // what the endpoint reports that cannot be true, for a warning
}

// ModelError is a model call that failed for good.
type ModelError struct {
	Kind       echo.ModelErrorKind
	Provider   string // host, or "scripted"
	Model      string
	Status     int                   // HTTP status, 0 if none
	Message    string                // what the provider or the network said, secrets removed
	Hint       string                // what to try next
	Retries    int                   // requests tried before this one
	RetryKinds []echo.ModelErrorKind // why each of them failed
	Unpaid     bool                  // none of them generated anything: the call cost nothing; else unknown
	Err        error                 // the cause, may be nil
}

func (e *ModelError) Error() string {
	s := "model " + e.Model
	if e.Provider != "" && e.Provider != e.Model {
		s += " at " + e.Provider
	}
	return s + ": " + e.Message
}

func (e *ModelError) Unwrap() error { return e.Err }

// ModelFacts is what is known of a model before its first call. The zero value: nothing.
type ModelFacts struct {
	Name        string // the provider's, which decides how tokens are counted; "": the requested one
	Window      int64  // tokens of a request and its answer together; 0: unknown
	Assumed     bool   // Window is not known, but taken for it
	MaxOutput   int64  // tokens of the longest answer; 0: unknown
	Price       *echo.Price
	Tariff      *echo.Tariff // the price of a whole call; nil: unknown
	NativeTools *bool        // for phases that do not say; nil: unknown, which counts as true
	MarkCache   bool         // its prefix cache has to be asked for, see [ModelRequest.CacheMarks]
	NoImages    bool         // it is known to take none
	Fallback    []string     // models to ask when it cannot be reached, unless a cascade names some

	Count      func(*echo.Message) int64 // of a message as it is sent; nil: four bytes are a token
	Exact      bool                      // Count uses the model's own tokenizer
	CountFixed func([]ToolSpec) int64    // of tools and the protocol of a request; may be nil

	// AskWindow asks the model's endpoint for the window that it gives the model; 0: it does not say.
	// It is asked once in a run, and counts more than Window; nil: there is nobody to ask.
	AskWindow func(context.Context) int64
	// DefaultWindow is the window of a model of which none is known; 0: it stays unknown.
	DefaultWindow int64
}
