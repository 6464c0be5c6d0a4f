//go:build unix

// Package browser tries the page of windlass serve in a real browser: what assistive technology sees of it, that it works
// by the keyboard alone, that what a model writes does nothing, and that other pages get nothing done with it.
package browser

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server/page/pagetest"
	"github.com/windlass-run/windlass/internal/waits"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	shots  = flag.String("shots", "", "write pictures of the pages into this `FOLDER`")

	theBinary  string
	theBrowser context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run builds windlass, starts the one browser of all tests, and runs them.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "browser-bin-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
		theBinary, err = lab.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("lang", "en-US"))
	if os.Geteuid() == 0 {
		o = append(o, chromedp.NoSandbox) // which Chromium does not have for root
	}
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), o...)
	defer cancel()
	browser, end := chromedp.NewContext(allocated)
	defer end()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintf(os.Stderr, "start a browser: %v\nTry: install Chromium, such as the package chromium of Debian\n", err)
		return 1
	}
	theBrowser = browser
	return m.Run()
}

// site is a windlass serve with a session that waits.
type site struct {
	*lab.World
	t     testing.TB
	serve *lab.Server
	base  string
	list  []pagetest.Named
}

// newServed is a site of a world with what waits there.
func newServed(t testing.TB, w *lab.World, serve *lab.Server, list ...pagetest.Named) *site {
	t.Helper()
	return &site{World: w, t: t, serve: serve, base: "http://" + serve.Address, list: list}
}

func newSite(t *testing.T, list []pagetest.Named, artifacts ...echo.Artifact) *site {
	t.Helper()
	w := lab.New(t, theBinary)
	w.Memory = 0
	began := time.Now().Add(-2*time.Hour - 10*time.Minute).UTC()
	w.Must(pagetest.Write(w.Home, list, artifacts, began))
	s := newServed(t, w, w.Serve("--no-clickhouse"), list...)
	return s
}

func (s *site) url(name string) string { return s.base + "/waits/" + pagetest.ID(s.list, name) }

// answered returns what was left for a wait, nil for nothing.
func (s *site) answered(name string) *echo.Answer {
	s.t.Helper()
	a, err := waits.Box(s.Home, pagetest.Session).Answered(pagetest.ID(s.list, name))
	require.NoError(s.t, err)
	return a
}

var printed = regexp.MustCompile(`page: (http://\S+/\?code=\S+) opens the page once`)

// address returns the address that the server has printed when it started.
func (s *site) address() string {
	s.t.Helper()
	for range 1000 { // it is the line after the one that was waited for
		if m := printed.FindStringSubmatch(s.serve.Said()); m != nil {
			return m[1]
		}
		time.Sleep(time.Millisecond)
	}
	require.Fail(s.t, "no address was printed", s.serve.Said())
	return ""
}

// newAddress has the command print another one.
func (s *site) newAddress() string {
	s.t.Helper()
	o := s.Run("serve", "token", "--page")
	require.Equal(s.t, 0, o.Code, "%s", o.Err)
	return strings.TrimSpace(o.Out)
}

// tab is a page of a browser profile of its own.
type tab struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // of the one browser that a test has, which ends with it
}

func newTab(t testing.TB) *tab {
	t.Helper()
	return newTabWithin(t, lab.Bound)
}

func newTabWithin(t testing.TB, bound time.Duration) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(theBrowser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, end := context.WithTimeout(ctx, bound)
	t.Cleanup(end)
	tab := &tab{t, ctx}
	tab.do(chromedp.EmulateViewport(1280, 900))
	return tab
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...))
}

// call sends a command of the browser's protocol.
func call[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	out, err := chromedp.Call(b.ctx, c, params)
	require.NoError(b.t, err)
	return out
}

func (b *tab) open(url string) { b.t.Helper(); b.do(chromedp.Navigate(url)) }

// js returns the value of an expression, which may be a promise.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, "%s", expression)
	return out
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return js[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// enter opens the page of a site, and then what waits.
func enter(t testing.TB, s *site) *tab {
	t.Helper()
	b := newTab(t)
	b.open(s.newAddress())
	require.Equal(t, s.base+"/", js[string](b, "location.href"))
	b.open(s.base + "/waits")
	return b
}

// small fails when the page is wider than a small screen. What follows its box, such as a chart, does so a moment later.
func (b *tab) small(name string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(390, 800))
	width := 0
	for range 100 {
		if width = js[int](b, "document.documentElement.scrollWidth"); width <= 390 {
			break
		}
		b.frames()
	}
	require.LessOrEqual(b.t, width, 390, "%s is wider than a small screen", name)
	b.do(chromedp.EmulateViewport(1440, 900))
}

// frames waits until what has changed was drawn.
func (b *tab) frames() {
	b.t.Helper()
	js[int](b, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`)
}

// picture writes what the tab shows, in both colour schemes and two widths, where -shots asks for it.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	for _, width := range []int64{1440, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 900))
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			require.NoError(b.t, err)
			require.NoError(b.t, os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), png, 0o600))
		}
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	b.do(chromedp.EmulateViewport(1280, 900))
}

// stranger is a server of somebody else. It counts whatever reaches it.
type stranger struct {
	*httptest.Server
	t           testing.TB
	news        chan struct{} // has something when something was asked
	keeps       atomic.Bool   // browsers stay on the page that they have
	connections atomic.Int64
	mu          sync.Mutex
	asked       []string
}

func newStranger(t testing.TB, html func() string) *stranger {
	s := &stranger{t: t, news: make(chan struct{}, 1)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, html())
			return
		}
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if s.keeps.Load() {
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *stranger) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// await waits until a path was asked for.
func (s *stranger) await(name string) {
	s.t.Helper()
	late := time.After(lab.Bound)
	for {
		for _, x := range s.seen() {
			path, _, _ := strings.Cut(x[strings.Index(x, "/")+1:], "?")
			if path == name {
				return
			}
		}
		select {
		case <-s.news:
		case <-late:
			require.Fail(s.t, "nobody asked for "+name, "%q", s.seen())
		}
	}
}

// openUntilQuiet opens an address and waits until the network of the page was quiet.
func (b *tab) openUntilQuiet(url string) {
	b.t.Helper()
	call(b, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true})
	events := chromedp.Events(b.ctx, page.LifecycleEvent)
	b.open(url)
	for e, err := range events {
		require.NoError(b.t, err)
		if e.Name == "networkIdle" {
			return
		}
	}
}
