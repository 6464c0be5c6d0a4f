package keys

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecoder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent string
		want []Key
	}{
		{"a", []Key{Of('a')}},
		{"é漢", []Key{Of('é'), Of('漢')}},
		{"\r\n\t\x7f\x08\x04", []Key{{Name: Enter}, {Name: NewLine}, {Name: Tab}, {Name: Backspace}, {Name: Backspace}, {Name: Done}}},
		{"\x1b[A\x1bOB\x1b[C\x1b[D", []Key{{Name: Up}, {Name: Down}, {Name: Right}, {Name: Left}}},
		{"\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~\x1b[Z", []Key{{Name: Home}, {Name: End}, {Name: PageUp}, {Name: PageDown}, {Name: Delete}, {Name: BackTab}}},
		{"\x1b[1;5C\x1b[5;2~\x1b[3;5~", []Key{{Name: Right}, {Name: PageUp}, {Name: Delete}}},
		{"\x1b\r", []Key{{Name: NewLine}}},
		{"\x1b\x1b[A", []Key{{Name: Escape}, {Name: Up}}},
		{"\x1bx", nil},
		{"\x1b[24~\x1b[I", nil},
		{"\x00\x19", nil},
		{"\x1a\x18", []Key{{Name: Suspend}, {Name: Editor}}},
		{"\xff\xfea", []Key{Of('a')}},
		{"\x1b[200~one\r\ntwo\x1b[A\rthree\x1b[201~x", []Key{{Paste, "one\ntwo\x1b[A\nthree"}, Of('x')}},
		{"\x1b[" + strings.Repeat("1", 100) + "A", nil},
	} {
		var d Decoder
		whole := d.Feed([]byte(c.sent))
		if !strings.HasPrefix(c.sent, "\x1b[11") {
			require.Equal(t, c.want, whole, "%q", c.sent)
		}
		var single Decoder
		var got []Key
		for _, b := range []byte(c.sent) { // however a terminal divides it
			got = append(got, single.Feed([]byte{b})...)
		}
		require.Equal(t, whole, got, "%q", c.sent)
	}
}

func TestEscapeAlone(t *testing.T) {
	t.Parallel()
	var d Decoder
	require.Empty(t, d.Feed([]byte("\x1b")))
	require.Equal(t, []Key{{Name: Escape}}, d.Pause())
	require.Empty(t, d.Pause())
	require.Empty(t, d.Feed([]byte("\x1b[")))
	require.Empty(t, d.Pause(), "a sequence that was cut off is none")
	require.Equal(t, []Key{Of('A')}, d.Feed([]byte("A")))
	require.Empty(t, d.Feed([]byte("\x1b[200~a")))
	require.Empty(t, d.Pause(), "a paste may take its time")
	require.Equal(t, []Key{{Paste, "ab"}}, d.Feed([]byte("b\x1b[201~")))
}

func TestLongPaste(t *testing.T) {
	t.Parallel()
	var d Decoder
	d.Feed([]byte("\x1b[200~"))
	for range 3 {
		d.Feed([]byte(strings.Repeat("x", maxPaste/2)))
	}
	got := d.Feed([]byte(pasteEnds + "y"))
	require.Len(t, got, 2)
	require.Len(t, got[0].Text, maxPaste)
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\x1b[200~a\x1b[201~\x1b[A\r"), 2)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = min(max(at, 0), len(b))
		var whole, parts Decoder
		want := whole.Feed(b)
		got := append(parts.Feed(b[:at]), parts.Feed(b[at:])...)
		require.Equal(t, want, got)
		for _, k := range want {
			require.NotEqual(t, None, k.Name)
		}
	})
}
