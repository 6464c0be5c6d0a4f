package term_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
)

const hostile = "a\tb\x1b[2J\u202ec\nd  e\u200f"

func TestTextsAreSafe(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b�[2J�c�d  e�", term.Clean(hostile))
	require.Equal(t, "a b�[2J�c\nd  e�", term.CleanLines(hostile))
	require.Equal(t, "a b�[2J�c d e�", term.OneLine(hostile))
	require.Equal(t, "a b[2Jc⏎d  e", term.Cell(hostile))
	require.Equal(t, "a\tb[2Jc\nd  e\u200f", term.WithoutControls(hostile), "marks between words stay")
}

func TestCutAndTail(t *testing.T) {
	t.Parallel()
	require.Equal(t, "漢…", term.Cut("漢字 text", 4))
	require.Equal(t, "…", term.Cut("text", 0), "no less than one column")
	require.Equal(t, "text", term.Cut("text", 4))
	require.Equal(t, "字", term.Tail("漢字", 4), "from a whole character on")
	require.Equal(t, "text", term.Tail("text", 4))
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		require.Equal(t, want, term.Count(n))
	}
	require.Equal(t, "1 entry", term.Plural(1, "entry"))
	require.Equal(t, "0 entries", term.Plural(0, "entry"))
	require.Equal(t, "2 tests", term.Plural(2, "test"))
	require.Equal(t, "1,200 turns", term.Counted(1200, "turn"))
	require.Equal(t, "66.7 %", term.Share(2, 3))
	require.Equal(t, "-1.0 %", term.Share(-5, 500))
	require.Equal(t, "0.0 %", term.Share(0, 0))
	for d, want := range map[time.Duration]string{
		0: "0ms", time.Microsecond: "<1ms", 15 * time.Millisecond: "15ms", 1500 * time.Millisecond: "1.5s", 75 * time.Second: "1m15s",
	} {
		require.Equal(t, want, term.Duration(d))
	}
	require.Equal(t, "1.5s", term.Millis(1500))
}

func TestColour(t *testing.T) {
	t.Parallel()
	red := term.Painter{On: true}.Paint(term.Red, "text")
	require.Equal(t, "\x1b[31mtext\x1b[0m", red)
	require.Equal(t, "text", term.StripColour(red))
	require.Equal(t, "text", term.Painter{}.Paint(term.Red, "text"))
}

func TestNoTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.False(t, term.IsTerminal(&out))
	require.False(t, term.CanDraw(&out))
	require.False(t, term.WantsColour(&out))
	require.Zero(t, term.Width(&out))
	require.NoError(t, term.WriteJSON(&out, map[string]string{"a": "<b>"}))
	require.Equal(t, "{\n  \"a\": \"<b>\"\n}\n", out.String())
}

// TestEscapedJSON: a terminal gets no character that would control it, and the JSON means the same.
func TestEscapedJSON(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[31m\x7f\u009b2J\u202eb\u200d\u2066\ufeff\U000e0041é語\n"
	var out strings.Builder
	require.NoError(t, term.WriteJSON(&out, map[string]string{"a": text}))
	require.Contains(t, out.String(), "\u009b2J\u202e", "a pipe gets the text as it is")
	shown := term.EscapedJSON([]byte(out.String()))
	require.Equal(t, "{\n  \"a\": \"a\\u001b[31m\\u007f\\u009b2J\\u202eb\\u200d\\u2066\\ufeff\\udb40\\udc41é語\\n\"\n}\n", string(shown))
	var back map[string]string
	require.NoError(t, json.Unmarshal(shown, &back))
	require.Equal(t, map[string]string{"a": text}, back)
	require.Equal(t, "\"\ufffd\"", string(term.EscapedJSON([]byte("\"\x9b\""))), "a byte that some terminals take for a command")
}

// The first variable that is set says the locale.
func TestIsUTF8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "de_DE.UTF-8", true},
		{"", "en_US.utf8", "C", true},
		{"C.UTF-8", "C", "C", true},
		{"", "", "", false},
		{"", "", "C", false},
		{"POSIX", "", "de_DE.UTF-8", false},
		{"", "de_DE.ISO-8859-1", "de_DE.UTF-8", false},
	} {
		set := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		require.Equal(t, c.want || runtime.GOOS == "windows", term.IsUTF8(func(name string) string { return set[name] }), set)
	}
}
