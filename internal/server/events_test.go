package server

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
)

const (
	fakeEntry = `event: state` + "\n" + `data: {"session_id":"s1","seq":SEQ,"at":"0001-01-01T00:00:00Z","node_type":"state","key":"k","data":{"text":"a\nb"}}` + "\n\n"
	fakeEnd   = `event: end` + "\n" + `data: {"session_id":"s1","cascade_id":"c","status":"running","resumable":false,"started_at":"1970-01-01T00:00:01Z","last_at":"1970-01-01T00:00:02Z","entries":3,"phases":0,"calls":0,"embedding_calls":0,"tool_calls":0,"unknown_cost_calls":0,"scripted_calls":0,"tokens_in":0,"tokens_cached":0,"tokens_out":0,"cost_usd":null,"ran_ms":0}` + "\n\n"
	fakeHead  = ": the entries of session s1\n\n"
)

func eventText(seq string) string {
	return "id: " + seq + "\n" + strings.Replace(fakeEntry, "SEQ", seq, 1)
}

// TestEvents: entries come in order with their numbers, as they are there, and the stream ends with
// the session.
func TestEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond, Heartbeat: time.Hour})
	var from uint64
	s := &steps{closed: make(chan struct{}), list: []step{
		{entries: []*echo.Entry{entryOf(4)}}, {}, {entries: []*echo.Entry{entryOf(5), entryOf(6)}}, {}, {ended: true},
	}}
	b.fake.events = func(n uint64) Events { from = n; return s }
	a := b.client.Do(t, http.MethodGet, "/api/sessions/s1/events?from=2", nil, "Last-Event-ID", "3")
	require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
	require.Equal(t, uint64(4), from, "the entry after the last one that arrived")
	require.Equal(t, fakeHead+eventText("4")+eventText("5")+eventText("6")+fakeEnd, string(a.Body))
	<-s.closed
}

// TestEventsOfADamagedRecord end with what is wrong.
func TestEventsOfADamagedRecord(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond})
	b.fake.events = func(uint64) Events {
		return &steps{closed: make(chan struct{}), list: []step{
			{entries: []*echo.Entry{entryOf(1)}, err: NewProblem(failure.StorageFailed, "windlass doctor", "line 3 is damaged")},
		}}
	}
	a := b.client.Do(t, http.MethodGet, "/api/sessions/s1/events", nil)
	require.Equal(t, fakeHead+eventText("1")+"event: error\n"+
		`data: {"type":"https://windlass.run/problems/storage_failed","title":"The record cannot be reached","status":503,"detail":"line 3 is damaged","try":"windlass doctor"}`+"\n\n", string(a.Body))
	b.fake.events = func(uint64) Events {
		return &steps{closed: make(chan struct{}), list: []step{{err: errors.New("secret detail")}}}
	}
	a = b.client.Do(t, http.MethodGet, "/api/sessions/s1/events", nil)
	require.NotContains(t, string(a.Body), "secret detail")
	require.Contains(t, b.log.String(), `events of "s1": secret detail`)
}

// TestSilentStreams say that they are still there, end when the server stops, and take up a place
// while they last.
func TestSilentStreams(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond, Heartbeat: time.Millisecond, MaxStreams: 1})
	quiet := &steps{closed: make(chan struct{}), list: []step{{}}}
	b.fake.events = func(uint64) Events { return quiet }
	resp, err := b.client.HTTP.Do(b.client.Request(t, http.MethodGet, "/api/sessions/s1/events", nil))
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	lines := bufio.NewReader(resp.Body)
	for _, want := range []string{": the entries of session s1\n", "\n", ": still there\n", "\n", ": still there\n"} {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want, line)
	}
	a := b.client.Do(t, http.MethodGet, "/api/sessions/s1/events", nil)
	require.Equal(t, http.StatusTooManyRequests, a.Status)
	require.Equal(t, "5", a.Header.Get("Retry-After"))
	_, detail, _ := a.Problem(t)
	require.Equal(t, "1 event streams are open, which is the most that this server keeps", detail)
	b.api.EndStreams()
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(rest), "event: shutdown\ndata: {}\n\n"), "%s", rest)
	<-quiet.closed
}

// TestHeadOfEvents ends at once: there is no body to wait for.
func TestHeadOfEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Hour})
	s := &steps{closed: make(chan struct{}), list: []step{{}}}
	b.fake.events = func(uint64) Events { return s }
	resp, err := b.client.HTTP.Do(b.client.Request(t, http.MethodHead, "/api/sessions/s1/events", nil))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	<-s.closed
}

// TestClientThatLeaves frees its place.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{Poll: time.Millisecond, MaxStreams: 1})
	quiet := &steps{closed: make(chan struct{}), list: []step{{}}}
	b.fake.events = func(uint64) Events { return quiet }
	resp, err := b.client.HTTP.Do(b.client.Request(t, http.MethodGet, "/api/sessions/s1/events", nil))
	require.NoError(t, err)
	_, err = bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	<-quiet.closed
}
