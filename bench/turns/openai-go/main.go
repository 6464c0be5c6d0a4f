// Command openai-go is the loop that anyone would write over openai-go, measured by `make bench`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

func main() {
	if err := loop.Run(context.Background(), os.Args[1:], os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, "openai-go:", err)
		os.Exit(1)
	}
}

func open(_ context.Context, conversations int) (loop.Loop, error) {
	var schema openai.FunctionParameters
	if err := json.Unmarshal([]byte(loop.ToolSchema), &schema); err != nil {
		return loop.Loop{}, err
	}
	hc := loop.Client(conversations)
	return loop.Loop{Talk: func(ctx context.Context, _ int, url string) error { return talk(ctx, hc, url, schema) }}, nil
}

func talk(ctx context.Context, hc *http.Client, url string, schema openai.FunctionParameters) error {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("bench"), option.WithHTTPClient(hc))
	params := openai.ChatCompletionNewParams{
		Model:    "bench",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(loop.SystemText), openai.UserMessage(loop.TaskText)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: loop.ToolName, Description: openai.String(loop.ToolText), Parameters: schema,
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
			params.Messages = append(params.Messages, openai.ToolMessage(loop.Lookup(c.Function.Arguments), c.ID))
		}
	}
}
