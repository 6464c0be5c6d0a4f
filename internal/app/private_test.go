package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// No file tool writes a letter, or an approval that counts for later calls, also where somebody has granted the home folder.
func TestNoToolWritesALetter(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mailbox", "grants", "sessions/it/mailbox", "serve", "banks", "memos", "elsewhere"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			dir := filepath.Join(a.home, name)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			o := options("it")
			o.Rights.Roots = []string{a.home}
			r, err := a.Start(t.Context(), job(t, `{"cascade_id": "it", "inputs_schema": {"service": "which one"}, "phases": [
				{"name": "a", "tool": "write_file", "inputs": {"path": "`+name+`/x.json", "content": "{}"}}]}`), o, Watch{})
			require.NoError(t, err)
			_, err = r.Do(t.Context())
			require.NoError(t, r.Close().Err)
			if name == "elsewhere" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.NoFileExists(t, filepath.Join(dir, "x.json"))
		})
	}
}
