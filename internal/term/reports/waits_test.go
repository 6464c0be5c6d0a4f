package reports

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/waits"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func waitsOf() []*waits.Wait {
	soon, past, cost := noon.Add(90*time.Second), noon.Add(-time.Second), 0.0123
	place := func(phase string) waits.Place { return waits.Place{Session: "ship", Root: "ship", Phase: phase} }
	return []*waits.Wait{
		{
			ID: "05qac7c33d", Place: place("prepare"), Kind: echo.WaitApproval, Asked: `deploy {"note":"<b>","to":"prod"}`, Since: noon.Add(-2 * time.Hour), CostUSD: &cost,
			Form: &echo.Form{Kind: echo.FormApproval, Question: "May deploy run?"}, Call: &echo.AwaitedCall{Tool: "deploy", Arguments: json.RawMessage(`{"note":"<b>","to":"prod"}`)},
		},
		{
			ID: "pz66dk0935", Place: place("ask"), Kind: echo.WaitQuestion, Asked: "Who is it for?\nSay it.", Since: noon.Add(-time.Minute), Deadline: &soon, CostUSD: &cost,
			Form: &echo.Form{Kind: echo.FormChoice, Question: "Who is it for?\nSay it.", Context: "It is late.", Options: []echo.Option{{ID: "users", Label: "Everyone", Description: "all of them"}, {ID: "x y"}}},
		},
		{
			ID: "k24g3p1vnq", Place: place("form"), Kind: echo.WaitInput, Asked: "Fill it in.", Since: noon, Deadline: &past,
			Form: &echo.Form{Kind: echo.FormFields, Question: "Fill it in.", Fields: []echo.Field{{Name: "who", Kind: echo.FormText, Required: true, Label: "Who?"}, {Name: "which", Kind: echo.FormChoice, Options: []echo.Option{{ID: "a"}}}}},
		},
		{
			ID: "3m7x2k9q4d", Place: place("pay"), Kind: echo.WaitApproval, Asked: `pay {"to":"a\u202eb\u200b"}`, Since: noon, CostUSD: &cost,
			Form: &echo.Form{Kind: echo.FormApproval, Question: "May pay run?"}, Call: &echo.AwaitedCall{Tool: "pay", Arguments: json.RawMessage(`{"to":"a\u202eb\u200b","n":"\u003c` + "\u202e\u00ad\ufe0f\ufffd" + `"}`)},
		},
		{
			ID: "8h5c1w6r0z", Place: place("say"), Kind: echo.WaitQuestion, Asked: "Is it\u202e right\u200b?", Since: noon, CostUSD: &cost,
			Form: &echo.Form{Kind: echo.FormConfirmation, Question: "Is it right?", Data: map[string]any{"a": "\u202e<"}},
		},
		{
			ID: "1p4n6t8v2y", Place: place("draft"), Kind: echo.WaitDecision, Asked: "Is this it?", Since: noon, CostUSD: &cost, Output: "It is out.\n\nIt is fast.",
			Form: &echo.Form{Kind: echo.FormChoice, Question: "Is this it?", Context: "The second try.", Options: []echo.Option{{ID: "yes"}, {ID: "again"}}, Actions: []string{"_continue", "_retry"}, Feedback: true},
		},
		{ID: "ybws8rcb1t", Place: place("hold"), Kind: echo.WaitSignal, Asked: `signal "go"`, Signal: "go", Since: noon, Answer: &echo.Answer{By: "ann"}},
	}
}

// TestWaits has what a terminal shows of waits: the list, each whole, and how it is answered.
func TestWaits(t *testing.T) {
	t.Parallel()
	list := waitsOf()
	var b bytes.Buffer
	require.NoError(t, Waits(list, noon).Render(&b, term.Room{Width: 120}))
	for _, w := range list {
		b.WriteString("\n" + strings.Join(append(Wait(w, noon), AnswerHow(w)...), "\n") + "\n")
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile("testdata/waits.golden", b.Bytes(), 0o600))
	}
	want, err := os.ReadFile("testdata/waits.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./internal/term/reports -update writes what is seen")
}

func TestEarlierAndEdited(t *testing.T) {
	t.Parallel()
	require.Empty(t, Earlier(nil, noon))
	require.Equal(t, []string{
		"Earlier decisions like it:",
		"  2h0m0s ago  ann (command) in session one: deny: not on a Friday",
		"  1m0s ago  somebody (http) in session two: yes",
	}, Earlier([]waits.Decided{
		{Session: "one", Answer: echo.Answer{Value: map[string]any{"decision": "deny", "reason": "not on\na Friday"}, By: "ann", Via: echo.ViaCommand, At: noon.Add(-2 * time.Hour)}},
		{Session: "two", Answer: echo.Answer{Value: "yes", Via: echo.ViaHTTP, At: noon.Add(-time.Minute)}},
	}, noon))
	call := waitsOf()[0].Call
	require.Equal(t, []string{"The edit changes nothing in the arguments of deploy."}, Edited(call, call.Arguments))
	require.Equal(t, []string{
		"The edit changes the arguments of deploy:", "@@ -1,4 +1,4 @@", " {", `   "note": "<b>",`, `-  "to": "prod"`, `+  "to": "staging"`, " }",
	}, Edited(call, json.RawMessage(`{"note":"<b>","to":"staging"}`)))
}

// TestNamesAreKept: in 80 columns nothing that a person types is left out, however little room there is.
func TestNamesAreKept(t *testing.T) {
	t.Parallel()
	list := waitsOf()
	list[0].Session = "01k9z8y7x6w5v4t3s2r1q0pnmk"
	local := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local) // as a person reads it
	lines := []audit.Line{
		{At: local, By: "ann", Via: "http", What: "answer", Target: "05qac7c33d", Session: list[0].Session, Outcome: "refused", Reason: "the wait was answered by another person before"},
		{At: local, By: "a-rather-long-name", Via: "command", What: "signal", Target: "deployed-shop", Session: "ship", Outcome: "done"},
	}
	var b bytes.Buffer
	for _, table := range []*term.Table{Waits(list, noon), Audit(lines)} {
		require.NoError(t, table.Render(&b, term.Room{Width: 80}))
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/narrow.golden", b.Bytes(), 0o600))
	}
	want, err := os.ReadFile("testdata/narrow.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./internal/term/reports -update writes what is seen")
	require.Equal(t, 2, strings.Count(b.String(), list[0].Session))
}
