//nolint:errcheck,gocritic // an example ends at its first error, as a small program does
package windlass_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
)

// operator is a model of a program: it restarts a service, and says what came of that.
func operator(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) > 0 && last.Role() != echo.RoleTool {
		return windlass.CallTool("restart", map[string]string{"service": "checkout"}), nil
	}
	return windlass.Reply("Done: " + last.Text()), nil
}

type restartArgs struct {
	Service string `json:"service" jsonschema:"description=which one"`
}

func restart(_ context.Context, in restartArgs) (string, error) {
	if in.Service == "" {
		return "", errors.New("no service is named")
	}
	return in.Service + " runs", nil
}

// A file is run with the answers of the script beside it, which costs nothing.
func Example() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("examples/cascades/minimal.json")
	if err != nil {
		log.Fatal(err)
	}
	run, err := w.Start(ctx, c, windlass.Input{"topic": "prefix caching"}, windlass.WithOffline())
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	answer, _, _ := strings.Cut(result.Text(), ",")
	fmt.Println(result.Status, answer)
	// Output:
	// completed (scripted) Prefix caching lets a provider keep the state of a prompt's beginning
}

// A tool is made of a Go function. Its schema comes from the types.
func ExampleFunc() {
	tool := windlass.Func("restart", "Restarts a service.", restart)
	fmt.Println(string(tool.Parameters()))

	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("testdata/incident.yaml")
	if err != nil {
		log.Fatal(err)
	}
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"},
		windlass.WithTool(tool), windlass.WithProvider(windlass.ModelFunc(operator)))
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Phases[0].Output)
	// Output:
	// {"properties":{"service":{"type":"string","description":"which one"}},"additionalProperties":false,"type":"object","required":["service"]}
	// Done: checkout runs
}

// Events are what happens in a run, while it happens.
func ExampleRun_Events() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("testdata/incident.yaml")
	if err != nil {
		log.Fatal(err)
	}
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"},
		windlass.WithTool(windlass.Func("restart", "Restarts a service.", restart)), windlass.WithProvider(windlass.ModelFunc(operator)))
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range run.Events() {
		switch e := event.(type) {
		case *windlass.ModelCalled:
			fmt.Println(e)
		case *windlass.ToolCalled:
			fmt.Println(e)
		case *windlass.Recorded:
			if e.Entry.NodeType == echo.NodeToolCall {
				fmt.Println("the tool said:", e.Entry.Message.Text())
			}
		case nil:
			log.Fatal(err) // the run did not complete
		}
	}
	// Output:
	// incident/repair (attempt 1, turn 1): asking own
	// incident/repair (attempt 1, turn 1): running restart {"service":"checkout"}
	// the tool said: checkout runs
	// incident/repair (attempt 1, turn 2): asking own
	// incident/report (attempt 1, turn 1): asking own
}

// A model of the program answers instead of an endpoint.
func ExampleWithProvider() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.Load("hello.yaml", []byte(`
cascade_id: hello
phases:
  - name: greet
    instructions: Greet {{ input.name }}.
`))
	if err != nil {
		log.Fatal(err)
	}
	parrot := windlass.ModelFunc(func(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		return windlass.Reply("I was asked: " + req.Messages[0].Text()), nil
	})
	run, err := w.Start(ctx, c, windlass.Input{"name": "Ada"}, windlass.WithProvider(parrot))
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output: I was asked: Greet Ada.
}

// A finished run is asked what its calls were sent and what that cost.
func ExampleRecord() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("testdata/incident.yaml")
	if err != nil {
		log.Fatal(err)
	}
	priced := windlass.ModelFunc(func(ctx context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		answer, err := operator(ctx, req)
		cost := 0.002
		answer.CostUSD, answer.Usage = &cost, echo.Usage{In: 100, Out: 10}
		return answer, err
	})
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"},
		windlass.WithTool(windlass.Func("restart", "Restarts a service.", restart)), windlass.WithProvider(priced))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := run.Result(ctx); err != nil {
		log.Fatal(err)
	}
	record, err := w.Record(ctx, run.ID())
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range record.Calls() {
		fmt.Println(call.Number, call.Place(), call.MessageCount, "messages,", call.TokensIn, "tokens")
	}
	shown, err := record.Show("2")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range shown.Forms {
		fmt.Println(m.Role, m.Form, m.Reason)
	}
	fmt.Printf("%.3f dollars\n", *record.Stats().Total.CostUSD)
	// Output:
	// 1 repair/attempt1/turn1 1 messages, 100 tokens
	// 2 repair/attempt1/turn2 3 messages, 100 tokens
	// 3 report/attempt1/turn1 1 messages, 100 tokens
	// user full no_policy
	// assistant full no_policy
	// tool full no_policy
	// 0.006 dollars
}

// A run whose model was away is resumed where it stopped. What was answered is not asked again.
func ExampleWindlass_Resume() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("testdata/incident.yaml")
	if err != nil {
		log.Fatal(err)
	}
	calls := 0
	provider := windlass.WithProvider(windlass.ModelFunc(func(ctx context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		if calls++; calls == 3 {
			return nil, errors.New("nobody is there")
		}
		return operator(ctx, req)
	}))
	tools := windlass.WithTool(windlass.Func("restart", "Restarts a service.", restart))
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"}, tools, provider)
	if err != nil {
		log.Fatal(err)
	}
	_, err = run.Result(ctx)
	fmt.Println(windlass.KindOf(err))

	run, err = w.Resume(ctx, run.ID(), tools, provider)
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	verification, err := w.Verify(ctx, run.ID(), tools)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, calls, "calls, the record holds:", verification.Holds)
	// Output:
	// model_unavailable
	// completed 4 calls, the record holds: true
}
