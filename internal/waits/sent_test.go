package waits_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// Each wait gets the oldest signal that no other one gets: whoever sends a later one is told whose was there before.
func TestSent(t *testing.T) {
	t.Parallel()
	d := deskOf(t, echo.Wait{Kind: echo.WaitSignal, Signal: "go"}, echo.Wait{Kind: echo.WaitAny, Any: []string{"stop", "go"}},
		echo.Wait{Kind: echo.WaitSignal, Signal: "late", Timeout: 60})
	passed := began.Add(time.Hour)
	d.Now = func() time.Time { return passed }
	sent := func(to, name, letter, by string) *waits.Sent {
		passed = passed.Add(time.Second)
		require.NoError(t, d.Signal(to, name, echo.Answer{Letter: letter, By: by, Via: echo.ViaCommand, At: d.Clock()}))
		s, err := d.Sent(t.Context(), to, name, letter)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, waits.Sent{}, *sent("", "other", "l0", "ann"))
	require.Equal(t, idOf(0), sent("", "go", "l1", "ann").Wait.ID)
	require.Equal(t, idOf(1), sent(session, "go", "l2", "bob").Wait.ID)
	third := sent("", "go", "l3", "cid")
	require.Nil(t, third.Wait)
	require.Equal(t, "ann", third.Earlier.By)
	require.Equal(t, waits.Sent{}, *sent("", "late", "l4", "ann"), "its deadline has passed")
}

// A session that has ended for good takes no signal, and one that was sent before is not refused the second time.
func TestSignalToWhatHasEnded(t *testing.T) {
	t.Parallel()
	d := deskOf(t, echo.Wait{Kind: echo.WaitSignal, Signal: "go"})
	a := echo.Answer{Letter: "l1", By: "ann", Via: echo.ViaHTTP, At: d.Clock()}
	require.NoError(t, d.Signal(session, "go", a))
	end := &echo.Entry{Key: echo.MustKey("run/end")}
	end.Set(echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	h := journal.Header{SessionID: "done", Rules: 1, StartedAt: began, Cascade: []byte(`{"cascade_id":"c"}`), Input: []byte(`{}`)}
	j, err := journal.Create(config.SessionDir(d.Home, "done"), h)
	require.NoError(t, err)
	end.SessionID, end.Seq, end.At = "done", 1, began
	end.SetKeyFields()
	require.NoError(t, j.Write(end))
	j.Flush()
	require.NoError(t, j.Close(t.Context()))
	err = d.Signal("done", "go", a)
	require.EqualError(t, err, "session done has ended (completed) and takes no signal any more")
	require.True(t, failure.Is(err, failure.NotResumable))
	require.NoDirExists(t, filepath.Join(config.SessionDir(d.Home, "done"), "mailbox"))
	require.NoError(t, waits.Box(d.Home, "done").Send("go", a))
	require.NoError(t, d.Signal("done", "go", a), "it was sent before")
	require.NoError(t, d.Signal("done", "go", echo.Answer{Letter: "l2", Via: echo.ViaTool, At: d.Clock()}), "a run has recorded that it sends it")
}

// What is too long for a letter is refused as what was asked, not as a fault of the disk.
func TestTooLong(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText, Question: "Q?"}))
	long := strings.Repeat("x", 2<<20)
	err := d.Signal("", "go", echo.Answer{Letter: "l1", Value: long, Via: echo.ViaHTTP, At: d.Clock()})
	require.ErrorContains(t, err, "what is sent is too long: a letter has 2097")
	require.ErrorContains(t, err, ", at most 1048576 are taken")
	require.True(t, failure.Is(err, failure.InvalidRequest))
	require.Error(t, d.Answer(find(t, d, 0), waits.Given{Value: long}))
	require.False(t, failure.Is(d.Answer(find(t, d, 0), waits.Given{Value: long}), failure.StorageFailed))
	require.Nil(t, find(t, d, 0).Answer)
	require.Error(t, d.Has("nobody"))
	require.True(t, failure.Is(d.Has("nobody"), failure.UnknownSession))
	require.NoError(t, d.Has(session))
	require.NoError(t, d.Has(""))
}
