package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/secret"
)

// The variables of the default endpoint.
const (
	EnvAPIKey      = "OPENAI_API_KEY"
	EnvBaseURL     = "OPENAI_BASE_URL"
	defaultBaseURL = "https://api.openai.com/v1"
)

// Router is an [effect.Model] that sends each request to the endpoint of its model. It is safe for
// concurrent use. There is one client for each model name, and they share their connections.
type Router struct {
	cfg     *config.Config
	getenv  func(string) string
	http    *http.Transport
	secrets *secret.Set

	mu       sync.Mutex
	clients  map[string]*client
	counters map[string]func() *Counter // by the provider's name; each is made when something is counted
}

// NewRouter returns a router. getenv reads the environment; it is asked once for each model.
func NewRouter(cfg *config.Config, getenv func(string) string) *Router {
	return &Router{
		cfg: cfg, getenv: getenv, http: newTransport(), clients: map[string]*client{}, counters: map[string]func() *Counter{},
	}
}

// Know has the router keep these secrets out of answers, too. It is called first.
func (r *Router) Know(s *secret.Set) { r.secrets = s }

// Complete implements [effect.Model].
func (r *Router) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	c, err := r.client(req.Model)
	if err != nil {
		return nil, err
	}
	return c.complete(ctx, req, cmp.Or(c.settings.Model, req.Model))
}

// Close closes the connections that are not in use.
func (r *Router) Close() { r.http.CloseIdleConnections() }

// Check reports, without sending anything, why a model could not be asked.
func (r *Router) Check(model string) error {
	_, err := r.client(model)
	return err
}

// Facts returns what is known of a model from the configuration and the embedded table, and how its
// endpoint is asked for its window when it is on this machine. Nothing is sent.
func (r *Router) Facts(model string) effect.ModelFacts {
	m, _ := r.cfg.Lookup(model)
	window, output := r.Limits(model)
	name := cmp.Or(m.Model, model)
	r.mu.Lock()
	counter := r.counter(name)
	r.mu.Unlock()
	f := effect.ModelFacts{
		Name: name, Window: int64(window), MaxOutput: int64(output), NativeTools: m.NativeTools, Fallback: m.Fallback, MarkCache: r.marksCache(model, m), NoImages: r.TakesNoImages(model),
		Count: func(m *echo.Message) int64 { return counter().Message(m) }, Exact: HasTokenizer(name),
		CountFixed: EstimateFixed, AskWindow: r.askWindow(model, m), DefaultWindow: DefaultWindow,
	}
	if p := r.Price(model); p != nil {
		t := tariff(*p)
		f.Tariff = &t
		f.Price = &echo.Price{Input: t.Input, Cached: t.Cached}
	}
	return f
}

// LoadTokenizer begins to load the tokenizer of a model, if it is known: what is counted first would
// wait for it.
func (r *Router) LoadTokenizer(model string) {
	m, _ := r.cfg.Lookup(model)
	name := cmp.Or(m.Model, model)
	r.mu.Lock()
	defer r.mu.Unlock()
	if HasTokenizer(name) {
		go r.counter(name)()
	}
}

// Limits returns the tokens that a model can take in all and write in one answer; zero is unknown.
// The configuration has precedence over the embedded table.
func (r *Router) Limits(model string) (contextWindow, maxOutputTokens int) {
	m, _ := r.cfg.Lookup(model)
	card, _ := LookupCard(cmp.Or(m.Model, model))
	return cmp.Or(m.ContextWindow, card.ContextWindow), cmp.Or(m.MaxOutputTokens, card.MaxOutputTokens)
}

// TakesNoImages reports whether a model is known to take no images.
func (r *Router) TakesNoImages(model string) bool {
	m, _ := r.cfg.Lookup(model)
	if m.Images != nil {
		return !*m.Images
	}
	card, _ := LookupCard(cmp.Or(m.Model, model))
	return card.NoImages
}

// Price returns what a model costs, or nil when that is unknown.
func (r *Router) Price(model string) *config.Price {
	m, _ := r.cfg.Lookup(model)
	if m.Price != nil {
		return m.Price
	}
	card, _ := LookupCard(cmp.Or(m.Model, model))
	return card.Price
}

func (r *Router) client(model string) (*client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.clients[model]; ok {
		return c, nil
	}
	settings, _ := r.cfg.Lookup(model)
	e, err := r.endpoint(model, settings)
	if err != nil {
		return nil, err
	}
	c := newClient(e, settings, r.http)
	c.price = r.Price(model)
	c.counter = r.counter(cmp.Or(settings.Model, model))
	r.clients[model] = c
	return c, nil
}

