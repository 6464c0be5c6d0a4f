package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool/command"
)

const (
	maxBody      = 4 << 20 // bytes of a response that are read
	maxRedirects = 5
)

// declaredHTTP is an http tool of a cascade.
type declaredHTTP struct {
	method  string
	url     *textTemplate
	headers map[string]*textTemplate // canonical names
	body    *textTemplate            // nil: none
	all     []*textTemplate
	program *program
	env     environment
	client  *http.Client
}

func newHTTP(d *cascade.Tool, p *program, env environment) (*declaredHTTP, error) {
	h := &declaredHTTP{
		method: strings.ToUpper(cmp.Or(d.Method, http.MethodGet)), headers: map[string]*textTemplate{}, program: p, env: env,
		client: &http.Client{Transport: newTransport(), CheckRedirect: sameHost},
	}
	var err error
	if h.url, err = h.parse("url", template.ModeURL, d.URL); err != nil {
		return nil, err
	}
	for name, src := range d.Headers {
		if h.headers[http.CanonicalHeaderKey(name)], err = h.parse("headers."+name, template.ModeText, src); err != nil {
			return nil, err
		}
	}
	if d.Body != "" {
		kind, contentType := d.BodyKind()
		if h.body, err = h.parse("body", TemplateModes[kind], d.Body); err != nil {
			return nil, err
		}
		if contentType != "" { // no header says it
			if h.headers["Content-Type"], err = h.parse("headers.Content-Type", template.ModeText, contentType); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: maxTimeout,
		DisableKeepAlives:     true, // no connection outlives its call
	}
}

var errRedirect = errors.New("redirected to another host, which is not followed")

// sameHost keeps a response from sending the request, with its secrets, somewhere else.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("redirected more than %d times", maxRedirects)
	case req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("%w: %s://%s", errRedirect, req.URL.Scheme, req.URL.Host)
	}
	return nil
}

func (h *declaredHTTP) parse(field string, mode template.Mode, src string) (*textTemplate, error) {
	t, err := parseField(field, mode, src)
	h.all = append(h.all, t)
	return t, err
}

func (h *declaredHTTP) run(ctx context.Context, c *call) (string, error) {
	vars, err := variables(c.Arguments, h.env)
	if err != nil {
		return "", err
	}
	req, err := h.request(ctx, vars)
	if err != nil {
		return "", err
	}
	resp, err := h.client.Do(req) // the host is the cascade author's; values cannot choose it
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", h.method, shownURL(req.URL), cause(err))
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	return h.result(ctx, req, resp)
}

// cause takes the URL, which may hold secrets, out of an error of the client.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// shownURL leaves out what may be secret.
func shownURL(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

func (h *declaredHTTP) request(ctx context.Context, vars map[string]any) (*http.Request, error) {
	raw, err := h.url.render(vars)
	if err != nil {
		return nil, err
	}
	u, err := checkURL(strings.TrimSpace(raw))
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if h.body != nil {
		text, err := h.body.render(vars)
		if err != nil {
			return nil, err
		}
		body = strings.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, h.method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("User-Agent", "windlass")
	for name, t := range h.headers {
		v, err := t.render(vars)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, &failure{kindBadArguments, fmt.Errorf("headers.%s: the value has a line break in it", name)}
		}
		if name == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(name, v)
	}
	return req, nil
}

// checkURL refuses what is no plain URL, and paths that a server would take for another one.
func checkURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, &failure{kindBadArguments, fmt.Errorf("url: %w", cause(err))}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &failure{kindBadArguments, errors.New("url: it is not an http or https URL with a host")}
	}
	if segments := strings.Split(u.Path, "/"); slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return nil, &failure{kindBadArguments, errors.New(`url: a part of the path is "." or ".."`)}
	}
	return u, nil
}

func (h *declaredHTTP) result(ctx context.Context, req *http.Request, resp *http.Response) (string, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return "", fmt.Errorf("%s %s: read response: %w", h.method, shownURL(req.URL), err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return "", &failure{kindHTTPStatus, fmt.Errorf("%s[HTTP status %s]", endLine(bodyText(resp, data)), resp.Status)}
	}
	if h.program == nil {
		return orNoOutput(bodyText(resp, data)), nil
	}
	if len(data) > maxBody {
		return "", &failure{kindOutputLimit, fmt.Errorf("the response has more than the %d MiB that response_jq reads", maxBody>>20)}
	}
	text, err := h.program.run(ctx, data)
	return orNoOutput(text), err
}

// bodyText returns what is shown of a response.
func bodyText(resp *http.Response, data []byte) string {
	kind := resp.Header.Get("Content-Type")
	whole := len(data) <= maxBody // a character at the end may be incomplete otherwise
	if bytes.IndexByte(data, 0) >= 0 || whole && !utf8.Valid(data) && !strings.HasPrefix(kind, "text/") {
		return fmt.Sprintf("[%d bytes of %s, which is no text]", len(data), cmp.Or(kind, "an unknown type"))
	}
	text := command.Cut(string(data), maxText)
	if !whole {
		text += fmt.Sprintf("\n[the response has more than the %d MiB that are read]", maxBody>>20)
	}
	return text
}
