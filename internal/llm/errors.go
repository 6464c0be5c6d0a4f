package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/secret"
)

// retryClass says how often a failure is tried again.
type retryClass int

const (
	retryNever   retryClass = iota
	retryBriefly            // at most twice: it seldom passes by itself
	retryFully              // up to max_retries
)

// brieflyLimit is the number of retries of a failure that is tried again briefly.
const brieflyLimit = 2

// failure is one attempt that came to nothing.
type failure struct {
	kind    echo.ModelErrorKind
	status  int
	message string // not cleaned yet
	asked   string // the address, where it is what is wrong
	hint    string
	class   retryClass
	after   time.Duration // what the provider asked to wait; negative: nothing
	err     error
	unsent  bool // no connection was made
	refused bool // the provider said before it began that it had no room for the request
}

// mayHaveGenerated reports whether the provider may have been at an answer when the request failed.
func (f *failure) mayHaveGenerated() bool {
	switch f.kind {
	case echo.ModelErrNetwork:
		return !f.unsent
	case echo.ModelErrServer:
		return !f.refused
	case echo.ModelErrTimeout, echo.ModelErrBadResponse:
		return true
	default:
		return false
	}
}

// limit returns how many retries the failure may have in all.
func (f *failure) limit(maxRetries int) int {
	switch f.class {
	case retryFully:
		return maxRetries
	case retryBriefly:
		return min(maxRetries, brieflyLimit)
	default:
		return 0
	}
}

// providerError is the error object in an answer, in the shapes that providers use.
type providerError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`   // a string, or a status as a number
	Status  json.RawMessage `json:"status"` // the same
	Param   json.RawMessage `json:"param"`
}

// code returns the code as text.
func (e *providerError) code() string { return strings.Trim(string(e.Code), `"`) }

// status returns the HTTP status that a provider wrote into the error, or zero.
func (e *providerError) status() int {
	for _, written := range []string{e.code(), strings.Trim(string(e.Status), `"`)} {
		if n, err := strconv.Atoi(written); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return 0
}

// readProviderError finds {"error": {...}}, {"error": "text"}, either in a list, or bare members.
func readProviderError(body []byte) (providerError, bool) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Status  json.RawMessage `json:"status_code"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return providerError{}, false
	}
	var e providerError
	var text string
	switch {
	case json.Unmarshal(envelope.Error, &e) == nil && e.Message != "":
		return e, true
	case json.Unmarshal(envelope.Error, &text) == nil && text != "":
		return providerError{Message: text, Status: envelope.Status}, true
	case envelope.Message != "":
		return providerError{Message: envelope.Message, Status: envelope.Status}, true
	case len(envelope.Detail) > 0 && string(envelope.Detail) != "null":
		return providerError{Message: strings.Trim(string(envelope.Detail), `"`), Status: envelope.Status}, true
	}
	return e, len(envelope.Error) > 0 && string(envelope.Error) != "null"
}

// statusOverloaded is what Anthropic answers when it has no room.
const statusOverloaded = 529

// statusFailure reads an answer with an error status.
func statusFailure(status int, header http.Header, body []byte, now time.Time) *failure {
	pe, ok := readProviderError(body)
	if !ok {
		pe = providerError{Message: textOf(body)}
	}
	f := providerFailure(status, &pe)
	f.refused = status == http.StatusServiceUnavailable || status == statusOverloaded
	if status == http.StatusNotFound && !ok { // the words of a page, such as a proxy's, say nothing of models
		f.fill(echo.ModelErrUnknownEndpoint, retryNever)
	}
	f.after = retryAfter(header, now)
	return f
}

// fill says what kind of failure it is.
func (f *failure) fill(kind echo.ModelErrorKind, class retryClass) {
	f.kind, f.class, f.hint = kind, class, kinds[kind].hint
}

// streamHint is what to try with an endpoint that refuses a request because it asks for a stream.
const streamHint = `set "stream": false for the model in windlass.json: the endpoint refuses to stream`

// cacheHint is what to try with an endpoint that refuses marks.
const cacheHint = `set "cache_control": false for the model in windlass.json: the endpoint refuses the marks of its prefix cache`

// refusesStream reports whether a refusal is about the stream that was asked for.
func refusesStream(f *failure) bool {
	return f.kind == echo.ModelErrBadRequest && streamWord.MatchString(f.message)
}