// counter returns the counter of a model; r.mu is held.
func (r *Router) counter(name string) func() *Counter {
	c, ok := r.counters[name]
	if !ok {
		c = sync.OnceValue(func() *Counter { return NewCounter(name) })
		r.counters[name] = c
	}
	return c
}

// endpoint fills in what the environment says, and reports what is missing before anything is sent.
func (r *Router) endpoint(model string, m config.Model) (endpoint, error) {
	var e endpoint
	base, from := m.BaseURL, "base_url in windlass.json"
	if base == "" {
		base, from = r.defaultURL(), EnvBaseURL
	}
	if why := config.CheckBaseURL(base); why != "" {
		return e, configError(model, "", from+" "+why, "write it as in https://host/v1")
	}
	var err error
	if e.base, err = url.Parse(base); err != nil {
		return e, configError(model, "", from+" cannot be read", "write it as in https://host/v1")
	}
	if e.headers, err = r.headers(model, e.base.Host, m.Headers); err != nil {
		return e, err
	}
	e.key, err = r.key(model, e, m)
	e.secrets = r.secrets.With(Secrets(m, r.getenv)...)
	return e, err
}

func (r *Router) defaultURL() string { return cmp.Or(r.getenv(EnvBaseURL), defaultBaseURL) }

// key returns the key for an endpoint. One on this machine, or with its own header for it, needs
// none.
func (r *Router) key(model string, e endpoint, m config.Model) (string, error) {
	name := cmp.Or(m.APIKeyEnv, EnvAPIKey)
	key := strings.TrimSpace(r.getenv(name))
	switch {
	case strings.ContainsAny(key, "\r\n"):
		return "", configError(model, e.base.Host, name+" holds more than one line, which cannot be a key", "set "+name+" again")
	case key != "" && m.APIKeyEnv == "" && m.BaseURL != "" && !isLocal(e.base) && r.foreign(e.base):
		// The key of the default endpoint is not shown to another one.
		key = ""
	}
	if key != "" || isLocal(e.base) || slices.ContainsFunc(slices.Collect(maps.Keys(e.headers)), isKeyHeader) {
		return key, nil
	}
	if m.APIKeyEnv == "" && m.BaseURL != "" {
		return "", configError(model, e.base.Host, "no key for this endpoint",
			`name the variable that holds it in windlass.json: "api_key_env": "NAME"`)
	}
	return "", configError(model, e.base.Host, "no key: "+name+" is not set",
		"export "+name+"=..., or run offline: the script beside the cascade answers then")
}

// foreign reports whether an endpoint is another one than that of the default key.
func (r *Router) foreign(base *url.URL) bool {
	u, err := url.Parse(r.defaultURL())
	return err != nil || !strings.EqualFold(u.Host, base.Host)
}

func (r *Router) headers(model, host string, in map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for k, v := range in {
		if name, ok := variable(v); ok {
			if v = r.getenv(name); v == "" || strings.ContainsAny(v, "\r\n") {
				return nil, configError(model, host, fmt.Sprintf("header %s needs %s, which is not set or not one line", k, name), "export "+name+"=...")
			}
		}
		out[k] = v
	}
	return out, nil
}

// Secrets lists a model's credentials: the key, and headers from the environment or with a key.
func Secrets(m config.Model, getenv func(string) string) []secret.Value {
	name := cmp.Or(m.APIKeyEnv, EnvAPIKey)
	out := []secret.Value{{Name: name, Value: strings.TrimSpace(getenv(name))}}
	for _, k := range slices.Sorted(maps.Keys(m.Headers)) {
		v := m.Headers[k]
		from, ok := variable(v)
		switch {
		case ok:
			out = append(out, secret.Value{Name: from, Value: getenv(from)})
		case isKeyHeader(k):
			_, credentials, _ := strings.Cut(v, " ")
			out = append(out, secret.Value{Name: "header " + k, Value: v}, secret.Value{Name: "header " + k, Value: credentials})
		}
	}
	return out
}

// variable returns the name of the variable that a header's value "${NAME}" comes from.
func variable(value string) (name string, ok bool) {
	name, ok = strings.CutPrefix(value, "${")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, "}")
}

// isKeyHeader reports whether keys are sent in a header.
func isKeyHeader(name string) bool {
	return slices.Contains([]string{"authorization", "api-key", "x-api-key"}, strings.ToLower(name))
}

// isLocal reports whether an endpoint is on this machine.
func isLocal(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func configError(model, host, message, hint string) error {
	return &effect.ModelError{
		Kind: echo.ModelErrConfig, Provider: host, Model: model, Unpaid: true, Message: message, Hint: hint, Err: errors.New(message),
	}
}
