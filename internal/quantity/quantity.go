// Package quantity writes numbers of things.
package quantity

import (
	"fmt"
	"strings"
)

// Requests writes how many calls of models there were and, if any, how many requests for embeddings.
func Requests(calls, embeddings int) string {
	if embeddings == 0 {
		return Of(calls, "model call")
	}
	return Of(calls, "model call") + ", " + Of(embeddings, "embedding request")
}

// Of writes n things of a kind, whose name is in the singular: "1 entry", "2 entries".
func Of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// MB writes a number of bytes in megabytes, 1,000,000 bytes each: the one unit of downloads.
func MB(bytes int64) string {
	if bytes < 1_000_000 {
		return "less than 1 MB"
	}
	return fmt.Sprintf("%d MB", (bytes+500_000)/1_000_000)
}
