package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// readers is everything that reads a journal in a folder.
var readers = map[string]func(dir string) error{
	"Read":     func(dir string) error { _, err := Read(filepath.Join(dir, File)); return err },
	"Open":     func(dir string) error { _, _, err := Open(dir); return err },
	"Create":   func(dir string) error { _, err := Create(dir, testHeader); return err },
	"OpenTail": func(dir string) error { _, err := OpenTail(filepath.Join(dir, File), 1); return err },
	"Look": func(dir string) error {
		_, err := Look(filepath.Join(dir, File), func(*echo.Entry) bool { return true })
		return err
	},
}

// A journal of another version is refused by everything that reads one, and is left as it is, with
// all that is in its folder.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	const newer = ", and this windlass reads version 3: a newer windlass wrote it: use that one for it"
	const old = ", and this windlass reads version 3: the last windlass that reads it was built from commit d265381: use that build for it, or begin the session again"
	for start, want := range map[string]string{
		`{"windlass_journal":1,"session_id":"s1"}` + "\n" + `{"seq":1}` + "\n":        "has format version 1" + old,
		strings.Replace(summed(`{"windlass_journal":3}`), ":3", ":2", 1) + `{"seq":1`: "has format version 2" + old,
		`{"windlass_journal":4}` + "\n":                                               "has format version 4" + newer,
		`{"windlass_journal":12345678901234567890123}` + "\n":                         "has format version 12345678901234567890123" + newer,
		`{"windlass_journal":` + strings.Repeat("9", 40) + `}` + "\n":                 "has format version " + strings.Repeat("9", 40) + newer,
		`{"windlass_journal":` + strings.Repeat("9", 41) + `}` + "\n":                 "has format version " + strings.Repeat("9", 40) + "..." + newer,
		`{"windlass_journal":` + strings.Repeat("9", 99999) + `}` + "\n":              "has format version " + strings.Repeat("9", 40) + "..." + newer,
	} {
		for name, refuse := range readers {
			for _, lock := range []bool{false, true} {
				dir := sessionFolder(t)
				path := filepath.Join(dir, File)
				require.NoError(t, os.WriteFile(path, []byte(start), 0o600))
				if lock {
					require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), nil, 0o600))
				}
				before := folder(t, dir)
				err := refuse(dir)
				var version *VersionError
				require.ErrorAs(t, err, &version, name)
				require.True(t, IsUnreadable(err))
				want := "journal " + path + " " + want
				if name == "Create" {
					require.ErrorIs(t, err, ErrExists)
					want = ErrExists.Error() + ": " + want
				}
				require.EqualError(t, err, want)
				require.Equal(t, before, folder(t, dir), name)
			}
		}
	}
}

// file is what a folder says of one of its files.
type file struct {
	content string
	changed time.Time
	mode    os.FileMode
}

func folder(t *testing.T, dir string) map[string]file {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]file{}
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = file{string(content), info.ModTime(), info.Mode()}
	}
	return files
}

func TestRecognize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{written(t)[0]: true, `{"windlass_journal":1`: true, `{"windlass`: false, "": false, `[{"windlass_journal":3}]`: false} {
		require.Equal(t, want, Recognize(strings.NewReader(text)), text)
	}
}
