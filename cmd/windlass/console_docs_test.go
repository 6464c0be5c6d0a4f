//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShownOutput runs the console blocks of the pages: each "$ windlass ..." prints what is shown
// below it on standard output, in a folder with the examples, where "$ cd ..." leads. Each block
// begins in a folder of its own.
func TestShownOutput(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../examples")
	require.NoError(t, err)
	total := 0
	for _, page := range []string{"install.md", "cli.md", "simulate.md", "selection.md", "memory.md"} {
		for _, b := range blocksOf(t, page) {
			if b.info != "console" || strings.Contains(b.text, " 01jz4k") { // those of a redacted session have a test of their own
				continue
			}
			l := newLab(t, "")
			require.NoError(t, os.Symlink(examples, filepath.Join(l.dir, "examples")))
			for _, shown := range strings.Split("\n"+b.text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(shown, "\n")
				if dir, ok := strings.CutPrefix(command, "cd "); ok {
					l.dir = filepath.Join(l.dir, dir)
					continue
				}
				total++
				args := strings.Fields(command)
				require.Equal(t, "windlass", args[0])
				if args[1] == "run" {
					args = append(args, "--no-clickhouse") // it changes nothing of what is shown
				}
				got := l.run(exitOK, args[1:]...).out.String()
				require.Equal(t, strings.TrimSuffix(want, "\n"), strings.TrimSuffix(got, "\n"), "%s: %s", page, command)
			}
		}
	}
	require.Equal(t, 17, total)
}
