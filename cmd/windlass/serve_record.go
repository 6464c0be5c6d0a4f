package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/sessions"
)

// served reads sessions for the API: from the journals on this machine, which are there first and whole, and from
// ClickHouse for those that were run elsewhere. It implements [server.Record].
type served struct {
	app          *app
	runs         *core.App
	home         string
	noClickHouse bool
	alive        func(id string) bool   // its engine runs in this server
	refusal      func(id string) string // why it could not go on when it was last taken up; "": it could

	mu   sync.Mutex
	seen map[string]seenJournal // for lists: what was read of journals that did not change since
}

// seenJournal is what a journal said when it had this size and age.
type seenJournal struct {
	size    int64
	change  time.Time
	session server.Session
}

// askTime is how long ClickHouse may take to answer for the API.
const askTime = 10 * time.Second

func newServed(a *app, h *host) *served {
	return &served{app: a, runs: h.runs, home: h.runs.Home(), noClickHouse: h.noClickHouse, alive: h.alive, refusal: h.refusal, seen: map[string]seenJournal{}}
}

// ask gives do ClickHouse, which stays open for others. A query may be repeated.
func (s *served) ask(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
	if s.noClickHouse {
		return failure.Newf(failure.StorageFailed, "this server was started with --no-clickhouse")
	}
	pool, err := s.runs.ClickHouse()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return clickHouseError(ctx, pool.Use(ctx, do))
}

// local returns the whole id of a session on this machine; "" when there is none.
func (s *served) local(id string) (string, error) {
	ids, err := localSessions(s.home)
	if err != nil {
		return "", storageProblem(err)
	}
	whole, err := matchSession(id, ids)
	if err != nil {
		return "", unknownProblem(err)
	}
	return whole, nil
}

// find returns the whole id of a session, on this machine or elsewhere.
func (s *served) find(ctx context.Context, id string) (string, error) {
	whole, err := s.local(id)
	if err != nil || whole != "" {
		return whole, err
	}
	whole, _, err = s.remote(ctx, id)
	return whole, err
}

// List implements [server.Record].
func (s *served) List(ctx context.Context, limit int) (*server.SessionList, error) {
	list := &server.SessionList{Sessions: []server.Session{}, Notes: []string{}}
	local, err := sessions.All(config.SessionsDir(s.home))
	if err != nil {
		return nil, storageProblem(err)
	}
	here := map[string]bool{}
	for _, l := range local {
		here[l.ID] = true
	}
	for _, l := range newest(local, limit) {
		sum, err := s.sum(l.ID)
		if err != nil {
			list.Notes = append(list.Notes, fmt.Sprintf("session %s is left out: %v", l.ID, err))
			continue
		}
		list.Sessions = append(list.Sessions, sum)
	}
	if !s.noClickHouse {
		elsewhere, err := s.elsewhere(ctx, limit, here)
		if err != nil {
			list.Notes = append(list.Notes, fmt.Sprintf("sessions of other machines are left out: %v", err))
		}
		list.Sessions = append(list.Sessions, elsewhere...)
	}
	slices.SortFunc(list.Sessions, func(a, b server.Session) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	list.Sessions = list.Sessions[:min(limit, len(list.Sessions))]
	return list, nil
}

// newest returns the sessions of this machine that began last. One whose header is damaged counts as new, so that its fault is
// reported; one of another version as old.
func newest(local []*sessions.Session, limit int) []*sessions.Session {
	slices.SortStableFunc(local, func(a, b *sessions.Session) int {
		headless := func(s *sessions.Session) int {
			if s.Header.StartedAt.IsZero() && !isOtherVersion(s.Err) {
				return 0
			}
			return 1
		}
		return cmp.Or(headless(a)-headless(b), b.Header.StartedAt.Compare(a.Header.StartedAt))
	})
	return local[:min(limit, len(local))]
}

// elsewhere lists the sessions that only ClickHouse knows.
func (s *served) elsewhere(ctx context.Context, limit int, here map[string]bool) ([]server.Session, error) {
	var out []server.Session
	err := s.ask(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		rows, err := db.Sessions(ctx, limit+len(here))
		for i := range rows {
			if !here[rows[i].ID] {
				out = append(out, fromRow(&rows[i]))
			}
		}
		return err
	})
	return out, err
}

