package autocontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// The whole of a phase on one page: what becomes of each message at each call, what it costs, and
// what the model sees. A change of behaviour is a change of this file.
func TestScenario(t *testing.T) {
	t.Parallel()
	s := autocontext.Settings{Policy: cascade.DefaultIntra(), Price: &echo.Price{Input: 2, Cached: 0.2}}
	k, b := newTalk(), autocontext.NewBuilder(s)
	turns := []func(){
		func() { k.calls("I list the files.", result{tool: "list_files", text: filler(1, 150)}) },
		func() {
			k.calls("I read two of them.", result{tool: "read_file", text: filler(2, 24_000) + " src/a.go id_7"}, result{tool: "read_file", text: filler(3, 3000)})
		},
		func() {
			k.calls("I run the tests.", result{tool: "bash", text: strings.Repeat("ok\n", 700) + "FAIL: TestX expected 1\n" + strings.Repeat("ok\n", 300), failed: true})
		},
		func() {
			k.calls("I write the fix.", result{tool: "write_file", args: `{"path":"x.go","text":"` + strings.Repeat("code_1 ", 300) + `"}`, text: "written"})
		},
		func() { k.calls("", result{tool: "bash", text: filler(5, 600)}) },
		func() { k.calls("", result{tool: "bash", text: filler(6, 300)}) },
		func() { k.calls(strings.Repeat("I think about it. ", 40), result{tool: "bash", text: filler(7, 300)}) },
		func() { k.calls("", result{tool: "read_file", text: filler(8, 1200)}) },
		func() { k.calls("", result{tool: "bash", text: filler(9, 300)}) },
		func() { k.say("It is done.").retry("The tests still fail.") },
		func() { k.calls("I look again.", result{tool: "read_file", text: filler(10, 5000)}) },
		func() { k.say("Now it is.") },
	}
	var c echo.Carry
	var head, sent strings.Builder
	var v *autocontext.View
	cells := map[int]string{}
	for call := 1; call <= len(turns); call++ {
		step, err := b.Build(k.items, c)
		require.NoError(t, err)
		checkRules(t, s, k.items, step.View, step.Carry)
		moved := step.Carry.AsOf != c.AsOf
		c, v = step.Carry, step.View
		r := v.Report()
		fmt.Fprintf(&head, "call %2d: %5d of %5d tokens, %5d as in the call before; ages as of turn %2d; %.3f of the price of full history so far\n",
			call, r.ContextSize, r.FullHistorySize, r.SharedSize, c.AsOf, float64(c.Paid)/float64(c.Full))
		for i := range v.Items {
			if cells[i] == "" {
				cells[i] = strings.Repeat(" ", 3*(call-1))
			}
			cells[i] += "  " + string(letters[form(v, i)])
		}
		if moved || call == len(turns) {
			fmt.Fprintf(&sent, "\nsent in call %d:\n", call)
			for _, line := range textsOf(s, v) {
				fmt.Fprintf(&sent, "  %s\n", short(line))
			}
		}
		turns[call-1]()
	}
	head.WriteString("\nf full (k kept, r retry, s small), m masked, e excerpt of an error, a excerpt or stub for its age, - dropped\n")
	for i, it := range v.Items {
		fmt.Fprintf(&head, "%2d %-9s %s\n", i, it.Message.Role(), strings.TrimRight(cells[i], " "))
	}
	golden(t, "scenario.golden", head.String()+sent.String())
}

// letters are the forms in the table of the scenario.
var letters = map[string]byte{
	"full recent": 'f', "full kept": 'k', "full retry": 'r', "full small": 's', "masked aged": 'm', "excerpt error": 'e',
	"excerpt aged": 'a', "stub aged": 'a', "dropped retry": '-', "excerpt retry": 'a',
}

// short writes a text in one line that fits a screen.
func short(s string) string {
	s = strings.ReplaceAll(s, "\n", "|")
	if len(s) > 160 {
		s = s[:110] + " ... " + s[len(s)-45:]
	}
	return s
}
