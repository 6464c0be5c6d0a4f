//go:build (linux || darwin) && (amd64 || arm64)

package embedded

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/term"
)

const canLoad = true

// serveQuery opens the port and keeps it open, by sleeping for a century. Tests change it.
var serveQuery = "SYSTEM START LISTEN TCP; " +
	"SELECT sleepEachRow(3) FROM numbers(1000000000) SETTINGS max_block_size = 1, log_queries = 0 FORMAT Null"

// localArgs is the command line of clickhouse-local that serves dir. It is interactive on a
// terminal: otherwise a client with a wrong password or database ends the process.
func localArgs(dir, config string, port int) []string {
	args := []string{
		"clickhouse", "--config-file", config, "--path", dataPath(dir) + "/",
		"--listen_host", listenHost, "--tcp_port", strconv.Itoa(port), "--query", serveQuery,
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		args = append(args, "--interactive")
	}
	return args
}

// runLibrary runs clickhouse-local in libchdb. It returns only when that fails or ends.
func runLibrary(path string, args []string) error {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	var query func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var message func(result unsafe.Pointer) string
	for name, fn := range map[string]any{"chdb_query_cmdline": &query, "chdb_result_error": &message} {
		addr, err := purego.Dlsym(lib, name)
		if err != nil {
			return fmt.Errorf("%s is not a chdb library that windlass can use: %w", path, err)
		}
		purego.RegisterFunc(fn, addr)
	}
	quietSignals(lib)
	runtime.LockOSThread()
	argv := cStrings(args)
	result := query(int32(len(args)), unsafe.Pointer(&argv[0])) //nolint:gosec // a few arguments
	runtime.KeepAlive(argv)
	if result != nil {
		if text := message(result); text != "" {
			return errors.New(text)
		}
	}
	return errors.New("its query came to an end")
}

// quietSignals leaves the process's signals to the Go runtime where the library can do that.
func quietSignals(lib uintptr) {
	addr, err := purego.Dlsym(lib, "chdb_set_signal_handlers_enabled")
	if err != nil {
		return // an older library; its handlers do no harm but a nicer crash report
	}
	var enable func(on bool)
	purego.RegisterFunc(&enable, addr)
	enable(false)
}

func cStrings(args []string) []*byte {
	argv := make([]*byte, 0, len(args)+1)
	for _, a := range args {
		argv = append(argv, unsafe.SliceData(append([]byte(a), 0)))
	}
	return append(argv, nil)
}
