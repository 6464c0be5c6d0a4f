package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Defaults of an embedding model, which answers fast or not at all.
const (
	DefaultEmbedTimeout     = time.Minute // of a request, with all its retries
	DefaultEmbedIdleTimeout = 30 * time.Second
	DefaultBatchSize        = 64   // texts in a request: Cohere takes 96, Gemini 100, OpenAI 2048
	defaultEmbedWindow      = 8192 // tokens of a text
)

const (
	maxBatchBytes = 256 << 10 // of the texts in a request: OpenAI takes 300,000 tokens in all
	bytesPerToken = 3         // what a text is cut by. Prose has four; too much is found out by the error
	minText       = 200       // bytes below which a text that is too long for the model is not cut any further
)

// Embedder asks an endpoint for the vectors of texts. It is safe for concurrent use.
type Embedder struct {
	c     *client
	model string // as windlass.json and errors call it
	name  string // the provider's name for it
	batch int
	watch Watch

	mu    sync.Mutex
	limit int // bytes of a text that is sent; the rest is cut off
	dims  int // of the vectors: those asked for, else those of the first answer; 0: not known yet
}

// Embedder returns an embedder for the endpoint that the configuration names for this model. The
// error is an [*effect.ModelError]: no key, no valid endpoint. Nothing is sent.
func (r *Router) Embedder(model string) (*Embedder, error) {
	shared, err := r.client(model)
	if err != nil {
		return nil, err
	}
	c, m := *shared, shared.settings
	c.timeout, c.idle = cmp.Or(m.Timeout, DefaultEmbedTimeout), cmp.Or(m.IdleTimeout, DefaultEmbedIdleTimeout)
	return &Embedder{
		c: &c, model: model, name: cmp.Or(m.Model, model), batch: cmp.Or(m.BatchSize, DefaultBatchSize),
		limit: cmp.Or(m.ContextWindow, defaultEmbedWindow) * bytesPerToken, dims: m.Dimensions,
	}, nil
}

// Name returns the provider's name, with "@" and the dimensions that windlass.json names.
func (e *Embedder) Name() string {
	if d := e.c.settings.Dimensions; d > 0 {
		return fmt.Sprintf("%s@%d", e.name, d)
	}
	return e.name
}

// Watch has requests watched, as they cost something. It is called before the first one.
func (e *Embedder) Watch(w Watch) { e.watch = w }

// Embed returns a vector of unit length for each text, nil for one without content. Of too long a
// text the beginning is embedded. The error is an [*effect.ModelError]; then there are no vectors.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for _, batch := range e.batches(texts) {
		some := make([]string, len(batch))
		for i, at := range batch {
			some[i] = texts[at]
		}
		vectors, err := e.embed(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, at := range batch {
			out[at] = vectors[i]
		}
	}
	return out, nil
}

// batches returns the indices of the texts that have something to embed, a slice for each request.
func (e *Embedder) batches(texts []string) [][]int {
	limit := e.textLimit()
	var out [][]int
	var batch []int
	size := 0
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		n := min(len(text), limit)
		if len(batch) == e.batch || len(batch) > 0 && size+n > maxBatchBytes {
			out, batch, size = append(out, batch), nil, 0
		}
		batch, size = append(batch, i), size+n
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

func (e *Embedder) textLimit() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.limit
}

// embed asks for one batch. When a text is too long for the model, all are cut shorter, as the
// answer does not say which it was. The shorter limit stays.
func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	for limit := e.textLimit(); ; {
		cut := make([]string, len(texts))
		longest := 0
		for i, text := range texts {
			cut[i] = beginning(text, limit)
			longest = max(longest, len(cut[i]))
		}
		vectors, err := e.ask(ctx, cut)
		var failed *effect.ModelError
		if !errors.As(err, &failed) || failed.Kind != echo.ModelErrContextLength || longest <= minText {
			return vectors, err
		}
		limit = max(longest/2, minText)
		e.mu.Lock()
		e.limit = min(e.limit, limit)
		e.mu.Unlock()
	}
}

// beginning returns at most n bytes of a text, whole characters, as valid UTF-8.
func beginning(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// ask sends texts and has it watched.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	// It names purpose and model, for the messages of errors and for who watches.
	req := &effect.ModelRequest{Site: effect.Site{Purpose: echo.PurposeEmbed}, Model: e.model}
	ended, start := e.watch.begin(), e.c.now()
	vectors, resp, err := e.send(ctx, req, texts)
	ended(Call{Request: req, Response: resp, Err: err, Took: e.c.now().Sub(start)})
	return vectors, err
}

// send sends texts until there is an answer, or a failure that will not pass.
func (e *Embedder) send(ctx context.Context, req *effect.ModelRequest, texts []string) ([][]float32, *effect.ModelResponse, error) {
	b := newBody()
	defer b.release()
	b.add(e.appendBody(nil, texts))
	var vectors [][]float32
	var u *wireUsage
	retried, err := e.c.try(ctx, req, &call{url: e.c.api.embeddings, body: b, hint: embedHint, read: func(res *http.Response) (err error) {
		vectors, u, err = e.read(res, len(texts))
		return err
	}})
	if err != nil {
		return nil, nil, err
	}
	return vectors, e.response(u, texts, retried), nil
}

