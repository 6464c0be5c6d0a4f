//go:build unix

package windlass_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// The program that Options.Executable names runs the embedded engine, and not this one.
func TestForeignExecutable(t *testing.T) {
	t.Parallel()
	clickhousetest.Open(t) // it is fetched once for all tests
	_, cache := clickhousetest.Home(t)
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	program, called := filepath.Join(dir, "engine"), filepath.Join(dir, "called")
	script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >> '%s'\nexec '%s' \"$@\"\n", called, self)
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700)) //nolint:gosec // it is run
	w := open(t, windlass.Options{Home: t.TempDir(), Dir: dir, Cache: cache, Executable: program})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider())
	require.NoError(t, err)
	res, err := run.Result(t.Context())
	require.NoError(t, err)
	require.NoError(t, res.Undelivered)
	require.FileExists(t, called)
	rows, err := w.Query(t.Context(), "SELECT count() FROM sessions")
	require.NoError(t, err)
	for row, err := range rows.All() {
		require.NoError(t, err)
		require.Equal(t, "1", row[0].String())
	}
}
