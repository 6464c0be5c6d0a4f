package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// pagesForPeople are the pages that show commands.
func pagesForPeople(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	return append(pages, "../../README.md", "../../CONTRIBUTING.md")
}

var (
	shell    = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	jsonText = regexp.MustCompile("(?ms)^```json\n(.*?)^```$")
	word     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+`)
	link     = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	flagName = regexp.MustCompile("`(?:[^`\n]*\\s)?(--[a-z][a-z-]*)")
)

// commandsOf returns the windlass commands that a page shows, each split into its words without the
// program.
func commandsOf(page string) [][]string {
	var found [][]string
	for _, b := range shell.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(b[1]) {
			line, _, _ = strings.Cut(line, " #")
			words := word.FindAllString(line, -1)
			for i := range words {
				words[i] = strings.Trim(words[i], `"'`)
			}
			text := strings.Join(words, " ")
			switch {
			case strings.HasPrefix(text, "go run ./cmd/windlass"):
				found = append(found, words[3:])
			case strings.HasPrefix(text, "windlass "):
				found = append(found, words[1:])
			}
		}
	}
	return found
}

// TestShownCommandsExist takes every command that a page shows apart: its name, its flags, and the
// files of this repository.
func TestShownCommandsExist(t *testing.T) {
	t.Parallel()
	total := 0
	for _, path := range pagesForPeople(t) {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, args := range commandsOf(string(page)) {
			total++
			for i, a := range args {
				if a == "<" || a == "|" || a == ">" || a == "&&" { // what follows is the shell's
					args = args[:i]
					break
				}
			}
			root := newRootCommand(&console{})
			root.InitDefaultCompletionCmd()
			cmd, rest, err := root.Find(args)
			require.NoError(t, err, "%s: %v", path, args)
			require.NotEqual(t, "windlass", cmd.Name(), "%s: %v", path, args)
			require.NoError(t, cmd.ParseFlags(rest), "%s: %v", path, args)
			if cmd.Args != nil {
				require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), "%s: %v", path, args)
			}
			for _, a := range args {
				if strings.HasPrefix(a, "examples/") {
					_, err := os.Stat(filepath.Join("../..", a)) // a file or a folder
					require.NoError(t, err, path)
				}
			}
		}
	}
	require.Greater(t, total, 7)
}

var (
	figures = regexp.MustCompile(`\d[\d,.]*`)
	bars    = regexp.MustCompile(`[█▓▒·]+`)
)

// The run of the README reads the pages of this repository, whose every change changes its figures a
// little. A total may differ by so much from what is shown of it before the README is out of date.
const (
	drift  = 0.1 // of tokens and money
	points = 5   // of shares, in percent
)

// withoutFigures is a text without what differs from run to run, and without the figures.
func withoutFigures(text string) string {
	return figures.ReplaceAllString(bars.ReplaceAllString(looseText(text), "█"), "N")
}

// outOfDate compares the figures of two texts that are else the same, those of single calls aside. It
// returns the first two that are too far apart; "": none are.
func outOfDate(shown, seen string) string {
	was, is := strings.Split(looseText(shown), "\n"), strings.Split(looseText(seen), "\n")
	for i, line := range was {
		if strings.Contains(line, "attempt") {
			continue
		}
		now := figures.FindAllStringIndex(is[i], -1)
		for n, at := range figures.FindAllStringIndex(line, -1) {
			a, b := figureOf(line[at[0]:at[1]]), figureOf(is[i][now[n][0]:now[n][1]])
			allowed := drift * max(a, b)
			if strings.HasPrefix(line[at[1]:], " %") {
				allowed = points
			}
			if math.Abs(a-b) > allowed {
				return line + "\n" + is[i]
			}
		}
	}
	return ""
}

func figureOf(text string) float64 {
	f, _ := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text, ".,"), ",", ""), 64) // others are 0 in both
	return f
}

