package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/sessions"
)

// kept is a session with a folder and a journal, whose entries a story tells.
type kept struct {
	*story
	t       *testing.T
	dir     string
	journal *journal.Journal
	written int
}

func keep(t *testing.T, session string) *kept {
	t.Helper()
	k := &kept{story: &story{session: session}, t: t, dir: filepath.Join(t.TempDir(), session)}
	j, err := journal.Create(k.dir, journal.Header{Rules: 1, SessionID: session, Cascade: []byte(`{"cascade_id":"incident_report"}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	k.journal = j
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return k
}

// tell adds what a phase may do: it begins, and makes some calls.
func (k *kept) tell(calls int) {
	phase := fmt.Sprintf("phase-%d", len(k.entries))
	k.mark(echo.NodePhaseStart, phase, nil)
	k.say(phase, 0, echo.RoleUser, echo.KindTask, "begin")
	for turn := range calls {
		k.say(phase, 1, echo.RoleUser, echo.KindNotice, strings.Repeat("x", 400))
		k.call(phase, 1, turn+1, 10, 0, 1, nil, nil)
	}
}

// write gives the entries that are new to the journal and then to the sink, as a log does.
func (k *kept) write(s *clickhouse.Sink) {
	k.t.Helper()
	for _, e := range k.entries[k.written:] {
		require.NoError(k.t, k.journal.Write(e))
		if s != nil {
			require.NoError(k.t, s.Write(e))
		}
	}
	k.written = len(k.entries)
	k.journal.Flush()
}

func (k *kept) sink(o clickhouse.Options, backlog int64) *clickhouse.Sink {
	return clickhouse.NewSink(opener(o), clickhouse.SinkOptions{Dir: k.dir, To: o.Address(), Backlog: backlog})
}

// requireThere demands that every entry of the session is there once, every selection whole, and
// the mark at the end.
func (k *kept) requireThere(o clickhouse.Options) {
	k.t.Helper()
	db, err := clickhouse.Open(k.t.Context(), o)
	require.NoError(k.t, err)
	defer func() { require.NoError(k.t, db.Close()) }()
	got, err := db.Record(k.t.Context(), k.session)
	require.NoError(k.t, err)
	require.Len(k.t, got, len(k.entries))
	for i, e := range k.entries {
		require.Equal(k.t, e.Key, got[i].Key)
		require.Equal(k.t, e.At, got[i].At)
	}
	require.Zero(k.t, k.look().Waiting(o.Address()))
}

func (k *kept) look() *sessions.Session {
	k.t.Helper()
	s, err := sessions.Look(k.dir)
	require.NoError(k.t, err)
	return s
}

// TestSinkReadsBackWhatMemoryHasNoRoomFor lets entries pile up that are more than the backlog: all
// of them arrive.
func TestSinkReadsBackWhatMemoryHasNoRoomFor(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	release := make(chan struct{})
	k := keep(t, "gap")
	s := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) {
		<-release
		return clickhouse.Open(ctx, o)
	}, clickhouse.SinkOptions{Dir: k.dir, To: o.Address(), Backlog: 20_000})
	k.tell(300)
	k.write(s)
	require.Equal(t, int64(len(k.entries)), s.Stats().Waiting)
	require.LessOrEqual(t, clickhouse.Held(s), int64(20_000))
	close(release)
	require.Eventually(t, func() bool { return s.Stats().Waiting == 0 }, time.Minute, 5*time.Millisecond)
	k.tell(3) // memory has room again
	k.write(s)
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, clickhouse.SinkStats{Written: int64(len(k.entries))}, s.Stats())
	k.requireThere(o)
}

// TestSinkWaitsForTheJournal has entries that are in no memory and not in the file yet.
func TestSinkWaitsForTheJournal(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	k := keep(t, "unflushed")
	s := k.sink(o, 1)
	k.tell(3)
	for _, e := range k.entries {
		require.NoError(t, k.journal.Write(e))
		require.NoError(t, s.Write(e))
	}
	k.written = len(k.entries)
	require.NoError(t, k.journal.Close(t.Context()))
	require.NoError(t, s.Close(t.Context()))
	k.requireThere(o)
}

// TestSinkWithoutAJournal ends although what it should deliver was never written.
func TestSinkWithoutAJournal(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	k := keep(t, "unwritten")
	s := k.sink(o, 1)
	k.tell(1)
	for _, e := range k.entries {
		require.NoError(t, s.Write(e))
	}
	require.EqualError(t, s.Close(t.Context()), "5 rows of the session wait for ClickHouse")
}

// TestSinkGoesOn delivers a session by three processes, one after the other: each begins where the
// mark is.
func TestSinkGoesOn(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	k := keep(t, "goes-on")
	for i, left := range []bool{false, true, false} {
		k.tell(5)
		s := k.sink(o, 0)
		before := k.look().Marks.Of(o.Address()).Seq
		if left { // nothing of it is delivered
			s = clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) { return nil, errors.New("away") },
				clickhouse.SinkOptions{Dir: k.dir, To: o.Address()})
		}
		k.write(s)
		err := s.Close(t.Context())
		if left {
			require.EqualError(t, err, "17 rows of the session wait for ClickHouse: away")
			require.Equal(t, uint64(17), k.look().Waiting(o.Address()))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, int64(len(k.entries))-int64(before), s.Stats().Written, i)
		k.requireThere(o)
	}
}

// TestSinkOfAJournalThatWasCut: the mark is of an entry that a crash took and that was recorded
// anew.
func TestSinkOfAJournalThatWasCut(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	k := keep(t, "cut")
	k.tell(5)
	s := k.sink(o, 0)
	k.write(s)
	require.NoError(t, s.Close(t.Context()))
	again := keep(t, "cut")
	again.tell(4)
	marks, err := os.ReadFile(filepath.Join(k.dir, delivery.MarksFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(again.dir, delivery.MarksFile), marks, 0o600))
	again.write(nil)
	require.Equal(t, uint64(len(again.entries)), again.look().Waiting(o.Address()), "the mark is above the end")
	again.tell(5)
	for _, e := range again.entries {
		e.At = e.At.Add(time.Hour)
	}
	again.write(nil)
	s = again.sink(o, 0)
	again.say("late", 1, echo.RoleUser, echo.KindNotice, "more")
	again.write(s)
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, int64(len(again.entries)), s.Stats().Written)
}

// TestSinkOutlivesTheDatabase cuts every connection to ClickHouse in the middle, and then drops the
// database.
func TestSinkOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	through := clickhousetest.Open(t)
	p := newProxy(t, clickhousetest.DSN(t, through))
	o := clickhouse.Options{DSN: p.dsn}
	k := keep(t, "outlives")
	s := k.sink(o, 0)
	step := func() {
		t.Helper()
		k.tell(5)
		k.write(s)
		require.Eventually(t, func() bool { return s.Stats().Waiting == 0 }, time.Minute, 5*time.Millisecond)
		require.NoError(t, s.Stats().LastError)
	}
	step()
	p.cut(true)
	k.tell(5)
	k.write(s)
	require.Eventually(t, func() bool { return s.Stats().LastError != nil }, time.Minute, 5*time.Millisecond)
	require.Positive(t, s.Stats().Waiting)
	p.cut(false)
	step()
	require.NoError(t, clickhousetest.Drop(t.Context(), through, through.Database()))
	step()
	require.NoError(t, s.Close(t.Context()))
	k.requireThere(o)
}

// TestShip delivers a folder: what is missing, once more everything, and to a database that was
// rebuilt.
func TestShip(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	k := keep(t, "shipped")
	k.tell(400)
	k.write(nil)
	ship := func(again bool) clickhouse.Shipment {
		t.Helper()
		db, err := clickhouse.Open(t.Context(), o)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		var told uint64
		done, err := db.Ship(t.Context(), k.dir, clickhouse.ShipOptions{To: o.Address(), Again: again, Told: func(n, _ uint64) { told = n }})
		require.NoError(t, err)
		require.Equal(t, uint64(len(k.entries)), done.Last)
		if done.Rows > 0 {
			require.Equal(t, done.Last, told)
		}
		k.requireThere(o)
		return done
	}
	require.Equal(t, len(k.entries), ship(false).Rows)
	require.Zero(t, ship(false).Rows)
	k.tell(1)
	k.write(nil)
	require.Equal(t, 5, ship(false).Rows)
	require.Equal(t, len(k.entries), ship(true).Rows)
	through := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Drop(t.Context(), through, o.Database))
	require.Equal(t, len(k.entries), ship(false).Rows)
	other := o
	other.Database = through.Database()
	require.Equal(t, uint64(len(k.entries)), k.look().Waiting(other.Address()), "another database has a mark of its own")
}

func TestShipRefusesADamagedJournal(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	k := keep(t, "damaged")
	k.tell(2)
	k.write(nil)
	path := filepath.Join(k.dir, journal.File)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "begin", "xegin", 1)), 0o600))
	_, err = db.Ship(t.Context(), k.dir, clickhouse.ShipOptions{To: "here"})
	var damage *journal.DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, 3, damage.Line)
	require.Equal(t, "0", scalar(t, db, "SELECT count() FROM logs"))
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]clickhouse.Options{
		"embedded/windlass_3":       {},
		"embedded/other":            {Database: "other"},
		"a:1,b:2/logs":              {DSN: "clickhouse://user:geheim@b:2,a:1/logs?cluster=c"},
		"localhost:9000/windlass_3": {DSN: "clickhouse://localhost:9000"},
		"unknown":                   {DSN: "http://localhost"},
	} {
		require.Equal(t, want, o.Address())
	}
}

// proxy stands between a test and ClickHouse, and can be away.
type proxy struct {
	dsn string

	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

func newProxy(t *testing.T, dsn string) *proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p := &proxy{}
	behind := u.Host
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.join(c, behind)
		}
	}()
	u.Host = l.Addr().String()
	p.dsn = u.String()
	return p
}

func (p *proxy) join(c net.Conn, behind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	server, err := net.Dial("tcp", behind)
	if err != nil || p.away {
		_ = c.Close()
		return
	}
	p.conns = append(p.conns, c, server)
	go func() { _, _ = io.Copy(server, c); _ = server.Close() }()
	go func() { _, _ = io.Copy(c, server); _ = c.Close() }()
}

func (p *proxy) cut(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}
