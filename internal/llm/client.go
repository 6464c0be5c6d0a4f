// Package llm asks models over the chat-completions protocol. A [Router] picks each model's
// endpoint from the configuration.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/secret"
)

// Defaults of what windlass.json can set for a model.
const (
	DefaultTimeout     = 10 * time.Minute // of a call, with all its retries
	DefaultIdleTimeout = 5 * time.Minute  // to the first byte, and between pieces of a stream
	DefaultMaxRetries  = 4
	DefaultRetryWait   = 500 * time.Millisecond // before the second try
)

// The waits between attempts double up to the ceiling. What the provider asks for counts more, up
// to the longest wait that a person would sit through.
const (
	backoffCeiling = 20 * time.Second
	longestWait    = 2 * time.Minute
)

// client asks one model at one endpoint. It is safe for concurrent use.
type client struct {
	api      api
	provider string // host of the endpoint
	settings config.Model
	retries  int
	wait     time.Duration // before the second try
	timeout  time.Duration
	idle     time.Duration
	whole    bool   // answers are not streamed
	thinking string // see reasoningMember
	price    *config.Price
	secrets  cleaner
	tools    *memo[toolSet, []byte]
	counter  func() *Counter

	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// api is what the requests to an endpoint have in common. It is not written to.
type api struct {
	transport  http.RoundTripper
	header     http.Header
	chat       *url.URL
	embeddings *url.URL
}

// endpoint is where and how a client sends.
type endpoint struct {
	base    *url.URL
	key     string
	headers map[string]string // with values filled in
	secrets *secret.Set       // that no answer may show
}

func newClient(e endpoint, m config.Model, transport http.RoundTripper) *client {
	c := &client{
		api:     api{transport: transport, header: e.header(), chat: e.path("chat/completions"), embeddings: e.path("embeddings")},
		secrets: cleaner{e.secrets}, provider: e.base.Host, settings: m, tools: newMemo[toolSet, []byte](maxToolSets),
		now: time.Now, sleep: effect.Seams{}.OrSystem().Sleep,
		thinking: reasoningMember(m, e.base), retries: DefaultMaxRetries, wait: cmp.Or(m.RetryWait, DefaultRetryWait),
		timeout: cmp.Or(m.Timeout, DefaultTimeout), idle: cmp.Or(m.IdleTimeout, DefaultIdleTimeout),
	}
	if c.whole = m.Stream != nil && !*m.Stream; c.whole { // such an endpoint is silent until the answer is whole
		c.idle = cmp.Or(m.IdleTimeout, c.timeout)
	}
	if m.MaxRetries != nil {
		c.retries = *m.MaxRetries
	}
	return c
}

// header returns what every request says. The configured headers win, also over the key.
func (e endpoint) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"windlass"}}
	if e.key != "" {
		h.Set("Authorization", "Bearer "+e.key)
	}
	for k, v := range e.headers {
		h.Set(k, v)
	}
	return h
}

// path returns the address of a path below the base, with the base's query.
func (e endpoint) path(path string) *url.URL {
	base := *e.base
	base.Path = cmp.Or(base.Path, "/")
	return base.JoinPath(path)
}

// complete asks until there is an answer or a lasting failure. model is the provider's name for it.
func (c *client) complete(ctx context.Context, req *effect.ModelRequest, model string) (*effect.ModelResponse, error) {
	options, err := c.options(req)
	if err != nil {
		return nil, c.fail(req, &failure{kind: echo.ModelErrConfig, message: err.Error(), err: err}, nil, false)
	}
	b := newBody()
	defer b.release()
	b.fill(&wireRequest{
		model: model, temperature: req.Temperature, maxTokens: cmp.Or(req.MaxOutputTokens, c.settings.MaxOutputTokens),
		maxTokensParam: cmp.Or(c.settings.MaxTokensParam, "max_completion_tokens"),
		options:        options, whole: c.whole, marks: req.CacheMarks, tools: c.encodedTools(req.Tools), noToolCalls: req.NoToolCalls,
	}, req.Messages)
	var answer *assembly
	retried, err := c.try(ctx, req, &call{url: c.api.chat, body: b, read: func(res *http.Response) error {
		answer = &assembly{onDelta: req.OnDelta, secrets: c.secrets, shown: secret.Stream{Set: c.secrets.Set}, thought: thought{member: c.thinking}}
		return answer.read(res)
	}, hint: c.hint})
	if err != nil {
		return nil, err
	}
	return c.response(req, model, answer, retried), nil
}

