package recollection

import (
	"fmt"
	"testing"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// A search among many remembered texts, each of about 400 bytes.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := &memory.Holdings{}
			for i := range n {
				text := ""
				for k := range 60 {
					text += fmt.Sprintf("word%d ", (i*7+k*k*13)%5000)
				}
				h.Texts = append(h.Texts, said(echo.RoleAssistant, "", text))
			}
			for b.Loop() {
				docs := Documents(h)
				NewIndex(docs, nil).Rank("where is word17 and word4711 of the service", Settings(5))
			}
		})
	}
}
