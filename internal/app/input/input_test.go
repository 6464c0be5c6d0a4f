package input

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObject(t *testing.T) {
	t.Parallel()
	in, err := Object("input", []byte(` {"id": 12345678901234567890, "a": [true]} `))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": json.Number("12345678901234567890"), "a": []any{true}}, in)
	for text, want := range map[string]string{
		"":          "input: expected a JSON object, got nothing",
		`{"a": `:    "input: expected a JSON object: it ends in the middle",
		`{"a" 1}`:   "input: expected a JSON object: character 6: invalid character '1' after object key",
		`null`:      "input: expected a JSON object, got null",
		`[1]`:       "input: expected a JSON object, got an array",
		`"text"`:    "input: expected a JSON object, got a string",
		`true`:      "input: expected a JSON object, got true or false",
		`1`:         "input: expected a JSON object, got a number",
		`{} {}`:     "input: there is more after the JSON object",
		`{"a": 1}}`: "input: there is more after the JSON object",
	} {
		_, err := Object("input", []byte(text))
		require.EqualError(t, err, want, text)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	in, err := Read("in.yaml", strings.NewReader("service: checkout\nhours: 3\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"service": "checkout", "hours": json.Number("3")}, in)
	in, err = Read("in.json", strings.NewReader(`{"service": "checkout"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"service": "checkout"}, in)

	_, err = Read("in.yml", strings.NewReader("- 1\n"))
	require.EqualError(t, err, "in.yml: expected a JSON object, got an array")
	_, err = Read("in.json", strings.NewReader("service: checkout"))
	require.ErrorContains(t, err, "in.json: expected a JSON object: character 1: ")
	_, err = Read("in.json", endless{})
	require.EqualError(t, err, "in.json: larger than 32 MiB")
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
