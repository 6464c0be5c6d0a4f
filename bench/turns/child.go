package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"golang.org/x/sync/errgroup"
)

// What a child process can measure.
const (
	variantOpenAI   = "openai-go"
	variantHTTP     = "net/http"
	variantWindlass = "windlass"
)

// sample is one measured process.
type sample struct {
	WallMS    float64 `json:"wall_ms"` // until every conversation has its answer
	DrainMS   float64 `json:"drain_ms"`
	CPUMS     float64 `json:"cpu_ms"` // user and system, of the whole process, the drain included
	Allocs    uint64  `json:"allocs"`
	AllocKB   uint64  `json:"alloc_kb"`
	PeakMiB   float64 `json:"peak_mib"`
	Delivered int64   `json:"delivered,omitempty"` // rows in ClickHouse
}

// conversation has one conversation of so many turns with the endpoint at url.
type conversation func(ctx context.Context, n int, url string) error

// child measures one variant in this process and prints a sample.
func child(args []string) error {
	turns, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	var talk conversation
	drain := func() (int64, error) { return 0, nil }
	switch args[0] {
	case variantOpenAI:
		talk = bareOpenAI(newTransport(count))
	case variantHTTP:
		talk = bareHTTP(newTransport(count))
	case variantWindlass:
		if talk, drain, err = windlassLoop(ctx); err != nil {
			return err
		}
	default:
		return fmt.Errorf("no variant %q", args[0])
	}
	s, err := timed(ctx, talk, drain, count, args[3]+"-%d/"+strconv.Itoa(turns))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func timed(ctx context.Context, talk conversation, drain func() (int64, error), count int, url string) (sample, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for n := range count {
		g.Go(func() error { return talk(ctx, n, fmt.Sprintf(url, n)) })
	}
	if err := g.Wait(); err != nil {
		return sample{}, err
	}
	wall := time.Since(start)
	start = time.Now()
	rows, err := drain()
	if err != nil {
		return sample{}, err
	}
	drained := time.Since(start)
	spent := cpuTime() - cpu
	runtime.ReadMemStats(&after)
	return sample{
		WallMS: ms(wall), DrainMS: ms(drained), CPUMS: ms(spent), Delivered: rows,
		Allocs: after.Mallocs - before.Mallocs, AllocKB: (after.TotalAlloc - before.TotalAlloc) >> 10, PeakMiB: peakMiB(),
	}, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// What every conversation is about: the same words in every variant.
const (
	systemText = "You look things up."
	taskText   = "Look up everything, one after the other."
	resultSize = 1500 // characters of a tool result
)

func lookup(arguments string) string {
	head := "result of " + arguments + ": "
	return head + strings.Repeat("x", resultSize-len(head))
}

func newTransport(conversations int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conversations, MaxIdleConns: conversations}}
}

// bareOpenAI is the loop that anyone would write over openai-go.
func bareOpenAI(hc *http.Client) conversation {
	return func(ctx context.Context, _ int, url string) error {
		client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("bench"), option.WithHTTPClient(hc))
		params := openai.ChatCompletionNewParams{
			Model:    "bench",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(systemText), openai.UserMessage(taskText)},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name: "lookup", Description: openai.String("Look something up."),
				Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}},
			})},
		}
		for {
			resp, err := client.Chat.Completions.New(ctx, params)
			if err != nil {
				return err
			}
			m := resp.Choices[0].Message
			params.Messages = append(params.Messages, m.ToParam())
			if len(m.ToolCalls) == 0 {
				return nil
			}
			for _, c := range m.ToolCalls {
				params.Messages = append(params.Messages, openai.ToolMessage(lookup(c.Function.Arguments), c.ID))
			}
		}
	}
}

// bareHTTP is the leanest loop: every message is encoded once, and a request is a copy of the encodings.
func bareHTTP(hc *http.Client) conversation {
	return func(ctx context.Context, _ int, url string) error {
		body := []byte(`{"model":"bench","tools":[{"type":"function","function":{"name":"lookup","description":"Look something up.",` +
			`"parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}],"messages":[` +
			`{"role":"system","content":"` + systemText + `"},{"role":"user","content":"` + taskText + `"}`)
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
				enc, err := json.Marshal(map[string]string{"role": "tool", "tool_call_id": c.ID, "content": lookup(c.Function.Arguments)})
				if err != nil {
					return err
				}
				body = append(append(body, ','), enc...)
			}
		}
	}
}

type bareMessage struct {
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func post(ctx context.Context, hc *http.Client, url string, body []byte) (m bareMessage, raw json.RawMessage, err error) {
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
