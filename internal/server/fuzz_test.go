package server

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBodies reads bodies of requests: what is said to be said once is the same to every reader of
// it, and what passes the description of a run decodes into it without a loss.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{
		`{"file": "c.json"}`, `{"file": "a", "file": "b"}`, `{"a": {"b": 1, "b": 2}}`, `{"a": [{"b": 1}, {"b": 2}]}`, `{"a": 1, "\u0061": 2}`, `[{"a": 1}, {"a": 1}]`, `{"input": {"x": 1e400}, "file": "c"}`,
		`{"file": "c.json", "budget": {"max_usd": 0.5}, "models": {"p": "m"}}`, `{"cascade": {}}`, `{"file": ""}`, `"`, strings.Repeat("[", 1000),
	} {
		f.Add([]byte(s))
	}
	d, err := readDescription()
	require.NoError(f, err)
	forms, err := d.formsOf("POST", "/api/runs")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		if saidOnce(body) == nil {
			var v any
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.UseNumber()
			require.NoError(t, dec.Decode(&v))
			again, err := json.Marshal(v)
			if err == nil {
				require.Len(t, names(t, again), len(names(t, body)), "a member is said twice: %s", body)
			}
		}
		violations, err := forms.body.Validate(body)
		if err != nil || len(violations) > 0 {
			return
		}
		var req RunRequest
		require.NoError(t, json.Unmarshal(body, &req), "%s", body)
		require.True(t, (req.File != "") != (len(req.Cascade) > 0), "%s", body)
	})
}

// names returns the names of all members of all objects.
func names(t *testing.T, data []byte) []string {
	t.Helper()
	var out []string
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var open []bool // objects
	isName := false
	for {
		token, err := dec.Token()
		if err != nil {
			return out
		}
		in := len(open) > 0 && open[len(open)-1]
		switch d, ok := token.(json.Delim); {
		case ok && (d == '{' || d == '['):
			open, isName = append(open, d == '{'), d == '{'
			continue
		case ok:
			open = open[:len(open)-1]
			isName = len(open) > 0 && open[len(open)-1]
			continue
		case in && isName:
			name, _ := token.(string)
			out = append(out, name)
			isName = false
			continue
		}
		isName = in
	}
}

// FuzzPaths cleans paths: the clean one is clean, begins with a slash, and has no empty parts and
// dots.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"/api/sessions", "//api/./x/../y/", "", "/..", "/%2e%2e/", "/a//", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean := cleanPath(p)
		require.Equal(t, clean, cleanPath(clean))
		require.True(t, strings.HasPrefix(clean, "/"))
		require.Equal(t, path.Clean(clean), strings.TrimSuffix(clean, "/")+map[bool]string{true: "/"}[clean == "/"])
	})
}
