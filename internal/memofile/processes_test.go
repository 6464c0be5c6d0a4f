package memofile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memo"
)

// The test binary is also a process that saves memos, as a session.
const (
	childHome   = "WINDLASS_TEST_MEMO_HOME"
	childFolder = "WINDLASS_TEST_MEMO_FOLDER"
	childID     = "WINDLASS_TEST_MEMO_SESSION"
)

func TestMain(m *testing.M) {
	if home := os.Getenv(childHome); home != "" {
		if err := child(Open(home, os.Getenv(childFolder), nil), os.Getenv(childID)); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	processes = 50
	saves     = 3
)

// child saves memos of its own and one that all save, and prints the id of each that it has saved.
func child(store *Store, id string) error {
	s := &session{Store: store, id: id}
	for i := range saves {
		for _, a := range []args{save(fmt.Sprintf("Memo %d of %s.", i, id)), {"text": "The same for all.", "scope": "global"}} {
			out, err := s.try(context.Background(), memo.ToolSave, a)
			if err != nil {
				return err
			}
			for _, v := range out.Wrote {
				fmt.Println("wrote", v.Scope, v.Memo)
			}
		}
	}
	return nil
}

// Fifty processes save at once: what each was told that it has saved is there once, and the same fact is saved once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	said := make([]string, processes)
	errs := make([]error, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childHome+"="+b.home, childFolder+"="+b.folder, childID+"=p"+strconv.Itoa(i))
			out, err := cmd.CombinedOutput()
			said[i], errs[i] = string(out), err
		})
	}
	wg.Wait()
	there := map[string]bool{}
	for _, scope := range memo.Scopes() {
		h, err := b.store().Read(scope)
		require.NoError(t, err)
		for _, m := range h.Now() {
			there["wrote "+scope+" "+m.ID] = true
		}
	}
	require.Len(t, there, processes*saves+1)
	told := map[string]bool{}
	for i, text := range said {
		require.NoError(t, errs[i], text)
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			require.False(t, told[line], line)
			told[line] = true
		}
	}
	require.Equal(t, there, told)
}
