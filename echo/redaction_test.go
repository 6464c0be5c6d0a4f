package echo

import (
	"encoding/json"
	"strings"
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

// Only content changes; all else stays byte for byte.
func TestRewriteContent(t *testing.T) {
	t.Parallel()
	place := &ContentPlace{Members: map[string]*ContentPlace{
		"say": {Is: ContentText}, "form": {Is: ContentPattern}, "any": {Is: ContentData}, "in": {Is: ContentGiven}, "list": {Members: map[string]*ContentPlace{"*": {Is: ContentText}}},
		"names": {Is: ContentInputs, Schema: &ContentPlace{Members: map[string]*ContentPlace{"title": {Is: ContentText}}}, Members: map[string]*ContentPlace{"*": {Is: ContentText}}},
	}}
	var stays []string
	change := ContentChange{
		Text: strings.ToUpper, Name: strings.ToUpper, Stays: func(s string) { stays = append(stays, s) },
		Number: func(n json.Number) (string, bool) { return "0", n == "4.70" },
	}
	for _, pair := range [][2]string{
		{`{"key" : "a", "say": "a\u0062<",  "n":4.70}`, `{"key" : "a", "say": "AB\u003c",  "n":4.70}`},
		{`{"form":"a {{ b }} c {% d %}{{ e"}`, `{"form":"A {{ b }} C {% d %}{{ E"}`},
		{`{"any":{"k":["v",4.70, 1.50,true]},"list":["x","X"]}`, `{"any":{"K":["V",0, 1.50,true]},"list":["X","X"]}`},
		{`{"in":{"k":"v"}}`, `{"in":{"k":"V"}}`},
		{`{"names":{"topic":"what"}}`, `{"names":{"topic":"WHAT"}}`},
		{`{"names":{"type":"object","title":"a"}}`, `{"names":{"type":"object","title":"A"}}`},
		{`null`, `null`},
	} {
		now, err := RewriteContent([]byte(pair[0]), place, change)
		require.NoError(t, err)
		require.Equal(t, pair[1], string(now))
	}
	require.Contains(t, stays, "{{ b }}")
	_, err := RewriteContent([]byte(`{"say":`), place, change)
	require.EqualError(t, err, "read JSON: unexpected EOF")
	e := &Entry{Data: json.RawMessage(`{"say":"a"}`)}
	require.NoError(t, e.RewriteContent(place, change))
	require.Equal(t, `{"say":"A"}`, string(e.Data))
	require.NoError(t, (&Entry{}).RewriteContent(place, change))
}
