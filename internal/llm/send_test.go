package llm

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func bodyOf(n int) (b *body, whole string) {
	var msgs []*echo.Message
	for i := range n {
		msgs = append(msgs, echo.NewText(echo.RoleUser, echo.KindTask, fmt.Sprintf("%d %s", i, strings.Repeat("é", i%700))))
	}
	b = newBody()
	b.fill(&wireRequest{model: "m"}, msgs)
	return b, string(bytes.Join(b.parts, nil))
}

// A body arrives whole and after its head, also in more pieces than one system call takes, whether
// the transport copies it or not.
func TestBodiesAreSentWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1020, 1021, 1022, 5000} {
		for name, limit := range map[string]func(*body) io.Reader{
			"in pieces": func(b *body) io.Reader { return io.LimitReader(b.reader(), b.size) },
			"copied":    func(b *body) io.Reader { return struct{ io.Reader }{b.reader()} },
		} {
			t.Run(fmt.Sprintf("%d messages %s", n, name), func(t *testing.T) {
				t.Parallel()
				const head = "POST /v1 HTTP/1.1\r\n\r\n"
				b, whole := bodyOf(n)
				require.Len(t, whole, int(b.size))
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				defer l.Close() //nolint:errcheck // the test is over
				sent, err := net.Dial("tcp", l.Addr().String())
				require.NoError(t, err)
				received, err := l.Accept()
				require.NoError(t, err)
				defer received.Close() //nolint:errcheck // the test is over
				got := make(chan string)
				go func() {
					all, _ := io.ReadAll(received)
					got <- string(all)
				}()
				c := &connection{Conn: sent}
				for range 2 { // the head of the second request finds nothing left of the first
					_, err = c.Write([]byte(head))
					require.NoError(t, err)
					written, err := c.ReadFrom(limit(b))
					require.NoError(t, err)
					require.Equal(t, b.size, written)
				}
				require.NoError(t, c.Close())
				require.Equal(t, strings.Repeat(head+whole, 2), <-got)
			})
		}
	}
}

// A body that was closed is not sent, and one whose connection fails is given back.
func TestBodiesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	b, _ := bodyOf(3)
	closed := b.reader()
	require.NoError(t, closed.Close())
	near, far := net.Pipe()
	require.NoError(t, far.Close())
	c := &connection{Conn: near}
	_, err := c.ReadFrom(io.LimitReader(closed, b.size))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	r := b.reader()
	n, err := c.ReadFrom(io.LimitReader(r, b.size))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Zero(t, n)
	require.NoError(t, r.Close())
	require.Equal(t, int32(1), b.refs.Load())
}

// The transport gives a connection the reader that it knows, so that a body is not copied.
func TestTheTransportLeavesBodiesAsTheyAre(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		_, _ = w.Write(all)
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close() //nolint:errcheck // the test is over
	b, whole := bodyOf(50)
	r := b.reader()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), r)
	require.NoError(t, err)
	req.ContentLength = b.size
	res, err := newTransport().RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close() //nolint:errcheck // the test is over
	all, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, whole, string(all))
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Zero(t, r.off)
	require.Equal(t, len(b.parts), r.part, "writeTo took all at once")
}
