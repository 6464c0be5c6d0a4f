package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An engine that cannot start with a file that a full disk has left empty names it, and what to do.
func TestStartWithAnEmptyFile(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"metadata/d.sql", "store/*/*/t.sql"} {
		dir := tempEngine(t)
		e := start(t, dir)
		exec1(t, e, "CREATE DATABASE d")
		exec1(t, e, "CREATE TABLE d.t (n UInt8) ENGINE = MergeTree ORDER BY n")
		stopEngine(t, dir, e)
		data := filepath.Join(dir, "data")
		files, err := filepath.Glob(filepath.Join(data, pattern))
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.Truncate(files[0], 0))

		_, err = Start(t.Context(), dir, "", realEngine(t), nil)
		require.ErrorContains(t, err, "start the engine: ClickHouse ended while it was starting: ")
		require.ErrorContains(t, err, ": the file "+files[0]+" is empty, as a full disk leaves it. Free space and move the folder "+data+
			" away; then windlass ship --again makes the database anew from the journals on this machine")
		awaitEnd(t, dir)
		require.NoError(t, os.Rename(data, data+".bad"))
		start(t, dir)
	}
}
