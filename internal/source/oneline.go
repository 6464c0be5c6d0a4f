package source

import "strings"

// OneLine puts a text on one line that is safe to print, whoever wrote it.
func OneLine(s string) string { return Printable(strings.Join(strings.Fields(s), " ")) }
