package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// plain says nothing special of anything.
type plain struct{}

func (plain) Describe(at document.Place) string { return "the value at " + at.Pointer() }

func (plain) Later(document.Place, string) bool             { return false }
func (plain) Home(document.Place, string, bool) string      { return "" }
func (plain) LaterValue(document.Place) (what, hint string) { return "", "" }
func (plain) Instead(document.Place) string                 { return "" }

func (plain) TooFew(document.Place) (code document.Code, message, hint string) { return "", "", "" }

func (plain) WrongText(document.Place, string) (code document.Code, message, hint string) {
	return "", "", ""
}

func TestWhatIsWrongIsLeftOut(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"object","additionalProperties":false,"required":["size"],
		"properties":{"size":{"type":"integer"},"name":{"type":"string"},"list":{"type":"array","minItems":1}}}`))
	require.NoError(t, err)
	var found document.Diagnostics
	doc := document.Open(t.Context(), source.Parse("x.json", []byte(`{"name": "a", "sise": 1, "list": []}`)), s, plain{}, &found)
	var v struct {
		Name string
		Sise int
		List []int
	}
	require.True(t, doc.Decode(&v))
	require.Equal(t, "a", v.Name)
	require.Zero(t, v.Sise)
	require.True(t, doc.Root().Meant("size"), "a misspelt key is not missing as well")
	require.False(t, doc.Root().Key("list").Sound())
	require.True(t, doc.Root().Key("name").Sound())
	found, err = found.Verdict("x.json")
	require.EqualError(t, err, `x.json:1:15: error: unknown key "sise" in the value at  [unknown_key] (and 1 more error)`)
	require.Len(t, found, 2)
	require.Equal(t, `did you mean "size"?`, found[0].Hint)
	require.Contains(t, found[1].Message, "the value at /list")
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{}`))
	require.NoError(t, err)
	var found document.Diagnostics
	doc := document.Open(t.Context(), source.Parse("x.yaml", []byte("a:\n  - one\n  - two\nb: text\n")), s, plain{}, &found)
	root := doc.Root()
	require.Equal(t, "x.yaml:3:5", root.Keys("a", "1").String())
	require.Equal(t, "two", root.Key("a").Element(1).Node().Text)
	require.Equal(t, "text", root.Key("b").Element(1).Node().Text, "a value may stand for a list of it")
	require.Equal(t, []string{"b"}, root.Written("b", "c"))
	require.Nil(t, root.Key("c").Node())
	root.Key("b").Mark(document.SeverityWarning, document.CodeNoEffect, source.Pos{Line: 1, Col: 2}, source.Pos{Line: 1, Col: 3}, "m", "h")
	require.Equal(t, []int{4, 5, 7}, []int{found[0].Line, found[0].Col, found[0].EndCol})
	require.Equal(t, "m", doc.Withdraw().Message)
	require.Empty(t, found)
}
