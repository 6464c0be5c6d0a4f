package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/wholefile"
)

func TestCheckOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		text string
		own  bool
	}{
		"empty": {"", true}, "first": {"<svg x", true}, "second": {"flowchart TB", true}, "other": {`{"cascade_id": "c"}`, false}, "short": {"<sv", false},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		err := wholefile.CheckOwn(path, "<svg ", "flowchart ")
		if tt.own {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, path+" has other content and is not overwritten")
	}
	require.NoError(t, wholefile.CheckOwn(filepath.Join(dir, "none"), "x"))
	require.NoError(t, wholefile.CheckOwn(dir, "x"), "that is said when it is written")
}
