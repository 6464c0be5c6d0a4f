//go:build unix

package browser

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// long is a server with a long session.
func long(t testing.TB, of inspectortest.Long) *site {
	t.Helper()
	w := lab.New(t, theBinary)
	w.Memory = 0
	of.Write(t, w.Home, "long")
	s := newServed(t, w, w.Serve("--no-clickhouse"))
	return s
}

const wholeMatrix = `document.getElementById("wholeMatrix")`

// drawn waits until the whole matrix is drawn.
func (b *tab) drawn() {
	b.t.Helper()
	b.until(wholeMatrix + `?.dataset.drawn !== undefined`)
	b.frames()
}

// TestLongMatrix: the whole matrix of a session that is too long for a page is drawn on a canvas: what it says of cells is what the
// record says, by the keyboard and by the pointer, and it leads to messages and requests.
func TestLongMatrix(t *testing.T) {
	s := long(t, inspectortest.Long{Calls: 150, Results: 9, Characters: 1500, Every: 50})
	rec, err := journal.Read(filepath.Join(config.SessionDir(s.Home, "long"), journal.File))
	require.NoError(t, err)
	r, err := inspect.New("long", rec.Entries)
	require.NoError(t, err)
	m, err := r.Matrix()
	require.NoError(t, err)

	b := newTab(t)
	b.open(s.newAddress())
	address := s.base + "/sessions/long/matrix"
	b.open(address)
	b.drawn()
	require.Equal(t, "150 calls, 1\u202f491 messages.", b.text("#matrixSaid"))
	require.Empty(t, b.axe())
	b.picture("inspector-matrix-long")
	b.small("the whole matrix")

	b.open(s.base + "/sessions/long/calls/" + inspectortest.CallKey(100)) // it has masked messages
	require.Empty(t, b.axe())
	b.small("a request with masked messages")
	b.open(address)
	b.drawn()

	js[int](b, wholeMatrix+`.focus(), 1`)
	column, row := 0, 0
	press := func(key string, times, columns, rows int) {
		for range times {
			b.do(chromedp.KeyEvent(key))
		}
		column, row = min(max(column+columns, 0), len(m.Calls)-1), min(max(row+rows, 0), len(m.Rows)-1)
		require.Equal(t, cellOf(m, column, row), b.text("#matrixSaid"))
	}
	press(kb.ArrowRight, 3, 3, 0)
	press(kb.ArrowDown, 2, 0, 2)
	press(kb.PageDown, 3, 0, 60)
	press(kb.End, 1, 1000, 0)
	press(kb.PageUp, 2, 0, -40)
	press(kb.ArrowLeft, 60, -60, 0)
	press(kb.Home, 1, -1000, 0)
	press(kb.End, 1, 1000, 0)
	b.frames()
	require.Equal(t, formColour(b, m, column, row), colourAt(b, column, row))

	b.do(chromedp.KeyEvent("-"), chromedp.KeyEvent("-"))
	b.frames()
	js[int](b, wholeMatrix+`.scrollTo(0, 1e9), 1`)
	b.frames()
	require.Equal(t, formColour(b, m, len(m.Calls)-1, len(m.Rows)-10), colourAt(b, len(m.Calls)-1, len(m.Rows)-10), "the end is drawn")

	b.do(chromedp.KeyEvent("c"))
	b.until(`location.pathname === "/sessions/long/calls/150"`)
	b.open(address)
	b.drawn()
	js[int](b, wholeMatrix+`.focus(), 1`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("\r"))
	b.until(fmt.Sprintf(`location.pathname === "/sessions/long/life/%s"`, m.Rows[2].Hash))

	b.open(address)
	b.drawn()
	at := js[[]float64](b, fmt.Sprintf(`(() => { const c = %s.querySelector("canvas"); c.scrollIntoView({block: "center"}); const r = c.getBoundingClientRect(); return [r.left + 235, r.top + 25]; })()`, wholeMatrix))
	b.do(chromedp.MouseClickXY(at[0], at[1]))
	b.until(fmt.Sprintf(`location.pathname === "/sessions/long/life/%s"`, m.Rows[0].Hash))
}

