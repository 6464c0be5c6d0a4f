package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestReportScripts runs testdata/reports/*.txtar: the commands that ask what runs did. Each script
// has a database of its own, which is empty. Beside the commands of TestScripts there is:
//
//	seed FILE    writes the entries in FILE, one per line as in a journal, into the database
//	local FILE   makes a journal of the entries in FILE in the home folder
func TestReportScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/reports/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	_, cache := clickhousetest.Home(t)
	bin, err := exec.LookPath("windlass")
	require.NoError(t, err)
	seed, err := filepath.Abs("testdata/reports/entries.jsonl")
	require.NoError(t, err)
	contextSeed, err := filepath.Abs("testdata/reports/context.jsonl")
	require.NoError(t, err)
	for _, script := range scripts {
		db := clickhousetest.Open(t)
		dsn := clickhousetest.DSN(t, db)
		testscript.Run(t, testscript.Params{
			Files:               []string{script},
			UpdateScripts:       *update,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			ContinueOnError:     true,
			Setup: func(e *testscript.Env) error {
				e.Values[dbKey{}] = db
				e.Vars = append(e.Vars, testEnvironment(e.WorkDir, cache, dsn, "http://127.0.0.1:1/v1")...)
				e.Vars = append(e.Vars, "DSN="+dsn, "DATABASE="+db.Database(), "BIN="+filepath.Dir(bin), "SEED="+seed, "CONTEXT="+contextSeed)
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptExits, "seed": scriptSeed, "local": scriptLocal},
		})
	}
}

func scriptSeed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: seed FILE")
	}
	var entries []*echo.Entry
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		e := &echo.Entry{}
		ts.Check(json.Unmarshal([]byte(line), e))
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
		entries = append(entries, e)
	}
	ts.Check(clickhousetest.Insert(context.Background(), ts.Value(dbKey{}).(*clickhouse.DB), entries))
}

func scriptLocal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: local FILE")
	}
	ts.Check(journalFromLines(ts.Getenv("WINDLASS_HOME"), ts.ReadFile(args[0])))
}