// statusUnfinished is that of a session that has not ended as far as ClickHouse knows.
const statusUnfinished = "unfinished"

func fromRow(r *clickhouse.Session) server.Session {
	status := r.Status
	if !isStatus(status) {
		status = statusUnfinished
	}
	return server.Session{
		ID: r.ID, CascadeID: r.CascadeID, Status: status, Reason: r.Reason, Error: r.Error, StartedAt: r.StartedAt.UTC(), LastAt: r.LastAt.UTC(),
		Phases: int(r.Phases), Calls: int(r.Calls), ToolCalls: int(r.ToolCalls), UnknownCostCalls: int(r.UnknownCostCalls),
		ScriptedCalls: int(r.ScriptedCalls), TokensIn: r.TokensIn, TokensCached: r.TokensCached, TokensOut: r.TokensOut, CostUSD: r.CostUSD,
	}
}

// isStatus reports whether a word is the recorded status of a run that has ended.
func isStatus(word string) bool {
	for s := echo.StatusCompleted; s <= echo.StatusOverBudget; s++ {
		if s.String() == word {
			return true
		}
	}
	return false
}

// Get implements [server.Record].
func (s *served) Get(ctx context.Context, id string) (*server.SessionDetail, error) {
	whole, err := s.local(id)
	if err != nil {
		return nil, err
	}
	if whole != "" {
		d, err := s.read(whole)
		if err != nil {
			return nil, storageProblem(err)
		}
		return d, nil
	}
	whole, entries, err := s.remote(ctx, id)
	if err != nil {
		return nil, err
	}
	return summarize(whole, entries, statusUnfinished), nil
}

// remote reads a session that has no journal on this machine.
func (s *served) remote(ctx context.Context, id string) (whole string, entries []*echo.Entry, err error) {
	if s.noClickHouse {
		return "", nil, unknownHere(id)
	}
	err = s.ask(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		row, err := db.Session(ctx, id)
		if err != nil {
			return err
		}
		whole = row.ID
		entries, err = db.Record(ctx, row.ID)
		return err
	})
	return whole, entries, sessionProblem(err)
}

// read returns what the journal of a session on this machine says.
func (s *served) read(id string) (*server.SessionDetail, error) {
	running := s.isRunning(id) // asked first: what ends in between is then not taken for killed
	rec, err := journal.Read(s.journal(id))
	if err != nil {
		return nil, err
	}
	open := statusKilled
	if running {
		open = echo.StatusRunning.String()
	}
	d := summarize(id, rec.Entries, open)
	if len(rec.Entries) == 0 { // it has only just begun
		d.StartedAt, d.LastAt, d.CascadeID = rec.Header.StartedAt, rec.Header.StartedAt, cascadeIDOf(rec.Header.Cascade)
	}
	if running {
		return d, nil
	}
	d.Resumable = record.ResumptionOf(rec.Entries).Possible && engine.CheckRules(rec.Header.Rules) == nil
	if why := s.refusal(id); why != "" {
		d.Error = why
	}
	return d, nil
}

// sum returns the figures of a session on this machine. Those of one that nobody runs are kept until its journal changes.
func (s *served) sum(id string) (server.Session, error) {
	info, err := os.Stat(s.journal(id))
	if err != nil {
		return server.Session{}, err
	}
	settled := !s.isRunning(id) && s.refusal(id) == ""
	s.mu.Lock()
	known, ok := s.seen[id]
	s.mu.Unlock()
	if ok && settled && known.size == info.Size() && known.change.Equal(info.ModTime()) {
		return known.session, nil
	}
	d, err := s.read(id)
	if err != nil {
		return server.Session{}, err
	}
	if settled {
		s.mu.Lock()
		s.seen[id] = seenJournal{info.Size(), info.ModTime(), d.Session}
		s.mu.Unlock()
	}
	return d.Session, nil
}

