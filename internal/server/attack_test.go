package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server/certificate"
	"github.com/windlass-run/windlass/internal/server/certificate/certificatetest"
	"github.com/windlass-run/windlass/internal/server/servertest"
)

// patience is how long these tests wait for what happens within milliseconds on an idle machine.
const patience = 20 * time.Second

// dial opens a connection to the server of a bundle.
func (b *testBundle) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(b.client.Base, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// raw sends bytes as they are, with the token in the place of TOKEN, and reads one answer.
func (b *testBundle) raw(t *testing.T, text string) *servertest.Answer {
	t.Helper()
	c := b.dial(t)
	_, err := io.WriteString(c, strings.ReplaceAll(text, "TOKEN", "Authorization: Bearer "+testToken))
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return &servertest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, Closed: resp.Close}
}

// hostile are values that name nothing, as they stand in the path of a request.
var hostile = map[string]string{
	"up, encoded": "..%2f", "up, encoded whole": "%2e%2e%2f", "up, encoded upper": "%2E%2E%2F", "up and away": "..%2f..%2f..%2fetc%2fpasswd",
	"dots": "..", "dots, encoded": "%2e%2e", "one dot": ".", "one dot, encoded": "%2e", "a backslash": "..%5c", "dots behind": "s1%2f..",
	"a slash": "%2f", "absolute": "%2fetc%2fpasswd", "two slashes": "s1%2f%2fx", "encoded twice": "..%252f", "a percent": "%25",
	"NUL": "%00", "NUL behind": "s1%00", "NUL and an end": "s1%00.json", "a line": "s1%0d%0aX-Injected:%20yes", "a tab": "%09", "a space": "%20", "a space behind": "s1%20",
	"not UTF-8": "%ff", "overlong": "%c0%ae%c0%ae%c0%af", "half a character": "%e2%80", "a surrogate": "%ed%a0%80", "right to left": "%e2%80%ae1s", "full width": "%ef%bc%8e%ef%bc%8e", "a replacement": "%ef%bf%bd",
	"long": strings.Repeat("a", 5000), "long, encoded": strings.Repeat("%2e%2e%2f", 2000), "a quote": "%27", "quoted SQL": "%27%20OR%201=1--", "a wildcard": "*", "a pattern": "s_%25", "braces": "%7bid%7d", "a template": "%7b%7benv%7d%7d",
	"a number below zero": "-1", "a number with a sign": "+1", "a large number": strings.Repeat("9", 65), "a semicolon": ";id", "a colon": "s1:1", "a device": "%5c%5c.%5cnul",
}

// TestHostilePaths: a value in a path that has not the form of its parameter is answered with 404,
// in the form of a problem, and nothing is looked for under it. That holds for every parameter of
// every route.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{})
	for _, rt := range routes() {
		for _, parameter := range []string{"{id}", "{call}"} {
			if !strings.Contains(rt.path, parameter) {
				continue
			}
			for name, value := range hostile {
				t.Run(rt.method+" "+rt.path+" "+parameter+" "+name, func(t *testing.T) {
					path := strings.NewReplacer("{id}", "s1", "{call}", "1").Replace(strings.Replace(rt.path, parameter, value, 1))
					a := b.raw(t, rt.method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nContent-Length: 0\r\n\r\n")
					require.Equal(t, http.StatusNotFound, a.Status, "%s", a.Body)
					require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
					require.Empty(t, a.Header.Get("X-Injected"))
					require.Less(t, len(a.Body), 1000, "an answer does not repeat what was sent at any length")
				})
			}
		}
	}
	require.Empty(t, b.fake.asked)
	require.Empty(t, b.log.String())
	for _, call := range []string{"1", "999999999", "p/attempt1/turn1", "p%2Fattempt1%2Fturn1", "p~2/attempt1/turn1/model/", "A-b_c"} {
		require.Equal(t, http.StatusNotFound, b.raw(t, "GET /api/sessions/a.B-c_1/context/"+call+" HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n").Status)
	}
	require.Equal(t, []string{
		"a.B-c_1", "1", "a.B-c_1", "999999999", "a.B-c_1", "p/attempt1/turn1", "a.B-c_1", "p/attempt1/turn1", "a.B-c_1", "p~2/attempt1/turn1/model/", "a.B-c_1", "A-b_c",
	}, b.fake.asked, "what can be a name is looked for")
}

