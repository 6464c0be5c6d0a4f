//go:build unix

package token

import (
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeepMakesOne: a token is made once, of 256 random bits, and its file and folder are its owner's alone.
func TestKeepMakesOne(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "a", "home")
	file := File(home)
	first, err := Keep(file)
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{64}$`), first)
	again, err := Keep(file)
	require.NoError(t, err)
	require.Equal(t, first, again, "it outlives whoever asked for it")
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700, home: 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	other, err := Keep(File(t.TempDir()))
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	renewed, err := Renew(file)
	require.NoError(t, err)
	require.NotEqual(t, first, renewed)
	again, err = Keep(file)
	require.NoError(t, err)
	require.Equal(t, renewed, again)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".token.*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestKeepAtOnce: of many that find no token all return the same.
func TestKeepAtOnce(t *testing.T) {
	t.Parallel()
	file := File(t.TempDir())
	tokens := make([]string, 16)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() { tokens[i], _ = Keep(file) })
	}
	wg.Wait()
	for _, got := range tokens {
		require.NotEmpty(t, got)
		require.Equal(t, tokens[0], got)
	}
}

// TestKeepRefuses: what somebody else may know or has put there is no token.
func TestKeepRefuses(t *testing.T) {
	t.Parallel()
	const good = "0123456789abcdef\n"
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, []byte(good), 0o600))
	tests := map[string]struct {
		put  func(file string) error
		want string
	}{
		"readable by the group": {func(f string) error { return writeMode(f, good, 0o640) }, "can be used by other users of this machine (mode 0640)"},
		"readable by others":    {func(f string) error { return writeMode(f, good, 0o604) }, "can be used by other users of this machine (mode 0604)"},
		"writable by others":    {func(f string) error { return writeMode(f, good, 0o602) }, "can be used by other users of this machine (mode 0602)"},
		"a link":                {func(f string) error { return os.Symlink(elsewhere, f) }, "is a link or something else that is no file"},
		"a link to nothing":     {func(f string) error { return os.Symlink("nothing", f) }, "is a link or something else that is no file"},
		"a FIFO":                {func(f string) error { return syscall.Mkfifo(f, 0o600) }, "is a link or something else that is no file"},
		"a folder":              {func(f string) error { return os.Mkdir(f, 0o700) }, "is a link or something else that is no file"},
		"empty":                 {func(f string) error { return writeMode(f, "", 0o600) }, "holds no token"},
		"short":                 {func(f string) error { return writeMode(f, "secret", 0o600) }, "holds no token"},
		"two words":             {func(f string) error { return writeMode(f, good+good, 0o600) }, "holds no token"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := File(t.TempDir())
			require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
			require.NoError(t, tt.put(file))
			_, err := Keep(file)
			var refused *FileError
			require.ErrorAs(t, err, &refused)
			require.EqualError(t, err, "the token's file "+file+" "+tt.want)
			require.Contains(t, refused.Try, "windlass serve token --new")
			require.NotContains(t, err.Error(), "0123456789")
		})
	}
}

// TestKeepRefusesTheFolder: who may write in the folder could exchange the file.
func TestKeepRefusesTheFolder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		put  func(dir string) error
		want string
	}{
		"writable by others": {func(d string) error { return mkdirMode(d, 0o777) }, "can be used by other users of this machine (mode 0777)"},
		"a link":             {func(d string) error { return os.Symlink(t.TempDir(), d) }, "is a link or something else that is no folder"},
		"a file":             {func(d string) error { return writeMode(d, "", 0o600) }, "is a link or something else that is no folder"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := File(t.TempDir())
			dir := filepath.Dir(file)
			require.NoError(t, tt.put(dir))
			for _, ask := range []func(string) (string, error){Keep, Renew} {
				_, err := ask(file)
				require.EqualError(t, err, "the token's folder "+dir+" "+tt.want)
			}
		})
	}
}

// TestForeign: a file of another user is refused, whatever its mode.
func TestForeign(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, writeMode(file, "x", 0o600))
	info, err := os.Stat(file)
	require.NoError(t, err)
	me := os.Geteuid()
	require.Empty(t, foreign(info, me))
	require.Regexp(t, `^belongs to the user with the number \d+, and this process is number \d+$`, foreign(info, me+1))
}

// TestParse: white space around a token does not belong to it, any within does not belong there.
func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse(" 0123456789abcdef\r\n")
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", got)
	for _, text := range []string{"", " ", "0123456789abcde", "0123456789 abcdef", "0123456789abcdef\x00", "0123456789abcdé", "0123456789\nabcdef"} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrForm, "%q", text)
	}
}

func writeMode(path, text string, mode os.FileMode) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask is
}

func mkdirMode(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
