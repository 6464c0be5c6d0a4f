// Command net-http is the leanest loop, measured by `make bench`: it encodes every message once, and a request is a copy of
// the encodings. It records nothing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

func main() {
	if err := loop.Run(context.Background(), os.Args[1:], os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, "net-http:", err)
		os.Exit(1)
	}
}

func open(_ context.Context, conversations int) (loop.Loop, error) {
	hc := loop.Client(conversations)
	return loop.Loop{Talk: func(ctx context.Context, _ int, url string) error { return talk(ctx, hc, url) }}, nil
}

const requestHead = `{"model":"bench","tools":[{"type":"function","function":{"name":"` + loop.ToolName +
	`","description":"` + loop.ToolText + `","parameters":` + loop.ToolSchema + `}}],"messages":[` +
	`{"role":"system","content":"` + loop.SystemText + `"},{"role":"user","content":"` + loop.TaskText + `"}`

func talk(ctx context.Context, hc *http.Client, url string) error {
	body := []byte(requestHead)
	for {
		m, raw, err := post(ctx, hc, url+"/chat/completions", append(body[:len(body):len(body)], "]}"...))
		if err != nil {
			return err
		}
		if len(m.ToolCalls) == 0 {
			return nil
		}
		body = append(append(body, ','), raw...)
		for _, c := range m.ToolCalls {
			enc, err := json.Marshal(map[string]string{"role": "tool", "tool_call_id": c.ID, "content": loop.Lookup(c.Function.Arguments)})
			if err != nil {
				return err
			}
			body = append(append(body, ','), enc...)
		}
	}
}

type message struct {
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func post(ctx context.Context, hc *http.Client, url string, body []byte) (m message, raw json.RawMessage, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return m, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(req)
	if err != nil {
		return m, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return m, nil, err
	}
	var out struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return m, nil, err
	}
	raw = out.Choices[0].Message
	return m, raw, json.Unmarshal(raw, &m)
}
