package library_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
)

// FuzzSearch: whatever neighbours are, and whatever a name is, a cascade that is found by its id has
// that id, and one that is there is found.
func FuzzSearch(f *testing.F) {
	f.Add(`{"cascade_id": "a"}`, "cascade_id: b\n", "a")
	f.Add(`{"x": [{"cascade_id": "a"}], "cascade_id": "b"`, "\"cascade_id\": |\n  b\n", "b")
	f.Add("\ufeff{}", "x: |\n cascade_id: c\n---\ncascade_id: d", "../x.json")
	f.Add(`[[[`, "{cascade_id: x}", "x.yaml")
	f.Fuzz(func(t *testing.T, one, two, ref string) {
		fsys := fstest.MapFS{
			"flows/one.json": {Data: []byte(one)}, "flows/two.yaml": {Data: []byte(two)}, "cascades/three.json": {Data: []byte(text("surely_there"))},
		}
		trees := library.Trees{{FS: fsys, Searched: library.Searched}}
		for _, name := range []string{ref, "surely_there"} {
			fsys["flows/main.json"] = &fstest.MapFile{Data: []byte(text("main", name))}
			c, found, err := trees.Load(t.Context(), trees[0], "flows/main.json", known)
			if c == nil {
				require.Error(t, err)
				require.NotEmpty(t, found)
				continue
			}
			to := c.Reaches[name]
			require.True(t, library.IsPath(name) || to.Cascade.CascadeID == name, "%q", to.Cascade.CascadeID)
			lib, err := library.Encode(c)
			require.NoError(t, err)
			raw, err := json.Marshal(c)
			require.NoError(t, err)
			again, _, err := library.Read("s", raw, lib, cascade.Known{Tools: known.Tools})
			require.NoError(t, err)
			require.Equal(t, library.Hash(c), library.Hash(again))
		}
	})
}
