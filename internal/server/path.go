package server

import (
	"path"
	"strconv"
	"strings"
)

// cleanPath returns a path without empty parts, "." and ".."; what is encoded stays.
func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// maxShown is how many bytes of what a client sent stand in an answer: it knows what it sent.
const maxShown = 200

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

func quote(s string) string { return strconv.QuoteToASCII(shorten(s)) }
