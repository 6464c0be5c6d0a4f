package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChecksums: every vendored file is the one that was fetched, and each library has its licence.
func TestChecksums(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"uplot", "codemirror", "../../../e2e/browser/testdata/axe"} {
		sums := map[string]string{}
		text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			require.Len(t, words, 2, line)
			sums[words[1]] = words[0]
		}
		found, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Contains(t, sums, "LICENSE", dir)
		for _, f := range found {
			if f.Name() == "SHA256SUMS" {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, f.Name()))
			require.NoError(t, err)
			sum := sha256.Sum256(data)
			require.Equal(t, sums[f.Name()], hex.EncodeToString(sum[:]), "%s is not the file that was fetched", f.Name())
			delete(sums, f.Name())
		}
		require.Empty(t, sums, dir)
	}
}
