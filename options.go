package windlass

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// Options say where windlass keeps what it keeps. The zero value is what the command uses: the
// folders and the ClickHouse that the environment and windlass.json say.
type Options struct {
	// Home is the folder with the sessions and the data of the embedded ClickHouse; "":
	// $WINDLASS_HOME, or .windlass in the person's home folder.
	Home string
	// Dir is the folder whose windlass.json counts for runs that start; "": the working folder.
	// That file is optional.
	Dir string
	// Cache is the folder of what was downloaded; "": $WINDLASS_CACHE, or the person's cache
	// folder.
	Cache string

	// DSN is that of a ClickHouse server, as clickhouse://user:password@host:9000/database; "": the
	// one that $WINDLASS_CLICKHOUSE_DSN or windlass.json says, or else the embedded ClickHouse.
	DSN string
	// NoClickHouse has runs keep journals only. Everything but SQL, and the sessions of other
	// machines, is there all the same.
	NoClickHouse bool
	// Executable is the program that runs the embedded ClickHouse in a process of its own: the
	// command windlass, or a program that calls [ServeEngine]. "": this program if it calls that,
	// or else windlass on PATH.
	Executable string

	// Fetch allows to download the embedded ClickHouse (800 MB) and word vectors when they are
	// needed for the first time.
	Fetch bool

	temporary bool
}

// InMemory returns options of a Windlass that leaves nothing behind: without ClickHouse, and with a
// home that [Windlass.Close] removes. It is not without a disk: journals and work folders are in a
// new folder for temporary files, so that sessions can be resumed and verified until then.
func InMemory() Options { return Options{NoClickHouse: true, temporary: true} }

// servesEngine says that this program calls ServeEngine.
var servesEngine atomic.Bool

// ServeEngine makes a program one that can run the embedded ClickHouse, so that the command
// windlass need not be installed. It is called at the beginning of main:
//
//	if code, done := windlass.ServeEngine(); done {
//		os.Exit(code)
//	}
//
// In a process that was started to run ClickHouse it returns when ClickHouse has ended, and done is
// true. In any other process it returns at once.
func ServeEngine() (code int, done bool) {
	servesEngine.Store(true)
	if args := os.Args[1:]; embedded.IsServe(args) {
		return embedded.Serve(args), true
	}
	return 0, false
}

// noExecutable stands for the program that runs the engine where there is none. It is the path of
// no file.
const noExecutable = "windlass, which is not on PATH"

var errNoExecutable = errors.New("no program on this machine runs the embedded ClickHouse: windlass is not on PATH, and this program " +
	"does not call windlass.ServeEngine")

// executable returns the program that the engine process is; "" is this one.
func (o *Options) executable() string {
	if o.Executable != "" || servesEngine.Load() {
		return o.Executable
	}
	path, err := exec.LookPath("windlass")
	if err != nil {
		return noExecutable
	}
	return path
}