// TestHostileRequests: what is no request of the API is refused, and nothing is begun by it.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	const run = `{"file": "a.json"}`
	post := func(headers string, body string) string {
		return "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	tests := map[string]struct {
		text   string
		status int
	}{
		"another spelling":          {"GET //api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 404},
		"another way":               {"GET /api/openapi.json/../sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 404},
		"a host in the path":        {"GET //attacker.example/%2e%2e HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 404},
		"a host in the address":     {"GET http://attacker.example/api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 403},
		"no host":                   {"GET /api/sessions HTTP/1.1\r\nHost:\r\nTOKEN\r\n\r\n", 403},
		"HTTP/1.0 without a host":   {"GET /api/sessions HTTP/1.0\r\nTOKEN\r\n\r\n", 403},
		"two hosts":                 {"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\nTOKEN\r\n\r\n", 400},
		"TRACE":                     {"TRACE /api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 405},
		"CONNECT":                   {"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 404},
		"OPTIONS of all":            {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 404},
		"a preflight":               {"OPTIONS /api/runs HTTP/1.1\r\nHost: localhost\r\nOrigin: https://attacker.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n", 403},
		"a websocket":               {"GET /api/sessions/s1/context/1 HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n\r\n", 404},
		"a long header":             {"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 40_000) + "\r\n\r\n", 431},
		"many headers":              {"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: x\r\n", 8_000) + "\r\n", 431},
		"a long path":               {"GET /" + strings.Repeat("x", 40_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431},
		"a method of another name":  {"STEAL /api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n", 405},
		"a method over the real":    {"GET /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nX-HTTP-Method-Override: POST\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n" + run, 405},
		"two lengths":               {post("Content-Length: 18\r\nContent-Length: 5\r\n", run), 400},
		"a length and chunks":       {post("Content-Length: 18\r\nTransfer-Encoding: chunked\r\nX: GET /api/sessions\r\n", "0\r\n\r\n"+run), 400},
		"a length below zero":       {post("Content-Length: -1\r\n", run), 400},
		"chunks of no number":       {post("Transfer-Encoding: chunked\r\n", "zz\r\n"+run+"\r\n0\r\n\r\n"), 400},
		"chunks over the limit":     {post("Transfer-Encoding: chunked\r\n", "7d000\r\n"+strings.Repeat(" ", 0x7d000)+"\r\n0\r\n\r\n"), 413},
		"a length over the limit":   {post("Content-Length: 99999999999\r\n", run), 413},
		"a body that does not end":  {post("Content-Length: 1000\r\n", run), 400},
		"the media type in capital": {strings.Replace(post("Content-Length: 18\r\n", run), "application/json", "TEXT/PLAIN; x=application/json", 1), 415},
		"the token in the query":    {"GET /api/sessions?token=" + testToken + "&access_token=" + testToken + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 401},
		"the token in a cookie":     {"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nCookie: token=" + testToken + "\r\n\r\n", 401},
		"the token as a password":   {"GET http://x:" + testToken + "@localhost/api/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n", 401},
		"the token at second place": {"GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nTOKEN\r\n\r\n", 401},
		"a forwarded host":          {"GET /api/sessions HTTP/1.1\r\nHost: attacker.example\r\nX-Forwarded-Host: localhost\r\nTOKEN\r\n\r\n", 403},
		"a page that has the token": {strings.Replace(post("Content-Length: 18\r\n", run), "Host: localhost", "Host: localhost\r\nOrigin: https://attacker.example", 1), 403},
	}
	b := newBundle(t, Options{MaxBody: 400_000, BodyTime: time.Second})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := b.raw(t, tt.text)
			require.Equal(t, tt.status, a.Status, "%s", a.Body)
			require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
			require.Empty(t, a.Header.Get("Location"))
		})
	}
	require.Empty(t, b.fake.started)
	require.NotContains(t, b.log.String(), testToken)
	a := b.raw(t, post("Transfer-Encoding: chunked\r\nTrailer: Content-Type\r\n", "12\r\n"+run+"\r\n0\r\nContent-Type: text/plain\r\nX-Trailer: x\r\n\r\n"))
	require.Equal(t, http.StatusCreated, a.Status, "trailers mean nothing")
	require.Len(t, b.fake.started, 1)
}

// TestSlowClients: whoever sends nothing, or not all, loses the connection, with a token and
// without one.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const half = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	b := newBundle(t, Options{HeaderTime: 50 * time.Millisecond, BodyTime: 50 * time.Millisecond, IdleTime: 50 * time.Millisecond})
	for name, text := range map[string]string{
		"nothing":                      "",
		"half a line":                  "GET /api/se",
		"half of the headers":          "GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nX: ",
		"half a body":                  "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n" + half,
		"half a chunk":                 "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{",
		"half a body and no token":     "POST /api/runs HTTP/1.1\r\nHost: localhost\r\n" + half,
		"half a body from a page":      "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\nOrigin: https://attacker.example\r\n" + half,
		"half a body for nothing":      "DELETE /api/runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n" + half,
		"half a body of a GET":         "GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n" + half,
		"half a body, another address": "POST /api//runs HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n" + half,
		"idle":                         "GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nTOKEN\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := b.dial(t)
			_, err := io.WriteString(c, strings.ReplaceAll(text, "TOKEN", "Authorization: Bearer "+testToken))
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, c)
			var late net.Error
			if err != nil { // it was reset, which is as good
				require.NotErrorAs(t, err, &late, "the connection is still open")
			}
		})
	}
}

