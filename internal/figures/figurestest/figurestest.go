// Package figurestest has a dozen sessions: on this machine, delivered to ClickHouse, and elsewhere only; of two versions of
// a cascade, with budgets, tags, a fork, a script, and texts that nobody should trust.
package figurestest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Began is when the first session began; each later one began an hour after the one before.
var Began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Hostile is a text that would do something on a page that trusts it, and in SQL that does.
const Hostile = "\u202e<script>alert('1')</script>\"' OR 1=1 -- \\ =cmd \x1b[31m\u200b"

// Session is one session of a world.
type Session struct {
	ID      string
	Cascade map[string]any
	Model   string // "" : as recorded
	Factor  float64
	Input   map[string]any
	Budget  *echo.Budget
	Status  echo.Status
	Error   string
	Parent  string
	Script  bool
	Killed  bool
	Where   Where
}

// Where says where a session is.
type Where int

// The places.
const (
	Both      Where = iota // here and delivered
	HereOnly               // not delivered
	Elsewhere              // only in ClickHouse
)

func cascadeOf(id, text string, tags ...string) map[string]any {
	return map[string]any{"cascade_id": id, "phases": []any{map[string]any{"name": "research", "instructions": text}}, "tags": tags}
}

// Sessions are those of a world, the oldest first.
func Sessions() []Session {
	first, second := cascadeOf("incident", "Look.", "team=search", "nightly"), cascadeOf("incident", "Look twice.", "team=search")
	list := []Session{
		{ID: "inc-1", Cascade: first, Factor: 1, Budget: &echo.Budget{MaxUSD: 0.01, MaxTokens: 100_000}},
		{ID: "inc-2", Cascade: first, Factor: 2, Where: Elsewhere},
		{ID: "inc-3", Cascade: first, Factor: 3},
		{ID: "inc-4", Cascade: second, Factor: 4, Input: map[string]any{"topic": "Tide \"gates\" <north>/south\nü"}},
		{ID: "inc-5", Cascade: second, Factor: 6, Budget: &echo.Budget{MaxUSD: 0.02}},
		{ID: "fork-1", Cascade: second, Factor: 6, Parent: "inc-5"},
		{ID: "script-1", Cascade: cascadeOf("drill", "Try."), Factor: 1, Script: true},
		{ID: "waits-1", Cascade: cascadeOf("release", "Ask."), Factor: 1, Status: echo.StatusWaiting},
		{ID: "failed-1", Cascade: cascadeOf("release", "Ask."), Factor: 1, Status: echo.StatusFailed, Error: "the disk of tidewater is full"},
		{ID: "killed-1", Cascade: cascadeOf("release", "Ask."), Factor: 1, Killed: true},
		{ID: "here-1", Cascade: cascadeOf("release", "Ask.", "team=search"), Factor: 2, Model: "other-model", Input: map[string]any{"topic": "Only here"}, Where: HereOnly},
		{ID: "here-2", Cascade: second, Factor: 8, Killed: true, Where: HereOnly},
		{ID: "hostile", Cascade: cascadeOf(Hostile, Hostile, Hostile, "=SUM(A1)"), Factor: 1, Model: Hostile, Input: map[string]any{Hostile: Hostile}, Status: echo.StatusFailed, Error: Hostile},
		{ID: "hostile-here", Cascade: cascadeOf(Hostile, Hostile, Hostile), Factor: 1, Model: Hostile, Status: echo.StatusFailed, Error: Hostile, Where: HereOnly},
	}
	for i := range list {
		if list[i].Status == 0 {
			list[i].Status = echo.StatusCompleted
		}
	}
	return list
}

// World makes the sessions in a home, and delivers them to a database. seed is the path of the session that all are like:
// testdata/reports/context.jsonl of the command.
func World(t testing.TB, home, seed string, db *clickhouse.DB) *archive.Archive {
	t.Helper()
	lines, err := os.ReadFile(seed)
	require.NoError(t, err)
	arc := Archive(home, db)
	for i, s := range Sessions() {
		at := home
		if s.Where == Elsewhere {
			at = t.TempDir()
		}
		s.write(t, at, bytes.Split(bytes.TrimSpace(lines), []byte("\n")), Began.Add(time.Duration(i)*time.Hour))
		if s.Where != HereOnly {
			deliver(t, Archive(at, db), s.ID)
		}
	}
	return arc
}

