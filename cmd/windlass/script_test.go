package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var update = flag.Bool("update", false, "write what is seen into the golden files and scripts")

// testKey is the key that the provider of the tests accepts. No output may ever show it.
const testKey = "sk-test-5f2c9e7a11d04b6f"

// TestScripts runs testdata/script/*.txtar against the real binary, a strict provider on loopback
// and the tests' own ClickHouse. Beside the commands of testscript there are:
//
//	exits CODE COMMAND...   runs a command, demands its exit code, and writes what it wrote to out
//	                        and err, with ids, times, ports and folders replaced by words
//	journal STATUS [ID]     demands one session, or the one named: its journal whole, its run_end
//	                        with this status, and a row in ClickHouse for each of its entries.
//	                        "undelivered" after it demands no rows
//	nosessions              demands that no session was begun
//	cutjournal ID           demands that a session's journal ends with a whole line, before the
//	                        end of the run
//	asked MODEL N           demands that the provider has got N requests to a model so far
//	downloaded N            demands that N downloads from $DOWNLOADS were begun so far
//	terminal CODE TEXT ANSWER COMMAND...
//	                        runs a command on a terminal, types ANSWER once TEXT is shown, demands
//	                        the exit code, and writes what was shown to screen
//	gone TEXT               demands that no process has TEXT in its command line
func TestScripts(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	dsn := clickhousetest.DSN(t, db)
	_, cache := clickhousetest.Home(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     true,
		Condition: func(cond string) (bool, error) {
			path, ok := strings.CutPrefix(cond, "exists:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := os.Stat(path)
			return err == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			p := startProvider()
			e.Defer(p.Close)
			e.Defer(func() { requireAllHold(t, filepath.Join(e.WorkDir, "windlass")) })
			e.Values[dbKey{}] = db
			e.Values[providerKey{}] = p
			d := startDownloads()
			e.Defer(d.Close)
			e.Values[downloadsKey{}] = d
			e.Vars = append(e.Vars, d.env()...)
			repo, err := filepath.Abs("../..")
			e.Vars = append(e.Vars, testEnvironment(e.WorkDir, cache, dsn, p.URL)...)
			e.Vars = append(e.Vars, "KEY="+testKey, "URL="+p.URL, "CACHE="+cache, "REPO="+repo, "REALHOME="+os.Getenv("HOME"), "DSN="+dsn, "WRONGDSN="+wrongPassword(dsn), "GOOS="+runtime.GOOS)
			bin, lookErr := exec.LookPath("windlass")
			e.Vars = append(e.Vars, "BIN="+filepath.Dir(bin))
			return errors.Join(err, lookErr)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "journal": scriptJournal, "nosessions": scriptNoSessions, "gone": scriptGone,
			"sorted": scriptSorted, "downloaded": scriptDownloaded, "terminal": scriptTerminal,
			"cutjournal": scriptCutJournal, "asked": scriptAsked, "damage": scriptDamage, "cutlines": scriptCutLines,
		},
	})
}

type (
	dbKey       struct{}
	providerKey struct{}
)

// testEnvironment is what windlass is given in tests, apart from PATH: nothing of the person who
// runs them.
func testEnvironment(work, cache, dsn, baseURL string) []string {
	return []string{
		"HOME=" + filepath.Join(work, "home"), "TMPDIR=" + work,
		"WINDLASS_HOME=" + filepath.Join(work, "windlass"), "WINDLASS_CACHE=" + cache, "WINDLASS_CLICKHOUSE_DSN=" + dsn,
		"GORACE=atexit_sleep_ms=0", // the race detector's processes end without waiting a second
		"WINDLASS_MODEL=", "WINDLASS_EMBEDDING_MODEL=hashed", "OPENAI_BASE_URL=" + baseURL, "OPENAI_API_KEY=" + testKey, "TERM=dumb", "TZ=UTC", "LC_ALL=C.UTF-8",
		"WINDLASS_PAGER=", // nobody is there to leave one
	}
}

// wrongPassword returns a DSN with another password.
func wrongPassword(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "the DSN of the tests is not a URL"
	}
	u.User = url.UserPassword(u.User.Username(), "hunter2secret")
	return u.String()
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	code := 0
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	for _, name := range []string{"stdout", "stderr"} {
		text := ts.ReadFile(name)
		if strings.Contains(text, testKey) {
			ts.Fatalf("the key is shown on %s", name)
		}
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), strings.TrimPrefix(name, "std")), []byte(scrub(text, ts.Getenv("WORK"))), 0o600))
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

