//go:build unix

package main

import (
	"regexp"
	"testing"
)

// ofChildren are the lines of a child, which stand where they come.
var ofChildren = regexp.MustCompile(`(?m)^ *\S reply_tone/.*\n`)

// TestValidatorsPage follows docs/validators.md from its beginning to its end.
func TestValidatorsPage(t *testing.T) {
	t.Parallel()
	followPage(t, newLab(t, ""), "../../docs/validators.md", func(text string) string {
		return looseText(ofChildren.ReplaceAllString(text, ""))
	}, nil)
}
