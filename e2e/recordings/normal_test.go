//go:build unix

package recordings

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// normalise replaces what differs from run to run, unless it is exact: ids of sessions, times, durations, addresses and folders. Money, tokens
// and everything else stay.
func normalise(text, base string, exact bool) string {
	text = strings.ReplaceAll(text, base, shownBase)
	text = sequenceEnd.ReplaceAllString(uniform(text), "$1\x02") // so that a word that follows begins there
	text = address.ReplaceAllString(text, "127.0.0.1:40000")
	if exact {
		return trimmed(text)
	}
	text = normaliseIDs(text)
	for _, r := range replacements {
		text = r.pattern.ReplaceAllStringFunc(text, r.with)
	}
	text = timeColumn.ReplaceAllString(text, "  time\n$1  ----\n")
	return trimmed(fillGaps(liveHead.ReplaceAllString(text, "cost  time")))
}

// gap stands for empty columns before a duration.
const gap = "\x03"

var (
	liveHead = regexp.MustCompile(`cost +time\b`) // of the live view: the last column is as wide as the longest duration
	drawn    = regexp.MustCompile(`\x1b\[[0-9;]*\x02`)
)

// fillGaps has durations after empty columns end where the head of the table above them ends.
func fillGaps(text string) string {
	width := func(s string) int { return utf8.RuneCountInString(drawn.ReplaceAllString(s, "")) }
	var lines []string
	head := 0
	for line := range strings.SplitSeq(text, "\n") {
		if plain := drawn.ReplaceAllString(line, ""); strings.HasSuffix(strings.TrimRight(plain, " "), "cost  time") {
			head = utf8.RuneCountInString(strings.TrimRight(plain, " "))
		}
		missing := max(head-width(line)+1, 2)
		lines = append(lines, strings.Replace(line, gap, strings.Repeat(" ", missing), 1))
	}
	return strings.Join(lines, "\n")
}

// timeColumn is the head of a last column of durations, which is as wide as the longest.
var timeColumn = regexp.MustCompile(` +time\n((?:-+ +)*-+) +-+\n`)

// trimmed returns the text without spaces at the ends of its lines, and without empty lines around it.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	text = strings.NewReplacer("\x1b", `\e`, "\x02", "m").Replace(strings.Join(lines, "\n"))
	return strings.Trim(text, "\n") + "\n"
}

var shownSequence = regexp.MustCompile(`^\\e\[[0-9;]*m`)

// wrapped breaks lines where a terminal does. Each character takes one column; the sequences of colours take none.
func wrapped(text string, width int) string {
	var b strings.Builder
	column := 0
	for text != "" {
		if s := shownSequence.FindString(text); s != "" {
			b.WriteString(s)
			text = text[len(s):]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			column = 0
		case column == width:
			b.WriteByte('\n')
			column = 1
		default:
			column++
		}
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

var replacements = []struct {
	pattern *regexp.Regexp
	with    func(string) string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?Z?)?`), func(s string) string { return "2026-03-03" + s[10:11] + "09:00:00.000000Z"[:len(s)-11] }},
	{regexp.MustCompile(` *<?\b(\d+m)?\d+(\.\d+)?m?s\b( ago)?`), duration},
}

// duration replaces a time span, however long, and the spaces before it when there are more than two.
func duration(s string) string {
	spaces := len(s) - len(strings.TrimLeft(s, " "))
	word := strings.Repeat(" ", min(spaces, 2)) + "0.1s"
	if spaces > 8 { // columns are empty before it
		word = gap + "0.1s"
	}
	if strings.HasSuffix(s, " ago") {
		word += " ago"
	}
	return word
}

var (
	sequenceEnd = regexp.MustCompile(`(\x1b\[[0-9;]*)m`)

	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	wholeID = regexp.MustCompile(`\b01[0-9a-hjkmnp-tv-z]{24}\b`)
	shortID = regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{5,9}\b`)
)

// aliases are the ids that sessions get in recordings, in the order in which they are first shown.
var aliases = []string{
	"01kjs4v8t0d3m6w9x2c5q7k2mq", "01kjs5a1z4h8n2r6y0b3f9t4xd", "01kjs5m7c9e2j5p8s1v4w6g8ha", "01kjs6e3f5k7q0t2x4z6a8n5vc", "01kjs6r9g1m4r7v0y3b6d8s3jp",
}

// ids are those of the sessions of a world.
type ids []string

// current is set by the world whose panes are captured.
var current ids

// normaliseIDs replaces the ids of the sessions there are, also where only their end is shown.
func normaliseIDs(text string) string {
	alias := map[string]string{}
	name := func(id string) string {
		if alias[id] == "" {
			alias[id] = aliases[len(alias)%len(aliases)]
		}
		return alias[id]
	}
	text = wholeID.ReplaceAllStringFunc(text, name)
	return shortID.ReplaceAllStringFunc(text, func(s string) string {
		for _, id := range current {
			if strings.HasSuffix(id, s) {
				whole := name(id)
				return whole[len(whole)-len(s):]
			}
		}
		return s
	})
}

func TestNormalise(t *testing.T) {
	current = ids{"01kfx00000000000000000abcd", "01kfx00000000000000000efgh"}
	for in, want := range map[string]string{
		"took 12ms, 3 calls":                       "took 0.1s, 3 calls\n",
		"a  1m2s\nb  <1ms":                         "a  0.1s\nb  0.1s\n",
		"x       12.5s  $0.0010":                   "x  0.1s  $0.0010\n",
		"calls   time\n-----  -----\n    1  120ms": "calls  time\n-----  ----\n    1  0.1s\n",
		"  phase  turn  cost   time\n▸ a         1          120ms\n": "  phase  turn  cost  time\n▸ a         1        0.1s\n",
		"started 2026-11-23 03:06:10":                                "started 2026-03-03 09:00:00\n",
		"session 01kfx00000000000000000abcd":                         "session 01kjs4v8t0d3m6w9x2c5q7k2mq\n",
		"0efgh 0abcd 0efgh phase":                                    "7k2mq 9t4xd 7k2mq phase\n",
		"\x1b[32m✓\x1b[0m done":                                      `\e[32m✓\e[0m done` + "\n",
		"\x1b[0m\x1b[39m\x1b[49m0abcd":                               "7k2mq\n",
		"a\n\x1b[0m\x1b[39m\x1b[49m\n":                               "a\n",
		"http://127.0.0.1:43127/v1 /tmp/x/home":                      "http://127.0.0.1:40000/v1 /home/me/test0/home\n",
	} {
		if got := normalise(in, "/tmp/x", false); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestWrapped(t *testing.T) {
	if got, want := wrapped("\\e[1m✓ three\\e[0m four\nfive\n", 7), "\\e[1m✓ three\\e[0m\n four\nfive\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