// hint says what to try after a failure.
func (c *client) hint(f *failure) string {
	switch {
	case !c.whole && refusesStream(f):
		return streamHint
	case f.kind == echo.ModelErrBadRequest && strings.Contains(f.message, "cache_control"):
		return cacheHint
	}
	return f.hint
}

// call is a request that may be attempted several times.
type call struct {
	url  *url.URL
	body *body
	read func(*http.Response) error // takes in the response of a success
	hint func(*failure) string      // what to try next, nil for what the failure says
}

// try attempts a request until it succeeds, or fails in a way that will not pass. It returns why
// the attempts before the last one failed.
func (c *client) try(ctx context.Context, req *effect.ModelRequest, what *call) ([]echo.ModelErrorKind, error) {
	end := c.now().Add(c.timeout)
	generated := false // an answer may have been under way in one of the attempts
	var retried []echo.ModelErrorKind
	for {
		f := c.attempt(ctx, end, what)
		if f == nil {
			return retried, nil
		}
		if what.hint != nil {
			f.hint = what.hint(f)
		}
		generated = generated || f.mayHaveGenerated()
		if ctx.Err() == nil && c.pause(ctx, end, req, f, len(retried)) == nil {
			retried = append(retried, f.kind)
			continue
		}
		if ctx.Err() != nil {
			return nil, c.interrupted(ctx, req, retried)
		}
		return nil, c.fail(req, f, retried, generated)
	}
}

// errNoRetry ends the retries.
var errNoRetry = errors.New("no retry")

// pause waits before the next attempt, or says that there is none before the end.
func (c *client) pause(ctx context.Context, end time.Time, req *effect.ModelRequest, f *failure, retries int) error {
	if retries >= f.limit(c.retries) {
		return errNoRetry
	}
	wait := backoff(c.wait, retries)
	if f.after >= 0 {
		wait = f.after
	}
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	if wait > longestWait || c.now().Add(wait).After(end) {
		if f.after >= 0 {
			f.message += fmt.Sprintf(" (the provider asks to wait %s)", wait.Round(time.Second))
		}
		return errNoRetry
	}
	if req.OnDelta != nil {
		req.OnDelta(effect.Delta{Retrying: c.secrets.clean(f.message), RetryWait: wait})
	}
	return c.sleep(ctx, wait)
}

// backoff returns the wait after so many retries: it doubles from the first up to the ceiling, or
// stays at a longer first. A jitter of a quarter spreads parallel conversations.
func backoff(first time.Duration, retries int) time.Duration {
	wait := first
	for ; retries > 0 && wait < backoffCeiling; retries-- {
		wait *= 2
	}
	wait = min(wait, max(first, backoffCeiling))
	return wait - time.Duration(rand.Int64N(int64(wait/4)+1))
}

// attempt sends a request once. The call ends at the time until.
func (c *client) attempt(ctx context.Context, until time.Time, what *call) *failure {
	ctx, dog := watch(ctx, c.idle, until)
	res, f := c.post(ctx, what, dog) //nolint:bodyclose // its end closes it
	if f != nil {
		dog.stop()
		return f
	}
	body := res.Body.(*watchedBody) //nolint:forcetypeassert // post makes it
	end := body.end
	defer func() { end() }()
	if err := what.read(res); err != nil {
		return transportFailure(err, context.Cause(ctx))
	}
	end = body.leave
	return nil
}

// post sends a request. A response that it returns is a success, with a [*watchedBody] that is to be
// ended.
func (c *client) post(ctx context.Context, what *call, dog *watchdog) (*http.Response, *failure) {
	req := &http.Request{
		Method: http.MethodPost, URL: what.url, Host: what.url.Host, Header: c.api.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: what.body.size, Body: what.body.reader(), GetBody: func() (io.ReadCloser, error) { return what.body.reader(), nil },
	}
	res, err := c.api.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, transportFailure(err, context.Cause(ctx))
	}
	dog.feed()
	res.Body = &watchedBody{ReadCloser: res.Body, dog: dog}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close() //nolint:errcheck // only read from
	switch {
	case isRedirect(res):
		return nil, transportFailure(errRefused, nil)
	case res.StatusCode < http.StatusBadRequest:
		return nil, statusFailure(res.StatusCode, res.Header, nil, c.now()) // a redirect that leads nowhere
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what has arrived is enough to tell
	if ctx.Err() != nil {
		return nil, transportFailure(ctx.Err(), context.Cause(ctx))
	}
	f := statusFailure(res.StatusCode, res.Header, c.secrets.body(text), c.now())
	if f.kind == echo.ModelErrUnknownEndpoint {
		f.asked = address(what.url)
	}
	return nil, f
}