const dimensionsHint = "take dimensions of the model out of windlass.json: the endpoint does not shorten vectors"

// embedHint says what to try next where that is something else than for a chat.
func embedHint(f *failure) string {
	switch f.kind {
	case echo.ModelErrContextLength:
		return "set context_window for the model in windlass.json to what it takes"
	case echo.ModelErrBadRequest:
		return "check dimensions and batch_size of the model in windlass.json: not every endpoint takes the one, and some take fewer texts"
	default:
		return f.hint
	}
}

// appendBody appends the request body.
func (e *Embedder) appendBody(dst []byte, texts []string) []byte {
	dst = append(dst, `{"model":`...)
	dst = echo.AppendString(dst, e.name)
	if d := e.c.settings.Dimensions; d > 0 {
		dst = fmt.Appendf(dst, `,"dimensions":%d`, d)
	}
	dst = appendOptions(dst, e.c.settings.Options)
	dst = append(dst, `,"input":[`...)
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = echo.AppendString(dst, text)
	}
	return append(dst, `]}`...)
}

// read takes in an answer for so many texts.
func (e *Embedder) read(res *http.Response, texts int) ([][]float32, *wireUsage, error) {
	answer, err := readEmbeddings(res, e.c.secrets)
	if err != nil {
		return nil, nil, err
	}
	vectors, err := answer.vectors(texts)
	if err != nil {
		return nil, nil, err
	}
	return vectors, answer.Usage, e.accept(vectors)
}

// accept checks that the vectors of an answer are as long as was asked for, or as before.
func (e *Embedder) accept(vectors [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range vectors {
		if v == nil {
			continue // nothing to embed
		}
		if e.dims == 0 {
			e.dims = len(v)
		}
		if len(v) != e.dims {
			return &providerFailureError{&failure{
				kind: echo.ModelErrBadResponse, class: retryNever, after: -1, hint: dimensionsHint,
				message: fmt.Sprintf("the vectors have %d dimensions, expected %d", len(v), e.dims),
			}}
		}
	}
	return nil
}

// response says what an answer cost. Tokens that the provider does not report are counted here.
func (e *Embedder) response(u *wireUsage, texts []string, retried []echo.ModelErrorKind) *effect.ModelResponse {
	r := &effect.ModelResponse{Provider: e.c.provider, Model: e.name, Retries: len(retried), RetryKinds: retried, Ignored: u.ignored()}
	var reported bool
	if r.Usage, reported = u.usage(); !reported {
		r.Usage.Estimated = true
		for _, text := range texts {
			r.Usage.In += e.c.counter().Text(text)
		}
	}
	r.CostUSD = e.c.cost(u, r.Usage, 0)
	return r
}

// embeddings is an answer of /embeddings.
type embeddings struct {
	Data  []embedded      `json:"data"`
	Usage *wireUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type embedded struct {
	Index     *int      `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// readEmbeddings reads a response body, and reports why it is not an answer.
func readEmbeddings(res *http.Response, secrets cleaner) (*embeddings, error) {
	data, err := io.ReadAll(&limitedBody{body: res.Body, left: maxAnswer})
	if err != nil {
		return nil, brokenOff(err)
	}
	var a embeddings
	if err := json.Unmarshal(data, &a); err != nil {
		if json.Valid(data) {
			return nil, &badAnswerError{why: "the answer holds no vectors of numbers"}
		}
		return nil, &badAnswerError{why: textOf(secrets.body(data))}
	}
	if err := statedFailure(a.Error, data); err != nil {
		return nil, err
	}
	return &a, nil
}

// vectors returns the vectors in the order of the texts, of unit length, nil for one of zeros.
func (a *embeddings) vectors(texts int) ([][]float32, error) {
	if len(a.Data) != texts {
		return nil, &badAnswerError{why: fmt.Sprintf("the answer has %d vectors for %d texts", len(a.Data), texts)}
	}
	out, taken := make([][]float32, texts), make([]bool, texts)
	for i := range a.Data {
		d := &a.Data[i]
		at := i
		if d.Index != nil { // without one, they are in the order of the texts
			at = *d.Index
		}
		if at < 0 || at >= texts || taken[at] {
			return nil, &badAnswerError{why: fmt.Sprintf("the answer has no vector for each text: one is for text %d of %d", at+1, texts)}
		}
		if len(d.Embedding) == 0 {
			return nil, &badAnswerError{why: fmt.Sprintf("the vector of text %d is empty", at+1)}
		}
		if len(d.Embedding) > maxDims {
			return nil, &badAnswerError{why: fmt.Sprintf("the vector of text %d has %d dimensions, more than the limit of %d", at+1, len(d.Embedding), maxDims)}
		}
		taken[at], out[at] = true, contextcards.Unit(d.Embedding)
	}
	return out, nil
}