var streamWord = regexp.MustCompile(`(?i)\bstream(ing)?\b`)

// providerFailure decides what an error of the provider means.
func providerFailure(status int, pe *providerError) *failure {
	f := &failure{status: status, message: pe.Message, after: -1}
	if f.message == "" {
		f.message = http.StatusText(status)
	}
	words := strings.ToLower(pe.code() + " " + pe.Type + " " + pe.Message)
	f.fill(classify(status, words))
	return f
}

// classify maps a status and the provider's words (code, type, message) to a kind.
func classify(status int, words string) (echo.ModelErrorKind, retryClass) {
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(words, w) })
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == 0 && has("invalid_api_key", "authentication_error", "unauthorized", "unauthenticated", "incorrect api key", "invalid api key"):
		return echo.ModelErrAuth, retryNever
	case status == http.StatusPaymentRequired, has("insufficient_quota", "insufficient balance", "billing_hard_limit"):
		return echo.ModelErrQuota, retryNever
	case status == http.StatusTooManyRequests:
		return echo.ModelErrRateLimited, retryFully
	case status == http.StatusRequestEntityTooLarge,
		has("context_length_exceeded", "maximum context length", "context window", "prompt is too long", "too many tokens",
			"exceeds the context length", "too large to process"): // Ollama and llama.cpp, of texts to embed
		return echo.ModelErrContextLength, retryNever
	case status == http.StatusNotFound && has("no endpoints found that", "no endpoints found matching"): // OpenRouter has the model
		return echo.ModelErrBadRequest, retryNever
	case status == http.StatusNotFound && has("invalid url"): // what follows is a path, whatever words are in it
		return echo.ModelErrUnknownEndpoint, retryNever
	case has("model_not_found", "unknown_model", "invalid model name", "is not a valid model id"),
		status == http.StatusNotFound && has("model", "deployment", "no endpoints found"): // Azure and OpenRouter say it so
		return echo.ModelErrUnknownModel, retryNever
	case status == http.StatusNotFound:
		return echo.ModelErrUnknownEndpoint, retryNever
	case status == http.StatusRequestTimeout:
		return echo.ModelErrTimeout, retryFully
	case status == http.StatusConflict, status == http.StatusTooEarly, status >= 500, status == 0:
		return echo.ModelErrServer, retryFully
	default:
		return echo.ModelErrBadRequest, retryNever
	}
}

// kinds says what to call a kind of error where there is a status, and what to try next.
var kinds = map[echo.ModelErrorKind]struct{ words, hint string }{
	echo.ModelErrAuth:         {"the key was refused", "check the key and that it may use this model"},
	echo.ModelErrUnknownModel: {"the model is not known there", "check the model's name, or map it in windlass.json (\"models\")"},
	echo.ModelErrUnknownEndpoint: {
		"is not there",
		"check base_url in windlass.json, or OPENAI_BASE_URL: it is what comes before /chat/completions, such as https://host/v1",
	},
	echo.ModelErrRateLimited: {"rate limited", "wait, or raise max_retries for the model in windlass.json"},
	echo.ModelErrQuota:       {"no quota left", "the account has no credit left: check the provider's billing page"},
	echo.ModelErrContextLength: {
		"the request is too long for the model",
		"send less: narrow context.from, or let tools answer shorter; with context_window of the model in windlass.json room is made in time",
	},
	echo.ModelErrServer:      {"the provider failed", providerHint},
	echo.ModelErrBadResponse: {"", providerHint},
	echo.ModelErrNetwork:     {"", "check the network and the endpoint's address (OPENAI_BASE_URL, or base_url in windlass.json)"},
	echo.ModelErrTimeout:     {"the provider timed out", "raise timeout_seconds or idle_timeout_seconds for the model in windlass.json"},
}

const providerHint = "the provider is in trouble: wait a while"

// The reasons for which this package itself ends a request.
var (
	errOverall = errors.New("no whole answer within the time limit")
	errIdle    = errors.New("the endpoint fell silent")
	errTooLong = errors.New("the answer is longer than windlass reads")
	errRefused = errors.New("the endpoint redirects elsewhere, which is not followed: the key would go with it")
)

