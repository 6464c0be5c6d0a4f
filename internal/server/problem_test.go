package server

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/failure"
)

// TestEveryKindHasItsFacts: the one table has every kind of failure and of requests, and nothing
// else.
func TestEveryKindHasItsFacts(t *testing.T) {
	t.Parallel()
	failures := declaredKinds(t, "../failure/failure.go")
	require.NotEmpty(t, failures)
	declared := slices.Concat(failures, declaredKinds(t, "problem.go"))
	require.Len(t, kinds, len(declared))
	for _, k := range declared {
		f, ok := kinds[k]
		require.True(t, ok, k)
		if slices.Contains(failures, k) {
			require.NotEmpty(t, f.try+kinds[f.as].try, k)
		}
		if f.as != "" {
			require.Empty(t, kinds[f.as].as, k)
			require.Zero(t, f.status, "%s has that of %s", k, f.as)
			f = kinds[f.as]
		}
		require.NotEmpty(t, http.StatusText(f.status), k)
		require.NotEmpty(t, f.title, k)
	}
}

// declaredKinds reads the kinds off the source that declares them.
func declaredKinds(t *testing.T, file string) (list []failure.Kind) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		name, _ := spec.Type.(*ast.Ident)
		if of, ok := spec.Type.(*ast.SelectorExpr); ok {
			name = of.Sel
		}
		if name != nil && name.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			list = append(list, failure.Kind(text))
		}
		return true
	})
	return list
}

func TestProblemOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("why")
	own := NewProblem(NotGranted, "ask", "no")
	tests := map[string]struct {
		err  error
		want Problem
	}{
		"a problem":               {fmt.Errorf("x: %w", own), *own},
		"no kind":                 {cause, Problem{Kind: Internal, Detail: "windlass failed to answer this request", Try: "look at the server's log"}},
		"an unknown kind":         {failure.New("new", cause, ""), Problem{Kind: Internal, Detail: "windlass failed to answer this request", Try: "look at the server's log"}},
		"the operator's file":     {failure.New(failure.InvalidConfig, cause, "edit"), Problem{Kind: Internal, Detail: "windlass failed to answer this request", Try: "look at the server's log"}},
		"a kind of clients":       {failure.New(failure.UnknownSession, cause, ""), Problem{Kind: failure.UnknownSession, Detail: "why", Try: "GET /api/sessions lists them"}},
		"with its own step":       {failure.New(failure.InvalidCascade, cause, "do"), Problem{Kind: failure.InvalidCascade, Detail: "why", Try: "do"}},
		"known as another":        {fmt.Errorf("x: %w", failure.New(failure.SessionBusy, cause, "")), Problem{Kind: failure.NotResumable, Detail: "x: why", Try: "wait for its end"}},
		"of the server":           {failure.New(failure.Damaged, cause, ""), Problem{Kind: failure.StorageFailed, Detail: "why", Try: "on the server: windlass doctor"}},
		"of the server, with one": {failure.New(failure.ModelUnavailable, cause, "set KEY"), Problem{Kind: failure.ModelUnavailable, Detail: "why", Try: "on the server: set KEY"}},
		"a journal of another version": {
			failure.New(failure.OtherVersion, &journal.VersionError{}, ""),
			Problem{Kind: failure.StorageFailed, Detail: (&journal.VersionError{}).Error(), Try: "POST /api/runs begins a new run"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := *ProblemOf(tt.err)
			got.Err = nil
			require.Equal(t, tt.want, got)
		})
	}
}
