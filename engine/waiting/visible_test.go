package waiting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a person is shown of arguments is the same JSON, and of different ones another text that a terminal and a browser
// show as it is.
func TestVisible(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"a":"x\u202ey\u200b\u00ad\ufeff\u061c"}`: `{"a":"x\u202ey\u200b\u00ad\ufeff\u061c"}`,
		`{"a":"\ufffd"}`:   `{"a":"\ufffd"}`,
		"{\"a\":\"\xff\"}": `{"a":"\ufffd"}`,
		`{"a":"❤\ufe0f\u034f\u3164\u115f\u2800"}`:   `{"a":"❤\ufe0f\u034f\u3164\u115f\u2800"}`,
		`{"a":"\udb40\udc41\udb40\udd00\ue000"}`:    `{"a":"\udb40\udc41\udb40\udd00\ue000"}`,
		`{"a":"\u00a0\u2003 \u3000"}`:               `{"a":"\u00a0\u2003 \u3000"}`,
		`{"a":"\u007f\u0085\u001b[2J\u0000"}`:       `{"a":"\u007f\u0085\u001b[2J\u0000"}`,
		`{"a":"\n\t\u2028\u0378"}`:                  `{"a":"\n\t\u2028\u0378"}`,
		`{"\u200bb" : 1.50, "a":"\u003cé世😀\u0301"}`: `{"a":"<é世😀` + "\u0301" + `","\u200bb":1.50}`,
		"no\u202e JSON":                             `no\u202e JSON`,
	} {
		require.Equal(t, want, VisibleLine(json.RawMessage(args)))
		if json.Valid([]byte(args)) {
			again, err := Canonical(json.RawMessage(VisibleLine(json.RawMessage(args))))
			require.NoError(t, err)
			canonical, err := Canonical(json.RawMessage(args))
			require.NoError(t, err)
			require.Equal(t, string(canonical), string(again), "it is the same JSON")
			require.Equal(t, want, strings.NewReplacer("{\n  ", "{", "\n}", "}", ": ", ":", "\n  ", "").Replace(Visible(json.RawMessage(args))))
		}
	}
}
