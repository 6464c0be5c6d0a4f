package fetch_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/fetch"
)

// item is a fetch of the text "packed", which is made into "made of packed".
func item(t *testing.T) fetch.Item {
	t.Helper()
	sum := sha256.Sum256([]byte("packed"))
	dir := filepath.Join(t.TempDir(), "things")
	return fetch.Item{
		What: "the thing", Dir: dir, Target: filepath.Join(dir, "1.0", "thing.bin"), Space: "about 1 MB",
		Steps: fetch.Steps{Wait: "waiting", Download: "downloading", Verify: "checking", Unpack: "unpacking"},
		Sum:   fetch.Checksum{Hash: sha256.New(), Want: sum[:], Name: "the right one"},
		Get: func(_ context.Context, staging string) (string, error) {
			path := filepath.Join(staging, "download")
			return path, os.WriteFile(path, []byte("packed"), 0o600)
		},
		Make: func(_ context.Context, packed, target string) error {
			b, err := os.ReadFile(packed)
			return errors.Join(err, os.WriteFile(target, append([]byte("made of "), b...), 0o600))
		},
	}
}

func requireNothing(t *testing.T, it fetch.Item) {
	t.Helper()
	require.NoFileExists(t, it.Target)
	left, err := filepath.Glob(filepath.Join(it.Dir, fetch.StagingPrefix+"*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFetch(t *testing.T) {
	t.Parallel()
	it := item(t)
	require.NoError(t, it.Fetch(t.Context(), nil))
	got, err := os.ReadFile(it.Target)
	require.NoError(t, err)
	require.Equal(t, "made of packed", string(got))
	it.Get = func(context.Context, string) (string, error) { return "", errors.New("it is there already") }
	require.NoError(t, it.Fetch(t.Context(), nil))
}

func TestFetchFails(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "/some/temporary/file", Err: syscall.ENOSPC}
	for name, tt := range map[string]struct {
		change func(*fetch.Item)
		want   string
	}{
		"download": {
			func(it *fetch.Item) {
				it.Get = func(context.Context, string) (string, error) { return "", errors.New("no line") }
			}, "no line",
		},
		"nothing came": {
			func(it *fetch.Item) {
				it.Get = func(_ context.Context, staging string) (string, error) { return filepath.Join(staging, "x"), nil }
			}, "check the thing: open ",
		},
		"replaced": {
			func(it *fetch.Item) { it.Sum.Want = []byte("x") },
			"the checksum of the thing is wrong: fetched 88cb8a08",
		},
		"not unpacked": {
			func(it *fetch.Item) {
				it.Make = func(context.Context, string, string) error { return errors.New("no archive") }
			}, "unpack the thing: no archive",
		},
		"full": {
			func(it *fetch.Item) { it.Make = func(context.Context, string, string) error { return full } },
			"things (about 1 MB are needed while it is unpacked): free some, or set WINDLASS_CACHE to a folder on a larger disk: no space left on device",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			it := item(t)
			tt.change(&it)
			require.ErrorContains(t, it.Fetch(t.Context(), nil), tt.want)
			requireNothing(t, it)
		})
	}
}

// Another process has the lock: the wait is told, and ends with the context.
func TestFetchWaits(t *testing.T) {
	t.Parallel()
	it := item(t)
	require.NoError(t, os.MkdirAll(it.Dir, 0o755))
	unlock, err := fetch.Lock(t.Context(), filepath.Join(it.Dir, "fetch.lock"), func() {})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	err = it.Fetch(ctx, func(p fetch.Progress) {
		require.Equal(t, fetch.Progress{Step: "waiting"}, p)
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
	requireNothing(t, it)
	unlock()
	require.NoError(t, it.Fetch(t.Context(), nil))
}

func TestMeterTellsNowAndThen(t *testing.T) {
	t.Parallel()
	var told []int64
	m := fetch.NewMeter("x", 4<<20, func(p fetch.Progress) { told = append(told, p.Done) })
	chunk := []byte(strings.Repeat("x", 1<<19))
	for range 8 {
		_, err := m.Write(chunk)
		require.NoError(t, err)
	}
	require.Equal(t, []int64{1 << 20, 2 << 20, 3 << 20, 4 << 20}, told)
}

func TestLookPathNeverLooksHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	syscall.ForkLock.RLock() // a child forked now would keep the file open for writing: "text file busy"
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"), 0o755)) //nolint:gosec // it must be executable
	got, err := fetch.LookPath("."+string(os.PathListSeparator)+dir, "npm")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "npm"), got)
	_, err = fetch.LookPath(".", "npm")
	require.EqualError(t, err, "no npm on PATH")
}

// npm gets the hidden variables that are its own, and those that its configuration reads, and no
// others.
func TestPackGivesNpmItsVariables(t *testing.T) {
	dir := t.TempDir()
	npm := filepath.Join(dir, "npm")
	require.NoError(t, os.WriteFile(npm, []byte("#!/bin/sh\nenv > \"$OUT\"\ntouch a.tgz\n"), 0o755)) //nolint:gosec // it is run
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npmrc"), []byte("//host/:_authToken=${HOST_TOKEN}\n"), 0o600))
	t.Setenv("OUT", filepath.Join(dir, "env"))
	t.Setenv("NPM_CONFIG_USERCONFIG", filepath.Join(dir, "npmrc"))
	before := fetch.HiddenVariables
	t.Cleanup(func() { fetch.HiddenVariables = before })
	fetch.HiddenVariables = func() []string { return []string{"HOST_TOKEN=one", "NPM_TOKEN=two", "OPENAI_API_KEY=three"} }
	_, err := fetch.Package{Name: "a", Version: "1"}.Pack(npm, fetch.Step("get"), nil)(t.Context(), t.TempDir())
	require.NoError(t, err)
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	require.NoError(t, err)
	require.Contains(t, string(env), "\nHOST_TOKEN=one\n")
	require.Contains(t, string(env), "\nNPM_TOKEN=two\n")
	require.NotContains(t, string(env), "three")
}
