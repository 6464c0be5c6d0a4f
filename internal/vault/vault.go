// Package vault keeps the secrets of the environment from other processes of the same user.
//
// A process that imports it and finds secrets in its environment hands them over to itself in
// memory: it executes itself again with an environment without them, as taking a variable out does
// not wipe it, and reads them back before anything else begins. So neither its children nor what
// the system shows of its environment has them. On Linux the process is also closed to all
// processes of the same user: none reads its memory, environment or descriptors or traces it, and
// it leaves no core. [State] says what holds elsewhere.
//
// That happens while packages are initialized. The package imports next to nothing, so that it
// comes among the first and costs milliseconds. Binaries of tests are left as they are.
//
// Package environment has what is hidden. Programs that use the library do not import this package.
package vault

import (
	"os"
	"strings"

	"github.com/windlass-run/windlass/internal/environment"
)

// variable tells the process that was executed again where its secrets are.
const variable = "WINDLASS_HANDED_OVER"

var state State // does not change after the initialization

// State is what is known of how this process keeps its secrets.
type State struct {
	Closed  bool   // other processes of the same user cannot read its memory
	Problem string // why the environment that it was started with still shows them; "": it does not
}

// Current returns the state of this process.
func Current() State { return state }

func init() {
	environment.Own()
	if isTest(os.Args) {
		return
	}
	state.Closed = closeProcess()
	if at, ok := os.LookupEnv(variable); ok {
		receive(at)
		return
	}
	keep, hide := split(os.Environ(), named())
	if len(hide) == 0 {
		return
	}
	state.Problem = again(keep, hide) // it returns only when it could not be done
	for _, entry := range hide {
		name, _, _ := strings.Cut(entry, "=")
		environment.Hide(name)
	}
}

// isTest reports whether a program is the binary of a test.
func isTest(args []string) bool {
	return len(args) > 0 && strings.HasSuffix(strings.TrimSuffix(args[0], ".exe"), ".test")
}

// receive takes what was handed over. Without it, the process would run as if it had no key.
func receive(at string) {
	_ = os.Unsetenv(variable) // it is there
	data, err := fetch(at)
	head, rest, whole := strings.Cut(data, "\x00")
	if err != nil || !whole || head != variable {
		_, _ = os.Stderr.WriteString("Error: the secrets of the environment were not handed over, as " + variable +
			" says they were\nTry: unset " + variable + "\n")
		os.Exit(1)
	}
	for _, entry := range strings.Split(strings.TrimSuffix(rest, "\x00"), "\x00") {
		name, v, _ := strings.Cut(entry, "=")
		environment.Received(name, v)
	}
}

// handed is what is handed over.
func handed(hide []string) string { return variable + "\x00" + strings.Join(hide, "\x00") + "\x00" }
