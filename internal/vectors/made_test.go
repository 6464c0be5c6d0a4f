package vectors

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/fetch"
)

// made is a file like the published one: the words by frequency, each with its vector.
type made struct {
	words   []string
	vectors [][]float64
}

// madeOf returns a file with random vectors, the same for the same words.
func madeOf(words ...string) made {
	r := rand.New(rand.NewPCG(1, 2))
	m := made{words: words}
	for range words {
		v := make([]float64, 8)
		for d := range v {
			v[d] = r.NormFloat64()
		}
		m.vectors = append(m.vectors, v)
	}
	return m
}

// json writes the file, the words of the vectors in the order of the published one.
func (m made) json(t *testing.T) string {
	t.Helper()
	dims := len(m.vectors[0])
	list, err := json.Marshal(m.words)
	require.NoError(t, err)
	var b strings.Builder
	fmt.Fprintf(&b, `{"precision":8,"l2NormIndex":%d,"wordIndex":%d,"size":%d,"dimensions":%d,"words":%s,"vectors":{`,
		dims, dims+1, len(m.words), dims, list)
	for i, w := range m.words {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(w)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s:[", key)
		for _, x := range m.vectors[i] {
			fmt.Fprintf(&b, "%g,", x)
		}
		fmt.Fprintf(&b, "1.5,%d]", i)
	}
	b.WriteString(`},"unkVector":[0,0,-1]}`)
	return b.String()
}

// table converts the file and opens what comes of it.
func (m made) table(t *testing.T) *table {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, convert(strings.NewReader(m.json(t)), &out))
	opened, err := readTable(out.Bytes())
	require.NoError(t, err)
	return opened
}

// archiveOf returns an npm archive with one file.
func archiveOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// npmWith returns a configuration with an npm that runs this script, for the package that is
// archive; the script finds the archive at $ARCHIVE. Each run of npm leaves a line in the file that
// is returned.
func npmWith(t *testing.T, archive []byte, script string) (c Config, runs string) {
	t.Helper()
	dir := t.TempDir()
	path, runs := filepath.Join(dir, "made.tgz"), filepath.Join(dir, "runs")
	require.NoError(t, os.WriteFile(path, archive, 0o600))
	text := fmt.Sprintf("#!/bin/sh\nARCHIVE='%s'\necho \"$1 $2\" >> '%s'\n%s\n", path, runs, script)
	syscall.ForkLock.RLock() // a child forked now would keep the file open for writing: "text file busy"
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npm"), []byte(text), 0o755)) //nolint:gosec // it must be executable
	sum := sha512.Sum512(archive)
	return Config{
		CacheDir: filepath.Join(t.TempDir(), "cache"),
		Path:     dir + string(os.PathListSeparator) + "/bin" + string(os.PathListSeparator) + "/usr/bin",
		Package: fetch.Package{
			Name: "made-vectors", Version: "1.0.0", Packed: int64(len(archive)),
			Integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		},
	}, runs
}

const giveArchive = `cp "$ARCHIVE" "$4/made-vectors-1.0.0.tgz"`

// madeArchive is the archive of a small file.
func madeArchive(t *testing.T) []byte {
	t.Helper()
	return archiveOf(t, "package/"+original, madeOf("the", "of", "lock", "user", "migration").json(t))
}
