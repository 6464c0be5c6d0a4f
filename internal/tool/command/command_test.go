//go:build unix

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/tool/command"
)

func spec(line string) command.Spec {
	return command.Spec{Line: line, Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: time.Minute}
}

// running reports whether any process has the words in its command line.
func running(t *testing.T, words string) bool {
	t.Helper()
	res, err := command.Run(context.Background(), spec("ps -A -o args="))
	require.NoError(t, err)
	require.Contains(t, res.Stdout.String(), "ps -A -o args=")
	return strings.Contains(res.Stdout.String(), words)
}

// requireGone waits until no process has these words in its command line. A busy machine still
// lists a killed process for a moment.
func requireGone(t *testing.T, words string) {
	t.Helper()
	require.Eventually(t, func() bool { return !running(t, words) }, 30*time.Second, 5*time.Millisecond, "%s goes on", words)
}

func TestRunReturnsOutputAndStatus(t *testing.T) {
	t.Parallel()
	res, err := command.Run(context.Background(), spec(`echo out; echo err >&2; exit 3`))
	require.NoError(t, err)
	require.Equal(t, "out\n", res.Stdout.String())
	require.Equal(t, "err\n", res.Stderr.String())
	require.Equal(t, 3, res.ExitCode)
	s := spec(`echo a; echo b >&2; echo c`)
	s.Combined = true
	res, err = command.Run(context.Background(), s)
	require.NoError(t, err)
	require.Equal(t, "a\nb\nc\n", res.Stdout.String())
	res, err = command.Run(context.Background(), spec(`kill -9 $$`))
	require.NoError(t, err)
	require.Equal(t, "killed", res.Signal)
}

func TestRunGivesInputFolderAndEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spec(`cat; pwd -P; env | cut -d= -f1 | sort | tr '\n' ' '`)
	s.Stdin, s.Dir = "input\n", dir
	res, err := command.Run(context.Background(), s)
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.Regexp(t, `^input\n`+real+`\n(OLDPWD )?PATH PWD (SHLVL )?WINDLASS_COMMAND (_ )?$`, res.Stdout.String())
	res, err = command.Run(context.Background(), spec(`cat | wc -c | tr -d ' '`))
	require.NoError(t, err)
	require.Equal(t, "0\n", res.Stdout.String())
}

func TestRunEndsWhatHangs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, words string }{
		"hangs":           {`echo begun; sleep 3791`, "sleep 3791"},
		"ignores SIGTERM": {`trap '' TERM; echo begun; while :; do sleep 3792; done`, "sleep 3792"},
		"in a pipeline":   {`echo begun; sleep 3793 | cat`, "sleep 3793"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(c.line)
			s.Timeout = 300 * time.Millisecond
			start := time.Now()
			res, err := command.Run(context.Background(), s)
			require.NoError(t, err)
			require.True(t, res.TimedOut)
			require.Equal(t, "begun\n", res.Stdout.String())
			require.Less(t, time.Since(start), 20*time.Second)
			requireGone(t, c.words)
		})
	}
}

func TestRunLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, word string }{
		"background":         {`sleep 3801 & echo done`, "sleep 3801"},
		"holds the pipe":     {`(sleep 3802; echo late) & echo done`, "sleep 3802"},
		"ignores the hangup": {`nohup sleep 3803 >/dev/null 2>&1 & echo done`, "sleep 3803"},
		"new session":        {`setsid sleep 3804 & echo done; while ! ps -A -o args= | grep -v grep | grep -q '^sleep 3804'; do :; done`, "sleep 3804"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			res, err := command.Run(context.Background(), spec(c.line))
			require.NoError(t, err)
			require.Equal(t, "done\n", res.Stdout.String())
			require.Equal(t, 0, res.ExitCode)
			require.Less(t, time.Since(start), 20*time.Second)
			requireGone(t, c.word)
		})
	}
}

func TestRunHonoursItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	started := filepath.Join(t.TempDir(), "started")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
		}
	}()
	s := spec("touch " + started + "; sleep 3811")
	_, err := command.Run(ctx, s)
	require.ErrorIs(t, err, context.Canceled)
	requireGone(t, "sleep 3811")
	_, err = command.Run(ctx, spec("echo never"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestRunBoundsTheOutput(t *testing.T) {
	t.Parallel()
	s := spec(`yes 0123456789 | head -c 20000000; echo the end`)
	s.MaxOutput = 3000
	res, err := command.Run(context.Background(), s)
	require.NoError(t, err)
	out := res.Stdout.String()
	require.Less(t, len(out), 3100)
	require.True(t, strings.HasPrefix(out, "0123456789\n"))
	require.True(t, strings.HasSuffix(out, "the end\n"))
	require.Contains(t, out, "[... 19997008 of 20000008 bytes left out ...]")
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	_, err := command.Run(context.Background(), spec("a\x00b"))
	require.EqualError(t, err, "start command: it holds a NUL character")
	s := spec("true")
	s.Dir = filepath.Join(t.TempDir(), "gone")
	_, err = command.Run(context.Background(), s)
	require.ErrorContains(t, err, "start command: ")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzCapture(f *testing.F) {
	f.Add("hello world", 4, 3)
	f.Add(strings.Repeat("é", 50), 10, 7)
	f.Fuzz(func(t *testing.T, text string, limit, piece int) {
		if limit < 0 || limit > 1000 || piece < 1 {
			return
		}
		c := command.NewCapture(limit)
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			_, err := c.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.EqualValues(t, len(text), c.Total())
		require.EqualValues(t, max(0, len(text)-limit), c.Cut())
		if len(text) <= limit {
			require.Equal(t, strings.ToValidUTF8(text, "\uFFFD"), c.String())
		}
	})
}
