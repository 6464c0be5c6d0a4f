package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInert: the tags by which a document reaches others are none any more, however they are written.
func TestInert(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		`<p>a<b>`:                              `<p>a<b>`,
		`<abbr><article><metal><x-link><Tab>`:  `<abbr><article><metal><x-link><Tab>`,
		`<link rel=preconnect href=x>`:         `<x-link rel=preconnect href=x>`,
		"<LiNk\nrel=x><link/rel=x><link>":      "<x-LiNk\nrel=x><x-link/rel=x><x-link>",
		`<a href=x>y</a><area href=x>`:         `<x-a href=x>y</a><x-area href=x>`,
		`<<meta a><meta`:                       `<<x-meta a><x-meta`,
		`<iframe src=x></iframe><object data>`: `<x-iframe src=x></iframe><x-object data>`,
		`<base><embed><form action=x>`:         `<x-base><x-embed><x-form action=x>`,
	} {
		require.Equal(t, want, inert(html))
	}
}
