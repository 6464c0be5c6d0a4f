package bank

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/ledger/ledgertest"
)

// filled returns a session with a bank of so many entries: of one file that is written again and again, and of up to 100
// others.
func filled(b *testing.B, entries int) *session {
	b.Helper()
	home := setup(b)
	store := home.store()
	store.on = ledgertest.New(b, "", 0) // which syncs nothing
	s := begin(b, store, "s")
	text := strings.Repeat("a line of a note\n", 20)
	s.does(b, create(notePath, text))
	for i := 2; i < entries; i++ {
		if i%2 == 0 && i < 200 {
			s.does(b, create(fmt.Sprintf("/memories/%d.md", i), text))
		} else {
			_, err := store.Overwrite(b.Context(), noteBank, "ann", notePath, fmt.Sprint(text, i), s.seen)
			require.NoError(b, err)
			h, err := store.Read(noteBank)
			require.NoError(b, err)
			s.seen = h.Now()
		}
	}
	fresh := home.store()
	_, err := fresh.Read(noteBank)
	require.NoError(b, err)
	s.Store = fresh
	return s
}

var sizes = []int{10, 1000, 5000}

func BenchmarkView(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				s.does(b, view(notePath))
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				path := fmt.Sprintf("/memories/new%d.md", i)
				s.does(b, create(path, "x"))
				if i%100 == 99 { // a bank has only so many files
					b.StopTimer()
					for k := i - 99; k <= i; k++ {
						s.does(b, remove(fmt.Sprintf("/memories/new%d.md", k)))
					}
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkRead reads a whole bank, as a process does that opens it.
func BenchmarkRead(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(s.home, s.folder, nil).Read(noteBank)
				require.NoError(b, err)
				require.GreaterOrEqual(b, f.Last(), uint64(n-1))
			}
		})
	}
}
