package llm_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm"
)

func response(contentType string, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body)),
	}
}

// Whatever an endpoint sends, it is an answer or an error, never a panic; and an answer names every
// call.
func FuzzReadAnswer(f *testing.F) {
	f.Add(true, []byte("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add(true, []byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"name\":\"a\",\"arguments\":1}}]}}]}\n\ndata: [DONE]"))
	f.Add(false, []byte(`{"choices":[{"message":{"content":[{"type":"text","text":"x"}],"tool_calls":[{"id":"1","function":{"name":"n"}}]}}],"usage":{"prompt_tokens":-1}}`))
	f.Add(false, []byte(`[{"error":{"code":429,"message":"slow"}}]`))
	f.Add(true, []byte("data: {\"error\":\"text\"}\n\n"))
	f.Fuzz(func(t *testing.T, stream bool, data []byte) {
		media := "application/json"
		if stream {
			media = "text/event-stream"
		}
		m, err := llm.ReadAnswer(response(media, data))
		if (m == nil) == (err == nil) {
			t.Fatal("either an answer or an error")
		}
		if m == nil {
			return
		}
		seen := map[string]bool{}
		for _, c := range m.ToolCalls() {
			if c.ID == "" || c.Name == "" || c.Arguments == "" || seen[c.ID] {
				t.Fatalf("a call that cannot be answered: %+v", c)
			}
			seen[c.ID] = true
		}
	})
}

// stream is an answer in 200 pieces.
func stream() []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"},\"finish_reason\":null}]}\n\n", i)
	}
	b.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

func TestReadAnswerOfManyPieces(t *testing.T) {
	t.Parallel()
	m, err := llm.ReadAnswer(response("text/event-stream; charset=utf-8", stream()))
	require.NoError(t, err)
	require.Len(t, strings.Fields(m.Text()), 200)
}

// BenchmarkReadAnswer reads a stream of 200 pieces.
func BenchmarkReadAnswer(b *testing.B) {
	data := stream()
	b.ReportAllocs()
	for b.Loop() {
		_, err := llm.ReadAnswer(response("text/event-stream", data))
		require.NoError(b, err)
	}
}
