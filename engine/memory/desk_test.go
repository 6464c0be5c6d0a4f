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
	memory.Banks // nil: the tests call nothing else of it
	asked        []*memory.Request
	ctx          context.CancelFunc // nil: the context lives on
	err          error
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
	errFull = errors.New("the disk is full")
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

func request() *memory.Request {
	return &memory.Request{Bank: "notes", Session: "s", Key: callKey}
}

// opened are the notes of a run that has the bank.
func opened() *memory.Notes {
	var notes memory.Notes
	notes.Add(echo.NewEntry(echo.RunKey().Named(echo.StepBank, "notes"), echo.MemoryStart{At: 7}))
	return &notes
}

// answer makes a call.
func answer(ctx context.Context, through effect.Effects, banks memory.Banks, notes *memory.Notes, args string) (string, bool, error) {
	return memory.Answer(ctx, through, site, banks, notes, request(), json.RawMessage(args))
}

const creates = `{"command":"create","path":"/memories/a","file_text":"a"}`

// What a run sees of its banks follows from its record, and a replay asks no bank.
func TestDesk(t *testing.T) {
	t.Parallel()
	bank, disk := &shelf{}, &effecttest.Disk{}
	var notes memory.Notes
	for n, through := range []effect.Effects{recording(disk), nil} {
		banks := memory.Banks(bank)
		if through == nil {
			through, banks, notes = replaying(disk), nil, memory.Notes{}
		}
		require.NoError(t, memory.Open(t.Context(), through, site, banks, "s", []string{"notes", "shared:style"}), n)
		for _, e := range disk.Entries()[:2] {
			notes.Add(e)
		}
		text, failed, err := answer(t.Context(), through, banks, &notes, creates)
		require.NoError(t, err)
		require.False(t, failed)
		require.Equal(t, "done", text)
	}
	require.Len(t, bank.asked, 1)
	asked := bank.asked[0]
	require.Equal(t, echo.TextHash([]byte(creates)), asked.Hash)
	require.Equal(t, memory.Command{Command: "create", Path: "/memories/a", FileText: "a"}, *asked.Command)
	require.Equal(t, memory.Seen{Start: 7}, asked.Seen)
	require.Equal(t, []string{"run/bank/notes", "run/bank/shared:style", "p/attempt1/turn1/tool1/memory"}, keys(disk))
	notes.Add(disk.Entries()[2])
	notes.Add(&echo.Entry{NodeType: echo.NodeToolCall, Key: callKey})
	notes.Add(echo.NewEntry(callKey.Step(echo.StepClock), echo.Clock(1)))
	_, _, err := answer(t.Context(), recording(&effecttest.Disk{}), bank, &notes, creates)
	require.NoError(t, err)
	require.Equal(t, memory.Seen{Start: 7, Paths: map[string]uint64{"/memories/a": 9}}, bank.asked[1].Seen)
}

func keys(disk *effecttest.Disk) (out []string) {
	for _, e := range disk.Entries() {
		out = append(out, e.Key.String())
	}
	return out
}

// A bank that a run has not opened at its start is opened by the first call, and a replay follows.
func TestOpenedByTheFirstCall(t *testing.T) {
	t.Parallel()
	bank, disk := &shelf{}, &effecttest.Disk{}
	for _, through := range []effect.Effects{recording(disk), nil} {
		banks := memory.Banks(bank)
		if through == nil {
			through, banks = replaying(disk), nil
		}
		text, _, err := answer(t.Context(), through, banks, &memory.Notes{}, creates)
		require.NoError(t, err)
		require.Equal(t, "done", text)
	}
	require.Equal(t, memory.Seen{Start: 7}, bank.asked[0].Seen)
	require.Equal(t, []string{"p/attempt1/turn1/tool1/bank/notes", "p/attempt1/turn1/tool1/memory"}, keys(disk))
	_, _, err := answer(t.Context(), recording(&effecttest.Disk{}), &shelf{err: errFull}, &memory.Notes{}, creates)
	require.EqualError(t, err, "the run's record cannot be written: open the bank notes: the disk is full")
}

// What a model gets wrong is told to it, and no bank is asked.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	bank, disk := &shelf{}, &effecttest.Disk{}
	text, failed, err := answer(t.Context(), recording(disk), bank, opened(), `{"command":"view"}`)
	require.NoError(t, err)
	require.True(t, failed)
	require.Equal(t, "Error: The command view needs the argument path", text)
	require.Empty(t, bank.asked)
	require.Empty(t, disk.Entries())
}

func TestBrokenBanks(t *testing.T) {
	t.Parallel()
	const args = `{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`
	for want, banks := range map[string]memory.Banks{"the disk is full": &shelf{err: errFull}, "this program keeps no memory": nil} {
		disk := &effecttest.Disk{}
		err := memory.Open(t.Context(), recording(disk), site, banks, "s", []string{"notes"})
		require.EqualError(t, err, "the run's record cannot be written: open the bank notes: "+want)
		require.Empty(t, disk.Entries(), "the run can be resumed")
		text, failed, err := answer(t.Context(), recording(disk), banks, opened(), args)
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
	_, _, err = answer(ctx, recording(disk), &shelf{ctx: cancel}, opened(), creates)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, disk.Entries())
}