// Archive returns the sessions of a home and of a database.
func Archive(home string, db *clickhouse.DB) *archive.Archive {
	return &archive.Archive{
		Home:    home,
		Address: func() (string, error) { return "there", nil },
		Database: func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
			return archive.DatabaseError(ctx, do(ctx, db))
		},
	}
}

// Away returns the sessions of a home whose database does not answer.
func Away(home string) *archive.Archive {
	a := Archive(home, nil)
	a.Database = func(ctx context.Context, _ func(context.Context, *clickhouse.DB) error) error {
		return archive.DatabaseError(ctx, &clickhouse.UnavailableError{Where: "HOST", Err: os.ErrDeadlineExceeded})
	}
	return a
}

type silent struct{}

func (silent) Show(uint64, uint64) {}
func (silent) End()                {}

func deliver(t testing.TB, a *archive.Archive, id string) {
	t.Helper()
	p, err := a.Shipment([]string{id}, false)
	require.NoError(t, err)
	done, err := p.Deliver(t.Context(), func(int, *sessions.Session) archive.Progress { return silent{} })
	require.NoError(t, err)
	require.Equal(t, archive.Delivered, done[0].Outcome, done[0].Error)
}

func (s *Session) write(t testing.TB, home string, lines [][]byte, began time.Time) {
	t.Helper()
	cascade, err := json.Marshal(s.Cascade)
	require.NoError(t, err)
	input, err := json.Marshal(s.Input)
	require.NoError(t, err)
	h := journal.Header{Rules: 1, SessionID: s.ID, StartedAt: began, Cascade: cascade, Input: input, Options: []byte(`{}`), Parent: s.Parent}
	if s.Parent != "" {
		h.ParentSeq = 13
	}
	j, err := journal.Create(config.SessionDir(home, s.ID), h)
	require.NoError(t, err)
	header, err := json.Marshal(h)
	require.NoError(t, err)
	if s.Killed {
		lines = lines[:25]
	}
	for i, line := range lines {
		e := &echo.Entry{}
		require.NoError(t, json.Unmarshal(line, e))
		e.SessionID, e.Seq, e.At, e.CascadeID = s.ID, uint64(i+1), began.Add(time.Duration(i)*time.Second), sessions.CascadeID(cascade)
		s.change(t, e, header)
		require.NoError(t, j.Write(e), fmt.Sprint(s.ID, " ", i))
	}
	require.NoError(t, j.Close(t.Context()))
}

func (s *Session) change(t testing.TB, e *echo.Entry, header json.RawMessage) {
	t.Helper()
	switch e.NodeType { //nolint:exhaustive // the others stay
	case echo.NodeRunStart:
		e.Set(echo.RunStart{Input: s.Input, Budget: s.Budget})
		require.NoError(t, e.SetHeader(header))
	case echo.NodeRunEnd:
		reason := map[echo.Status]echo.StopReason{echo.StatusCompleted: echo.StopEndOfCascade, echo.StatusWaiting: echo.StopWaiting, echo.StatusFailed: echo.StopError}[s.Status]
		e.Set(echo.RunEnd{Status: s.Status, Reason: reason, Output: "The report of " + s.ID})
		if s.Error != "" {
			e.Error = &echo.Failure{Message: s.Error}
		}
	case echo.NodeModelCall:
		s.call(e)
	case echo.NodeSelection:
		if s.Script {
			e.Selection.PriceAs = "gpt-5"
		}
	}
	if s.Model != "" && e.Model != "" {
		e.Model = s.Model
	}
}

// call changes a model call: its price, or who answered.
func (s *Session) call(e *echo.Entry) {
	if e.CostUSD == nil {
		known := 0.0005
		e.CostUSD = &known
	}
	usd := *e.CostUSD * s.Factor
	if s.Script {
		usd = 0
		e.Scripted, e.Pretend = true, &echo.Pretend{Model: "gpt-5", USD: *e.CostUSD}
	}
	e.CostUSD = &usd
}
