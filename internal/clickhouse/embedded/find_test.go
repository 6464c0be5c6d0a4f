package embedded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/fetch"
)

// archive returns a .tar.gz with these files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, content := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func hexSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func serveFile(t *testing.T, content []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	t.Cleanup(s.Close)
	return s.URL + "/engine.tar.gz"
}

// requireClean checks that a fetch left neither a part of a library nor its staging folder.
func requireClean(t *testing.T, cache string) {
	t.Helper()
	for _, pattern := range []string{"*/" + libraryName, fetch.StagingPrefix + "*"} {
		left, err := filepath.Glob(filepath.Join(cache, engineDir, pattern))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestFetchURL(t *testing.T) {
	t.Parallel()
	content := archive(t, map[string]string{"package/../../evil": "x", "package/libchdb.so": "the library"})
	c := Config{URL: serveFile(t, content), SHA256: hexSum(content), CacheDir: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(c.CacheDir, engineDir, fetch.StagingPrefix+"old"), 0o755))
	var steps []Step
	e, attempts, err := Find(t.Context(), c, func(p Progress) {
		if len(steps) == 0 || steps[len(steps)-1] != p.Step {
			steps = append(steps, p.Step)
		}
	})
	require.NoError(t, err)
	require.Equal(t, SourceURL, attempts[len(attempts)-1].Source)
	got, err := os.ReadFile(e.Path)
	require.NoError(t, err)
	require.Equal(t, "the library", string(got))
	require.Equal(t, []Step{StepDownload, StepVerify, StepUnpack}, steps)
	left, err := filepath.Glob(filepath.Join(c.CacheDir, engineDir, fetch.StagingPrefix+"*"))
	require.NoError(t, err)
	require.Empty(t, left, "the folders of this fetch and of an older one that was interrupted are gone")

	again, attempts, err := Find(t.Context(), c, nil)
	require.NoError(t, err)
	require.Equal(t, e, again)
	require.Equal(t, SourceCache, attempts[len(attempts)-1].Source, "the second time nothing is fetched")
}

func TestFetchURLRefuses(t *testing.T) {
	t.Parallel()
	good := archive(t, map[string]string{"libchdb.so": "the library"})
	empty := archive(t, map[string]string{"README": "no library here"})
	cut := good[:len(good)/2]
	for name, tc := range map[string]struct {
		url, sum, want string
	}{
		"no checksum":        {serveFile(t, good), "", "WINDLASS_ENGINE_SHA256 is not set"},
		"no real checksum":   {serveFile(t, good), "abc", "64 hexadecimal digits"},
		"wrong checksum":     {serveFile(t, good), hexSum([]byte("other")), "the checksum of the engine is wrong: fetched " + hexSum(good)},
		"no library":         {serveFile(t, empty), hexSum(empty), "there is no libchdb in the archive"},
		"half an archive":    {serveFile(t, cut), hexSum(cut), "unpack the engine: "},
		"unknown scheme":     {"ftp://example.org/x", hexSum(good), `its scheme is "ftp"`},
		"password not shown": {"http://u:geheim@127.0.0.1:1/x", hexSum(good), "download the engine: "},
		"no such file":       {"file:///nonexistent/x", hexSum(good), "open the engine's archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{URL: tc.url, SHA256: tc.sum, CacheDir: t.TempDir()}
			_, _, err := Find(t.Context(), c, nil)
			require.ErrorContains(t, err, "WINDLASS_ENGINE_URL: ")
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "geheim")
			requireClean(t, c.CacheDir)
		})
	}
}

func TestFetchIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<16))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	c := Config{URL: s.URL, SHA256: hexSum(nil), CacheDir: t.TempDir()}
	_, _, err := Find(ctx, c, nil)
	require.ErrorIs(t, err, context.Canceled)
	requireClean(t, c.CacheDir)
}

// fakeNpm is an npm on a PATH of its own.
func fakeNpm(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	writeProgram(t, filepath.Join(dir, "npm"), "#!/bin/sh\n"+script)
	return dir
}

func TestNpmFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, want string }{
		"refused":  {"echo 'npm error code E404' >&2; echo 'npm error 404 not found' >&2; exit 1", "exit status 1: code E404; 404 not found"},
		"replaced": {`echo damaged > "$4/chdb.tgz"`, "the checksum of the engine is wrong"},
		"silent":   {"exit 0", "left 0 archives, expected 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{CacheDir: t.TempDir(), Path: fakeNpm(t, tc.script), Platform: "linux/amd64"}
			_, _, err := Find(t.Context(), c, nil)
			require.ErrorContains(t, err, "npm")
			require.ErrorContains(t, err, tc.want)
			requireClean(t, c.CacheDir)
		})
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	_, _, err := Find(t.Context(), Config{Platform: "plan9/mips", Path: "/nonexistent", CacheDir: t.TempDir()}, nil)
	require.EqualError(t, err, `no ClickHouse engine for plan9/mips; tried:
  - WINDLASS_CHDB_LIB: not set
  - clickhouse on PATH: no clickhouse on PATH
  - cache: no engine that could be in it
  - WINDLASS_ENGINE_URL: not set
  - npm: no package with a known checksum for plan9/mips: none is fetched unchecked
Get the engine in one of these ways:
  1. npm: install Node.js with npm, or set WINDLASS_ENGINE_URL and WINDLASS_ENGINE_SHA256 to an archive with libchdb
  2. chdb's own installer (github.com/chdb-io/chdb-core), then set WINDLASS_CHDB_LIB to the path of libchdb.so
  3. a clickhouse binary 25.8 or newer on PATH (clickhouse.com/docs/install), or a server: WINDLASS_CLICKHOUSE_DSN`)
	var nf *NotFoundError
	require.True(t, errors.As(err, &nf))
	_, _, err = Find(t.Context(), Config{Library: "/nonexistent/libchdb.so"}, nil)
	require.EqualError(t, err, "WINDLASS_CHDB_LIB: no library: stat /nonexistent/libchdb.so: no such file or directory")
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkVersion("ClickHouse local version 25.8.1.1 (official build).\n"))
	require.NoError(t, checkVersion("ClickHouse local version 26.1.0.0.\n"))
	require.EqualError(t, checkVersion("ClickHouse local version 25.7.9.1.\n"), "version 25.7 is too old, 25.8 or newer is needed")
	require.EqualError(t, checkVersion("hello\n"), `its version cannot be read from "hello"`)
}

func TestPinsAreWhole(t *testing.T) {
	t.Parallel()
	for platform, p := range pins() {
		require.Regexp(t, `^sha512-[A-Za-z0-9+/]{86}==$`, p.Integrity, platform)
		require.Positive(t, p.Packed, platform)
	}
}

// TestNoCacheNoFetch gives no cache folder: nothing is fetched, least of all into the working
// folder, and each source that would have needed one says so.
func TestNoCacheNoFetch(t *testing.T) {
	t.Parallel()
	npm := filepath.Join(t.TempDir(), "npm")
	writeProgram(t, npm, "#!/bin/sh\nexit 1\n")
	c := Config{Path: filepath.Dir(npm), Platform: "linux/amd64"}
	for _, find := range []func() (Engine, []Attempt, error){
		func() (Engine, []Attempt, error) { return Find(t.Context(), c, nil) },
		func() (Engine, []Attempt, error) { return Survey(t.Context(), c) },
	} {
		_, attempts, err := find()
		var notFound *NotFoundError
		require.ErrorAs(t, err, &notFound)
		require.Equal(t, []Attempt{
			{Source: SourceLibrary, Outcome: "not set"},
			{Source: SourceBinary, Outcome: "no clickhouse on PATH"},
			{Source: SourceCache, Outcome: "no cache folder is set, so nothing is fetched"},
			{Source: SourceURL, Outcome: "not set"},
			{Source: SourceNpm, Outcome: "no cache folder is set, so nothing is fetched"},
		}, attempts)
		require.ErrorContains(t, err, "  - npm: no cache folder is set, so nothing is fetched\n")
	}
	c.URL, c.SHA256 = "file:///nowhere", hexSum(nil)
	_, _, err := Find(t.Context(), c, nil)
	require.EqualError(t, err, "WINDLASS_ENGINE_URL: no cache folder is set, so nothing is fetched")
	require.NoDirExists(t, engineDir)
}