func TestOutOfDate(t *testing.T) {
	t.Parallel()
	const shown = "read  14  205,709  59.8 %  $0.0623  137ms\n 1 attempt1/turn1  87 █\n"
	require.Empty(t, outOfDate(shown, strings.NewReplacer("205,709", "220,000", "59.8", "64.7", "0.0623", "0.0680", "137", "9", "87", "9,000").Replace(shown)))
	for _, other := range []string{"205,709 > 250,000", "59.8 > 65.0", "0.0623 > 0.0800", "14 > 16"} {
		was, is, _ := strings.Cut(other, " > ")
		seen := strings.Replace(shown, was, is, 1)
		require.Equal(t, withoutFigures(shown), withoutFigures(seen))
		require.Equal(t, "read 14 205,709 59.8 % $0.0623\n"+strings.Replace("read 14 205,709 59.8 % $0.0623", was, is, 1), outOfDate(shown, seen))
	}
}

// TestReadme runs the commands of the README: what it shows of a run and of its context has the same
// form, and figures that are not out of date. The first result takes two commands, and the run from
// the sources names three commands that show what it did. Its cascade loads.
func TestReadme(t *testing.T) {
	t.Parallel()
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	work := l.dir
	l.dir = repository
	r := followPage(t, l, "../../README.md", withoutFigures, outOfDate)

	commands := commandsOf(r.page)
	require.Equal(t, "init hello && windlass run hello/hello.json --offline", strings.Join(commands[0], " "))
	l.dir = work
	l.run(exitOK, "init", "hello")
	require.Contains(t, l.run(exitOK, "run", "hello/hello.json", "--offline").out.String(), "(scripted)")

	require.Equal(t, []string{"run", "examples/cascades/repo_audit.json", "--offline"}, commands[1])
	l.dir = repository
	p := l.run(exitOK, commands[1]...)
	require.Contains(t, p.out.String(), `"next_steps": [`)
	requireNext(t, l, p.err.String())

	example := jsonText.FindStringSubmatch(r.page)
	require.NotNil(t, example)
	_, found, err := cascade.Parse("README.md.json", []byte(example[1]), app.Known())
	require.NoError(t, err)
	require.Empty(t, found)
}

// requireNext runs the three commands with which a run ends.
func requireNext(t *testing.T, l *lab, end string) {
	t.Helper()
	next := regexp.MustCompile(`(?m)^(?:Next: |      )windlass (.*?)  +(.*)$`).FindAllStringSubmatch(end, -1)
	require.Len(t, next, 3, end)
	for _, m := range next {
		require.LessOrEqual(t, len(m[0]), 80)
		asked := l.run(exitOK, strings.Fields(m[1])...)
		require.Contains(t, asked.out.String()+asked.err.String(), "survey", m[1])
	}
	require.Equal(t, "show last", next[0][1])
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, path := range pagesForPeople(t) {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(page), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(path), m[1]))
			require.NoError(t, err, "%s links to %s", path, m[1])
		}
	}
}

// TestFlagsAreDocumented holds the page of the command and the command's flags against each other.
func TestFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	there := map[string]bool{"--help": true}
	each(newRootCommand(&console{}), func(cmd *cobra.Command) {
		documented := func(f *pflag.Flag) {
			there["--"+f.Name] = true
			require.Contains(t, string(data), "`--"+f.Name, "%s --%s is not in docs/cli.md", cmd.CommandPath(), f.Name)
		}
		cmd.Flags().VisitAll(documented)
		cmd.PersistentFlags().VisitAll(documented)
	})
	shown := flagName.FindAllStringSubmatch(string(data), -1)
	require.NotEmpty(t, shown)
	for _, m := range shown {
		require.True(t, there[m[1]], "docs/cli.md has %s, which no command has", m[1])
	}
}

// TestHelpHasExamples looks at every command's help.
func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	each(newRootCommand(&console{}), func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		if cmd.RunE == nil {
			return
		}
		require.NotEmpty(t, cmd.Example, cmd.CommandPath())
		for line := range strings.Lines(cmd.Example) {
			require.Contains(t, line, "windlass ", cmd.CommandPath())
		}
	})
}

func each(cmd *cobra.Command, do func(*cobra.Command)) {
	if !cmd.Hidden {
		do(cmd)
		for _, c := range cmd.Commands() {
			each(c, do)
		}
	}
}