// brokenStreamError is an answer that ended before it was whole.
type brokenStreamError struct{ cause error }

func (e *brokenStreamError) Error() string {
	if e.cause == nil || errors.Is(e.cause, io.EOF) {
		return "the stream ended before the answer was whole"
	}
	return "the stream broke off before the answer was whole: " + rootText(e.cause)
}

func (e *brokenStreamError) Unwrap() error { return e.cause }

// badAnswerError is an answer that is not one.
type badAnswerError struct{ why string }

func (e *badAnswerError) Error() string { return e.why }

// transportFailure reads an error of connection or stream; cause is why the context ended, or nil.
func transportFailure(err, cause error) *failure {
	f := &failure{kind: echo.ModelErrNetwork, class: retryFully, message: rootText(err), err: err, after: -1}
	var broken *brokenStreamError
	var bad *badAnswerError
	var dns *net.DNSError
	var given *providerFailureError
	switch {
	case errors.As(err, &given):
		return given.f
	case errors.Is(cause, errIdle), errors.Is(cause, errOverall):
		f.kind, f.message, f.err = echo.ModelErrTimeout, cause.Error(), cause
		if errors.Is(cause, errOverall) {
			f.class = retryNever
		}
	case errors.Is(err, errTooLong):
		f.kind, f.class = echo.ModelErrBadResponse, retryNever
	case errors.Is(err, errRefused):
		f.kind, f.class = echo.ModelErrConfig, retryNever
	case errors.As(err, &bad):
		f.kind, f.class, f.message = echo.ModelErrBadResponse, retryBriefly, bad.why
	case errors.As(err, &broken):
		f.message = broken.Error()
	case errors.As(err, &dns):
		f.message = "the name " + dns.Name + " cannot be resolved"
		f.class, f.unsent = retryBriefly, true
	case errors.Is(err, syscall.ECONNREFUSED):
		f.message, f.class, f.unsent = "connection refused: nobody listens there", retryBriefly, true
	case isTimeout(err):
		f.kind = echo.ModelErrTimeout
	}
	f.hint = kinds[f.kind].hint
	return f
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() && !errors.Is(err, context.Canceled)
}

// rootText returns an error's text without the request's URL, which may hold a secret.
func rootText(err error) string {
	var u interface{ Unwrap() error }
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Error()
	}
	for errors.As(err, &u) && u.Unwrap() != nil {
		err = u.Unwrap()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed"
	}
	return err.Error()
}

// retryAfter reads Retry-After-Ms, or Retry-After in seconds or as a date; negative: nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < maxHeaderWait {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < maxHeaderWait {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return -1
}

// maxHeaderWait keeps the figures of a header far below the largest duration.
const maxHeaderWait = 1e9

// cleaner removes what must not be shown from texts.
type cleaner struct{ *secret.Set }

// body returns a response body without secrets. Call it before anything is cut off.
func (s cleaner) body(b []byte) []byte {
	if json.Valid(b) {
		return s.JSON(b)
	}
	return []byte(s.Text(string(b)))
}

// The forms of keys that are removed even when they are not the one that was sent.
var (
	keyForm    = regexp.MustCompile(`\b(?:sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.-]{6,}`)
	bearerForm = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=*-]{4,}`)
	urlForm    = regexp.MustCompile(`(?i)(https?://)[^\s/@]+@|([?&](?:[a-z_-]*key|token|access_token|sig|signature)=)[^&\s"']+`)
)

const removed = "[removed]"

// maxShown is the length of a provider's message in an error.
const maxShown = 600

// clean makes a text fit to be shown: secrets out, on one line, not too long.
func (s cleaner) clean(text string) string {
	text = s.Text(text)
	text = bearerForm.ReplaceAllString(text, "$1 "+removed)
	text = keyForm.ReplaceAllString(text, removed)
	text = urlForm.ReplaceAllString(text, "$1$2"+removed)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(text); len(r) > maxShown {
		text = string(r[:maxShown]) + "..."
	}
	return text
}

// textOf returns the beginning of a body that is not the JSON that was expected.
func textOf(body []byte) string {
	const shown = 200
	text := strings.TrimSpace(string(body))
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	if text == "" {
		return "an empty answer"
	}
	return fmt.Sprintf("an answer that is not JSON: %s", text)
}