// cellOf is what the page says of a message in a call.
func cellOf(m *inspect.Matrix, column, row int) string {
	of := &m.Rows[row]
	name := strings.TrimSpace(string(of.Role) + " " + of.Tool)
	what := fmt.Sprintf("Call %s, message %s, %s: ", grouped(m.Calls[column]), grouped(row+1), name)
	for _, s := range m.Strips {
		if s.Row == row && s.First <= column && column <= s.Last {
			what += fmt.Sprintf("%s, %s tokens, %s", s.Form, grouped(int(s.Tokens)), s.Reason)
			if s.Cached {
				what += ", equal to the call before"
			}
			return what
		}
	}
	return what + "not in its history"
}

func grouped(n int) string {
	text := strconv.Itoa(n)
	if len(text) > 3 {
		text = text[:len(text)-3] + "\u202f" + text[len(text)-3:]
	}
	return text
}

// formColour is the colour of a message in a call, as the styles have it.
func formColour(b *tab, m *inspect.Matrix, column, row int) string {
	for _, s := range m.Strips {
		if s.Row == row && s.First <= column && column <= s.Last {
			return js[string](b, fmt.Sprintf(`getComputedStyle(document.documentElement).getPropertyValue("--f-%s").trim()`, s.Form))
		}
	}
	return "none"
}

// colourAt is the colour that most pixels at the top of a cell have that is in view: hatches and the cursor are thin, and a message of
// fewer tokens is not as high as its row.
func colourAt(b *tab, column, row int) string {
	return js[string](b, fmt.Sprintf(`(() => {
		const frame = %s, canvas = frame.querySelector("canvas"), [x, y, w, h] = frame.cellAt(%d, %d), scale = canvas.width / frame.clientWidth;
		const data = canvas.getContext("2d").getImageData(Math.round(x * scale), Math.round(y * scale), Math.max(Math.floor(w * scale), 1), Math.max(Math.floor(0.3 * h * scale), 1)).data;
		const count = {};
		for (let i = 0; i < data.length; i += 4) {
			const c = "#" + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, "0")).join("");
			count[c] = (count[c] ?? 0) + 1;
		}
		return Object.entries(count).sort((a, b) => b[1] - a[1])[0][0];
	})()`, wholeMatrix, column, row))
}

// BenchmarkLongMatrix opens the matrix of 10,000 calls and 100,000 messages, and scrolls through it.
func BenchmarkLongMatrix(b *testing.B) {
	s := long(b, inspectortest.Inspected)
	tab := newTabWithin(b, 10*lab.Bound)
	tab.open(s.newAddress())
	tab.open(s.base + "/sessions/long/matrix")
	tab.drawn() // the session was read
	var paint, whole, frame, memory float64
	for b.Loop() {
		tab.open(s.base + "/sessions/long/matrix")
		tab.drawn()
		paint = js[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
		whole = js[float64](tab, `performance.now()`)
		frame = js[float64](tab, `new Promise((done) => {
			const frame = `+wholeMatrix+`, times = [];
			let last = performance.now(), n = 0;
			const step = (now) => {
				if (n > 1) times.push(now - last);
				last = now;
				if (n++ === 200) { times.sort((a, b) => a - b); done(times[Math.floor(times.length * 0.95)]); return; }
				frame.scrollTop += (frame.scrollHeight - frame.clientHeight) / 200;
				frame.scrollLeft += (frame.scrollWidth - frame.clientWidth) / 200;
				requestAnimationFrame(step);
			};
			requestAnimationFrame(step);
		})`)
		memory = renderers(tab)
	}
	b.ReportMetric(paint, "ms/first-paint")
	b.ReportMetric(whole, "ms/whole")
	b.ReportMetric(frame, "ms/frame-p95")
	b.ReportMetric(memory, "MB/page")
	b.ReportMetric(0, "ns/op")
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// renderers returns the memory of the largest process that shows pages, in megabytes.
func renderers(b *tab) (most float64) {
	b.t.Helper()
	info, err := chromedp.CallBrowser(b.ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	require.NoError(b.t, err)
	for _, p := range info.ProcessInfo {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ID))
		if p.Type != "renderer" || err != nil {
			continue
		}
		if m := resident.FindSubmatch(text); m != nil {
			kb, err := strconv.ParseFloat(string(m[1]), 64)
			require.NoError(b.t, err)
			most = math.Max(most, kb*1024/1e6)
		}
	}
	return most
}
