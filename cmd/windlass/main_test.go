package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// TestMain makes the test binary three things: the tests; windlass itself, under that name on the PATH of the tests; and
// the engine process, which windlass starts from its own executable.
func TestMain(m *testing.M) {
	if args := os.Args[1:]; embedded.IsServe(args) {
		os.Exit(embedded.Serve(args))
	}
	testscript.Main(m, map[string]func(){"windlass": main})
}
