package echo

import (
	"encoding/json"
	"reflect"
)

// ModelCall is what a model call says beyond its message, usage and cost.
type ModelCall struct {
	Model        string           `json:"model,omitempty"` // as the provider names it
	FinishReason string           `json:"finish_reason,omitempty"`
	Retries      int              `json:"retries,omitempty"`       // requests that were tried before the last one
	RetryKinds   []ModelErrorKind `json:"retry_kinds,omitempty"`   // why each of them failed
	CacheWritten int64            `json:"cache_written,omitempty"` // of the tokens sent: those that the provider wrote to its prefix cache
	Ignored      string           `json:"ignored,omitempty"`       // which figures of the endpoint were not believed
	Status       int              `json:"status,omitempty"`        // HTTP status of a failure
	Hint         string           `json:"hint,omitempty"`          // what to try after a failure
	Failed       bool             `json:"failed,omitempty"`        // by an error that the provider did not give
	Thought      json.RawMessage  `json:"thought,omitempty"`       // of the answer: see [Draft]
}

// ModelErrorKind is what went wrong with a model call; it decides the next attempt and the exit
// code.
type ModelErrorKind string

// The kinds of model errors.
const (
	ModelErrConfig          ModelErrorKind = "config"           // no key, no endpoint: nothing was sent
	ModelErrAuth            ModelErrorKind = "auth"             // 401, 403
	ModelErrUnknownModel    ModelErrorKind = "unknown_model"    // the provider does not know the model
	ModelErrUnknownEndpoint ModelErrorKind = "unknown_endpoint" // 404 on the path: the base URL is wrong
	ModelErrRateLimited     ModelErrorKind = "rate_limited"     // 429, after all retries
	ModelErrQuota           ModelErrorKind = "quota"            // 429 or 402 that will not pass by waiting
	ModelErrContextLength   ModelErrorKind = "context_length"   // the request does not fit the model's window
	ModelErrBadRequest      ModelErrorKind = "bad_request"      // any other 4xx
	ModelErrServer          ModelErrorKind = "server"           // 5xx, after all retries
	ModelErrNetwork         ModelErrorKind = "network"          // no connection, reset, stream cut off, after all retries
	ModelErrTimeout         ModelErrorKind = "timeout"          // no answer in time, after all retries
	ModelErrBadResponse     ModelErrorKind = "bad_response"     // an answer that is not one, after all retries
	ModelErrScript          ModelErrorKind = "script"           // the scripted model has no answer for this call
)

// ModelFacts is a reading of what is known of a model, before it is first asked in a run.
type ModelFacts struct {
	Name        string  `json:"name,omitempty"`         // as its provider has it; "": the name that it is asked for
	Window      int64   `json:"window,omitempty"`       // tokens of a request and its answer together; 0: unknown
	Assumed     bool    `json:"assumed,omitempty"`      // Window is not known, but taken for it
	MaxOutput   int64   `json:"max_output,omitempty"`   // tokens of the longest answer; 0: unknown
	Price       *Price  `json:"price,omitempty"`        // nil: unknown
	Tariff      *Tariff `json:"tariff,omitempty"`       // nil: unknown
	NativeTools *bool   `json:"native_tools,omitempty"` // it has tool calling of its own; nil: unknown

	// MarkCache says that requests mark what the provider is to keep in its prefix cache.
	MarkCache bool `json:"mark_cache,omitempty"`
	NoImages  bool `json:"no_images,omitempty"` // it is known to take none
	// Fallback lists the models that are asked when it cannot be reached, unless a cascade does.
	Fallback []string `json:"fallback_models,omitempty"`
}

// IsZero reports whether nothing is known.
func (f ModelFacts) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// Price is the price of sent tokens, in USD per million.
type Price struct {
	Input  float64 `json:"input"`  // a token that is not in the prefix cache
	Cached float64 `json:"cached"` // one that is

	// As names the model whose prices these are when a script answers, and nothing is paid.
	As string `json:"as,omitempty"`
}

// Tariff is what the tokens of a model cost, in USD per million.
type Tariff struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"` // a token of the request that is read from the provider's prefix cache
	Output float64 `json:"output"`

	// Over is the size of a request above which Long holds for all its tokens; 0: there is none.
	Over int64   `json:"over,omitempty"`
	Long *Tariff `json:"long,omitempty"`
}

// Cost returns what a call costs, in USD.
func (t Tariff) Cost(u Usage) float64 {
	if t.Long != nil && u.In > t.Over {
		t = *t.Long
	}
	cached := min(max(u.Cached, 0), u.In)
	const million = 1e6
	return (float64(u.In-cached)*t.Input + float64(cached)*t.Cached + float64(u.Out)*t.Output) / million
}

func (ModelCall) kind() kind  { return kind{node: NodeModelCall} }
func (ModelFacts) kind() kind { return kind{NodeValue, StepFacts} }
