// Package servertest holds requests and answers of the HTTP API against its description.
package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/schema"
)

// Description is what openapi.json says, ready to check with.
type Description struct {
	Paths      map[string]map[string]*Operation `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`

	components json.RawMessage
}

// Operation is one method of one address.
type Operation struct {
	ID          string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Parameters  []Parameter         `json:"parameters"`
	RequestBody *Body               `json:"requestBody"`
	Responses   map[string]Response `json:"responses"`
}

// Parameter is a part of the path, the query or the header.
type Parameter struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

// Body is what a request or an answer holds, by media type.
type Body struct {
	Required bool             `json:"required"`
	Content  map[string]Media `json:"content"`
}

// Media is a body of one type.
type Media struct {
	Schema json.RawMessage `json:"schema"`
}

// Response is an answer of one status.
type Response struct {
	Description string              `json:"description"`
	Headers     map[string]struct{} `json:"headers"`
	Content     map[string]Media    `json:"content"`
}

// Read reads a description.
func Read(t *testing.T, data []byte) *Description {
	t.Helper()
	d := &Description{}
	require.NoError(t, json.Unmarshal(data, d))
	var raw struct {
		Components json.RawMessage `json:"components"`
	}
	require.NoError(t, json.Unmarshal(data, &raw))
	d.components = raw.Components
	return d
}

// Find returns the operation that a request is for; nil when it is for none.
func (d *Description) Find(method, path string) *Operation {
	for template, methods := range d.Paths {
		if op := methods[strings.ToLower(method)]; op != nil && matches(template, path) {
			return op
		}
	}
	return nil
}

// matches reports whether a path fits a template, whose last parameter may have slashes.
func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if strings.HasSuffix(template, "/{call}") && len(got) > len(want) {
		got = append(got[:len(want)-1:len(want)-1], "the rest")
	}
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != got[i] {
			return false
		}
	}
	return true
}

// Violations says how a value differs from a schema of the description.
func (d *Description) Violations(t *testing.T, form json.RawMessage, value []byte) []schema.Violation {
	t.Helper()
	whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{form}, "components": d.components})
	require.NoError(t, err)
	s, err := schema.Compile(whole)
	require.NoError(t, err)
	found, err := s.Validate(value)
	require.NoError(t, err, "%s", value)
	return found
}

// Client sends requests and demands that they and their answers are as the description says.
type Client struct {
	Base        string // as in http://127.0.0.1:1234
	Token       string
	Description *Description
	HTTP        *http.Client // nil: the default one
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Closed bool // the server closes the connection after it
	Proto  string
}

// Into reads the body.
func (a *Answer) Into(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.Body, v), "%s", a.Body)
}

// Problem reads the kind and the detail of a problem, and what to try next.
func (a *Answer) Problem(t *testing.T) (kind, detail, try string) {
	t.Helper()
	var p struct{ Type, Detail, Try string }
	a.Into(t, &p)
	return p.Type[strings.LastIndexByte(p.Type, '/')+1:], p.Detail, p.Try
}

// Do sends a request; body is sent as JSON unless it is nil, and a string is sent as it is.
func (c *Client) Do(t *testing.T, method, path string, body any, headers ...string) *Answer {
	t.Helper()
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		data, err = json.Marshal(b)
		require.NoError(t, err)
	}
	req := c.Request(t, method, path, data, headers...)
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Body: got, Closed: resp.Close, Proto: resp.Proto}
	c.check(t, method, req.URL.Path, data, a)
	return a
}

// Request makes a request; headers are names and values in turn.
func (c *Client) Request(t *testing.T, method, path string, body []byte, headers ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.Base+path, bytes.NewReader(body))
	require.NoError(t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	return req
}

// check demands that an answer, and a request that was taken, are as the description says.
func (c *Client) check(t *testing.T, method, path string, sent []byte, a *Answer) {
	t.Helper()
	what := fmt.Sprintf("%s %s: %d %s", method, path, a.Status, a.Body)
	op := c.Description.Find(method, path)
	if op == nil {
		require.Contains(t, []int{http.StatusForbidden, http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed}, a.Status, "not described: "+what)
		c.fits(t, c.Description.Components.Schemas["Problem"], a.Body, what)
		return
	}
	if a.Status < 300 && len(sent) > 0 {
		require.NotNil(t, op.RequestBody, "a body that is not described was taken: "+what)
		c.fits(t, op.RequestBody.Content["application/json"].Schema, sent, "request: "+what)
	}
	r, ok := op.Responses[strconv.Itoa(a.Status)]
	require.True(t, ok, "a status that is not described: "+what)
	media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	require.NoError(t, err, what)
	form, ok := r.Content[media]
	require.True(t, ok, "%s is not described: %s", media, what)
	for name := range r.Headers {
		if name != "Retry-After" || a.Status == http.StatusTooManyRequests { // not known for every 503
			require.NotEmpty(t, a.Header.Get(name), "%s: %s", name, what)
		}
	}
	if media == "text/event-stream" || strings.HasPrefix(media, "image/") {
		return
	}
	c.fits(t, form.Schema, a.Body, what)
}

func (c *Client) fits(t *testing.T, form json.RawMessage, value []byte, what string) {
	t.Helper()
	require.NotEmpty(t, form, what)
	require.Empty(t, c.Description.Violations(t, form, value), what)
}
