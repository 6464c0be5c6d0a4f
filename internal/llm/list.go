package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
)

// The bounds of asking an endpoint for its models.
const (
	listTime  = 30 * time.Second
	listBytes = 16 << 20 // OpenRouter's list has about one
)

// ListError says why an endpoint's models could not be listed.
type ListError struct {
	Host string
	Err  *effect.ModelError
}

func (e *ListError) Error() string { return "list the models of " + e.Host + ": " + e.Err.Message }

func (e *ListError) Unwrap() error { return e.Err }

// List asks an endpoint for the names of its models: one with this URL, or that of a model. A URL is
// asked with the key that windlass.json has for its host, the key of the default endpoint where it is
// that or on this machine, or without one. The error is a [*ListError].
func (r *Router) List(ctx context.Context, of string) ([]string, error) {
	e, m, err := r.listed(of)
	if err != nil {
		return nil, listError(of, err)
	}
	c := newClient(e, m, r.http)
	names, f := c.list(ctx, e)
	if f != nil {
		return nil, listError(e.base.Host, c.fail(&effect.ModelRequest{}, f, nil, false))
	}
	return names, nil
}

func listError(host string, err error) error {
	var me *effect.ModelError
	if errors.As(err, &me) {
		return &ListError{Host: cmp.Or(me.Provider, host), Err: me}
	}
	return err
}

// listed returns the endpoint whose models are asked for, and what is said of how it is reached.
func (r *Router) listed(of string) (endpoint, config.Model, error) {
	if !strings.Contains(of, "://") {
		m, _ := r.cfg.Lookup(of)
		e, err := r.endpoint(of, m)
		return e, m, err
	}
	if why := config.CheckBaseURL(of); why != "" {
		return endpoint{}, config.Model{}, configError("", "", "the URL "+why, "write it as in https://host/v1")
	}
	base, err := url.Parse(of)
	if err != nil {
		return endpoint{}, config.Model{}, configError("", "", "the URL cannot be read", "write it as in https://host/v1")
	}
	m, known := r.reached(base)
	if !known && !isLocal(base) && r.foreign(base) {
		return endpoint{base: base, secrets: r.secrets}, m, nil // many list their models to anybody
	}
	m.BaseURL = of
	e, err := r.endpoint(of, m)
	return e, m, err
}

// reached returns what windlass.json says of an endpoint on the host of a URL.
func (r *Router) reached(base *url.URL) (m config.Model, known bool) {
	for _, name := range slices.Sorted(maps.Keys(r.cfg.Models)) {
		m := r.cfg.Models[name]
		u, err := url.Parse(m.BaseURL)
		if err == nil && m.BaseURL != "" && u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host) {
			return m, true
		}
	}
	return config.Model{}, false
}

// list asks for the names of an endpoint's models.
func (c *client) list(ctx context.Context, e endpoint) ([]string, *failure) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, errOverall)
	defer cancel()
	u := e.path("models")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, transportFailure(err, nil)
	}
	req.Header = c.api.header.Clone()
	req.Header.Del("Content-Type")
	res, err := c.api.transport.RoundTrip(req)
	if err != nil {
		return nil, transportFailure(err, context.Cause(ctx))
	}
	defer res.Body.Close() //nolint:errcheck // only read from
	if isRedirect(res) {
		return nil, transportFailure(errRefused, nil)
	}
	data, err := io.ReadAll(&limitedBody{body: res.Body, left: listBytes})
	switch {
	case err != nil:
		return nil, transportFailure(brokenOff(err), context.Cause(ctx))
	case res.StatusCode != http.StatusOK:
		f := statusFailure(res.StatusCode, res.Header, c.secrets.body(data), c.now())
		if res.StatusCode == http.StatusNotFound { // its words speak of models in any case
			f.fill(echo.ModelErrUnknownEndpoint, retryNever)
			f.asked = address(u)
		}
		return nil, f
	}
	names, ok := modelNames(data)
	if !ok {
		return nil, transportFailure(&badAnswerError{why: "the answer is no list of models: " + textOf(c.secrets.body(data))}, nil)
	}
	for i := range names {
		names[i] = c.secrets.Text(names[i])
	}
	return names, nil
}

// modelNames reads a list of models in the forms that endpoints have: {"data": [{"id"}]}, {"models":
// [{"name"}]}, or the list alone. The names are sorted, each once; ones that cannot be true are left out.
func modelNames(data []byte) (names []string, ok bool) {
	type model struct{ ID, Name string }
	var list struct{ Data, Models []model }
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[")) {
		if json.Unmarshal(data, &list.Data) != nil {
			return nil, false
		}
	} else if json.Unmarshal(data, &list) != nil || list.Data == nil && list.Models == nil {
		return nil, false
	}
	for _, m := range append(list.Data, list.Models...) {
		if name := strings.TrimPrefix(cmp.Or(m.ID, m.Name), "models/"); name != "" && len(name) <= maxName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}
