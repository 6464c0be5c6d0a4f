package page_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/page"
)

func session(status, failure string, resumable bool, phases ...string) *page.Session {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	r := &archive.Report{Session: clickhouse.Session{
		SessionState: clickhouse.SessionState{ID: "01jz4k", CascadeID: "audit", Status: status, Error: failure},
		SessionTimes: clickhouse.SessionTimes{StartedAt: at, LastAt: at.Add(time.Hour)}, SessionFigures: clickhouse.SessionFigures{RanMS: 1000},
	}, Resumable: resumable}
	for _, name := range phases {
		r.PhaseReports = append(r.PhaseReports, archive.PhaseReport{Visit: name + "~2", Phase: name, Status: status})
	}
	return &page.Session{Report: r, Command: "windlass", Name: "jz4k1"}
}

func write(t *testing.T, o contexts.Out, s *page.Session) string {
	t.Helper()
	var b strings.Builder
	o.W = &b
	require.NoError(t, page.Write(o, s))
	return b.String()
}

// TestNext: the page ends with what to do next, which depends on how the run stands.
func TestNext(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*page.Session{
		"next      windlass context stats jz4k1  shows what each call was sent":                             session("completed", "", false, "read"),
		"next      windlass show jz4k1  shows how far it has come":                                          session("running", "", false, "read"),
		"next      windlass resume jz4k1  continues where it stopped":                                       session("killed", "", true, "read"),
		"try       windlass resume jz4k1  continues where it stopped":                                       session("failed", "429", true, "read"),
		"try       windlass resume jz4k1  continues with a higher --max-usd, --max-tokens or --max-seconds": session("over_budget", "too much", true, "read"),
		"try       windlass resume jz4k1 --fork read  begins the phase again, in a new session":             session("failed", "no attempt passed", false, "read"),
		`try       windlass resume jz4k1 --fork 'it'\''s; rm'  begins the phase again, in a new session`:    session("failed", "no attempt passed", false, "it's; rm"),
		"try       windlass replay jz4k1  shows what it did":                                                session("failed", "no template", false),
		"next      it has no end in ClickHouse, and may run on another machine":                             session("unfinished", "", false, "read"),
	} {
		shown := write(t, contexts.Out{}, s)
		require.True(t, strings.HasSuffix(shown, "\n"+want+"\n"), shown)
		require.Contains(t, shown, "started   2026-03-01 12:00:00, took 1.0s\n")
	}
}

// TestNextOfAGraph: the phase to begin again is the one that failed and whose error nothing handled, wherever it stands.
func TestNextOfAGraph(t *testing.T) {
	t.Parallel()
	s := session("failed", "no attempt passed", false, "tried", "mend", "bad", "late")
	for i, status := range []string{"failed", "completed", "failed", "completed"} {
		p := &s.PhaseReports[i]
		p.Visit, p.Status = fmt.Sprintf("%s/node%d", p.Phase, i+1), status
	}
	s.PhaseReports[1], s.PhaseReports[2] = s.PhaseReports[2], s.PhaseReports[1]
	require.Contains(t, write(t, contexts.Out{}, s), "--fork bad  begins the phase again")
	s.PhaseReports = s.PhaseReports[:1]
	s.PhaseReports = append(s.PhaseReports, archive.PhaseReport{Visit: "x/node5", Phase: "x", Status: "failed"}, archive.PhaseReport{Visit: "tried/node6", Phase: "tried", Status: "failed"})
	s.Entries = []*echo.Entry{echo.NewEntry(echo.PhaseKey("tried", 1).Numbered(echo.StepNode, 6).Step(echo.StepRoute), echo.Route{From: "tried", To: "mend", Reason: "on_error"})}
	require.Contains(t, write(t, contexts.Out{}, s), "--fork x  begins the phase again")
}

// TestInterrupted: the status is not said twice.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	shown := write(t, contexts.Out{}, session("interrupted", "interrupted", true, "read"))
	require.NotContains(t, shown, "error ")
	require.Contains(t, shown, "status    interrupted, resumable\n")
	require.Contains(t, shown, "\nnext      windlass resume jz4k1  continues where it stopped\n")
}

// TestPlaces: a session that is only in ClickHouse says so; one that is here says where.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := session("completed", "", false, "read")
	require.Contains(t, write(t, contexts.Out{}, s), "\njournal   in ClickHouse; not on this machine\nhandoff   windlass sessions handoff jz4k1\n")
	s.Place = page.Place{File: "audit.json", Journal: "/home/j.jsonl", WorkDir: "/home/work"}
	shown := write(t, contexts.Out{}, s)
	require.Contains(t, shown, "cascade   audit  audit.json\n")
	require.Contains(t, shown, "\njournal   /home/j.jsonl\nwork      /home/work\nhandoff   windlass sessions handoff jz4k1\n")
}

// TestWidths: columns of the table go where there is no room for them, the name of a phase never.
func TestWidths(t *testing.T) {
	t.Parallel()
	s := session("completed", "", false, "a_phase_of_a_long_name")
	for width, heads := range map[int]string{
		0:   "phase status attempts turns calls failed tools tokens in cached tokens out cost time",
		200: "phase status attempts turns calls failed tools tokens in cached tokens out cost time",
		114: "phase status attempts turns calls failed tools tokens in cached tokens out cost",
		98:  "phase status attempts turns calls tokens in cached tokens out cost",
		88:  "phase status attempts turns calls tokens in tokens out cost",
		80:  "phase status turns calls tokens in tokens out cost",
	} {
		shown := write(t, contexts.Out{Width: width}, s)
		require.Contains(t, shown, "a_phase_of_a_long_name~2  comple")
		var head string
		for line := range strings.Lines(shown) {
			if strings.HasPrefix(line, "phase") {
				head = strings.Join(strings.Fields(line), " ")
			}
		}
		require.Equal(t, heads, head, "%d columns", width)
		require.Equal(t, width > 0 && width < 200, strings.Contains(shown, "\nnot shown: time"), shown)
	}
}

// TestHostilePage: nothing that a record says reaches the terminal's controls.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b]0;owned\a\x1b[2J\u202eb\nc"
	s := session(hostile, hostile, false, hostile)
	s.CascadeID, s.Reason = hostile, hostile
	s.Place = page.Place{File: hostile, Journal: hostile, WorkDir: hostile}
	shown := write(t, contexts.Out{Width: 80}, s)
	require.NotContains(t, shown, "\x1b")
	require.NotContains(t, shown, "\a")
	require.NotContains(t, shown, "\u202e")
	require.NotContains(t, shown, "b\nc")
	coloured := write(t, contexts.Out{Painter: term.Painter{On: true}}, session("failed", "why", false, "read"))
	require.Contains(t, coloured, string(term.Red)+"failed")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestWriteFails(t *testing.T) {
	t.Parallel()
	require.EqualError(t, page.Write(contexts.Out{W: full{}}, session("completed", "", false, "read")), "the disk is full")
}

// TestFactsAreNotCut: a value that is wider than the terminal goes on below, between words; elsewhere it is one line.
func TestFactsAreNotCut(t *testing.T) {
	t.Parallel()
	s := session("failed", "no answer passed loop_until in 2 attempts: the answer has 2 words, at least 5 are needed", false, "read")
	require.Contains(t, write(t, contexts.Out{}, s), "error     "+s.Error+"\n")
	require.Contains(t, write(t, contexts.Out{Width: 60}, s), "error     no answer passed loop_until in 2 attempts: the\n          answer has 2 words, at least 5 are needed\n")
}
