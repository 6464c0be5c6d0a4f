package echo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A redacted message keeps the hash that it had, in whatever way it is written and read, and is sent
// and digested as it stands.
func TestRedactedMessagesKeepTheirHash(t *testing.T) {
	t.Parallel()
	was := NewToolResult(ToolCall{ID: "c1", Name: "t"}, Text("a secret <&>"), false)
	d := was.Draft()
	d.Parts = Text(RedactionMark(was.Hash(), was.Text()))
	plain := Seal(d)
	d.Redacted = &Redacted{Hash: was.Hash(), Of: []Hash{was.Hash()}, Tokens: 7, Bytes: len(was.JSON())}
	m := Seal(d)
	require.Equal(t, was.Hash(), m.Hash())
	require.Equal(t, plain.Digest(), m.Digest())
	require.Equal(t, plain.JSON(), m.JSON())
	require.Equal(t, "[redacted "+string(was.Hash())+": 12 characters]", m.Text())
	require.Nil(t, was.Redacted())

	text, err := json.Marshal(m)
	require.NoError(t, err)
	var again Message
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, m, &again)
	e := &Entry{Seq: 1, Key: MustKey("p/task"), Message: m, ContentHash: m.Hash(), Selection: &Selection{Spans: []Span{{Sent: [][]*Message{{m, nil}}}}}}
	sameAsJSON(t, e)
	require.NoError(t, e.CheckRedacted([]Hash{"0123456789abcdef", was.Hash()}))
	require.EqualError(t, e.CheckRedacted(nil), `entry 1: the message "`+string(was.Hash())+`" says that it is redacted, and the header of the journal does not`)

	derived := Seal(m.Derived())
	require.Equal(t, was.Hash(), derived.Hash())
	require.Zero(t, derived.Redacted().Tokens, "it has other tokens")
	require.EqualValues(t, 7, m.Redacted().Tokens)
}

func TestReplaceStrings(t *testing.T) {
	t.Parallel()
	upper := func(s string) string {
		if s == "a" || s == "<" {
			return "\u2028" + s
		}
		return s
	}
	for was, want := range map[string]string{
		``:                                       ``,
		`{"b": 1.50, "a":["a\u0061", "\u003c"]}`: `{"b": 1.50, "\u2028a":["a\u0061", "\u2028\u003c"]}`,
		`"\""`:                                   `"\""`,
		`{"cut":"a`:                              `{"cut":"a`,
	} {
		require.Equal(t, want, string(ReplaceStrings(json.RawMessage(was), upper)))
	}
	e := &Entry{}
	e.ReplaceStrings(upper)
	require.Nil(t, e.Data)
	marks := MarksOf([]Hash{"0123456789abcdef"})
	require.True(t, marks.In(nil, []byte(`"x [redacted 0123456789abcdef: 3 characters]"`)))
	require.False(t, marks.In([]byte(`[redacted 0123456789abcdee: 3 characters]`)))
	require.False(t, MarksOf(nil).In([]byte(`[redacted : `)))
}
