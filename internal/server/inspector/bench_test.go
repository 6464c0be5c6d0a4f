package inspector_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// BenchmarkScreens shows what each screen sends and takes, of sessions of growing length: once a session was read, a screen is to
// grow with what it shows, not with the session. "open" reads the session first.
func BenchmarkScreens(b *testing.B) {
	for _, calls := range []int{100, 1000, 10_000} {
		home := b.TempDir()
		long := inspectortest.Inspected
		long.Calls = calls
		long.Write(b, home, "long")
		browser := inspectortest.New(b, home, nil)
		b.Run(fmt.Sprint(calls, "/open"), func(b *testing.B) {
			for b.Loop() {
				inspectortest.New(b, home, nil).Open("/sessions/long")
			}
		})
		life := lifeOf(browser)
		for _, s := range []struct {
			name, path string
			budget     int // bytes: a screen that sends more fails
		}{
			{"run", "", 320_000},
			{"matrix", "/matrix", 640_000},
			{"matrix-late", fmt.Sprintf("/matrix?call=%d", calls-50), 640_000},
			{"matrix-whole", "/matrix/whole", 11_000_000}, // of 100,000 messages: numbers for the script, no texts
			{"calls", "/calls", 120_000},
			{"sent", "/calls/" + inspectortest.CallKey(calls/2), 260_000},
			{"sent-last", "/calls/" + inspectortest.CallKey(calls), 260_000},
			{"life", life, 40_000},
			{"bill", "/bill", 40_000},
		} {
			if s.name == "bill" && calls > 100 { // it takes longer than a page waits
				continue
			}
			b.Run(fmt.Sprint(calls, "/", s.name), func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					size = len(browser.Open("/sessions/long" + s.path))
				}
				b.ReportMetric(float64(size), "bytes/screen")
				if size > s.budget {
					b.Errorf("%s of %d calls: %d bytes, the budget is %d", s.name, calls, size, s.budget)
				}
			})
		}
	}
}

// lifeOf returns the path of the life of the first message that the matrix shows.
func lifeOf(b *inspectortest.Browser) string {
	text := b.Open("/sessions/long/matrix")
	return firstLife.FindStringSubmatch(text)[1]
}

var firstLife = regexp.MustCompile(`href="/sessions/long(/life/[0-9a-f]+)"`)
