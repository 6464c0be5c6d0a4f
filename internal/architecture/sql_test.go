package architecture

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sqlCuts returns where a package has SQL that takes the text of a key apart. It reads each literal
// by itself: what is put together from several it sees in pieces, and a column under another name
// only where the same literal gives it that name.
func (c *checked) sqlCuts(p *checkedPackage) (out []use) {
	p.functions(func(name string, d ast.Decl) {
		ast.Inspect(d, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text := constantText(p.info, lit)
			for _, cut := range cutsOfSQL(text) {
				file, line := c.at(lit)
				if strings.HasPrefix(lit.Value, "`") { // other literals have one line
					line += strings.Count(text[:cut.at], "\n")
				}
				out = append(out, use{place: name, file: file, line: line, by: cut.by})
			}
			return true
		})
	})
	return out
}

// sqlFiles returns the files with SQL below a folder, other than those of tests and of echo.
func sqlFiles(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || name == filepath.Join(root, "echo")):
			return filepath.SkipDir
		case filepath.Ext(name) == ".sql":
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// fileCuts returns where a file of SQL takes the text of a key apart.
func fileCuts(name string) (out []use, err error) {
	text, err := os.ReadFile(name)
	for _, cut := range cutsOfSQL(string(text)) {
		out = append(out, use{place: name, file: filepath.Base(name), line: 1 + strings.Count(string(text[:cut.at]), "\n"), by: cut.by})
	}
	return out, err
}

// sqlCut is a place in a text where SQL takes the text of a key apart.
type sqlCut struct {
	at int
	by string
}

const (
	// sqlTakesApart are functions that find something in a text, or return a part of it.
	sqlTakesApart = `split\w*|tokens|alphaTokens|\w*ngram\w*|\w*position\w*|locate|instr|strpos|\w*match\w*|\w*like|\w*extract\w*|` +
		`regexp\w*|replace\w*|translate\w*|substr\w*|byteSlice|mid|left(utf8)?|right(utf8)?|starts_?With\w*|ends_?With\w*|hasToken\w*|` +
		`hasSubsequence\w*|countSubstrings\w*|\w*trim\w*|basename|path\w*|cut\w*|url\w*|reverse\w*|overlay\w*|format`
	// sqlFinds are functions that find a text in a list.
	sqlFinds = `has(any|all)?|indexOf|transform|concat|concatWithSeparator`
)

var (
	sqlCall  = regexp.MustCompile(`(?i)\b(` + sqlTakesApart + `|` + sqlFinds + `)\s*\(`)
	sqlKeys  = regexp.MustCompile(`(?i)\b(key|branch)\b`)
	sqlMayBe = regexp.MustCompile(`(?i)^(` + sqlFinds + `)$`)
	sqlAlias = regexp.MustCompile("(?i)\\b(?:key|branch)\\b[\"`]?\\s+AS\\s+([a-z_]\\w*)")
	sqlQuote = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|--[^\n]*`)
	sqlWord  = regexp.MustCompile(`[^/']`)
)

// cutsOfSQL returns where SQL does more with the column of a key, or of a branch, than to read it,
// order by it, and compare it as a whole with another one or with a parameter.
func cutsOfSQL(text string) (out []sqlCut) {
	if text = blankQuotes(text); !sqlKeys.MatchString(text) {
		return nil
	}
	names := "key|branch"
	for _, m := range sqlAlias.FindAllStringSubmatch(text, -1) {
		names += "|" + m[1]
	}
	column := "(?:\\b[a-z_]\\w*\\.)?[\"`]?\\b(?:" + names + ")\\b[\"`]?"
	for _, form := range sqlForms(column) {
		for _, at := range form.at.FindAllStringIndex(text, -1) {
			out = append(out, sqlCut{at[0], "SQL: " + form.by})
		}
	}
	isColumn := regexp.MustCompile("(?i)" + column)
	for _, at := range sqlCall.FindAllStringSubmatchIndex(text, -1) {
		name, args := text[at[2]:at[3]], arguments(text[at[1]:])
		if isColumn.MatchString(args) && (!sqlMayBe.MatchString(name) || strings.Contains(args, "'")) {
			out = append(out, sqlCut{at[0], "SQL: " + name})
		}
	}
	return out
}

type sqlForm struct {
	by string
	at *regexp.Regexp
}

// sqlForms are operators with the column of a key that look at its text.
func sqlForms(column string) []sqlForm {
	form := func(by, pattern string) sqlForm {
		return sqlForm{by, regexp.MustCompile("(?i)" + strings.ReplaceAll(pattern, "COLUMN", column))}
	}
	return []sqlForm{
		form("LIKE", `COLUMN\s+(NOT\s+)?(I?LIKE|R?LIKE|REGEXP|GLOB|SIMILAR)\b`),
		form("a comparison", `COLUMN\s*([=!<>]=?|<>)\s*'[^']|'\s*([=!<>]=?|<>)\s*COLUMN`),
		form("IN", `COLUMN\s+(NOT\s+)?(GLOBAL\s+)?(IN|BETWEEN)\s*[(\[]?\s*'`),
		form("CASE", `CASE\s+COLUMN\s+WHEN\b`),
		form("pasting", `COLUMN\s*\|\|\s*'/|/'\s*\|\|\s*COLUMN`),
		form("an index", `COLUMN\s*\[`),
	}
}

// blankQuotes makes quoted texts, apart from their slashes, and comments unreadable without moving
// anything.
func blankQuotes(text string) string {
	return sqlQuote.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "--") {
			return strings.Repeat(" ", len(s))
		}
		return "'" + sqlWord.ReplaceAllStringFunc(s[1:len(s)-1], func(c string) string { return strings.Repeat("_", len(c)) }) + "'"
	})
}

// arguments returns a text up to the parenthesis that closes it.
func arguments(text string) string {
	depth := 1
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return text[:i]
		}
	}
	return text
}
