package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/sandbox/sandboxtest"
)

// withoutLandlock is the command of the tests that runs another as on a kernel that cannot confine
// it.
const withoutLandlock = "without-landlock"

// TestMain makes the test binary four things: the tests; windlass itself, under that name on the
// PATH of the tests; the engine process, which windlass starts from its own executable; and the
// command withoutLandlock.
func TestMain(m *testing.M) {
	if args := os.Args[1:]; embedded.IsServe(args) {
		os.Exit(embedded.Serve(args))
	}
	testscript.Main(m, map[string]func(){"windlass": main, withoutLandlock: sandboxtest.RunWithoutLandlock})
}
