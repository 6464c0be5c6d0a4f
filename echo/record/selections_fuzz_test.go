package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// FuzzSelections puts selections together that may not fit: a view has a message for each that the
// selections named, or there is an error, and after an error only a selection that names everything
// is read again.
func FuzzSelections(f *testing.F) {
	whole := `{"spans": [{"from": 0, "count": 2, "form": "full", "hashes": ["a", "b"], "tokens": [1, 2]}]}`
	f.Add([]byte(whole), []byte(`{"delta": true, "spans": [{"from": 1, "count": 2, "form": "masked", "hashes": ["b", "c"], "tokens": [1, 2], "sent": [[], []]}]}`))
	f.Add([]byte(whole), []byte(`{"delta": true, "spans": [{"from": 7, "count": 1, "hashes": ["a"], "tokens": [1]}]}`))
	f.Add([]byte(whole), []byte(`{"spans": [{"from": -1, "count": 1, "hashes": ["a"], "tokens": [1]}]}`))
	f.Add([]byte(`{"delta": true, "spans": []}`), []byte(`{"spans": [{"from": 0, "count": 9223372036854775807, "hashes": [], "tokens": []}]}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		r := NewSelections()
		failed := true // nothing is there that a change could be of
		most := 0
		for i, data := range [][]byte{one, two, one} {
			var s echo.Selection
			if json.Unmarshal(data, &s) != nil {
				return
			}
			for _, span := range s.Spans {
				most += len(span.Hashes)
			}
			view, err := r.Read(&echo.Entry{Seq: uint64(i + 1), Key: echo.MustKey("p/attempt1/turn1/context"), NodeType: echo.NodeSelection, Selection: &s})
			if s.Delta && failed {
				require.Error(t, err)
			}
			failed = err != nil
			require.LessOrEqual(t, len(view), most)
		}
	})
}
