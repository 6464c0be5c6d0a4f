package exit

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
)

// TestExitCodes holds the table of exit codes against the kinds that there are.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	kinds := failureKinds(t)
	require.NotEmpty(t, kinds)
	require.Len(t, codes, len(kinds))
	for _, k := range kinds {
		require.Contains(t, codes, k)
		err := Of(failure.New(k, errors.New("x"), "do y"))
		var ee *Error
		require.ErrorAs(t, err, &ee)
		require.Equal(t, codes[k], ee.Code)
		require.Equal(t, "do y", ee.Hint)
	}
	for k := range hints {
		require.Contains(t, codes, k)
	}
}

// failureKinds reads the kinds off the source that declares them.
func failureKinds(t *testing.T) (kinds []failure.Kind) {
	f, err := parser.ParseFile(token.NewFileSet(), "../failure/failure.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			kinds = append(kinds, failure.Kind(text))
		}
		return true
	})
	return kinds
}

// What only the program can do that began a session is said so.
func TestHintOfMissingTools(t *testing.T) {
	t.Parallel()
	err := Of(failure.New(failure.InvalidRequest, &app.MissingToolsError{SessionID: "s", Tools: []string{"restart"}}, ""))
	var got *Error
	require.ErrorAs(t, err, &got)
	require.Equal(t, Usage, got.Code)
	require.EqualError(t, err, `session s: its cascade names the tool "restart", which is neither built in, nor declared, nor given`)
	require.Equal(t, "do it in the program that began the session, which gives it its tools", got.Hint)
}
