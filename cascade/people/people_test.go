package people

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
)

func read(t *testing.T, text string) *HumanInput {
	t.Helper()
	var h HumanInput
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	return &h
}

// What a file has is the form that is asked; what is recorded of it is read again as the same.
func TestForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*echo.Form{
		`true`: {Kind: echo.FormText},
		`{}`:   {Kind: echo.FormText},
		`{"options": ["a", {"id": "b", "label": "B"}]}`: {Kind: echo.FormChoice, Options: []echo.Option{{ID: "a"}, {ID: "b", Label: "B"}}},
		`{"type": "rating"}`:                            {Kind: echo.FormRating, Most: waiting.DefaultMost},
		`{"fields": [{"name": "n"}, {"name": "r", "type": "rating", "required": true}]}`: {Kind: echo.FormFields, Fields: []echo.Field{
			{Name: "n", Kind: echo.FormText}, {Name: "r", Kind: echo.FormRating, Most: waiting.DefaultMost, Required: true},
		}},
	} {
		h := read(t, text)
		require.Equal(t, want, h.Form(), text)
		again, err := json.Marshal(h)
		require.NoError(t, err)
		require.Equal(t, h, read(t, string(again)), text)
	}
}

// The default is taken as a person's answer is, and only where the wait has an end.
func TestDefault(t *testing.T) {
	t.Parallel()
	of := func(text string) any {
		value, err := read(t, text).Default()
		require.NoError(t, err)
		return value
	}
	require.Equal(t, true, of(`{"type": "confirmation", "timeout_seconds": 1, "on_timeout": "default", "default_value": "yes"}`))
	require.Equal(t, json.Number("4"), of(`{"type": "rating", "timeout_seconds": 1, "on_timeout": "default", "default_value": 4}`))
	require.Nil(t, of(`{"type": "rating", "timeout_seconds": 1, "default_value": 4}`))
	require.Nil(t, of(`{"type": "rating", "on_timeout": "default", "default_value": 9}`))
	_, err := read(t, `{"type": "rating", "timeout_seconds": 1, "on_timeout": "default", "default_value": 9}`).Default()
	require.EqualError(t, err, "the answer is a whole number from 1 to 5")
}
