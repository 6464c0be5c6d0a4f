package llm

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// heard is a connection that says when its other end has closed it, and whose reader hears of that
// when something could not be written.
type heard struct {
	net.Conn
	once           *[2]sync.Once
	closed, unsent chan struct{}
}

func newHeard(c net.Conn) heard {
	return heard{c, &[2]sync.Once{}, make(chan struct{}), make(chan struct{})}
}

func (c heard) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.once[0].Do(func() { close(c.closed) })
		<-c.unsent
	}
	return n, err
}

func (c heard) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.once[1].Do(func() { close(c.unsent) })
	}
	return n, err
}

func (c heard) Close() error {
	c.once[1].Do(func() { close(c.unsent) })
	return c.Conn.Close()
}

// closer is a server that can close its idle connections.
type closer struct {
	*httptest.Server
	mu    sync.Mutex
	conns map[net.Conn]bool
	asked int
}

func newCloser(t *testing.T) *closer {
	t.Helper()
	s := &closer{conns: map[net.Conn]bool{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked++
		s.mu.Unlock()
		_, _ = w.Write(body)
	}))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.conns[c] = true; state == http.StateClosed {
			delete(s.conns, c)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *closer) closeConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.(*net.TCPConn).SetLinger(0) // with a reset, as a machine does that has forgotten the connection
		_ = c.Close()
	}
}

// TestIdleConnectionIsClosed: a server closes an idle connection when a request has just got it. As
// nothing of the request has left, it is sent over another one, with net/http's own writes and with
// the head held back.
func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"plain": false, "held": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 100_000} {
				s := newCloser(t)
				tr := newTransport()
				defer tr.CloseIdleConnections()
				dial := tr.DialContext
				var conns []heard
				tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := dial(ctx, network, address)
					if err != nil {
						return nil, err
					}
					own := c.(*connection)
					h := newHeard(own.Conn)
					conns = append(conns, h)
					if held {
						own.Conn = h
						return own, nil
					}
					return h, nil
				}
				post := func(body string, trace *httptrace.ClientTrace) (string, error) {
					reader := func() (io.ReadCloser, error) { return io.NopCloser(struct{ io.Reader }{strings.NewReader(body)}), nil }
					again, _ := reader()
					req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, s.URL, again)
					require.NoError(t, err)
					req.ContentLength, req.GetBody = int64(len(body)), reader
					res, err := tr.RoundTrip(req)
					if err != nil {
						return "", err
					}
					defer res.Body.Close() //nolint:errcheck // only read from
					text, err := io.ReadAll(res.Body)
					return string(text), err
				}
				text, err := post("one", &httptrace.ClientTrace{})
				require.NoError(t, err)
				require.Equal(t, "one", text)
				body := strings.Repeat("x", size)
				reused := 0
				text, err = post(body, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
					if info.Reused {
						reused++
						s.closeConnections()
						<-conns[0].closed
					}
				}})
				require.NoError(t, err)
				require.Equal(t, body, text)
				require.Equal(t, 1, reused)
				require.Len(t, conns, 2)
				require.Equal(t, 2, s.asked)
			}
		})
	}
}
