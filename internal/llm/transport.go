package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// maxConversations is for how many parallel conversations with an endpoint connections stay open.
const maxConversations = 128

// newTransport returns a router's connections. A transport follows no redirects.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return connection{c}, nil
		},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           2 * maxConversations,
		MaxIdleConnsPerHost:    maxConversations,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// connection sends bodies through buffers that connections share. net/http would make a new one for
// each body.
type connection struct{ net.Conn }

// sendSize is how much of a body is written at once.
const sendSize = 64 << 10

var sendBuffers = sync.Pool{New: func() any { return new([sendSize]byte) }}

// ReadFrom implements io.ReaderFrom.
func (c connection) ReadFrom(r io.Reader) (n int64, err error) {
	buf := sendBuffers.Get().(*[sendSize]byte) //nolint:forcetypeassert // New makes them
	defer sendBuffers.Put(buf)
	for {
		read, err := r.Read(buf[:])
		if read > 0 {
			written, err := c.Write(buf[:read])
			n += int64(written)
			if err != nil {
				return n, err
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// watchdog ends a request when nothing arrives for too long, or when the time for the whole call is
// over. Its timer runs for as long as it can, not anew for every piece.
type watchdog struct {
	cancel context.CancelCauseFunc
	began  time.Time
	end    time.Duration // of the call, counted from began as all times here
	idle   time.Duration
	heard  atomic.Int64 // when something arrived

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// watch returns a context that ends with errIdle when the watchdog is not fed for the idle time, and
// with errOverall at the end of the call.
func watch(ctx context.Context, idle time.Duration, end time.Time) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	w := &watchdog{cancel: cancel, began: now, end: end.Sub(now), idle: idle}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(min(w.idle, w.end), w.look)
	return ctx, w
}

// look ends the request, or looks again when that may be due.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, silent := time.Since(w.began), time.Duration(w.heard.Load())+w.idle
	switch {
	case w.stopped:
	case now >= w.end:
		w.cancel(errOverall)
	case now >= silent:
		w.cancel(errIdle)
	default:
		w.timer.Reset(min(silent, w.end) - now)
	}
}

// stop ends the watch, and with it the context.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.cancel(context.Canceled)
}

func (w *watchdog) feed() { w.heard.Store(int64(time.Since(w.began))) }

// watchedBody feeds the watchdog with every piece that arrives.
type watchedBody struct {
	io.ReadCloser
	dog *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.dog.feed()
	}
	return n, err
}
