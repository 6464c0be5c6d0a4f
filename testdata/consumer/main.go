package main

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass"
)

var tool = windlass.Func("restart", "Restarts a service.", func(_ context.Context, in struct{ Service string }) (string, error) { return in.Service + " runs", nil })

func operator(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
	if len(req.Messages) == 1 {
		return windlass.CallTool("restart", map[string]string{"Service": "checkout"})
	}
	return windlass.Reply("Done: " + req.Messages[2].Text()), nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	w := must(windlass.Open(context.Background(), windlass.InMemory()))
	defer w.Close()
	fmt.Println(must(w.Run(context.Background(), must(windlass.LoadFile("one.yaml")), nil, windlass.WithTool(tool), windlass.WithProvider(windlass.ModelFunc(operator)))).Text())
}
