package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// The events of a stream that are no entries.
const (
	eventEnd   = "end"      // the session has ended; data: the session
	eventStop  = "shutdown" // the server stops; the client may go on elsewhere or later; data: an empty object
	eventError = "error"    // the record cannot be read on; data: a problem
)

// sendTime is how long a client may leave an event unread. The journal waits for slow readers.
const sendTime = 30 * time.Second

// followEvents sends the entries of a session as server-sent events, and goes on as new ones come.
func (s *Server) followEvents(r *request) error {
	from, err := firstEvent(r.Request)
	if err != nil {
		return err
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		p := NewProblem(TooManyStreams, "close one, or try again later", "%d event streams are open, which is the most that this server keeps", cap(s.streams))
		p.RetryAfter = retryAfter
		return p
	}
	id := r.PathValue("id")
	events, err := s.record.Events(r.Context(), id, from)
	if err != nil {
		return err
	}
	defer events.Close() //nolint:errcheck // only read from
	h := r.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // for proxies that would collect the stream
	r.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	st := &stream{server: s, w: r.ResponseWriter, control: http.NewResponseController(r.ResponseWriter), id: id}
	st.follow(r.Context(), events)
	return nil
}

const retryAfter = 5 * time.Second

// firstEvent returns the first entry of a stream; the header of a reconnect outranks the address.
func firstEvent(r *http.Request) (uint64, error) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return 0, NewProblem(BadRequest, "send the id of the last event that arrived", "Last-Event-ID %q is not the number of an entry", last)
		}
		return n + 1, nil
	}
	text := r.URL.Query().Get("from")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, NewProblem(BadRequest, "from=1 for all", "from=%s is not the number of an entry; they are counted from 1", text)
	}
	return n, nil
}

type stream struct {
	server  *Server
	w       http.ResponseWriter
	control *http.ResponseController
	id      string
	buf     bytes.Buffer
}

func (st *stream) follow(ctx context.Context, events Events) {
	tick := time.NewTicker(st.server.poll)
	defer tick.Stop()
	st.buf.WriteString(": the entries of session " + comment(st.id) + "\n\n")
	silentSince := time.Now()
	for {
		entries, ended, err := st.next(events)
		switch {
		case err != nil:
			st.fail(ctx, err)
			return
		case ended:
			d, err := st.server.record.Get(ctx, st.id)
			st.end(ctx, d, err)
			return
		case len(entries) == 0 && time.Since(silentSince) >= st.server.beat:
			st.buf.WriteString(": still there\n\n")
		}
		if st.buf.Len() > 0 {
			if st.send() != nil {
				return
			}
			silentSince = time.Now()
		}
		if len(entries) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-st.server.stopping:
			st.leave(ctx, events)
			return
		case <-tick.C:
		}
	}
}

func (st *stream) next(events Events) (entries []*echo.Entry, ended bool, err error) {
	entries, ended, err = events.Next()
	for _, e := range entries {
		st.entry(e)
	}
	return entries, ended, err
}

// leave ends the stream because the server stops, with all that came until now. How far the session
// has come is asked before the rest is read, so that nothing is missed in between.
func (st *stream) leave(ctx context.Context, events Events) {
	d, err := st.server.record.Get(ctx, st.id)
	for err == nil {
		var entries []*echo.Entry
		var ended bool
		if entries, ended, err = st.next(events); ended || len(entries) == 0 {
			break
		}
		if st.send() != nil {
			return
		}
	}
	if err == nil && d.Status == statusRunning {
		st.event(eventStop, struct{}{})
		_ = st.send()
		return
	}
	st.end(ctx, d, err)
}

const statusRunning = "running"

func (st *stream) end(ctx context.Context, d *SessionDetail, err error) {
	if err != nil {
		st.fail(ctx, err)
		return
	}
	st.event(eventEnd, d.Session)
	_ = st.send()
}

func (st *stream) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	p := ProblemOf(err)
	if p.Kind == Internal {
		st.server.log.Printf("events of %q: %v", st.id, err)
	}
	st.event(eventError, p.body())
	_ = st.send()
}

func (st *stream) entry(e *echo.Entry) {
	fmt.Fprintf(&st.buf, "id: %d\n", e.Seq)
	st.event(string(e.NodeType), e)
}

// event writes an event. JSON has no line breaks of its own, so its data is one line.
func (st *stream) event(name string, data any) {
	fmt.Fprintf(&st.buf, "event: %s\ndata: ", name)
	line, err := json.Marshal(data)
	if err != nil {
		line = []byte("null") // all that is sent came from JSON
	}
	st.buf.Write(line)
	st.buf.WriteString("\n\n")
}

func (st *stream) send() error {
	if err := st.control.SetWriteDeadline(time.Now().Add(st.server.times.send)); err != nil {
		return err
	}
	if _, err := st.w.Write(st.buf.Bytes()); err != nil {
		return err
	}
	st.buf.Reset()
	return st.control.Flush()
}

// comment keeps what a client sent from being more than one line of the stream.
func comment(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, []byte(s)))
}
