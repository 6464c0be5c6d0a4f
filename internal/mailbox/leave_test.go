package mailbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// withoutLinks is a mailbox on a file system that has no hard links, such as FAT.
func withoutLinks(t *testing.T) Box {
	t.Helper()
	return Box{Dir: filepath.Join(t.TempDir(), "mailbox"), link: func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
	}}
}

func TestFirstAnswerWinsWithoutHardLinks(t *testing.T) {
	t.Parallel()
	box := withoutLinks(t)
	const writers = 30
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			errs[i] = box.Answer("w", echo.Answer{Value: "x", By: string(rune('a' + i)), At: time.Unix(1, 0).UTC()})
		})
	}
	wg.Wait()
	got, err := box.Answered("w")
	require.NoError(t, err)
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			require.Equal(t, string(rune('a'+i)), got.By)
			continue
		}
		var taken *TakenError
		require.ErrorAs(t, err, &taken)
		require.Equal(t, *got, taken.Answer)
	}
	require.Equal(t, 1, won)
	files, err := filepath.Glob(filepath.Join(box.Dir, ".letter-*"))
	require.NoError(t, err)
	require.Empty(t, files)
	require.Empty(t, box.Damaged())
}

func TestSignalsWithoutHardLinks(t *testing.T) {
	t.Parallel()
	box := withoutLinks(t)
	require.NoError(t, box.Send("go", echo.Answer{Letter: "l", At: time.Unix(1, 0).UTC()}))
	require.NoError(t, box.Send("go", echo.Answer{Letter: "l", At: time.Unix(2, 0).UTC()}), "it is there")
	for _, claimant := range []string{"one", "two"} {
		a, err := box.Take("go", claimant, time.Time{})
		require.NoError(t, err)
		require.Equal(t, claimant == "one", a != nil)
	}
}

// A server of files may say that a name is taken by the very file that it was asked to link: the first request was
// lost on its way back.
func TestLinkThatWasMadeBefore(t *testing.T) {
	t.Parallel()
	box := Box{Dir: t.TempDir(), link: func(from, to string) error {
		return errors.Join(os.Link(from, to), &os.LinkError{Op: "link", Old: from, New: to, Err: fs.ErrExist})
	}}
	require.NoError(t, box.Answer("w", echo.Answer{Value: "x", At: time.Unix(1, 0).UTC()}))
	require.ErrorAs(t, box.Answer("w", echo.Answer{Value: "y", At: time.Unix(1, 0).UTC()}), new(*TakenError))
}

func TestMailboxThatCannotBeLocked(t *testing.T) {
	t.Parallel()
	box := withoutLinks(t)
	require.NoError(t, os.MkdirAll(filepath.Join(box.Dir, lockFile), 0o700))
	err := box.Answer("w", echo.Answer{Value: "x", At: time.Unix(1, 0).UTC()})
	require.ErrorContains(t, err, "leave a letter: the file system has no hard links, and its mailbox cannot be locked: ")
	a, err := box.Answered("w")
	require.NoError(t, err)
	require.Nil(t, a, "nothing is left")
}
