package autocontext_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with: go test ./autocontext -update")
	require.Equal(t, string(want), got)
}

// talk is a history that a test writes down message by message.
type talk struct {
	items         []echo.Item
	attempt, turn int
	ids           int
}

// newTalk begins with a system message (0) and the task (1).
func newTalk() *talk {
	k := &talk{}
	k.add(echo.NewText(echo.RoleSystem, echo.KindSystem, "You are careful."))
	k.add(echo.NewText(echo.RoleUser, echo.KindTask, "Do the task."))
	k.attempt = 1
	return k
}

func (k *talk) add(m *echo.Message) *talk {
	k.items = append(k.items, echo.Item{Message: m, Attempt: k.attempt, Turn: k.turn})
	return k
}

func (k *talk) user(kind echo.Kind, text string) *talk {
	return k.add(echo.NewText(echo.RoleUser, kind, text))
}

// say adds an answer without calls.
func (k *talk) say(text string) *talk {
	k.turn++
	return k.add(echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text)}))
}

// result is what a tool answers in a test.
type result struct {
	tool, args, text string
	failed           bool
	image            bool
}

// calls adds a turn: the model's words with a call for each result, and the results.
func (k *talk) calls(words string, results ...result) *talk {
	k.turn++
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	if words != "" {
		d.Parts = echo.Text(words)
	}
	for _, r := range results {
		k.ids++
		tool, args := r.tool, r.args
		if tool == "" {
			tool = "bash"
		}
		if args == "" {
			args = "{}"
		}
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: fmt.Sprintf("c%d", k.ids), Name: tool, Arguments: args})
	}
	k.add(echo.Seal(d))
	for i, r := range results {
		var parts []echo.Part
		if r.text != "" || !r.image {
			parts = echo.Text(r.text)
		}
		if r.image {
			parts = append(parts, echo.Part{Type: echo.PartImage, URL: "data:image/png;base64," + strings.Repeat("A", 4000)})
		}
		k.add(echo.NewToolResult(d.ToolCalls[i], parts, r.failed))
	}
	return k
}

// reads adds n turns of one call each with a result of size characters.
func (k *talk) reads(n, size int) *talk {
	for range n {
		k.calls("", result{text: filler(k.turn+1, size)})
	}
	return k
}

// filler is text of size characters that differs from turn to turn.
func filler(n, size int) string {
	s := fmt.Sprintf("result %d ", n)
	return s + strings.Repeat("x ", max(size-len(s), 0)/2) + strings.Repeat(".", max(size-len(s), 0)%2)
}

// retry begins the next attempt.
func (k *talk) retry(why string) *talk {
	k.attempt, k.turn = k.attempt+1, 0
	return k.user(echo.KindRetry, why)
}

// policy are the defaults with the frontier moving on every turn, so that a test sees what a pass
// does.
func policy(change func(*cascade.Intra)) autocontext.Settings {
	s := autocontext.Settings{Policy: cascade.DefaultIntra()}
	s.Policy.Advance = cascade.AdvanceEveryTurn
	if change != nil {
		change(&s.Policy)
	}
	return s
}

// viewOf is the view of a call that sends the whole history for the first time.
func viewOf(t *testing.T, s autocontext.Settings, k *talk) *autocontext.View {
	t.Helper()
	step, err := autocontext.NewBuilder(s).Build(k.items, echo.Carry{})
	require.NoError(t, err)
	require.Nil(t, step.Ask)
	checkRules(t, s, k.items, step.View, step.Carry)
	return step.View
}

// formsOf writes what became of each message: form and reason.
func formsOf(v *autocontext.View) []string {
	out := make([]string, len(v.Items))
	for i, it := range v.Items {
		out[i] = fmt.Sprintf("%s %s", it.Form, it.Reason)
	}
	return out
}

func form(v *autocontext.View, i int) string { return formsOf(v)[i] }

// textsOf writes what is sent, one message a line: role and text.
func textsOf(s autocontext.Settings, v *autocontext.View) []string {
	var out []string
	for _, m := range autocontext.NewRenderer(s.Dialect).Render(v) {
		text := m.Text()
		for _, c := range m.ToolCalls() {
			text += " " + c.Name + c.Arguments
		}
		out = append(out, string(m.Role())+": "+text)
	}
	return out
}