var scrubs = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\b01[0-9a-hjkmnp-tv-z]{24}\b`), "SESSION"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT[0-9:.]+Z`), "WHEN"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+(->127\.0\.0\.1:\d+)?`), "HOST"},
	{regexp.MustCompile(`<?\b(\d+m)?\d+(\.\d+)?m?s\b`), "TIME"},
	{regexp.MustCompile(`("duration_ms": )[0-9.]+`), "${1}0"},
	{regexp.MustCompile(`(/tmp|/private/\S*)?/\S*/testscript-main\d+/bin`), "BIN"},
}

// scrub replaces what differs from run to run.
func scrub(text, work string) string {
	for _, s := range scrubs {
		text = s.pattern.ReplaceAllString(strings.ReplaceAll(text, work, "WORK"), s.word)
	}
	return text
}

// sessionsOf lists the sessions that were begun below a home folder.
func sessionsOf(home string) []string {
	dirs, _ := filepath.Glob(filepath.Join(home, "sessions", "*")) // the pattern is well formed
	return dirs
}

func scriptNoSessions(ts *testscript.TestScript, neg bool, args []string) {
	if found := sessionsOf(ts.Getenv("WINDLASS_HOME")); len(found) > 0 {
		ts.Fatalf("there are sessions: %v", found)
	}
}

func scriptJournal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: journal STATUS [ID] [undelivered]")
	}
	status, args := args[0], args[1:]
	undelivered := len(args) > 0 && args[len(args)-1] == "undelivered"
	if undelivered {
		args = args[:len(args)-1]
	}
	dirs := sessionsOf(ts.Getenv("WINDLASS_HOME"))
	if len(args) == 1 {
		dirs = []string{filepath.Join(ts.Getenv("WINDLASS_HOME"), "sessions", args[0])}
	}
	if len(dirs) != 1 {
		ts.Fatalf("there is not one session: %v", dirs)
	}
	rec, err := journal.Read(filepath.Join(dirs[0], journal.File))
	ts.Check(err)
	if rec.Torn || len(rec.Entries) == 0 {
		ts.Fatalf("the journal ends in the middle of a line, or has none")
	}
	last := rec.Entries[len(rec.Entries)-1]
	if last.NodeType != echo.NodeRunEnd || record.EndAt(last).Status.String() != status {
		ts.Fatalf("the journal ends with %s %s, want run_end with status %s", last.NodeType, last.Data, status)
	}
	want := len(rec.Entries)
	if undelivered {
		want = 0
	}
	if n := rowsOf(ts, ts.Value(dbKey{}).(*clickhouse.DB), rec.Header.SessionID); n != want {
		ts.Fatalf("ClickHouse has %d rows of the session, want %d", n, want)
	}
}

func scriptCutJournal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cutjournal ID")
	}
	rec, err := journal.Read(filepath.Join(ts.Getenv("WINDLASS_HOME"), "sessions", args[0], journal.File))
	ts.Check(err)
	if rec.Torn || len(rec.Entries) == 0 || rec.Entries[len(rec.Entries)-1].NodeType == echo.NodeRunEnd {
		ts.Fatalf("torn: %v, %d entries", rec.Torn, len(rec.Entries))
	}
}

// scriptDamage changes one letter of a line of a journal.
func scriptDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage ID LINE")
	}
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := filepath.Join(ts.Getenv("WINDLASS_HOME"), "sessions", args[0], journal.File)
	data, err := os.ReadFile(path)
	ts.Check(err)
	lines := strings.SplitAfter(string(data), "\n")
	lines[number-1] = strings.Replace(lines[number-1], `"at":"2`, `"at":"3`, 1)
	ts.Check(os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
}

// scriptCutLines leaves so many lines of a journal.
func scriptCutLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cutlines ID LINES")
	}
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := filepath.Join(ts.Getenv("WINDLASS_HOME"), "sessions", args[0], journal.File)
	data, err := os.ReadFile(path)
	ts.Check(err)
	lines := strings.SplitAfter(string(data), "\n")
	ts.Check(os.WriteFile(path, []byte(strings.Join(lines[:number], "")), 0o600))
}

// rowsOf counts a session's rows.
func rowsOf(ts *testscript.TestScript, db *clickhouse.DB, session string) int {
	rows, err := queryRows(db, "SELECT seq FROM logs WHERE session_id = '"+session+"'")
	ts.Check(err)
	return len(rows)
}

func scriptAsked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asked MODEL N")
	}
	n := 0
	for _, r := range ts.Value(providerKey{}).(*llmtest.Server).Requests() {
		if r.Model == args[0] {
			n++
		}
	}
	if fmt.Sprint(n) != args[1] {
		ts.Fatalf("%s was asked %d times, want %s", args[0], n, args[1])
	}
}

// scriptSorted compares the lines of two files in any order: calls that run in parallel end in any
// order.
func scriptSorted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sorted FILE FILE")
	}
	lines := func(path string) string {
		return strings.Join(slices.Sorted(strings.Lines(ts.ReadFile(path))), "")
	}
	if got, want := lines(args[0]), lines(args[1]); got != want {
		ts.Fatalf("%s has other lines than %s:\n%s", args[0], args[1], got)
	}
}

func scriptGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone TEXT")
	}
	if found := processesWith(args[0]); len(found) > 0 {
		ts.Fatalf("still running: %v", found)
	}
}
