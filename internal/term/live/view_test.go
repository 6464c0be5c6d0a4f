package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
)

func TestPlainOffATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	n := term.NewNotices(&out)
	m, err := Mode("").For(&out)
	require.NoError(t, err)
	require.Equal(t, ModePlain, m)
	v := New(m, &out, Shown{Cascade: &cascade.Cascade{CascadeID: "c"}, Session: "s", Notices: n})
	require.NoError(t, v.Write(&echo.Entry{NodeType: echo.NodeRunStart, CascadeID: "c", SessionID: "s"}))
	n.Say("stopping")
	require.NoError(t, v.Close(t.Context()))
	require.Equal(t, "c: session s\n\nstopping\n", out.String())
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEvents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := &echo.Entry{NodeType: echo.NodeRunStart, SessionID: "s"}
	require.NoError(t, NewEvents(&out).Write(e))
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.True(t, json.Valid(out.Bytes()))
	err := NewEvents(closedPipe{}).Write(e)
	var output *OutputError
	require.ErrorAs(t, err, &output)
	require.EqualError(t, err, "print the events: broken pipe")
}

// Of what a program printed the last lines are shown, which say why it failed, and how many come before
// them; of other reasons the beginning.
func TestVerdictsInLines(t *testing.T) {
	t.Parallel()
	lint := strings.Repeat("ok example.com/a\n", 30) + "--- FAIL: TestOf\n    of_test.go:19: want 0\n[exit status 1]"
	for _, tt := range []struct{ validator, reason, want string }{
		{"command:make test", lint, "[... 28 lines left out ...] ok example.com/a ok example.com/a --- FAIL: TestOf of_test.go:19: want 0 [exit status 1]"},
		{"command:make test", "no title\n[exit status 1]", "no title [exit status 1]"},
		{"fair", strings.Repeat("It is long. ", 20), strings.Repeat("It is long. ", 13) + "It …"},
		{"output_schema", "it does not match the schema:\n" + strings.Repeat("- a is missing\n", 20), "it does not match the schema: " + strings.Repeat("- a is missing ", 8) + "- a is mi…"},
	} {
		var out bytes.Buffer
		e := echo.NewEntry(echo.PhaseKey("p", 1).Attempt(1).Turn(1).Named(echo.StepVerdict, tt.validator), echo.Verdict{Validator: tt.validator, Reason: tt.reason})
		require.NoError(t, NewPlain(&out).Write(e))
		_, said, _ := strings.Cut(out.String(), tt.validator)
		require.Equal(t, " did not pass: "+tt.want+"\n", said)
	}
}
