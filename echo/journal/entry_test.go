package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry whose fields contradict its key is refused by everything that reads journals, with its
// line.
func TestEntriesThatContradictTheirKeys(t *testing.T) {
	t.Parallel()
	const head, key = `{"windlass_journal":3,"rules":1,"session_id":"s1"}`, `"key":"draft/sounding2/attempt1/turn3/model"`
	for entry, want := range map[string]string{
		`{"session_id":"s1","seq":2,` + key + `,"phase":"plan","attempt":1,"turn":3,"sounding":2}`:  `its phase is "plan", but its key draft/sounding2/attempt1/turn3/model says "draft"`,
		`{"session_id":"s1","seq":2,` + key + `,"attempt":1,"turn":3,"sounding":2}`:                 `its phase is "", but its key draft/sounding2/attempt1/turn3/model says "draft"`,
		`{"session_id":"s1","seq":2,` + key + `,"phase":"draft","attempt":2,"turn":3,"sounding":2}`: `its attempt is 2, but its key draft/sounding2/attempt1/turn3/model says 1`,
		`{"session_id":"s1","seq":2,` + key + `,"phase":"draft","attempt":1,"sounding":2}`:          `its turn is 0, but its key draft/sounding2/attempt1/turn3/model says 3`,
		`{"session_id":"s1","seq":2,` + key + `,"phase":"draft","attempt":1,"turn":3,"sounding":1}`: `its sounding is 1, but its key draft/sounding2/attempt1/turn3/model says 2`,
		`{"session_id":"s1","seq":2,"key":"run/end","phase":"run"}`:                                 `its phase is "run", but its key run/end says ""`,
		`{"session_id":"s1","seq":2,"key":""}`:                                                      `it has no key`,
		`{"session_id":"s1","seq":2,"node_type":"message"}`:                                         `it has no key`,
		`{"session_id":"s1","seq":2,"key":null}`:                                                    `it has no key`,
		`{"session_id":"s1","seq":2,"key":"p/task","key":""}`:                                       `it has no key`,
	} {
		text := summed(head, keyed(1), entry, keyed(3))
		want := ": entry 2: " + want + "; windlass does not write such entries: restore the journal from a copy"
		_, err := readText(text)
		require.EqualError(t, err, "journal j is damaged at line 3"+want)
		_, err = followed(text, 2, len(text))
		require.EqualError(t, err, "journal j is damaged at line 3"+want)
		_, _, err = lookAt(text, 99)
		require.EqualError(t, err, "journal j is damaged at line 2 from its end"+want)
	}
}
