package template

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting bounds how deep brackets and tags nest in a template's text, as the parser recurses over them.
const maxNesting = 60

var endRaw = regexp.MustCompile(`\{%[-+]?\s*endraw`)

// scanner goes over a template's text before gonja does. It refuses what gonja would pass over or recurse into without
// bounds, and puts spaces for the line breaks inside tags, which gonja does not know. Every byte keeps its place.
type scanner struct {
	src  string
	out  []byte
	at   int
	tags int // tags that are open
}

func scan(src string) (string, error) {
	if len(src) > maxSource {
		return "", pos{1, 1}.syntax("the template is longer than %d bytes", maxSource)
	}
	src = strings.ReplaceAll(src, "\r\n", "\n")
	s := &scanner{src: src, out: []byte(src)}
	for {
		i := strings.IndexByte(s.src[s.at:], '{')
		if i < 0 {
			return string(s.out), nil
		}
		s.at += i
		if err := s.tag(); err != nil {
			return "", err
		}
	}
}

// tag goes over one tag, or over the brace when it begins none.
func (s *scanner) tag() error {
	rest := s.src[s.at:]
	switch {
	case strings.HasPrefix(rest, "{#"):
		end := strings.Index(rest[2:], "#}")
		if end < 0 {
			return s.syntax(s.at, "the comment is not closed: #} is missing")
		}
		s.at += 2 + end + 2
		return nil
	case strings.HasPrefix(rest, "{{"):
		return s.code("}}")
	case strings.HasPrefix(rest, "{%"):
		return s.block()
	}
	s.at++
	return nil
}

func (s *scanner) block() error {
	start := s.at
	name, _, _ := strings.Cut(strings.TrimLeft(s.src[s.at+2:], "-+ \t\n"), " ")
	if strings.HasPrefix(name, "end") {
		s.tags--
	} else if t, ok := tagOf(name); ok && t.closed {
		s.tags++
	}
	if s.tags > maxNesting {
		return s.syntax(start, "tags nest deeper than %d levels", maxNesting)
	}
	if err := s.code("%}"); err != nil {
		return err
	}
	if identifier(name) != "raw" {
		return nil
	}
	end := endRaw.FindStringIndex(s.src[s.at:])
	if end == nil {
		return s.syntax(start, "the tag raw is not closed: {%% endraw %%} is missing")
	}
	s.at += end[0]
	return nil
}

// code goes over the inside of a tag up to its end.
func (s *scanner) code(end string) error {
	start := s.at
	var open []byte // the closing brackets that are awaited
	for s.at += 2; s.at < len(s.src); {
		c := s.src[s.at]
		awaited := len(open) > 0 && open[len(open)-1] == c
		switch {
		case !awaited && strings.HasPrefix(s.src[s.at:], end):
			s.at += 2
			return nil
		case c == '"' || c == '\'':
			if err := s.quoted(c); err != nil {
				return err
			}
			continue
		case c == '(' || c == '[' || c == '{':
			open = append(open, map[byte]byte{'(': ')', '[': ']', '{': '}'}[c])
			if len(open) > maxNesting {
				return s.syntax(s.at, "brackets nest deeper than %d levels", maxNesting)
			}
		case awaited:
			open = open[:len(open)-1]
		case c == ')' || c == ']' || c == '}':
			return s.syntax(s.at, "unexpected %q", c)
		case c == '\n' || c == '\r':
			s.out[s.at] = ' '
		case c >= utf8.RuneSelf || !strings.ContainsRune(" \t,|+-~:.%/<>*!=_", rune(c)):
			if err := s.word(); err != nil {
				return err
			}
			continue
		}
		s.at++
	}
	return s.syntax(start, "the tag is not closed: %s is missing", end)
}

// quoted goes over a string in quotes. A backslash keeps the next character from ending it.
func (s *scanner) quoted(quote byte) error {
	start := s.at
	for s.at++; s.at < len(s.src); s.at++ {
		switch s.src[s.at] {
		case quote:
			s.at++
			return nil
		case '\\':
			s.at++
		}
	}
	return s.syntax(start, "the string is not closed: %c is missing", quote)
}

func (s *scanner) word() error {
	r, size := utf8.DecodeRuneInString(s.src[s.at:])
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return s.syntax(s.at, "unexpected character %q", r)
	}
	s.at += size
	return nil
}

func (s *scanner) syntax(at int, format string, args ...any) error {
	return placeOf(s.src, at).syntax(format, args...)
}

// placeOf turns an offset into a place.
func placeOf(src string, at int) pos {
	before := src[:min(at, len(src))]
	return pos{strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')}
}

// identifier returns the letters, digits and underscores that s begins with.
func identifier(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return s
	}
	return s[:end]
}
