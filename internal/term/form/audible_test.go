package form

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term/keys"
)

var (
	draft, check = Hearer{Phase: "draft", Retries: true}, Hearer{Phase: "check"}
	both         = []Hearer{draft, check}
)

// TestAudible has the keys that say something, and what they say.
func TestAudible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		phases []Hearer
		keys   []string
		want   Said
	}{
		"words alone":                {[]Hearer{check}, []string{"Rather blue.", enter}, Said{Text: "Rather blue."}},
		"while nothing runs":         {nil, []string{"Rather blue.", enter}, Said{Text: "Rather blue."}},
		"lines":                      {nil, []string{"a\x1b\rl\nb", enter}, Said{Text: "a\nl\nb"}},
		"the answer stays":           {[]Hearer{draft}, []string{"Blue.", enter, enter}, Said{Text: "Blue."}},
		"the answer stays, by a key": {[]Hearer{draft}, []string{"Blue.", enter, "n"}, Said{Text: "Blue."}},
		"the answer is taken back":   {[]Hearer{draft}, []string{"Blue.", enter, "y"}, Said{Text: "Blue.", Retry: true}},
		"changed after all":          {[]Hearer{draft}, []string{"Blue", enter, "<esc>", ".", enter, "y"}, Said{Text: "Blue.", Retry: true}},
		"l stays":                    {[]Hearer{draft}, []string{"Blue.", enter, "l", "y"}, Said{Text: "Blue.", Retry: true}},
		"any of several":             {both, []string{"Blue.", enter, enter, "n"}, Said{Text: "Blue."}},
		"any of several, taken back": {both, []string{"Blue.", enter, enter, "y"}, Said{Text: "Blue.", Retry: true}},
		"one of several":             {both, []string{"Blue.", enter, "2", enter, "y"}, Said{Text: "Blue.", Phase: "draft", Retry: true}},
		"one that takes none back":   {both, []string{"Blue.", enter, "3", enter}, Said{Text: "Blue.", Phase: "check"}},
		"of several that take none":  {[]Hearer{check, {Phase: "end"}}, []string{"Blue.", enter, down, down, enter}, Said{Text: "Blue.", Phase: "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := NewAudible(c.phases)
			press(f, c.keys...)
			require.Equal(t, Answered, f.State(), strings.Join(f.Lines(80, 20, plain), "\n"))
			require.Equal(t, c.want, f.Said())
		})
	}
}

// Nothing is said by Esc, nor without words.
func TestAudibleIsLeft(t *testing.T) {
	t.Parallel()
	f := NewAudible([]Hearer{draft})
	press(f, " ", enter)
	require.Equal(t, Open, f.State())
	require.Contains(t, f.Lines(80, 20, plain), "  ✗ an answer is needed")
	require.Empty(t, f.Unsaid())
	press(f, "l no", enter, "<esc>")
	require.Equal(t, Open, f.State(), "back to the words")
	require.Equal(t, " l no", f.Unsaid())
	press(f, "<esc>")
	require.Equal(t, Left, f.State())
}

// TestAudibleLines has the form as a terminal shows it.
func TestAudibleLines(t *testing.T) {
	t.Parallel()
	many := []string{"Rather blue, and \x1b[Dnot ", "\x1b[200~so\tlong:\n漢" + strings.Repeat("word ", 40) + "\x1b[201~"}
	for _, width := range []int{80, 200} {
		var b strings.Builder
		show := func(when string, height int, phases []Hearer, editor bool, sent ...string) {
			f := NewAudible(phases)
			if editor {
				f.HasEditor()
			}
			press(f, sent...)
			lines := f.Lines(width-1, height, plain)
			require.LessOrEqual(t, len(lines), height)
			for _, line := range lines {
				require.LessOrEqual(t, runewidth.StringWidth(line), width-1, line)
				require.NotContains(t, line, "\x1b")
			}
			fmt.Fprintf(&b, "== %s\n%s\n", when, strings.Join(lines, "\n"))
		}
		show("opened", 20, []Hearer{check}, false)
		show("words", 20, []Hearer{draft}, true, many...)
		show("taken back", 20, []Hearer{draft}, true, append(many, enter, down)...)
		show("which phase", 20, both, false, append(many, enter, down)...)
		show("a phase whose answer is taken back", 20, both, false, append(many, enter, down, enter)...)
		show("a few lines", 6, both, false, append(many, enter)...)
		golden(t, map[int]string{80: "audible-80.golden", 200: "audible-200.golden"}[width], b.String())
	}
}

// An audible that was not taken can be changed and said again.
func TestAudibleRefused(t *testing.T) {
	t.Parallel()
	f := NewAudible(nil)
	press(f, "Blue.", enter)
	f.Refuse("session s has ended (completed): nothing in it hears an audible")
	require.Equal(t, Open, f.State())
	require.Contains(t, strings.Join(f.Lines(80, 20, plain), "\n"), "✗ session s has ended (completed)")
	f.Key(keys.Of('!'))
	press(f, enter)
	require.Equal(t, Said{Text: "Blue.!"}, f.Said())
}
