package command_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/tool/command"
)

func TestRunFindsWhatLeftItsGroup(t *testing.T) {
	t.Parallel()
	// The command ends when the other session is there.
	const line = `setsid sh -c 'sleep 3804; :' & while ! ps -A -o args= | grep -q '^sleep 3804$'; do :; done; echo done`
	res, err := command.Run(context.Background(), spec(line))
	require.NoError(t, err)
	require.Equal(t, "done\n", res.Stdout.String())
	require.Positive(t, res.LeftBehind)
	requireGone(t, "sleep 3804")
}

// The shell of each of these ends while the other session is being made: a process is found also
// while it has no environment yet, and when the one that started it has just ended.
func TestRunFindsWhatHasJustBegun(t *testing.T) {
	t.Parallel()
	const groups, commands = 4, 30
	sleep := func(n int) string { return fmt.Sprintf("sleep 380%d%05d", os.Getpid(), n) }
	var wg sync.WaitGroup
	for g := range groups {
		wg.Go(func() {
			for i := range commands {
				_, err := command.Run(context.Background(), spec("(setsid sh -c '"+sleep(g*commands+i)+"' & ) & echo"))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	for n := range groups * commands {
		requireGone(t, sleep(n))
	}
}

func TestStatBecoming(t *testing.T) {
	t.Parallel()
	stat := func(name, state, flags, envStart, envEnd string) string {
		f := make([]string, 50)
		for i := range f {
			f[i] = "7"
		}
		f[0], f[6], f[47], f[48] = state, flags, envStart, envEnd
		return "4711 (" + name + ") " + strings.Join(f, " ") + "\n"
	}
	for line, want := range map[string]bool{
		stat("sh", "R", "4194304", "0", "0"):           true,
		stat("a) Z (b", "R", "4194304", "0", "0"):      true,
		stat("sh", "S", "4194304", "140735", "140735"): false, // it began without one
		stat("sh", "S", "4194304", "140735", "140999"): true,  // it has one since
		stat("sh", "Z", "4194304", "0", "0"):           false,
		stat("kworker/0:1", "I", "69238880", "0", "0"): false,
		"4711 (sh) R": false,
		"":            false,
	} {
		require.Equal(t, want, command.StatBecoming([]byte(line)), line)
	}
}
