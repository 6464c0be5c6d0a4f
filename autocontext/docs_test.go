package autocontext_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsNameEveryFormAndReason holds the tables of docs/context.md against the constants of
// view.go, both ways.
func TestDocsNameEveryFormAndReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/context.md")
	require.NoError(t, err)
	for typ, head := range map[string]string{"Form": "| form | what is sent | when |", "Reason": "| reason | forms | why |"} {
		require.ElementsMatch(t, constants(t, "view.go", typ), firstCells(t, string(text), head), "%s: constants and the table that begins %q", typ, head)
	}
}

// constants returns the values of the constants of a type in a file.
func constants(t *testing.T, file, typ string) (values []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

// firstCells returns the code in the first cells of the table below a head.
func firstCells(t *testing.T, text, head string) (cells []string) {
	t.Helper()
	table := regexp.MustCompile(regexp.QuoteMeta(head) + `\n\|[-|]+\n((?:\|.*\n)+)`).FindStringSubmatch(text)
	require.NotNil(t, table, "no table %q", head)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table[1], -1) {
		cells = append(cells, row[1])
	}
	return cells
}
