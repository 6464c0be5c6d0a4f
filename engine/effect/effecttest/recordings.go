package effecttest

import (
	"fmt"
	"testing"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Each clause of the contract has branches of its own.
var (
	answers  = branch(1)
	parsed   = branch(2)
	failures = branch(3)
	broken   = branch(4)
	slow     = branch(5)
	tools    = branch(6)
	faults   = branch(7)
	readings = branch(8)
	ended    = branch(9)
	wholes   = branch(10)
	hidden   = branch(11)
	begun    = branch(12)
	waits    = branch(13)
	silence  = branch(14)
	told     = branch(15)
)

// many is the branch of one of the calls that are made at the same time.
func many(i int) echo.Key { return branch(100 + i) }

// ofMany is what is asked there.
func ofMany(i int) string { return fmt.Sprint("many ", i) }

func branch(n int) echo.Key {
	return echo.PhaseKey("p", 1).Numbered(echo.StepItem, n).Attempt(1).Turn(1)
}

// site is where all calls are made.
var site = effect.Site{Cascade: "c"}

// spec is a tool; all but one may do harm when they are run twice.
func spec(name string) effect.ToolSpec {
	return effect.ToolSpec{Name: name, Idempotent: name == "read"}
}

// recordings are the outcomes of the calls of the contract, as live effects record them.
func recordings(t testing.TB) []*echo.Entry {
	t.Helper()
	w, disk := &World{}, &Disk{}
	live := effect.NewLive(w, w, effect.Writer{Log: echo.NewLog("s", nil, disk), Mask: mask{}}, nil).Answers(w)
	model := func(key echo.Key, req *effect.ModelRequest) {
		_, _ = live.Model(t.Context(), key.Step(echo.StepModel), req)
	}
	tool := func(key echo.Key, n int, name, what string) {
		_, _ = live.Tool(t.Context(), key.Numbered(echo.StepTool, n), spec(name), Use(name, what))
	}
	value := func(key echo.Key, reading echo.Payload) {
		_, _ = live.Value(t.Context(), key, site, func() echo.Payload { return reading })
	}
	model(answers, Ask("m", "a question"))
	model(parsed, parsing())
	model(failures, Ask(Failing, "too much"))
	model(broken, Ask(Broken, "what is not there"))
	model(slow, Ask(Slow, "much"))
	for n, name := range []string{"write", "read", Failing} {
		tool(tools, n+1, name, name)
	}
	for n, name := range []string{Broken, Slow} {
		tool(faults, n+1, name, name)
	}
	perform(t, live, wholeCalls())
	perform(t, live, secretCalls())
	value(readings.Step(echo.StepClock), clockThen)
	value(readings.Step(echo.StepHandoff), handoffThen)
	model(ended, Ask("m", "a question"))
	tool(ended, 1, "write", "write")
	_, _ = live.Await(t.Context(), Waiting(waits, "which one?"))
	_, _ = live.Await(t.Context(), Waiting(told, secret))
	for i := range atOnce {
		tool(many(i), 1, "read", ofMany(i))
		model(many(i), Ask("m", ofMany(i)))
		value(many(i).Step(echo.StepClock), echo.Clock(i))
	}
	return disk.Entries()
}
