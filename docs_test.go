package windlass_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// frame is what stands around a piece of a program in docs/library.md.
const frame = `package piece

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
)

var _, _, _, _ = fmt.Print, log.Print, os.Exit, echo.TextHash

func _(ctx context.Context, w *windlass.Windlass, c *windlass.Cascade, run *windlass.Run) {
	%s
}
`

// Every example of docs/library.md compiles in another module.
func TestLibraryPageCompiles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/library.md")
	require.NoError(t, err)
	dir := consumer(t)
	n := 0
	for rest := string(page); ; n++ {
		_, after, found := strings.Cut(rest, "```go\n")
		if !found {
			break
		}
		text, after, found := strings.Cut(after, "```\n")
		require.True(t, found)
		rest = after
		if !strings.HasPrefix(text, "package ") {
			text = fmt.Sprintf(frame, used(text))
		}
		folder := filepath.Join(dir, fmt.Sprintf("piece%d", n))
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(text), 0o600))
	}
	require.Greater(t, n, 7)
	runGo(t, dir, "build", "./...")
}

var declared = regexp.MustCompile(`(?m)^(\w+)(?:, (\w+))? := `)

// used has what a piece declares used.
func used(text string) string {
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		for _, name := range m[1:] {
			if name != "" {
				text += "\n\t_ = " + name
			}
		}
	}
	return text
}
