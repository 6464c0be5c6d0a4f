//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// crashCascade has a bit of everything that a process can die in: a phase without a model that
// fails once, tools that only read and tools that may do harm, in parallel, state, a validator that
// is a model, an attempt that fails it, a route that leads back, and context by selection, by words
// and by a model.
const crashCascade = `{"cascade_id": "crash",
	"validators": {"fair": {"instructions": "JUDGE this: {{ content }}"}},
	"auto_context": {
		"intra_phase": {"window": 1, "mask_observations_after": 1, "advance": "every_turn", "min_masked_size": 100},
		"inter_phase": {"selector_model": "chooser", "anchors": {"window": 1}, "selection": {"max_tokens": 1500}}},
	"tools": [
		{"tool_id": "flaky", "type": "shell", "idempotent": true, "inputs_schema": {"n": "its number"},
			"command": "n=f{{ n }}; DIE; sleep 0.01; [ $n != f1 ] || exit 3; echo looked; DIEAFTER"},
		{"tool_id": "read", "type": "shell", "idempotent": true, "inputs_schema": {"n": "its number"}, "description": "Read a part.",
			"command": "n=r{{ n }}; DIE; sleep 0.01; echo \"part $n of the fox and the crane, the meadow and the railway bridge, the owl and the well, read to its end\"; DIEAFTER"},
		{"tool_id": "write", "type": "shell", "inputs_schema": {"n": "its number"}, "description": "Write a line.",
			"command": "n=w{{ n }}; DIE; sleep 0.01; echo $n >> written.txt; DIEAFTER; sleep 0.01; echo wrote $n"}],
	"phases": [
		{"name": "look", "tool": "flaky", "inputs": {"n": "{{ attempt }}"}, "retry": {"max_attempts": 2}, "handoffs": ["work"]},
		{"name": "work", "instructions": "TASK work, round {{ state.round | default('0') }}: read and write about the fox.",
			"tackle": ["read", "write", "set_state", "search_context"], "callouts": "good", "handoffs": ["pick"],
			"rules": {"max_attempts": 2, "loop_until": "fair", "retry_instructions": "RETRY: write more."}},
		{"name": "pick", "instructions": "TASK pick, round {{ state.round }}: choose.", "handoffs": [{"target": "work"}, {"target": "weigh"}]},
		{"name": "weigh", "instructions": "TASK weigh, round {{ state.round }}: the crane and the meadow.", "tackle": ["read"],
			"context": {"mode": "auto", "selection": {"strategy": "llm"}}, "handoffs": ["end"]},
		{"name": "end", "instructions": "TASK end, round {{ state.round }}: the owl and the well.", "tackle": ["read", "write"],
			"context": {"mode": "auto", "selection": {"strategy": "heuristic"}}}]}`

// A tool whose number is in a file of this name kills the windlass that runs it: before it does
// anything, or afterwards.
const (
	diesBefore = "dies-before-"
	diesAfter  = "dies-after-"
)

// crashText returns the cascade with the tools' traps in it.
func crashText() string {
	trap := func(name string) string {
		return "[ ! -e " + name + "$n ] || { rm " + name + "$n; kill -9 $PPID; }"
	}
	return strings.NewReplacer("DIEAFTER", trap(diesAfter), "DIE", trap(diesBefore)).Replace(crashCascade)
}

// crashTools are the numbers of all calls of tools, by what they are called with.
var crashTools = []string{"f1", "f2", "r1", "r2", "w1", "r3", "w2", "r4", "r5", "w5", "r6", "r7", "w7"}

var crashTask = regexp.MustCompile(`TASK (\w+), round (\d)`)

// crashPlace says where in the cascade a request is: its phase and round, the attempt, and the turn
// in it.
func crashPlace(r *llmtest.Request) string {
	task, attempt, turn := "", 1, 1
	for i := range r.Messages {
		m := &r.Messages[i]
		text := m.Text()
		switch found := crashTask.FindStringSubmatch(text); {
		case m.Role == "assistant":
			turn++
		case m.Role != "user":
		case strings.Contains(text, "JUDGE this:"):
			return "judge"
		case found != nil:
			task, attempt, turn = found[1]+" "+found[2], 1, 1
		case strings.Contains(text, "RETRY: write more."):
			attempt, turn = attempt+1, 1
		}
	}
	return fmt.Sprintf("%s %d.%d", task, attempt, turn)
}

// crashAnswer answers by what is asked and where, so that the same request always has the same
// answer, and the end does not depend on what a tool said.
func crashAnswer(r *llmtest.Request) *llmtest.Answer {
	calls := func(of ...string) *llmtest.Answer {
		a := &llmtest.Answer{Text: "I shall do this."}
		for i := 0; i < len(of); i += 2 {
			a.Calls = append(a.Calls, llmtest.Call{ID: "call_" + fmt.Sprint(i), Name: of[i], Arguments: of[i+1]})
		}
		return a
	}
	n := func(n int) string { return fmt.Sprintf(`{"n": "%d"}`, n) }
	if asksForMenu(r) {
		return &llmtest.Answer{Text: chooseSome(r.Messages[1].Text())}
	}
	switch place := crashPlace(r); place {
	case "judge":
		if strings.Contains(r.Messages[len(r.Messages)-1].Text(), "first draft") {
			return &llmtest.Answer{Text: `{"valid": false, "reason": "too short"}`}
		}
		return &llmtest.Answer{Text: `{"valid": true, "reason": "well"}`}
	case "work 0 1.1":
		return calls("read", n(1), "write", n(1), "read", n(2), "set_state", `{"key": "round", "value": "1"}`)
	case "work 0 1.2":
		return calls("read", n(3), "search_context", `{"query": "fox"}`, "write", n(2))
	case "work 0 1.3":
		return &llmtest.Answer{Text: "A first draft."}
	case "work 0 2.1":
		return calls("read", n(4))
	case "work 1 1.1":
		return calls("write", n(5), "read", n(5), "set_state", `{"key": "round", "value": "2"}`)
	case "pick 1 1.1":
		return calls("route_to", `{"target": "work"}`)
	case "pick 2 1.1":
		return calls("route_to", `{"target": "weigh"}`)
	case "weigh 2 1.1":
		return calls("read", n(6))
	case "end 2 1.1":
		return calls("write", n(7), "read", n(7))
	default:
		return &llmtest.Answer{Text: "The answer of " + place + ": the fox is by the well, and the crane in the meadow."}
	}
}

// answerID names an answer by its request. The server gives it as the name of the model, under
// which it is in the journal.
func answerID(r *llmtest.Request) string { return fmt.Sprintf("m-%x", sha256.Sum256(r.Raw)) }

// lateness is the longest time that an answer takes.
const lateness = 12 * time.Millisecond

// startCrashServer starts the provider of one round.
func startCrashServer() *crashtest.Server {
	s := crashtest.Start(crashtest.Config{
		Config: llmtest.Config{Key: testKey, Answer: func(r llmtest.Request) *llmtest.Answer {
			a := crashAnswer(&r)
			a.Model = answerID(&r)
			a.Usage = map[string]any{"prompt_tokens": len(r.Raw) / 4, "completion_tokens": 20, "total_tokens": len(r.Raw)/4 + 20}
			return a
		}},
		Name: func(r *llmtest.Request) (id, place string) { return answerID(r), crashPlace(r) },
	})
	s.Late = lateness
	return s
}
