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
	e := func() *Entry { return &Entry{NodeType: NodeMessage, Message: NewText(RoleUser, KindTask, "x")} }
	require.ErrorIs(t, log.Append(e()), boom)
	require.Zero(t, log.Len())
	require.ErrorIs(t, log.Append(e()), ErrLogClosed)
	require.ErrorIs(t, log.Close(context.Background()), boom)
	require.NoError(t, log.Close(context.Background()))
	require.NoError(t, log.Wait(context.Background()), "without a journal there is nothing to wait for")
}
