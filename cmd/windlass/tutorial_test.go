//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// shownPage is a page whose blocks are followed one after the other, as a reader does: a block with
// a file's name after its language is written to that file, or with >> before the name appended to
// it, and a console block is run on a terminal of 100 columns.
type shownPage struct {
	*lab
	path  string // of the page
	page  string
	from  string // where the commands run; pages show paths below it
	loose func(string) string
	stale func(shown, seen string) string
}

// consoleInfo is the form of a console block's first line: the exit code of its commands.
var consoleInfo = regexp.MustCompile(`^console(?: exit (\d+))?$`)

// followPage follows a page; loose takes what differs from run to run out of shown and of seen output,
// and stale, which may be nil, says what is out of date in output that is else the same.
func followPage(t *testing.T, l *lab, path string, loose func(string) string, stale func(shown, seen string) string) *shownPage {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	r := &shownPage{lab: l, path: path, page: string(data), from: l.dir, loose: loose, stale: stale}
	l.env = append(l.env, "NO_COLOR=1")
	commands := 0
	for _, m := range fence.FindAllStringSubmatch(r.page, -1) {
		language, name, _ := strings.Cut(m[1], " ")
		switch {
		case consoleInfo.MatchString(m[1]):
			commands += r.console(t, m)
		case language == "console", language == "sh":
		case strings.HasPrefix(name, ">> "):
			old, err := os.ReadFile(filepath.Join(l.dir, name[3:]))
			require.NoError(t, err)
			l.file(name[3:], string(old)+m[2])
		case name != "":
			l.file(name, m[2])
		}
	}
	require.NotZero(t, commands)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(r.page), 0o600))
	}
	return r
}

// console runs the commands of a block and compares what they show, times, ids and columns aside.
func (r *shownPage) console(t *testing.T, m []string) (commands int) {
	t.Helper()
	want := exitOK
	if code := consoleInfo.FindStringSubmatch(m[1])[1]; code != "" {
		_, err := fmt.Sscan(code, &want)
		require.NoError(t, err)
	}
	seen := ""
	for _, shown := range strings.Split("\n"+m[2], "\n$ ")[1:] {
		command, _, _ := strings.Cut(shown, "\n")
		seen += "$ " + command + "\n"
		if dir, ok := strings.CutPrefix(command, "cd "); ok {
			r.dir = filepath.Join(r.dir, dir)
			continue
		}
		args := word.FindAllString(command, -1)
		require.Equal(t, "windlass", args[0], command)
		for i := range args {
			args[i] = strings.Trim(args[i], `"'`)
		}
		commands++
		seen += r.screen(t, want, args[1:]...)
	}
	same, stale := r.loose(seen) == r.loose(m[2]), ""
	if same && r.stale != nil {
		stale = r.stale(m[2], seen)
	}
	if *update && (!same || stale != "") {
		r.page = strings.Replace(r.page, m[0], "```"+m[1]+"\n"+seen+"```", 1)
		return commands
	}
	const mend = "%s; go test ./cmd/windlass -run %s -update writes what is seen"
	require.Equal(t, r.loose(m[2]), r.loose(seen), mend, r.path, t.Name())
	require.Empty(t, stale, mend, r.path, t.Name())
	return commands
}

// screen is what a command leaves on a terminal; init, which would ask there, is shown as without one.
func (r *shownPage) screen(t *testing.T, code int, args ...string) string {
	t.Helper()
	if args[0] == "init" {
		return r.run(code, args...).out.String()
	}
	shown := r.onTerminal(100, 200, code, nil, args...)
	s := termtest.NewScreen(400, 200) // long paths are one line
	s.Write(t, shown)
	text := strings.ReplaceAll(strings.TrimRight(s.Text(), "\n")+"\n", r.home, "~/.windlass")
	return strings.ReplaceAll(text, r.from+"/", "")
}

var loosenings = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\b01[0-9a-hjkmnp-tv-z]{24}\b`), "SESSION"},
	{regexp.MustCompile(`\b(handoff|stats|show|resume|replay) (?:[0-9a-hjkmnp-tv-z]{5,12})\b`), "$1 SESSION"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "WHEN"},
	{regexp.MustCompile(`<?\b(\d+m)?\d+(\.\d+)?m?s\b`), "TIME"},
	{regexp.MustCompile(`[ \t]+|-{2,}`), " "},
	{regexp.MustCompile(`( ?\n ?)+`), "\n"},
	{regexp.MustCompile(`(?m) (time|TIME)$|^not shown: .*\n`), ""}, // a column that long times leave no room for
}

// looseText is a text without what differs from run to run.
func looseText(text string) string {
	for _, l := range loosenings {
		text = l.pattern.ReplaceAllString(text, l.word)
	}
	return strings.TrimSpace(text)
}

// TestTutorial follows docs/tutorial.md from its beginning to its end.
func TestTutorial(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	followPage(t, l, "../../docs/tutorial.md", looseText, nil)
}
