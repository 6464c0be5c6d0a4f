package llm

import (
	"bytes"
	"context"
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
			return &connection{Conn: c}, nil
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

// connection sends the head of a request together with its body, which it does not copy. net/http
// would write the head alone, and make a buffer for each body. It is written to by one goroutine at
// a time.
type connection struct {
	net.Conn
	head []byte // waits for the body
}

// maxHead bounds what is kept as a head.
const maxHead = 32 << 10

// Write implements io.Writer. The head of a request is written with what comes after it, as every
// request here has a body. An encrypted connection writes no heads here.
//
// A head is held only when the connection could be written to: net/http sends a request again, over
// another connection, when it could write nothing of it. To write nothing tells, and sends nothing.
func (c *connection) Write(p []byte) (int, error) {
	if len(c.head) > 0 {
		c.head = append(c.head, p...)
		_, err := c.Conn.Write(c.head)
		c.head = c.head[:0]
		return len(p), err
	}
	if len(p) < maxHead && bytes.HasPrefix(p, []byte(http.MethodPost+" ")) && bytes.HasSuffix(p, []byte("\r\n\r\n")) {
		if _, err := c.Conn.Write(nil); err != nil {
			return 0, err
		}
		c.head = append(c.head, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// ReadFrom implements io.ReaderFrom. The transport reads a body of a known length through a limit.
func (c *connection) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(*bodyReader); ok {
			n, err := body.writeTo(c.Conn, c.head)
			c.head = c.head[:0]
			return n, err
		}
	}
	return io.Copy(struct{ io.Writer }{c}, r)
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

// What is left of a response whose answer has been read, as the end of a stream, may take so long
// and have so many bytes: its connection is kept for the next request then.
const (
	restTime  = time.Second
	restBytes = 4 << 10
)

// watchedBody feeds the watchdog with every piece that arrives.
type watchedBody struct {
	io.ReadCloser
	dog  *watchdog
	over bool // nothing is left
}

// leave ends a response whose answer has been read. Nobody waits for what is left of it.
func (b *watchedBody) leave() {
	if b.over {
		b.end()
		return
	}
	go func() {
		limit := time.AfterFunc(restTime, b.dog.stop)
		defer limit.Stop()
		_, _ = io.CopyN(io.Discard, b, restBytes) // the connection is not kept then
		b.end()
	}()
}

// end ends a response. Its connection is closed when something is left.
func (b *watchedBody) end() {
	_ = b.Close() // it was only read from
	b.dog.stop()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.dog.feed()
	}
	b.over = b.over || err != nil
	return n, err
}
