package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each place where an engine can be is told apart, with its version where that is known.
func TestPresent(t *testing.T) {
	t.Parallel()
	pin := pins()["linux/amd64"].Version
	file := func(path, text string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // some are programs
		return path
	}
	cached := t.TempDir()
	library := file(filepath.Join(cached, engineDir, pin+"-linux-amd64", libraryName), "")
	binary := file(filepath.Join(t.TempDir(), "clickhouse"), "#!/bin/sh\necho ClickHouse local version 26.7.3.1.\n")
	npm := file(filepath.Join(t.TempDir(), "npm"), "#!/bin/sh\nexit 1\n")
	for _, c := range []struct {
		config Config
		want   Presence
		shown  string
	}{
		{
			Config{CacheDir: cached, Platform: "linux/amd64"},
			Presence{Here: true, Version: pin, Path: library},
			"ClickHouse " + pin + ", on this machine: " + library,
		},
		{
			Config{Path: filepath.Dir(binary), Platform: "linux/amd64"},
			Presence{Here: true, Version: "26.7.3.1", Path: binary},
			"ClickHouse 26.7.3.1, on this machine: " + binary,
		},
		{
			Config{CacheDir: t.TempDir(), Path: filepath.Dir(npm), Platform: "linux/amd64"},
			Presence{Version: pin},
			"ClickHouse " + pin + ", not on this machine yet: windlass fetch engine fetches it",
		},
		{
			Config{CacheDir: t.TempDir(), Platform: "plan9/mips"},
			Presence{Problem: "no ClickHouse engine for plan9/mips"},
			"none, no ClickHouse engine for plan9/mips",
		},
	} {
		got := Present(t.Context(), c.config)
		require.Equal(t, c.want, got)
		require.Equal(t, c.shown, got.String())
	}
}
