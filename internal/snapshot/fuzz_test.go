package snapshot

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse reads test files: one that is taken is complete, and is the same after it was written
// and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"windlass_test": 2, "name": "a", "cascade": "c.json", "match": ["phases"], "answers": [{"key": "p/attempt1/turn1/model", "type": "model_call"}]}`))
	f.Add([]byte(`{"windlass_test": 99}`))
	f.Add([]byte(`{"windlass_test": 2, "match": ["phases"], "expect": {"output": 1e400}} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		test, err := parse(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, json.Valid(data))
		require.NotEmpty(t, test.Name)
		require.NotEmpty(t, test.Match)
		written, err := test.encode()
		require.NoError(t, err)
		again, err := parse(written)
		require.NoError(t, err, "%s", written)
		twice, err := again.encode()
		require.NoError(t, err)
		require.Equal(t, string(written), string(twice))
	})
}
