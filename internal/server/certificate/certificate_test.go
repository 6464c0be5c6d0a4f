//go:build unix

package certificate

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/certificate/certificatetest"
)

// TestLoadRefuses: what no client could use, or what other users can read, is an error at the
// start.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tests := map[string]struct {
		from, until time.Time
		change      func(t *testing.T, f *certificatetest.Files)
		want        string
	}{
		"expired":       {now.Add(-2 * time.Hour), now.Add(-time.Hour), nil, `^the certificate \S+cert.pem expired at \d{4}-`},
		"not valid yet": {now.Add(time.Hour), now.Add(2 * time.Hour), nil, `^the certificate \S+cert.pem is not valid before \d{4}-`},
		"another key": {change: func(t *testing.T, f *certificatetest.Files) {
			f.Key = certificatetest.Write(t, t.TempDir(), 2, now, now.Add(time.Hour)).Key
		}, want: `^use the certificate \S+ with the key \S+: tls: private key does not match public key$`},
		"no certificate":            {change: func(_ *testing.T, f *certificatetest.Files) { f.Cert += ".none" }, want: `^stat \S+cert.pem.none: no such file or directory$`},
		"no key":                    {change: func(_ *testing.T, f *certificatetest.Files) { f.Key += ".none" }, want: `^stat \S+key.pem.none: no such file or directory$`},
		"the key twice":             {change: func(_ *testing.T, f *certificatetest.Files) { f.Cert = f.Key }, want: `^use the certificate \S+ with the key \S+: tls: `},
		"a key that others read":    {change: mode(0o604), want: `^read the key of the certificate: \S+ can be used by other users of this machine \(mode 0604\); chmod 600 \S+, or 640 for a group$`},
		"a key that others write":   {change: mode(0o602), want: `\(mode 0602\); chmod 600`},
		"a key that a group writes": {change: mode(0o660), want: `\(mode 0660\); chmod 600`},
		"a folder for a key":        {change: func(t *testing.T, f *certificatetest.Files) { f.Key = t.TempDir() }, want: `^read the key of the certificate: \S+ is not a file$`},
		"a FIFO for a certificate": {change: func(t *testing.T, f *certificatetest.Files) {
			f.Cert = filepath.Join(t.TempDir(), "fifo")
			require.NoError(t, syscall.Mkfifo(f.Cert, 0o600))
		}, want: `^read the certificate: \S+fifo is not a file$`},
		"no end": {change: func(_ *testing.T, f *certificatetest.Files) { f.Cert = "/dev/zero" }, want: `^read the certificate: /dev/zero is not a file$`},
		"too much": {change: func(t *testing.T, f *certificatetest.Files) {
			require.NoError(t, os.WriteFile(f.Cert, make([]byte, maxFile+1), 0o600))
		}, want: `^read the certificate: \S+ has more than 1048576 bytes$`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.from.IsZero() {
				tt.from, tt.until = now.Add(-time.Hour), now.Add(time.Hour)
			}
			f := certificatetest.Write(t, t.TempDir(), 1, tt.from, tt.until)
			if tt.change != nil {
				tt.change(t, &f)
			}
			_, err := Load(f.Cert, f.Key, func(string) {})
			require.Error(t, err)
			require.Regexp(t, tt.want, err.Error())
		})
	}
}

func mode(m os.FileMode) func(*testing.T, *certificatetest.Files) {
	return func(t *testing.T, f *certificatetest.Files) { require.NoError(t, os.Chmod(f.Key, m)) }
}

// TestReload: a certificate that was renewed is used from the next handshake on; one that cannot be
// used is told once, and the one from before stays.
func TestReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := time.Now()
	now := start
	write := func(serial int64) certificatetest.Files {
		return certificatetest.Write(t, dir, serial, start.Add(-time.Hour), start.Add(24*time.Hour))
	}
	f := write(1)
	require.NoError(t, os.Chmod(f.Key, 0o640), "a group may read it")
	var said []string
	p, err := load(f.Cert, f.Key, func(s string) { said = append(said, s) }, func() time.Time { return now })
	require.NoError(t, err)
	require.WithinDuration(t, start.Add(24*time.Hour), p.Until(), time.Second)
	config := p.Config()
	require.Equal(t, uint16(tls.VersionTLS12), config.MinVersion)
	serial := func() int64 {
		c, err := config.GetCertificate(nil)
		require.NoError(t, err)
		return c.Leaf.SerialNumber.Int64()
	}
	write(2)
	require.Equal(t, int64(1), serial(), "the files are not looked at for every handshake")
	now = now.Add(lookEvery)
	require.Equal(t, int64(2), serial())
	require.Len(t, said, 1)
	require.Regexp(t, `^the certificate was read again; it is valid until \d{4}-`, said[0])

	require.NoError(t, os.Remove(f.Key))
	for range 3 {
		now = now.Add(lookEvery)
		require.Equal(t, int64(2), serial())
	}
	require.Len(t, said, 1, "one that is missing is about to be replaced")
	require.NoError(t, os.WriteFile(f.Key, []byte("half a key"), 0o600))
	for range 3 {
		now = now.Add(lookEvery)
		require.Equal(t, int64(2), serial())
	}
	require.Len(t, said, 2)
	require.Regexp(t, `^warning: the certificate changed and cannot be used, so the one from before stays: use the certificate `, said[1])
	write(3)
	now = now.Add(lookEvery)
	require.Equal(t, int64(3), serial())
}
