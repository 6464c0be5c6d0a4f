package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/config"
)

// DefaultWindow is the context window of a model that nobody knows, in tokens.
const DefaultWindow = 200_000

// askLimit is the time for all requests that ask a server on this machine for the window of a model. Tests have more.
var askLimit = 2 * time.Second

// askAnswer is how many bytes of an answer to one of them are read.
const askAnswer = 1 << 20

// askWindow returns the function that asks an endpoint on this machine for the window that it gives
// a model, nil for other endpoints and where the configuration says what it is.
func (r *Router) askWindow(model string, m config.Model) func(context.Context) int64 {
	if m.ContextWindow > 0 {
		return nil
	}
	e, err := r.endpoint(model, m)
	if err != nil || !isLocal(e.base) {
		return nil
	}
	return func(ctx context.Context) int64 {
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		s := localServer{transport: r.http, header: e.header(), base: e, model: cmp.Or(m.Model, model)}
		return s.window(ctx)
	}
}

// localServer is a model server on this machine. What it is follows from what it answers.
type localServer struct {
	transport http.RoundTripper
	header    http.Header
	base      endpoint
	model     string
}

// window returns the tokens of a request and its answer that the server has room for, 0 when it does
// not say. Only what is in force counts, not what the model was made for: Ollama and LM Studio load
// models with less.
func (s *localServer) window(ctx context.Context) int64 {
	for _, ask := range []func(context.Context) int64{s.ofModel, s.ofModels, s.ofProps, s.ofLMStudio, s.ofRunning, s.ofModelfile} {
		if n := ask(ctx); n > 0 && n <= maxTokens {
			return n
		}
	}
	return 0
}

// modelInfo is a model in a list of models.
type modelInfo struct {
	ID          string `json:"id"`
	MaxModelLen int64  `json:"max_model_len"` // vLLM, SGLang
	Meta        struct {
		Context int64 `json:"n_ctx"`
	} `json:"meta"` // llama.cpp
}

func (m *modelInfo) window() int64 { return cmp.Or(m.MaxModelLen, m.Meta.Context) }

func (s *localServer) ofModel(ctx context.Context) int64 {
	var m modelInfo
	s.get(ctx, s.base.path("models").JoinPath(s.model), &m)
	return m.window()
}

func (s *localServer) ofModels(ctx context.Context) int64 {
	var list struct {
		Data []modelInfo `json:"data"`
	}
	s.get(ctx, s.base.path("models"), &list)
	for i := range list.Data {
		if list.Data[i].ID == s.model {
			return list.Data[i].window()
		}
	}
	return 0
}

// ofProps asks llama.cpp, which is not to load a model for it.
func (s *localServer) ofProps(ctx context.Context) int64 {
	var props struct {
		Settings struct {
			Context int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	u := s.root("props")
	u.RawQuery = url.Values{"model": {s.model}, "autoload": {"false"}}.Encode()
	s.get(ctx, u, &props)
	return props.Settings.Context
}

func (s *localServer) ofLMStudio(ctx context.Context) int64 {
	var m struct {
		Loaded int64 `json:"loaded_context_length"`
	}
	s.get(ctx, s.root("api/v0/models").JoinPath(s.model), &m)
	return m.Loaded
}

// ofRunning asks Ollama for the models that it has loaded.
func (s *localServer) ofRunning(ctx context.Context) int64 {
	var running struct {
		Models []struct {
			Name    string `json:"name"`
			Model   string `json:"model"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	s.get(ctx, s.root("api/ps"), &running)
	names := []string{s.model, s.model + ":latest"}
	for _, m := range running.Models {
		if slices.Contains(names, m.Name) || slices.Contains(names, m.Model) {
			return m.Context
		}
	}
	return 0
}

// ofModelfile asks Ollama for the num_ctx that a model is loaded with.
func (s *localServer) ofModelfile(ctx context.Context) int64 {
	var shown struct {
		Parameters string `json:"parameters"`
	}
	body, err := json.Marshal(map[string]string{"model": s.model})
	if err != nil {
		return 0
	}
	s.ask(ctx, http.MethodPost, s.root("api/show"), body, &shown)
	for line := range strings.Lines(shown.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, _ := strconv.ParseInt(f[1], 10, 64) // zero is that it does not say
			return n
		}
	}
	return 0
}

// root returns the address of a path of the server's own API, which is beside /v1.
func (s *localServer) root(p string) *url.URL {
	u := *s.base.base
	u.Path, u.RawPath = strings.TrimSuffix(path.Clean("/"+u.Path), "/v1"), ""
	u.Path = cmp.Or(u.Path, "/")
	return u.JoinPath(p)
}

func (s *localServer) get(ctx context.Context, u *url.URL, into any) {
	s.ask(ctx, http.MethodGet, u, nil, into)
}

// ask sends a request. Whatever is no answer leaves into as it is.
func (s *localServer) ask(ctx context.Context, method string, u *url.URL, body []byte, into any) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header = s.header.Clone()
	res, err := s.transport.RoundTrip(req)
	if err != nil {
		return
	}
	defer res.Body.Close() //nolint:errcheck // only read from
	if res.StatusCode != http.StatusOK {
		return
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, askAnswer))
	if err == nil {
		_ = json.Unmarshal(data, into) // what cannot be read says nothing
	}
}
