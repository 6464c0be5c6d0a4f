// Package oneline writes texts in one line.
package oneline

import "strings"

// Of writes a text in one line, with single spaces for all white space.
func Of(text string) string { return strings.Join(strings.Fields(text), " ") }

// Cut writes a text in one line of limit characters at most, with "..." behind them when something
// was left out.
func Cut(text string, limit int) string {
	text = Of(text)
	for i := range text {
		if limit == 0 {
			return text[:i] + "..."
		}
		limit--
	}
	return text
}

// Quoted writes a text so that a shell takes it for one word.
func Quoted(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
