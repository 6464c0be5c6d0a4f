// Package architecture holds the structure of the code against docs/architecture.md.
package architecture

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/windlass-run/windlass/"

// Every package imports only what the table of docs/architecture.md allows. As this holds for each, it holds for what
// they import through others. Tests may import anything.
func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	table := readTable(t)
	seen := map[string]bool{}
	for pkg, imports := range ownImports(t) {
		room := roomOf(pkg, table)
		allowed, ok := table[room]
		require.True(t, ok, "package %s has no row in docs/architecture.md", pkg)
		seen[room] = true
		if slices.Contains(allowed, "any") {
			continue
		}
		for _, d := range imports {
			to := roomOf(d, table)
			require.True(t, to == room || slices.Contains(allowed, to),
				"%s imports %s: docs/architecture.md does not allow %s -> %s", pkg, d, room, to)
		}
	}
	require.GreaterOrEqual(t, len(seen), 10, "the listing of packages came back too short to mean anything")
}

// The engine and what decides about context never see a database or a provider's library.
func TestEngineStaysFreeOfDriversAndProviders(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"engine", "autocontext", "echo", "cascade"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+pkg).Output()
		require.NoError(t, err)
		for _, foreign := range []string{"ClickHouse/", "openai/", "spf13/", "database/sql"} {
			require.NotContains(t, string(out), foreign, pkg)
		}
	}
}

var row = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|[^|]*\\|([^|]*)\\|$")

// readTable returns the allowed imports by package.
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	table := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		var allowed []string
		for name := range strings.SplitSeq(m[2], ",") {
			allowed = append(allowed, strings.Trim(strings.TrimSpace(name), "`"))
		}
		table[m[1]] = allowed
	}
	require.NotEmpty(t, table)
	return table
}

// roomOf returns the row that a package belongs to: its own, or the nearest folder above it that has one.
func roomOf(pkg string, table map[string][]string) string {
	room := strings.TrimPrefix(pkg, module)
	for at := room; at != ""; {
		if _, ok := table[at]; ok {
			return at
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	return room
}

// ownImports returns, for each package of the module, what it imports of ours.
func ownImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...").Output()
	require.NoError(t, err)
	own := map[string][]string{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return own
		} else if err != nil {
			t.Fatal(err)
		}
		own[p.ImportPath] = slices.DeleteFunc(p.Imports, func(name string) bool { return !strings.HasPrefix(name, module) })
	}
}