func cascadeIDOf(raw json.RawMessage) string {
	var c struct {
		CascadeID string `json:"cascade_id"`
	}
	_ = json.Unmarshal(raw, &c) // what wrote the journal had it
	return c.CascadeID
}

// statusKilled is the status of a session that has no end although nobody runs it: its process died.
const statusKilled = sessions.Killed

// isRunning reports whether more may come of a session: its engine runs in this server, or a process has its lock.
func (s *served) isRunning(id string) bool {
	if s.alive(id) {
		return true
	}
	look, _ := sessions.Look(config.SessionDir(s.home, id)) // what else is wrong with it is found by who reads it
	return look.Busy
}

func (s *served) journal(id string) string {
	return filepath.Join(config.SessionDir(s.home, id), journal.File)
}

// record reads a session with its model calls.
func (s *served) record(ctx context.Context, id string) (*contextRecord, error) {
	whole, err := s.local(id)
	switch {
	case err != nil:
		return nil, err
	case whole == "" && s.noClickHouse: // there is nobody else to ask, so nothing is out of reach
		return nil, unknownHere(id)
	case whole != "":
		id = whole
	}
	r, err := s.app.findContextRecord(ctx, id, s.ask)
	return r, sessionProblem(err)
}

// Handoff implements [server.Record].
func (s *served) Handoff(ctx context.Context, id string) (any, error) {
	r, err := s.record(ctx, id)
	if err != nil {
		return nil, err
	}
	h, err := engine.HandoffOf(r.entries)
	if err != nil {
		return nil, &server.Problem{Kind: server.NoHandoff, Detail: err.Error(), Try: "try again when the run has begun", Err: err}
	}
	return h, nil
}

// Context implements [server.Record].
func (s *served) Context(ctx context.Context, id, call string) (any, error) {
	r, err := s.record(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := r.call(call)
	if err != nil {
		return nil, &server.Problem{Kind: server.UnknownCall, Detail: err.Error(), Try: "a call's number, such as 1, or its key, such as PHASE/attempt1/turn1", Err: err}
	}
	shown, err := r.show(c)
	if err != nil {
		return nil, storageProblem(err)
	}
	return shown, nil
}

// Events implements [server.Record].
func (s *served) Events(ctx context.Context, id string, from uint64) (server.Events, error) {
	whole, err := s.local(id)
	if err != nil {
		return nil, err
	}
	if whole != "" {
		t, err := openTail(s.journal(whole), from, func() bool { return s.isRunning(whole) })
		if err != nil {
			return nil, storageProblem(err)
		}
		return t, nil
	}
	_, entries, err := s.remote(ctx, id)
	if err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(entries, from, func(e *echo.Entry, from uint64) int { return cmp.Compare(e.Seq, from) })
	return &finished{entries[i:]}, nil
}

// sessionProblem says to a client why a session could not be read.
func sessionProblem(err error) error {
	var unknown *clickhouse.SessionError
	var ee *exitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown), errors.As(err, &ee) && ee.code == exitUsage:
		return unknownProblem(err)
	}
	return storageProblem(err)
}

func unknownHere(id string) error {
	return unknownProblem(fmt.Errorf("no session %q on this machine", id))
}

func unknownProblem(err error) error {
	return &server.Problem{Kind: server.UnknownSession, Detail: err.Error(), Try: "GET /api/sessions lists them", Err: err}
}

func storageProblem(err error) error {
	try := "on the server: windlass doctor"
	if isOtherVersion(err) {
		try = "POST /api/runs begins a new run"
	}
	return &server.Problem{Kind: server.StorageFailed, Detail: err.Error(), Try: try, Err: err}
}
