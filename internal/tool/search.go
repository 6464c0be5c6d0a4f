package tool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

const (
	defaultSearchResults = 100
	maxSearchResults     = 1000
	maxSearchContext     = 10
	maxSearchFile        = 8 << 20 // larger files are passed over
	maxSearchLine        = 400     // bytes of a line that are shown
)

type searchArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	MaxResults int    `json:"max_results"`
	Context    int    `json:"context"`
	All        bool   `json:"all"`
}

func searchTool(f *folders) tool {
	return tool{
		spec: effect.ToolSpec{
			Name:       SearchFiles,
			Idempotent: true,
			Description: "Search the text files of the granted folders for a regular expression (RE2). Returns lines as " +
				"file:line: text, and with context the lines around as file-line- text. Binary files, files over 8 MiB, .git and " +
				"node_modules are left out.",
			Parameters: object([]string{"pattern"},
				property{"pattern", "string", "the regular expression, in RE2 syntax; it is matched against single lines", `"minLength":1`},
				property{"path", "string", "the folder or file to search", `"default":"."`},
				property{"glob", "string", "only files that match this glob, such as *.go or src/**/*.ts", ""},
				property{"ignore_case", "boolean", "whether case does not matter", `"default":false`},
				integer("max_results", "the number of matching lines to return", 1, maxSearchResults, defaultSearchResults),
				integer("context", "how many lines to show before and after each match", 0, maxSearchContext, 0),
				property{"all", "boolean", "also .git and node_modules", `"default":false`}),
		},
		run: typed(func(ctx context.Context, _ *call, a searchArgs) (string, error) { return f.search(ctx, a) }),
	}
}

func (f *folders) search(ctx context.Context, a searchArgs) (string, error) {
	p, err := f.find(cmp.Or(a.Path, "."))
	if err != nil {
		return "", err
	}
	expression := a.Pattern
	if a.IgnoreCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return "", &failure{kindBadArguments, fmt.Errorf("the pattern is not a regular expression of RE2: %w", err)}
	}
	pattern, err := newGlob(a.Glob)
	if err != nil {
		return "", err
	}
	s := &search{secrets: f.secrets, re: re, left: within(a.MaxResults, defaultSearchResults, maxSearchResults), around: min(max(a.Context, 0), maxSearchContext)}
	err = f.walk(ctx, p, 0, a.All, func(e entry) error {
		if !e.d.Type().IsRegular() || !pattern.match(e.rel) {
			return nil
		}
		return s.file(ctx, f, place{p.folder, e.name, e.show})
	})
	if err != nil {
		return "", err
	}
	return s.text(), nil
}

// search collects matches.
type search struct {
	secrets *secret.Set
	re      *regexp.Regexp
	around  int
	left    int // matches still wanted
	more    bool
	files   int
	out     strings.Builder
}

func (s *search) file(ctx context.Context, f *folders, p place) error {
	file, info, err := f.open("search", p)
	if err != nil {
		return nil // a file that cannot be read is passed over, as it is by grep -s
	}
	defer file.Close() //nolint:errcheck // it was only read
	in := bufio.NewReader(file)
	if info.IsDir() || info.Size() > maxSearchFile || binary(in) {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxSearchFile))
	if err != nil || ctx.Err() != nil {
		return ctx.Err()
	}
	s.files++
	return s.lines(p.show, bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")))
}

// lines goes over a file's lines. It returns fs.SkipAll when there are matches enough.
func (s *search) lines(name string, lines [][]byte) error {
	shown := -1 // the last line that is in the output
	for i, l := range lines {
		if !s.re.Match(l) {
			continue
		}
		if s.left == 0 || s.out.Len() > maxText {
			s.more = true
			return fs.SkipAll
		}
		s.left--
		from := max(i-s.around, shown+1)
		if s.around > 0 && s.out.Len() > 0 && from > shown+1 {
			s.out.WriteString("--\n")
		}
		for j := from; j < i; j++ {
			s.line(name, j, '-', lines[j])
		}
		if i > shown {
			s.line(name, i, ':', l)
		}
		shown = max(shown, i)
		for j := i + 1; j <= min(i+s.around, len(lines)-1) && !s.re.Match(lines[j]); j++ {
			s.line(name, j, '-', lines[j])
			shown = j
		}
	}
	return nil
}

func (s *search) line(name string, i int, mark byte, text []byte) {
	shown := s.secrets.Text(strings.TrimRight(string(text), "\r"))
	if len(shown) > maxSearchLine {
		shown = shown[:maxSearchLine] + fmt.Sprintf("... (%d bytes)", len(text))
	}
	fmt.Fprintf(&s.out, "%s%c%d%c %s\n", name, mark, i+1, mark, strings.ToValidUTF8(shown, "\uFFFD"))
}

func (s *search) text() string {
	if s.out.Len() == 0 {
		return fmt.Sprintf("[no matches in %d files]", s.files)
	}
	if s.more {
		s.out.WriteString("[there is more: narrow the pattern, the path or the glob]")
	}
	return strings.TrimSuffix(s.out.String(), "\n")
}