// address shows a URL without its query, which may hold a secret.
func address(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// isRedirect reports whether a response sends the request elsewhere.
func isRedirect(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return res.Header.Get("Location") != ""
	}
	return false
}

// maxErrorBody bounds what is read of an error's body.
const maxErrorBody = 1 << 20

// options merges the configured options with the request's, which win.
func (c *client) options(req *effect.ModelRequest) (map[string]json.RawMessage, error) {
	if len(req.Options) == 0 {
		return c.settings.Options, nil
	}
	out := maps.Clone(c.settings.Options)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	for k, v := range req.Options {
		if err := config.CheckOption(k); err != nil {
			return nil, err
		}
		if !json.Valid(v) {
			return nil, fmt.Errorf("option %q is not valid JSON", k)
		}
		out[k] = v
	}
	return out, nil
}

// response makes the answer of what was assembled.
func (c *client) response(req *effect.ModelRequest, model string, a *assembly, retried []echo.ModelErrorKind) *effect.ModelResponse {
	r := &effect.ModelResponse{
		Message: a.message(req.Messages), Provider: c.provider, Model: cmp.Or(c.secrets.Text(a.model), model), FinishReason: a.finishReason(),
		Retries: len(retried), RetryKinds: retried, Ignored: a.usage.ignored(),
	}
	var reported bool
	if r.Usage, reported = a.usage.usage(); !reported {
		counter := c.counter()
		r.Usage = echo.Usage{In: counter.Request(req.Messages, req.Tools), Out: counter.Answer(r.Message), Estimated: true}
	}
	if a.reasoned && r.Usage.Reasoning == 0 && r.Message.Text() == "" && len(a.calls) == 0 {
		r.Usage.Reasoning = r.Usage.Out // there is nothing else that was generated
	}
	r.CacheWritten = a.usage.written(r.Usage)
	r.CostUSD = c.cost(a.usage, r.Usage, r.CacheWritten)
	return r
}

// cost returns what the provider charged for an answer, else its price; nil when neither is known.
func (c *client) cost(charged *wireUsage, usage echo.Usage, written int64) *float64 {
	if usd := charged.cost(); usd != nil || c.price == nil {
		return usd
	}
	usd := Cost(*c.price, usage, written)
	return &usd
}

func (c *client) fail(req *effect.ModelRequest, f *failure, retried []echo.ModelErrorKind, generated bool) error {
	return &effect.ModelError{
		Kind: f.kind, Provider: c.provider, Model: req.Model, Status: f.status, Unpaid: !generated,
		Retries: len(retried), RetryKinds: retried, Message: c.secrets.clean(describe(f, len(retried))), Hint: f.hint, Err: c.cause(f),
	}
}

// cause returns a failure's error with a text without secrets, as the library's may hold keys.
func (c *client) cause(f *failure) error {
	if f.err == nil {
		return nil
	}
	return &cleanError{text: c.secrets.clean(rootText(f.err)), err: f.err}
}

// cleanError shows a text without secrets and keeps the chain for errors.Is.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string        { return e.text }
func (e *cleanError) Is(target error) bool { return errors.Is(e.err, target) }

// describe says what happened, with the status and the number of tries.
func describe(f *failure, retries int) string {
	s := f.message
	if f.status > 0 {
		words := strings.TrimSpace(f.asked + " " + cmp.Or(kinds[f.kind].words, "the request was refused"))
		s = fmt.Sprintf("%s (%d): %s", words, f.status, f.message)
	}
	if retries > 0 {
		s += fmt.Sprintf(" (tried %d times)", retries+1)
	}
	return s
}

// interrupted reports that the caller's context ended.
func (c *client) interrupted(ctx context.Context, req *effect.ModelRequest, retried []echo.ModelErrorKind) error {
	return &effect.ModelError{
		Kind: echo.ModelErrTimeout, Provider: c.provider, Model: req.Model, Retries: len(retried), RetryKinds: retried,
		Message: "the call was ended: " + ctx.Err().Error(), Err: ctx.Err(),
	}
}
