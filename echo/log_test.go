package echo

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type badSink struct{ err error }

func (b badSink) Write(*Entry) error          { return b.err }
func (b badSink) Close(context.Context) error { return b.err }

func TestLogStopsAtASinkThatFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	log := NewLog("s1", nil, nil, badSink{boom})
	e := func() *Entry {
		return &Entry{NodeType: NodeMessage, Key: MustKey("p/task"), Message: NewText(RoleUser, KindTask, "x")}
	}
	require.ErrorIs(t, log.Append(e()), boom)
	require.Zero(t, log.Len())
	require.ErrorIs(t, log.Append(e()), boom, "the reason is not lost")
	require.ErrorIs(t, log.Close(context.Background()), boom)
	require.NoError(t, log.Close(context.Background()))
	require.NoError(t, log.Wait(context.Background()), "without a journal there is nothing to wait for")
}

// A follower sees what the sinks have taken, from when it begins until another one takes its place.
func TestLogFollow(t *testing.T) {
	t.Parallel()
	var seen []uint64
	bad := &failingSink{}
	log := NewLog("s1", nil, nil, bad)
	add := func() error { return log.Append(&Entry{NodeType: NodeMessage, Key: RunKey()}) }
	require.NoError(t, add())
	log.Follow(func(e *Entry) { seen = append(seen, e.Seq) })
	require.NoError(t, add())
	require.NoError(t, add())
	log.Follow(nil)
	require.NoError(t, add())
	log.Follow(func(e *Entry) { seen = append(seen, 100*e.Seq) })
	require.NoError(t, add())
	bad.err = errors.New("boom")
	require.Error(t, add())
	require.Equal(t, []uint64{2, 3, 500}, seen)
}

type failingSink struct{ err error }

func (f *failingSink) Write(*Entry) error          { return f.err }
func (f *failingSink) Close(context.Context) error { return nil }
