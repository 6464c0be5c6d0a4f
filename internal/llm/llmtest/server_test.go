package llmtest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// The server refuses what a provider would refuse.
func TestStrictness(t *testing.T) {
	t.Parallel()
	const user = `{"role":"user","content":"x"}`
	const tools = `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}]`
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]}`
	tests := map[string]struct {
		body   string
		status int
		text   string
	}{
		"good":                   {`{"model":"m","messages":[` + user + `]}`, 200, `"content":"ok"`},
		"good with tools":        {`{"model":"m",` + tools + `,"messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"1","content":"r"}],"tool_choice":"none"}`, 200, "ok"},
		"not JSON":               {`{"model":`, 400, "the body is not a JSON object"},
		"unknown member":         {`{"model":"m","messages":[` + user + `],"max_token":1}`, 400, "unrecognized request argument supplied: max_token"},
		"twice":                  {`{"model":"m","model":"m","messages":[` + user + `]}`, 400, "is there twice"},
		"no model":               {`{"messages":[` + user + `]}`, 400, "you must provide a model"},
		"no messages":            {`{"model":"m"}`, 400, "there are no messages"},
		"unknown model":          {`{"model":"n","messages":[` + user + `]}`, 404, "model_not_found"},
		"stream options":         {`{"model":"m","stream_options":{},"messages":[` + user + `]}`, 400, "stream_options is only allowed"},
		"choice alone":           {`{"model":"m","tool_choice":"none","messages":[` + user + `]}`, 400, "tool_choice is only allowed"},
		"tool name":              {`{"model":"m","tools":[{"type":"function","function":{"name":"a b"}}],"messages":[` + user + `]}`, 400, "tools must be a list"},
		"tool schema":            {`{"model":"m","tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}],"messages":[` + user + `]}`, 400, "tools must be a list"},
		"tool twice":             {`{"model":"m","tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}],"messages":[` + user + `]}`, 400, "is declared twice"},
		"calls, no tools":        {`{"model":"m","messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"1","content":"r"}]}`, 400, "the request declares none"},
		"unanswered call":        {`{"model":"m",` + tools + `,"messages":[` + user + `,` + call + `]}`, 400, "end without the result"},
		"a PDF":                  {`{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"a.pdf"}}]}]}`, 200, ""},
		"a PDF without a name":   {`{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0="}}]}]}`, 400, "a file has the members filename"},
		"a PDF of the assistant": {`{"model":"m","messages":[` + user + `,{"role":"assistant","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"a.pdf"}}]}]}`, 400, "only user messages may"},
		"an image that is none":  {`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,[redacted]"}}]}]}`, 400, "invalid base64 image_url"},
		"an unknown part":        {`{"model":"m","messages":[{"role":"user","content":[{"type":"video_url"}]}]}`, 400, "text, image_url and file are known"},
		"image in a tool":        {`{"model":"m",` + tools + `,"messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, 400, "only user messages may"},
		"no content":             {`{"model":"m","messages":[{"role":"user"}]}`, 400, "has no content"},
		"unknown role":           {`{"model":"m","messages":[{"role":"robot","content":"x"}]}`, 400, "unknown role"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(llmtest.Config{Models: []string{"m"}})
			t.Cleanup(s.Close)
			res, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(tt.body))
			require.NoError(t, err)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, errors.Join(err, res.Body.Close()))
			require.Equal(t, tt.status, res.StatusCode, string(text))
			require.Contains(t, string(text), tt.text)
			require.Equal(t, tt.status == 400, s.Refused() != nil)
		})
	}
}

func TestEmbeddingsStrictness(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body   string
		status int
		text   string
	}{
		"good":           {`{"model":"m","input":["a","b"],"dimensions":3}`, 200, `"object":"list"`},
		"not JSON":       {`{"model":`, 400, "the body is not a JSON object"},
		"unknown member": {`{"model":"m","input":["a"],"inputs":1}`, 400, "unrecognized request argument supplied: inputs"},
		"twice":          {`{"model":"m","model":"m","input":["a"]}`, 400, "is there twice"},
		"no model":       {`{"input":["a"]}`, 400, "you must provide a model"},
		"no input":       {`{"model":"m","input":[]}`, 400, "input has 0 texts"},
		"too many":       {`{"model":"m","input":["a"` + strings.Repeat(`,"a"`, 2048) + `]}`, 400, "input has 2049 texts"},
		"empty":          {`{"model":"m","input":["a",""]}`, 400, "input cannot be an empty string"},
		"no text":        {`{"model":"m","input":[1]}`, 400, "read input: "},
		"dimensions":     {`{"model":"m","input":["a"],"dimensions":0}`, 400, "read dimensions: it must be at least 1"},
		"unknown model":  {`{"model":"n","input":["a"]}`, 404, "model_not_found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(llmtest.Config{Models: []string{"m"}})
			t.Cleanup(s.Close)
			res, err := http.Post(s.URL+"/embeddings", "application/json", strings.NewReader(tt.body))
			require.NoError(t, err)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, errors.Join(err, res.Body.Close()))
			require.Equal(t, tt.status, res.StatusCode, string(text))
			require.Contains(t, string(text), tt.text)
			require.Equal(t, tt.status == 400, s.Refused() != nil)
			require.Equal(t, tt.status == 200, len(s.Embeddings()) == 1)
		})
	}
}

func TestKeyAndPath(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(llmtest.Config{Key: "right"})
	t.Cleanup(s.Close)
	for key, status := range map[string]int{"right": 400, "wrong": 401} { // 400: the key is right, the body is not
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/chat/completions", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, status, res.StatusCode)
	}
	res, err := http.Post(s.URL+"/completions", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}
