package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/fetch"
)

const (
	answerTimeout = 30 * time.Second // until a server begins to answer
	stallTimeout  = 60 * time.Second // without a single byte
)

func (c Config) canFetchURL() ([]byte, error) {
	if c.URL == "" {
		return nil, errNothing
	}
	if err := c.checkCache(); err != nil {
		return nil, err
	}
	if c.SHA256 == "" {
		return nil, errors.New("WINDLASS_ENGINE_SHA256 is not set: nothing is fetched and run without a checksum")
	}
	sum, err := hex.DecodeString(c.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return nil, errors.New("WINDLASS_ENGINE_SHA256 is not a SHA-256 checksum: 64 hexadecimal digits are expected")
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("it is not a URL") // the parser's own message would show a password in it
	}
	if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
		return nil, fmt.Errorf("its scheme is %q: http, https or file is expected", u.Scheme)
	}
	return sum, nil
}

func (c Config) fetchURL(ctx context.Context, progress func(Progress)) (Engine, error) {
	want, err := c.canFetchURL()
	if err != nil {
		return Engine{}, err
	}
	get := func(ctx context.Context, staging string) (string, error) {
		path := filepath.Join(staging, "archive")
		return path, getURL(ctx, c.URL, path, progress)
	}
	sum := fetch.Checksum{Hash: sha256.New(), Want: want, Name: strings.ToLower(c.SHA256)}
	gate, size := c.gateOfURL(ctx)
	return c.fetch(ctx, c.urlDir(), fetch.Item{Gate: gate, Offer: c.offer(size), Sum: sum, Get: get}, progress)
}

// allowURL asks the gate about what the URL gives.
func (c Config) allowURL(ctx context.Context) error {
	if _, err := c.canFetchURL(); err != nil {
		return err
	}
	gate, size := c.gateOfURL(ctx)
	return gate.Allow(ctx, c.offer(size))
}

// gateOfURL returns who decides about the download, and its size. A file of this machine is no
// download.
func (c Config) gateOfURL(ctx context.Context) (*fetch.Gate, int64) {
	if c.Gate == nil || strings.HasPrefix(strings.ToLower(c.URL), "file:") {
		return nil, 0
	}
	return c.Gate, sizeOf(ctx, c.URL)
}

// sizeOf returns how many bytes a server says that it would send; 0 when it does not say.
func sizeOf(ctx context.Context, rawURL string) int64 {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, rawURL, http.NoBody)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil { // the download says so
		return 0
	}
	_ = resp.Body.Close() // a HEAD has none
	if resp.StatusCode != http.StatusOK {
		return 0
	}
	return max(resp.ContentLength, 0)
}

func (c Config) urlDir() string {
	return filepath.Join(c.CacheDir, engineDir, "sha256-"+strings.ToLower(c.SHA256)[:min(16, len(c.SHA256))])
}

// cachedDir is where the cache has an engine of this configuration; "" when it can have none.
func (c Config) cachedDir() string {
	if c.URL != "" {
		if _, err := c.canFetchURL(); err != nil {
			return "" // the wrong setting is reported when its turn comes
		}
		return c.urlDir()
	}
	if p, ok := pins()[c.platform()]; ok {
		return c.npmDir(p)
	}
	return ""
}

func getURL(ctx context.Context, rawURL, path string, progress func(Progress)) error {
	body, size, err := openURL(ctx, rawURL)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("download the engine: %w", err)
	}
	m := fetch.NewMeter(StepDownload, max(size, 0), progress)
	_, err = io.Copy(io.MultiWriter(out, m), fetch.Reader(ctx, body))
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("download the engine: %w", err)
	}
	return nil
}

func openURL(ctx context.Context, rawURL string) (io.ReadCloser, int64, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, 0, errors.New("download the engine: it is not a URL")
	}
	if u.Scheme == "file" {
		f, err := os.Open(u.Path)
		if err != nil {
			return nil, 0, fmt.Errorf("open the engine's archive: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return f, info.Size(), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, http.NoBody)
	if err != nil {
		cancel(nil)
		return nil, 0, errors.New("download the engine: it is not a URL")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nothing here replaces it
	transport.ResponseHeaderTimeout = answerTimeout
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		cancel(nil)
		return nil, 0, fmt.Errorf("download the engine: %w", err) // net/http hides a password in the URL
	}
	if resp.StatusCode != http.StatusOK {
		cancel(nil)
		return nil, 0, errors.Join(fmt.Errorf("download the engine from %s: %s", u.Redacted(), resp.Status), resp.Body.Close())
	}
	return newStallGuard(ctx, resp.Body, cancel), resp.ContentLength, nil
}

type stallGuard struct {
	ctx    context.Context //nolint:containedctx // it carries the cause that a stalled read ends with
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newStallGuard(ctx context.Context, body io.ReadCloser, cancel context.CancelCauseFunc) *stallGuard {
	t := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("no data for %s", stallTimeout)) })
	return &stallGuard{ctx: ctx, body: body, cancel: cancel, timer: t}
}

func (g *stallGuard) Read(b []byte) (int, error) {
	n, err := g.body.Read(b)
	g.timer.Reset(stallTimeout)
	if err != nil && !errors.Is(err, io.EOF) && g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	return n, err
}

func (g *stallGuard) Close() error {
	g.timer.Stop()
	g.cancel(nil)
	return g.body.Close()
}
