package autocontext

import (
	"regexp"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
)

// A tool that ran well may return the report of a failure: of a test, a compiler, a command in a
// shell. preserve_errors keeps it, found by the form of single lines. A word is no evidence: source
// code and documentation are full of "error" (docs/context.md has the measured precision).

// failurePattern is the form of a line that reports a failure. Each line of the form has the word.
type failurePattern struct {
	word   string
	form   func() *regexp.Regexp // compiled when a text has the word: every command begins with this table
	placed bool                  // the form begins with a place in a file, or a mark, as lines of other texts do
}

func report(word, form string) failurePattern {
	return failurePattern{word: word, form: compiledOnce(form)}
}

func placedReport(word, form string) failurePattern {
	return failurePattern{word: word, form: compiledOnce(form), placed: true}
}

func compiledOnce(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

var failurePatterns = []failurePattern{
	// Stack traces and exceptions.
	report("Traceback (most recent call last)", `^(E\s+)?Traceback \(most recent call last\):`),
	report("Error", `^(E\s+)?([A-Za-z_]\w*\.)*[A-Z]\w*Error(:\s.*|:)?$|^\w*Error at |^Error: `),
	report("xception", `^(E\s+)?([A-Za-z_]\w*\.)*[A-Z]\w*Exception(:\s.*|:)?$|^(Exception in thread|Unhandled exception)\b`),
	report("panic", `^panic: |^thread .* panicked at`),
	report("raised ", `^[^(){};=]{0,60}\braised (an )?(exception|error): \S`),
	// Tests.
	report("FAIL", `^(FAIL|ERROR): \S+|^FAIL(\s|$)|^FAILED\b|\bFAILED( \(|$|\s+\[)|^FAILURE\b`),
	placedReport("--- FAIL: ", `^\s*--- FAIL: `),
	report(" failed", `^[\s=]*(Tests?:\s+)?(\d+ \w+, )?[1-9]\d* (tests? )?failed\b|, [1-9]\d* failed\b`),
	report(" failed", `^[A-Za-z][^(){};="]{0,60} failed( with)?: \S`),
	report(" failing", `^\s*[1-9]\d* failing$`),
	report("not ok ", `^\s*not ok \d`),
	// Exit codes.
	report("returncode>", `^<returncode>-?[1-9]`),
	report("xit", `(?i)^.{0,60}\bexit(ed)?( with)?( code| status| value):?=? *-?[1-9]\d*\b`),
	report("EXIT", `(?i)^.{0,60}\bexit(ed)?( with)?( code| status| value):?=? *-?[1-9]\d*\b`),
	report("returned ", `\breturned (a )?non-zero\b`),
	report(`_code"`, `^[\s{]*"(exit_code|return_code)":\s*-?[1-9]`),
	report(`"error"`, `^[\s{]*"error":\s*("[^"]|\{)`),
	// Shells and their commands.
	report("No such file or directory", `: No such file or directory$|\(No such file or directory\)$`),
	report("ermission denied", `: Permission denied$|\(Permission denied\)`),
	report("not found", `^\S*sh: .*not found$|: command not found$`),
	report("Segmentation fault", `Segmentation fault( |$)`),
	report("timed out", `(?i)^\W*(the )?(last )?(command|process|request|operation|execution)\b.*timed out`),
	report("TIMED OUT", `(?i)^\W*(the )?(last )?(command|process|request|operation|execution)\b.*timed out`),
	// Compilers and other tools.
	report("fatal", `^fatal: |^fatal error: `),
	report("error", `^error(\[\w+\])?: |^\S+: (fatal )?error: |\berror (TS|CS|C|LNK)\d+:`),
	placedReport("error", `^\S+?:\d+(:\d+)?: (fatal )?error\b`),
	placedReport(".go:", `^\S+\.go:\d+:\d+: `),
	report("ERROR", `^ERROR\b[: ]|^\s*\[ERROR\] |^ERRORS?:?$`),
	report("ERR!", `^npm ERR! `),
	report("problem", `^✖ [1-9]\d* problem`),
	report("curl: (", `^curl: \(\d+\) `),
	report("Error from server", `^Error from server\b`),
	placedReport("Error)", `^\S+\.rb:\d+:in .*\(([A-Z]\w*::)*[A-Z]\w*Error\)$`),
	report("***", `^make(\[\d+\])?: \*\*\* `),
}

var (
	// quotedLine is a line of a text that is shown: with its number, of a difference, a comment, or
	// found by a search.
	quotedLine = regexp.MustCompile(`^\s*\d+[:\t|-]|^[+-]|^\s*#|^\s*//|^[\w./+-]+[:-]\d+[:-]`)
	colours    = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
)

// maxReportLine bounds how much of a line is looked at, in bytes.
const maxReportLine = 400

// reportsFailure reports whether a line of a text says that something failed.
func reportsFailure(line string) bool { return linesUp(failurePatterns, line) }

func linesUp(patterns []failurePattern, line string) bool {
	line = strings.TrimSuffix(line[:min(len(line), maxReportLine)], "\r")
	if strings.Contains(line, "\x1b[") {
		line = colours.ReplaceAllString(line, "")
	}
	quoted, known := false, false
	for i := range patterns {
		p := &patterns[i]
		if !strings.Contains(line, p.word) {
			continue
		}
		if !known {
			quoted, known = quotedLine.MatchString(line), true
		}
		if (p.placed || !quoted) && p.form().MatchString(line) {
			return true
		}
	}
	return false
}

// hasFailure reports whether a line of a text says that something failed.
func hasFailure(text string) bool {
	for i := range failurePatterns {
		p := &failurePatterns[i]
		for at := 0; ; {
			found := strings.Index(text[at:], p.word)
			if found < 0 {
				break
			}
			begin, end := lineAround(text, at+found)
			if linesUp(failurePatterns[i:i+1], text[begin:end]) {
				return true
			}
			at = end
		}
	}
	return false
}

func lineAround(text string, at int) (begin, end int) {
	begin = strings.LastIndexByte(text[:at], '\n') + 1
	if end = strings.IndexByte(text[at:], '\n'); end < 0 {
		return begin, len(text)
	}
	return begin, at + end
}

// tells is whether the text of a tool result reports a failure.
type tells int8

const (
	unread tells = iota
	tellsNothing
	tellsFailure
)

// failed reports whether a tool result is of a call that failed or, where the text counts, tells of
// a failure. The text is read once.
func (n *node) failed(inText bool) bool {
	if n.msg.Failed() || !inText {
		return n.msg.Failed()
	}
	if n.tells == unread {
		n.tells = tellsNothing
		if hasFailure(n.msg.Text()) {
			n.tells = tellsFailure
		}
	}
	return n.tells == tellsFailure
}

// excerptAround is [excerpt] of a result that tells of a failure.
func excerptAround(m *echo.Message, limit int) *echo.Message {
	return withText(m, imagesNamed(m, cutAround(m.Text(), limit, m.Hash(), reportsFailure)))
}
