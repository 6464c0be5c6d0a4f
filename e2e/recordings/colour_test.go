//go:build unix

package recordings

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// look is how characters are drawn: the numbers of a sequence of colours.
type look struct {
	effects    []int // such as bold and faint, in order
	foreground string
	background string
}

func (l look) String() string {
	var parts []string
	for _, n := range l.effects {
		parts = append(parts, strconv.Itoa(n))
	}
	for _, colour := range []string{l.foreground, l.background} {
		if colour != "" {
			parts = append(parts, colour)
		}
	}
	return strings.Join(parts, ";")
}

// with returns the look after a sequence with these numbers.
func (l look) with(numbers string) look {
	list := strings.Split(numbers, ";")
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i]) // an empty one is 0
		switch {
		case n == 0:
			l = look{}
		case n < 10:
			l.effects = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(l.effects), n))))
		case n < 30:
			l.effects = slices.DeleteFunc(slices.Clone(l.effects), func(e int) bool { return e == n-20 || n == 22 && e == 1 })
		case n == 38 || n == 48:
			l = l.coloured(n, strings.Join(list[i:], ";"))
			i = len(list)
		default:
			l = l.coloured(n, list[i])
		}
	}
	return l
}

func (l look) coloured(n int, colour string) look {
	switch {
	case n == 39:
		l.foreground = ""
	case n == 49:
		l.background = ""
	case n < 40 || n >= 90 && n < 100:
		l.foreground = colour
	default:
		l.background = colour
	}
	return l
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)m`)

// uniform writes the sequences of colours in one way, whatever way tmux took: every line begins without any, has one where the
// look changes, and ends without any.
func uniform(text string) string {
	var out []string
	now := look{}
	for line := range strings.Lines(text) {
		var b strings.Builder
		drawn := ""
		line = strings.TrimSuffix(line, "\n")
		for ends := endOfText(line); line != ""; {
			if m := sequence.FindStringSubmatch(line); m != nil {
				now = now.with(m[1])
				line = line[len(m[0]):]
				ends -= len(m[0])
				continue
			}
			if ends <= 0 { // only spaces follow
				line = line[1:]
				continue
			}
			r := []rune(line[:min(len(line), 8)])[0]
			if l := now.String(); l != drawn {
				b.WriteString(strings.Repeat("\x1b[0m", min(len(drawn), 1)))
				if drawn = l; l != "" {
					b.WriteString("\x1b[" + l + "m")
				}
			}
			b.WriteRune(r)
			line = line[len(string(r)):]
			ends -= len(string(r))
		}
		if drawn != "" {
			b.WriteString("\x1b[0m")
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "\n")
}

var tail = regexp.MustCompile(`( |\x1b\[[0-9;]*m)+$`)

// endOfText returns where the last character of a line ends that is no space.
func endOfText(line string) int { return len(line) - len(tail.FindString(line)) }

func TestUniform(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1mx\x1b[0m\x1b[39m\x1b[49m y":       "\x1b[1mx\x1b[0m y",
		"\x1b[2ma  \n\x1b[0m\x1b[39mb":            "\x1b[2ma\x1b[0m\nb",
		"\x1b[2ma\x1b[0m  \nb":                    "\x1b[2ma\x1b[0m\nb",
		"\x1b[32m✓\x1b[39m \x1b[0;1mz\x1b[22mq":   "\x1b[32m✓\x1b[0m \x1b[1mz\x1b[0mq",
		"\x1b[38;5;12mx\x1b[39my\x1b[0m\x1b[39m ": "\x1b[38;5;12mx\x1b[0my",
	} {
		if got := uniform(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}