// TestDefaultTimes: what the tests above shorten is set for every server.
func TestDefaultTimes(t *testing.T) {
	t.Parallel()
	s, err := New(&fake{}, &fake{}, fakePeople{&fake{}}, Options{Token: testToken})
	require.NoError(t, err)
	srv := s.HTTP()
	require.Equal(t, []time.Duration{10 * time.Second, time.Minute, 2 * time.Minute}, []time.Duration{srv.ReadHeaderTimeout, srv.WriteTimeout, srv.IdleTimeout})
	require.Equal(t, times{10 * time.Second, 30 * time.Second, 2 * time.Minute, 30 * time.Second}, s.times)
	require.Equal(t, 32<<10, srv.MaxHeaderBytes)
}

// TestReaderThatDoesNotRead loses its stream, and with it its place.
func TestReaderThatDoesNotRead(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond, MaxStreams: 1, SendTime: 50 * time.Millisecond})
	s := &steps{closed: make(chan struct{}), list: []step{{entries: []*echo.Entry{longEntry()}}}}
	b.fake.events = func(uint64) Events { return s }
	c := b.dial(t)
	_, err := fmt.Fprintf(c, "GET /api/sessions/s1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
	require.NoError(t, err)
	closedSoon(t, s.closed)
}

// secure lets the server of a bundle speak TLS, as windlass serve does, and returns its address and
// a client.
func (b *testBundle) secure(t *testing.T) (string, *http.Client) {
	t.Helper()
	files := certificatetest.Write(t, t.TempDir(), 1, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	pair, err := certificate.Load(files.Cert, files.Key, func(string) {})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := b.api.HTTP()
	srv.TLSConfig = pair.Config()
	go func() { _ = srv.ServeTLS(Limit(ln), "", "") }()
	t.Cleanup(func() { _ = srv.Close() })
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: files.Pool}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return ln.Addr().String(), &http.Client{Transport: tr}
}

// TestReaderThatDoesNotReadHTTP2: the same over HTTP/2, where the others on the same connection go
// on.
func TestReaderThatDoesNotReadHTTP2(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond, MaxStreams: 1, SendTime: 50 * time.Millisecond})
	s := &steps{closed: make(chan struct{}), list: []step{{entries: []*echo.Entry{longEntry()}}}}
	b.fake.events = func(uint64) Events { return s }
	address, client := b.secure(t)
	c := *b.client
	c.Base, c.HTTP = "https://"+address, client
	resp, err := client.Do(c.Request(t, http.MethodGet, "/api/sessions/s1/events", nil))
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	require.Equal(t, "HTTP/2.0", resp.Proto)
	closedSoon(t, s.closed)
	require.Equal(t, http.StatusOK, c.Do(t, http.MethodGet, "/api/sessions", nil).Status)
	c.Token = ""
	require.Equal(t, http.StatusUnauthorized, c.Do(t, http.MethodGet, "/api/sessions", nil).Status)
}

// TestSlowHandshake: whoever does not get on with TLS loses the connection.
func TestSlowHandshake(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{HeaderTime: 50 * time.Millisecond})
	address, _ := b.secure(t)
	for _, text := range []string{"", "\x16", "\x16\x03\x01\x40\x00\x01"} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close() //nolint:errcheck // the test ends
		require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(c, text)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, c)
		var late net.Error
		if err != nil { // it was reset, which is as good
			require.NotErrorAs(t, err, &late, "the connection is still open")
		}
	}
}

// longEntry is larger than what a system keeps for a connection.
func longEntry() *echo.Entry {
	e := entryOf(1)
	e.Data = []byte(`"` + strings.Repeat("x", 8<<20) + `"`)
	return e
}

func closedSoon(t *testing.T, c chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		require.Fail(t, "the stream is still open")
	}
}

// TestLimit: there is room for so many connections; the next one waits until one is closed, and no
// longer than the listener is open.
func TestLimit(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ln := limit(inner, 2)
	accepted := make(chan net.Conn)
	failed := make(chan error, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				failed <- err
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		defer c.Close() //nolint:errcheck // the test ends
	}
	first, second := <-accepted, <-accepted
	require.Len(t, ln.places, 2)
	select {
	case <-accepted:
		require.Fail(t, "there was no room")
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, first.Close())
	require.Error(t, first.Close(), "a place is given back once")
	third := <-accepted
	require.NoError(t, ln.Close())
	require.ErrorIs(t, <-failed, net.ErrClosed)
	require.NoError(t, second.Close())
	require.NoError(t, third.Close())
	require.Empty(t, ln.places)
}

// TestQuietLog: clients can write so many lines into the log, not more, and not more than one at a
// time.
func TestQuietLog(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	now := time.Unix(1e9, 0)
	q := &quiet{to: log.New(&out, "", 0), now: func() time.Time { return now }}
	l := log.New(q, "", 0)
	for i := range 1000 {
		l.Printf("http: TLS handshake error %d \xff", i)
	}
	require.Equal(t, quietLines, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "http: TLS handshake error 0 ?\n")
	now = now.Add(quietTime)
	l.Print("one")
	require.True(t, strings.HasSuffix(out.String(), "980 more lines about connections were left out\none\n"), out.String())
	now = now.Add(quietTime)
	l.Print("two")
	require.True(t, strings.HasSuffix(out.String(), "\none\ntwo\n"), out.String())
}
