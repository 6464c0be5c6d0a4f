//nolint:errcheck,gocritic // an example ends at its first error, as a small program does
package windlass_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
)

// operator is a model of a program: it restarts a service, and says what came of that.
func operator(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) > 0 && last.Role() != echo.RoleTool {
		return windlass.CallTool("restart", map[string]string{"service": "checkout"})
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

// runIncident runs testdata/incident.yaml with these two.
func runIncident(ctx context.Context, w *windlass.Windlass, model windlass.ModelFunc) *windlass.Run {
	c, err := windlass.LoadFile("testdata/incident.yaml")
	if err != nil {
		log.Fatal(err)
	}
	tool := windlass.Func("restart", "Restarts a service.", restart)
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"}, windlass.WithTool(tool), windlass.WithProvider(model))
	if err != nil {
		log.Fatal(err)
	}
	return run
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
	run := runIncident(ctx, w, operator)
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

// A cascade runs another one, as a session of its own.
func ExampleRun_Children() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	c, err := windlass.LoadFile("testdata/report.yaml") // which runs incident.yaml first
	if err != nil {
		log.Fatal(err)
	}
	tool := windlass.Func("restart", "Restarts a service.", restart)
	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"}, windlass.WithTool(tool), windlass.WithProvider(windlass.ModelFunc(operator)))
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Calls, "call of its own,", result.Children.Calls, "of its children")
	for _, child := range run.Children() {
		fmt.Println(child.CascadeID, "at", child.Key)
		for event := range child.Events() {
			if e, ok := event.(*windlass.ToolCalled); ok {
				fmt.Println(e)
			}
		}
	}
	// Output:
	// 1 call of its own, 3 of its children
	// incident at report/child/incident
	// incident/repair (attempt 1, turn 1): running restart {"service":"checkout"}
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
	run := runIncident(ctx, w, func(ctx context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		answer, err := operator(ctx, req)
		cost := 0.002
		answer.CostUSD, answer.Usage = &cost, echo.Usage{In: 100, Out: 10}
		return answer, err
	})
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
	calls := 0
	model := windlass.ModelFunc(func(ctx context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		if calls++; calls == 3 {
			return nil, errors.New("nobody is there")
		}
		return operator(ctx, req)
	})
	run := runIncident(ctx, w, model)
	_, err = run.Result(ctx)
	fmt.Println(windlass.KindOf(err))

	tools := windlass.WithTool(windlass.Func("restart", "Restarts a service.", restart))
	run, err = w.Resume(ctx, run.ID(), tools, windlass.WithProvider(model))
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

// offline runs a file with the answers of the script beside it, and returns the session's record.
func offline(ctx context.Context, w *windlass.Windlass) *windlass.Record {
	c, err := windlass.LoadFile("examples/cascades/minimal.json")
	if err != nil {
		log.Fatal(err)
	}
	result, err := w.Run(ctx, c, windlass.Input{"topic": "prefix caching"}, windlass.WithOffline())
	if err != nil {
		log.Fatal(err)
	}
	record, err := w.Record(ctx, result.SessionID)
	if err != nil {
		log.Fatal(err)
	}
	return record
}

// A finished run is shown again as it went, here a thousand times as fast.
func ExampleRecord_Replay() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	for entry := range offline(ctx, w).Replay(ctx, 1000) {
		fmt.Println(entry.Seq, entry.NodeType)
	}
	// Output:
	// 1 run_start
	// 2 route
	// 3 phase_start
	// 4 message
	// 5 context_selection
	// 6 model_call
	// 7 handoff
	// 8 phase_end
	// 9 route
	// 10 run_end
}

// A trial says which messages of a session a later phase would be given for a task.
func ExampleRecord_Select() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	found, err := offline(ctx, w).Select(ctx, windlass.Selection{Task: "Explain prefix caching", Strategy: "heuristic", Budget: 4000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Strategy)
	// Output:
	// heuristic
}

// A recorded run becomes a test that needs no model.
func ExampleWindlass_Freeze() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	folder, err := os.MkdirTemp("", "tests-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	test, err := w.Freeze(ctx, offline(ctx, w).ID(), windlass.FreezeOptions{Name: "caching", Dir: folder})
	if err != nil {
		log.Fatal(err)
	}
	report, err := windlass.RunTests(ctx, false, folder)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(test.Name, len(test.Answers), "answers,", report.Passed, "passed,", report.NotPassed(), "did not")
	// Output:
	// caching 1 answers, 1 passed, 0 did not
}

// What a session would have been sent, and have cost, under other settings.
func ExampleWindlass_Simulate() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	report, err := w.Simulate(ctx, windlass.Simulation{Policies: []string{"full", "default"}}, offline(ctx, w).ID())
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range report.Groups[0].Policies {
		fmt.Printf("%s sends %.0f %% less\n", policy.Policy, 100*policy.Saved)
	}
	// Output:
	// full sends 0 % less
	// default sends 0 % less
	// hindsight sends 0 % less
}

// Rows of a statement are read while they arrive.
func ExampleWindlass_Query() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	rows, err := w.Query(ctx, "SELECT cascade_id, count() FROM sessions GROUP BY cascade_id")
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row[0], row[1])
	}
}

// What each model has cost, over all sessions.
func ExampleWindlass_Costs() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	costs, err := w.Costs(ctx, windlass.ByModel)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range costs {
		fmt.Println(c.Model, c.Calls, c.TokensIn, c.CostUSD)
	}
}

// Everything is delivered once more, to a ClickHouse that lost it.
func ExampleWindlass_Ship() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	shipped, err := w.Ship(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range shipped {
		fmt.Println(s.ID, s.Outcome, s.Delivered, s.Error)
	}
}

// A session of another machine is brought here, and resumed.
func ExampleWindlass_Rebuild() {
	ctx := context.Background()
	w, err := windlass.Open(ctx, windlass.Options{DSN: "clickhouse://user:password@host:9000/windlass"})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	id, rebuilt, err := w.Rebuild(ctx, "01jz4k")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id, rebuilt)
	if _, err := w.Resume(ctx, id); err != nil {
		log.Fatal(err)
	}
}
