//go:build unix

package token

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// at is the address of the servers of these tests.
const at = "127.0.0.1:8765"

// TestMake: every server makes a token of 256 random bits, in a file and a folder that are its
// owner's alone, and takes it away again.
func TestMake(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "a", "home")
	dir := Folder(home)
	m, err := Make(t.Context(), dir, at)
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{64}$`), m.Text)
	require.Equal(t, filepath.Join(dir, "127.0.0.1_8765.token"), m.File)
	for path, mode := range map[string]os.FileMode{m.File: 0o600, dir: 0o700, home: 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	_, err = Make(t.Context(), dir, at)
	require.ErrorIs(t, err, ErrInUse)
	found, err := Find(dir, "")
	require.NoError(t, err)
	require.Equal(t, m.Text, found)

	other, err := Make(t.Context(), dir, "[::1]:80")
	require.NoError(t, err)
	require.NotEqual(t, m.Text, other.Text)
	for address, want := range map[string]string{at: m.Text, "[::1]:80": other.Text} {
		found, err = Find(dir, address)
		require.NoError(t, err)
		require.Equal(t, want, found)
	}
	_, err = Find(dir, "")
	require.EqualError(t, err, "several servers of this home folder made a token: 127.0.0.1:8765, [::1]:80")
	_, err = Find(dir, "127.0.0.1:1")
	require.EqualError(t, err, "no server of this home folder made a token for 127.0.0.1:1; there are 127.0.0.1:8765, [::1]:80")

	require.NoError(t, m.Remove())
	require.NoFileExists(t, m.File)
	require.NoError(t, other.Remove())
	again, err := Make(t.Context(), dir, at)
	require.NoError(t, err)
	require.NotEqual(t, m.Text, again.Text, "what was shown before is worth nothing")
	require.NoError(t, again.Remove())
}

// TestFindNobody: without a server no token is found, also not the one that a killed server left
// behind: whoever listens at its address now is somebody else.
func TestFindNobody(t *testing.T) {
	t.Parallel()
	dir := Folder(t.TempDir())
	none := func() {
		t.Helper()
		for _, address := range []string{"", at} {
			_, err := Find(dir, address)
			require.EqualError(t, err, "no server of this home folder is running that made a token")
		}
	}
	none()
	require.NoDirExists(t, dir)
	m, err := Make(t.Context(), dir, at)
	require.NoError(t, err)
	require.NoError(t, m.lock.Close()) // as the system does when a process dies
	require.FileExists(t, m.File)
	none()
	again, err := Make(t.Context(), dir, at)
	require.NoError(t, err)
	found, err := Find(dir, at)
	require.NoError(t, err)
	require.Equal(t, again.Text, found)
	require.NoError(t, again.Remove())
	none()
}

// TestFindRefuses: what somebody else may know or has put there is no token. A server that starts
// replaces it.
func TestFindRefuses(t *testing.T) {
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
		"empty":                 {func(f string) error { return writeMode(f, "", 0o600) }, "holds no token"},
		"short":                 {func(f string) error { return writeMode(f, "secret", 0o600) }, "holds no token"},
		"two words":             {func(f string) error { return writeMode(f, good+good, 0o600) }, "holds no token"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := Folder(t.TempDir())
			m, err := Make(t.Context(), dir, at)
			require.NoError(t, err)
			require.NoError(t, os.Remove(m.File))
			require.NoError(t, tt.put(m.File))
			_, err = Find(dir, at)
			var refused *FileError
			require.ErrorAs(t, err, &refused)
			require.EqualError(t, err, "the token's file "+m.File+" "+tt.want)
			require.NotEmpty(t, refused.Try)
			require.NotContains(t, err.Error(), "0123456789")
			require.NoError(t, m.lock.Close())
			m, err = Make(t.Context(), dir, at)
			require.NoError(t, err)
			found, err := Find(dir, at)
			require.NoError(t, err)
			require.Equal(t, m.Text, found)
			require.NoError(t, m.Remove())
			data, err := os.ReadFile(elsewhere)
			require.NoError(t, err)
			require.Equal(t, good, string(data), "nothing is written through a link")
		})
	}
}

// TestFolderIsPrivate: who may write in the folder could exchange the file.
func TestFolderIsPrivate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		put  func(dir string) error
		want string
	}{
		"writable by others": {func(d string) error { return mkdirMode(d, 0o777) }, "can be used by other users of this machine (mode 0777)"},
		"readable by others": {func(d string) error { return mkdirMode(d, 0o755) }, "can be used by other users of this machine (mode 0755)"},
		"a link":             {func(d string) error { return os.Symlink(t.TempDir(), d) }, "is a link or something else that is no folder"},
		"a file":             {func(d string) error { return writeMode(d, "", 0o600) }, "is a link or something else that is no folder"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := Folder(t.TempDir())
			require.NoError(t, tt.put(dir))
			_, err := Make(t.Context(), dir, at)
			require.EqualError(t, err, "the token's folder "+dir+" "+tt.want)
			_, err = Find(dir, at)
			require.EqualError(t, err, "the token's folder "+dir+" "+tt.want)
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
