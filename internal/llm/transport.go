package llm

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// maxConversations is for how many parallel conversations with an endpoint connections stay open.
const maxConversations = 128

// newHTTPClient returns a router's connections. It follows no redirects: the key would go along.
func newHTTPClient() *http.Client {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           2 * maxConversations,
		MaxIdleConnsPerHost:    maxConversations,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         16 << 10,
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRefused },
	}
}

// watchdog ends a request when nothing arrives for too long.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

// watch returns a context that ends with errIdle when the watchdog is not fed for the idle time.
func watch(ctx context.Context, idle time.Duration) (context.Context, *watchdog, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{idle: idle}
	w.timer = time.AfterFunc(idle, func() { cancel(errIdle) })
	return ctx, w, func() {
		w.timer.Stop()
		cancel(context.Canceled)
	}
}

func (w *watchdog) feed() { w.timer.Reset(w.idle) }

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
