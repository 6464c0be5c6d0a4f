package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
	"github.com/windlass-run/windlass/engine/memory"
)

// shelf is a bank that keeps what it was asked.
type shelf struct {
	asked []*memory.Request
	ctx   context.CancelFunc // nil: the context lives on
	err   error
}

func (s *shelf) Start(context.Context, string, string) (*echo.MemoryStart, error) {
	return &echo.MemoryStart{At: 7, Files: 2}, s.fails()
}

func (s *shelf) Call(_ context.Context, r *memory.Request) (*echo.MemoryCall, error) {
	s.asked = append(s.asked, r)
	out := r.Told(&memory.Result{Text: "done"})
	out.Seen = []echo.MemorySeen{{Path: "/memories/a", At: 9}}
	return out, s.fails()
}

func (s *shelf) fails() error {
	if s.ctx != nil {
		s.ctx()
		return context.Canceled
	}
	return s.err
}

var (
	site    = effect.Site{Cascade: "c"}
	callKey = echo.MustKey("p/attempt1/turn1/tool1")
)

// recording returns effects that record into a disk, after what it has.
func recording(disk *effecttest.Disk) effect.Effects {
	log := echo.NewLog("s", nil, disk)
	return effect.NewRecorder(effect.Options{Log: log, Effects: effect.NewLive(nil, nil, effect.Writer{Log: log}, nil)})
}

func replaying(disk *effecttest.Disk) effect.Effects {
	return effect.NewRecorder(effect.Options{Recording: disk.Entries()})
}

func request(session string) *memory.Request {
	return &memory.Request{Bank: "notes", Session: session, Key: callKey, Seen: memory.Seen{Start: 7}}
}

// What a run sees of its banks follows from its record, and a replay asks no bank.
func TestDesk(t *testing.T) {
	t.Parallel()
	bank, disk := &shelf{}, &effecttest.Disk{}
	args := json.RawMessage(`{"command":"create","path":"/memories/a","file_text":"a"}`)
	for n, through := range []effect.Effects{recording(disk), nil} {
		banks := memory.Banks(bank)
		if through == nil {
			through, banks = replaying(disk), nil
		}
		require.NoError(t, memory.Open(t.Context(), through, site, banks, "s", []string{"notes", "shared:style"}), n)
		text, failed, err := memory.Answer(t.Context(), through, site, banks, request("s"), args)
		require.NoError(t, err)
		require.False(t, failed)
		require.Equal(t, "done", text)
	}
	require.Len(t, bank.asked, 1)
	require.Equal(t, echo.TextHash(args), bank.asked[0].Hash)
	require.Equal(t, "create", bank.asked[0].Command.Command)
	require.Equal(t, "a", bank.asked[0].Command.FileText)
	var keys []string
	var notes memory.Notes
	require.Equal(t, memory.Seen{}, notes.Of("notes"))
	for _, e := range disk.Entries() {
		keys = append(keys, e.Key.String())
		notes.Add(e)
	}
	require.Equal(t, []string{"run/bank/notes", "run/bank/shared:style", "p/attempt1/turn1/tool1/memory"}, keys)
	require.Equal(t, memory.Seen{Start: 7, Paths: map[string]uint64{"/memories/a": 9}}, notes.Of("notes"))
	require.Equal(t, memory.Seen{Start: 7}, notes.Of("shared:style"))
	notes.Add(&echo.Entry{NodeType: echo.NodeToolCall, Key: callKey})
	notes.Add(echo.NewEntry(callKey.Step(echo.StepClock), echo.Clock(1)))
	require.Equal(t, memory.Seen{Start: 7}, notes.Of("shared:style"))
}

// What a model gets wrong is told to it, and no bank is asked.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	bank, disk := &shelf{}, &effecttest.Disk{}
	text, failed, err := memory.Answer(t.Context(), recording(disk), site, bank, request("s"), json.RawMessage(`{"command":"view"}`))
	require.NoError(t, err)
	require.True(t, failed)
	require.Equal(t, "Error: The command view needs the argument path", text)
	require.Empty(t, bank.asked)
	require.Empty(t, disk.Entries())
}

func TestBrokenBanks(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	args := json.RawMessage(`{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`)
	for want, banks := range map[string]memory.Banks{"the disk is full": &shelf{err: full}, "this program keeps no memory": nil} {
		disk := &effecttest.Disk{}
		err := memory.Open(t.Context(), recording(disk), site, banks, "s", []string{"notes"})
		require.EqualError(t, err, "the run's record cannot be written: open the bank notes: "+want)
		require.Empty(t, disk.Entries(), "the run can be resumed")
		text, failed, err := memory.Answer(t.Context(), recording(disk), site, banks, request("s"), args)
		require.NoError(t, err)
		require.True(t, failed)
		require.Equal(t, "Error: The bank notes cannot be used now: "+want, text)
		call, err := echo.Read[echo.MemoryCall](disk.Entries()[0])
		require.NoError(t, err)
		require.Equal(t, echo.MemoryCall{Bank: "notes", Command: "rename", Path: "/memories/a", Text: text, Failed: true}, call)
	}
}

// A run that is interrupted while a bank is asked records nothing of it, and asks again when it is resumed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	disk := &effecttest.Disk{}
	ctx, cancel := context.WithCancel(t.Context())
	err := memory.Open(ctx, recording(disk), site, &shelf{ctx: cancel}, "s", []string{"notes"})
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel = context.WithCancel(t.Context())
	_, _, err = memory.Answer(ctx, recording(disk), site, &shelf{ctx: cancel}, request("s"), json.RawMessage(`{"command":"delete","path":"/memories/a"}`))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, disk.Entries())
}
