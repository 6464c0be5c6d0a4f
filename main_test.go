package windlass_test

import (
	"os"
	"testing"

	"github.com/windlass-run/windlass"
)

// The engine of the tests is a process of this program.
func TestMain(m *testing.M) {
	if code, done := windlass.ServeEngine(); done {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
