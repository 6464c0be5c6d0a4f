package fetch_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/fetch"
)

// FuzzMember reads archives: what is found is a file of the wanted name with no more bytes than its
// header says.
func FuzzMember(f *testing.F) {
	archive := func(name string, kind byte, content string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		h := &tar.Header{Name: name, Typeflag: kind, Mode: 0o644, Linkname: "/etc/passwd"}
		if kind == tar.TypeReg {
			h.Size, h.Linkname = int64(len(content)), ""
		}
		require.NoError(f, w.WriteHeader(h))
		_, _ = io.WriteString(w, content) // a link has none
		require.NoError(f, w.Flush())
		require.NoError(f, z.Close())
		return b.Bytes()
	}
	f.Add(archive("package/lib/wanted", tar.TypeReg, "content"))
	f.Add(archive("../../wanted", tar.TypeReg, "content"))
	f.Add(archive("wanted", tar.TypeSymlink, ""))
	f.Add(archive("wanted", tar.TypeLink, ""))
	f.Add(archive("/dev/wanted", tar.TypeChar, ""))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := ""
		in, size, err := fetch.Member(bytes.NewReader(data), func(name string) bool { seen = name; return name == "wanted" })
		if err != nil {
			return
		}
		require.Equal(t, "wanted", seen)
		require.GreaterOrEqual(t, size, int64(0))
		n, _ := io.Copy(io.Discard, io.LimitReader(in, 1<<20)) // one that is cut says so
		require.LessOrEqual(t, n, size)
	})
}
