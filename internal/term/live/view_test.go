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

func TestChooseOffATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	n := term.NewNotices(&out)
	v := Choose(&out, &cascade.Cascade{CascadeID: "c"}, "s", n)
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
