//go:build unix

package billed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bad is an input that goes wrong. Its files are written beside those of the project, a main.json among them. What
// windlass says and how it exits is in testdata/bad/NAME.txt.
type Bad struct {
	Name    string
	Files   map[string]string
	Input   string   // JSON
	Answers []Rule   // of the run; none: nothing is to be asked
	Mended  []Rule   // of a resume that follows; none: there is no resume
	Flags   []string // of the run
	Again   []string // flags of the resume
	Shows   []string // arguments of a command at the end, which shows what came of it
}

// TestBad holds what is said of each bad input, and its exit code, against what is written down; and that nothing is
// lost: what was recorded holds, has the money that was billed, and goes on once what was wrong is mended.
func (s *Suite) TestBad(t *testing.T, cases []Bad) {
	t.Helper()
	for _, b := range cases {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s.tryBad(t, &b)
		})
	}
}

func (s *Suite) tryBad(t *testing.T, b *Bad) {
	t.Helper()
	w := s.New(t, b.Answers)
	for name, text := range b.Files {
		w.File(name, text)
	}
	var said strings.Builder
	tell := func(args ...string) *Ended {
		e := w.Start(nil, args...)
		require.NotRegexp(t, `panic: |goroutine \d+ \[|error of its own`, e.Err)
		fmt.Fprintf(&said, "$ windlass %s\n%s%s[exit code %d]\n\n", strings.Join(shown(args), " "), w.plain(e.Out), w.plain(e.Err), e.Code)
		return e
	}
	valid := tell("validate", "main.json").Code == 0
	args := []string{"run", "main.json", "--session", "bad", "--no-clickhouse", "--progress", "quiet"}
	if b.Input != "" {
		w.File("input.json", b.Input)
		args = append(args, "--input-file", "input.json")
	}
	if args = append(args, b.Flags...); !valid {
		require.Equal(t, 3, w.Start(nil, args...).Code, "run says the same")
	} else {
		tell(args...)
	}
	w.nothingLost()
	if b.Mended != nil {
		w.Provider.Mend(b.Mended)
		tell(append([]string{"resume", "bad", "--progress", "quiet"}, b.Again...)...)
		w.nothingLost()
	}
	if b.Shows != nil {
		tell(b.Shows...)
	}
	require.Empty(t, w.Provider.Wrong())
	s.Compare(t, filepath.Join("testdata", "bad", strings.ReplaceAll(b.Name, " ", "_")+".txt"), said.String())
}

// nothingLost demands that what is recorded holds.
func (w *World) nothingLost() {
	w.T.Helper()
	if !w.Exists("bad") {
		return
	}
	tree := w.Tree("bad")
	require.NoError(w.T, tree.Agree())
	require.Zero(w.T, w.SettleBill(tree))
	w.MustRun(0, "verify", "bad")
}

// shown returns arguments without those that all runs have.
func shown(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--no-clickhouse":
		case "--progress":
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

var (
	childIDs = regexp.MustCompile(`\b[0-9a-z]{26}\b`)
	amounts  = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`)
	ports    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	versions = regexp.MustCompile(`m\d+-[0-9a-f]{12}`)
)

// plain returns what was said without what is another each time.
func (w *World) plain(text string) string {
	text = strings.ReplaceAll(text, w.Dir, "/work")
	text = strings.ReplaceAll(text, w.Base, "/base")
	text = childIDs.ReplaceAllString(text, "CHILD")
	text = amounts.ReplaceAllString(text, "TIME")
	text = versions.ReplaceAllString(text, "MODEL")
	return ports.ReplaceAllString(text, "HOST")
}

// Compare holds a text against a file, or writes the file.
func (s *Suite) Compare(t testing.TB, path, text string) {
	t.Helper()
	if s.Update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		require.Fail(t, "there is no "+path+": write it with -update")
	}
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
