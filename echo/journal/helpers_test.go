package journal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// testHeader is the header of the journals of these tests.
var testHeader = Header{Rules: 1, SessionID: "s1", Windlass: "test", Cascade: []byte(`{}`), Input: []byte(`{}`)}

// create makes a journal without entries, and returns its folder with it.
func create(t *testing.T) (*Journal, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := Create(dir, testHeader)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return j, dir
}

// sessionFolder makes the folder of the session of these tests.
func sessionFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), testHeader.SessionID)
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}

func entryOf(text string) *echo.Entry {
	return &echo.Entry{SessionID: "s1", NodeType: echo.NodeMessage, Key: echo.MustKey("p/task"), Message: echo.NewText(echo.RoleUser, echo.KindTask, text)}
}

// numbered is an entry as a log gives it to a journal.
func numbered(seq uint64, text string) *echo.Entry {
	e := entryOf(text)
	e.Seq, e.ContentHash = seq, e.Message.Hash()
	e.SetKeyFields()
	return e
}

// written returns the lines of a journal with an entry for each text, the header first.
func written(t *testing.T, texts ...string) []string {
	t.Helper()
	j, _ := create(t)
	log := echo.NewLog("s1", nil, j)
	for _, text := range texts {
		require.NoError(t, log.Append(entryOf(text)))
	}
	require.NoError(t, log.Close(context.Background()))
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	return lines[:len(lines)-1]
}

// keyed returns a sound line with the entry of a number, without its checksum.
func keyed(seq int) string {
	return fmt.Sprintf(`{"session_id":"s1","seq":%d,"key":"p/task","phase":"p"}`, seq)
}

// summed returns lines, which have no checksums, as a journal has them.
func summed(lines ...string) string {
	var text []byte
	var sum chain.Sum
	for _, line := range lines {
		open := []byte(strings.TrimSuffix(line, "}"))
		sum = sum.Next(open)
		text = chain.End(append(text, open...), sum)
	}
	return string(text)
}

// requireEntries demands that entries are equal, of which there may be none.
func requireEntries(t *testing.T, want, got []*echo.Entry) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, e := range want {
		require.Equal(t, e, got[i])
	}
}
