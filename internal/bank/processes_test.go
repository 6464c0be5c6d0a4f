package bank

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

	"github.com/windlass-run/windlass/engine/memory"
)

// The test binary is also a process that writes into the bank of a home, as a session.
const (
	childHome   = "WINDLASS_TEST_BANK_HOME"
	childFolder = "WINDLASS_TEST_BANK_FOLDER"
	childID     = "WINDLASS_TEST_BANK_SESSION"
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
	processes  = 50
	edits      = 3
	sharedPath = "/memories/shared.md"
)

// child writes into a file of its own and into one of all, and prints each version that it has written.
func child(store *Store, id string) error {
	ctx := context.Background()
	start, err := store.Start(ctx, noteBank, id)
	if err != nil {
		return err
	}
	s := &session{Store: store, id: id, seen: memory.Seen{Start: start.At}}
	own := "/memories/" + id + ".md"
	if err := s.until(ctx, create(own, "begun\n")); err != nil {
		return err
	}
	for i := range edits {
		if err := s.until(ctx, insert(own, 1, fmt.Sprint(id, " ", i))); err != nil {
			return err
		}
		if err := s.until(ctx, insert(sharedPath, 0, fmt.Sprint(id, " ", i))); err != nil {
			return err
		}
	}
	return nil
}

// until makes a call until no other session has been faster.
func (s *session) until(ctx context.Context, c *memory.Command) error {
	for {
		out, err := s.try(ctx, c)
		switch {
		case err != nil:
			return err
		case !out.Failed:
			fmt.Println("wrote", out.Wrote[0].Path, out.Wrote[0].Version)
			return nil
		case !out.Conflict:
			return fmt.Errorf("%+v: %s", c, out.Text)
		}
	}
}

// requireSound demands that a bank can be read, and that the versions of each path replace each other one by one.
func requireSound(t *testing.T, h *History) {
	t.Helper()
	for _, path := range h.Paths() {
		var before []string
		for _, v := range h.Versions(path) {
			require.Equal(t, before, v.Parents, "%s", path)
			before = []string{v.ID}
		}
	}
}

// Fifty processes write into one bank at once: what each was told that it has written is there once, nothing is torn, and no
// text is lost.
func TestProcesses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "first").does(t, create(sharedPath, ""))
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
	h := b.history(t)
	requireSound(t, h)
	times := map[string]int{}
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			times[v.Path+" "+v.ID]++
		}
	}
	written := 1
	for i, text := range said {
		require.NoError(t, errs[i], text)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		require.Len(t, lines, 1+2*edits)
		for _, line := range lines {
			require.Equal(t, 1, times[strings.TrimPrefix(line, "wrote ")], line)
			written++
		}
	}
	require.Len(t, times, written, "nothing is written that nobody was told of")
	shared := h.Files(h.Now())[sharedPath]
	for i := range processes {
		require.Equal(t, fmt.Sprintf("begun\np%[1]d 2\np%[1]d 1\np%[1]d 0\n", i), h.Files(h.Now())[fmt.Sprintf("/memories/p%d.md", i)])
		for n := range edits {
			require.Equal(t, 1, strings.Count(shared, fmt.Sprintf("p%d %d\n", i, n)))
		}
	}
	require.Equal(t, processes*edits, strings.Count(shared, "\n"))
}

// Of two sessions that write the same file at once, one wins, and the other one is told what it has written.
func TestOneWins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stores := []*Store{b.store(), b.store()}
	for round := range 50 {
		path := fmt.Sprintf("/memories/%d.md", round)
		var sessions [2]*session
		for i := range sessions {
			sessions[i] = begin(t, stores[i], fmt.Sprint("s", i, "-", round))
		}
		var texts [2]string
		var conflicts [2]bool
		var errs [2]error
		var wg sync.WaitGroup
		for i, s := range sessions {
			wg.Go(func() {
				out, err := s.try(context.Background(), create(path, "of "+s.id))
				if errs[i] = err; err == nil {
					texts[i], conflicts[i] = out.Text, out.Conflict
				}
			})
		}
		wg.Wait()
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.NotEqual(t, conflicts[0], conflicts[1], "%v", texts)
		winner := 0
		if conflicts[0] {
			winner = 1
		}
		require.Equal(t, "of "+sessions[winner].id, b.files(t)[path])
		require.Contains(t, texts[1-winner], "     1\tof "+sessions[winner].id)
		require.Len(t, b.history(t).Versions(path), 1)
	}
	requireSound(t, b.history(t))
}
