package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// oddPhrases are not plain English, or not the words that people use for these things. No page, no
// help and no message has one of them.
var oddPhrases = []string{
	"and that is said",
	"are come by",
	"as dear as",
	"as ever",
	"as everywhere",
	"as it went",
	"ask clickhouse",
	"asked for anew",
	"asked of anybody",
	"asking clickhouse",
	"asks clickhouse",
	"asks nobody",
	"be known of",
	"be they lower",
	"become of it",
	"becomes of older",
	"begun anew",
	"comes of it",
	"comes to a place",
	"count more than",
	"counts more",
	"database of before",
	"dear one",
	"embedded anew",
	"files of before",
	"goes on for real",
	"gone on with",
	"has set itself",
	"in vain",
	"in words of its own",
	"in words of their own",
	"is dear",
	"is gone on",
	"is made out of",
	"is taken up",
	"knows no end of",
	"lacks of the session",
	"leave it to be checked",
	"left alone for",
	"made anew",
	"made of the record",
	"may stand beside",
	"names of one's own",
	"no run comes to",
	"nobody's",
	"nothing waits",
	"of one's own",
	"of which every call",
	"off its record",
	"one a line",
	"put through",
	"read anew",
	"rows of before",
	"rows of now",
	"stands alone for",
	"stands by itself",
	"stands for itself",
	"sum owed",
	"taken up again",
	"to be done with their",
	"very messages",
	"what became of",
	"what came of",
	"what of it",
	"what waits",
	"whoever goes on",
	"windlass of before",
	"would have had",
	"written anew",
}

// recordedWords are messages that keep a phrase: journals have recorded them, and a replay compares
// them byte for byte.
var recordedWords = map[string]string{
	"is taken up": "../../engine/handoff.go",
}

// TestWords looks for odd phrases in the pages, the help of every command, and the messages.
func TestWords(t *testing.T) {
	t.Parallel()
	odd := regexp.MustCompile(`(?i)\b(?:` + strings.Join(oddPhrases, "|") + `)\b`)
	look := func(where, text string) {
		for _, m := range odd.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			if recordedWords[strings.ToLower(m)] != where {
				t.Errorf("%s: %q", where, m)
			}
		}
	}
	for _, page := range append(pagesForPeople(t), "../../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		look(page, string(text))
	}
	each(newRootCommand(&console{}), func(cmd *cobra.Command) {
		look(cmd.CommandPath(), cmd.Use+"\n"+cmd.Short+"\n"+cmd.Long+"\n"+cmd.Example)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { look(cmd.CommandPath()+" --"+f.Name, f.Usage) })
	})
	eachMessage(t, look)
}

// TestOddPhrasesAreSorted keeps the list readable.
func TestOddPhrasesAreSorted(t *testing.T) {
	t.Parallel()
	for i, p := range oddPhrases {
		require.Greater(t, len(strings.Fields(p)), 1-strings.Count(p, "'"), "%q is a word, not a phrase", p)
		if i > 0 {
			require.Less(t, oddPhrases[i-1], p)
		}
	}
}

// eachMessage calls look with every string of the program that has several words.
func eachMessage(t *testing.T, look func(where, text string)) {
	t.Helper()
	total := 0
	for _, dir := range []string{"../../*.go", "../../autocontext", "../../cascade", "../../cmd", "../../contextcards", "../../echo", "../../engine", "../../internal", "../../schema"} {
		roots, err := filepath.Glob(dir)
		require.NoError(t, err)
		require.NotEmpty(t, roots)
		for _, root := range roots {
			require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				ast.Inspect(file, func(n ast.Node) bool {
					if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
						if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
							total++
							look(path, text)
						}
					}
					return true
				})
				return nil
			}))
		}
	}
	require.Greater(t, total, 2000)
}
