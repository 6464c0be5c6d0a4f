//go:build (linux || darwin) && (amd64 || arm64)

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/ebitengine/purego"
)

// canLoad reports whether this build can load a library.
const canLoad = true

// serveQuery opens the port and then sleeps for a century: the query is what keeps the session, and with it the
// listener, alive. It ends with the process.
const serveQuery = "SYSTEM START LISTEN TCP; " +
	"SELECT sleepEachRow(3) FROM numbers(1000000000) SETTINGS max_block_size = 1, log_queries = 0 FORMAT Null"

// localArgs is the command line of clickhouse-local that serves dir.
func localArgs(dir, config string, port int) []string {
	return []string{
		"clickhouse", "--config-file", config, "--path", filepath.Join(dir, dataDir) + "/",
		"--listen_host", listenHost, "--tcp_port", strconv.Itoa(port), "--query", serveQuery,
	}
}

// library is a ClickHouse inside this process.
type library struct {
	ended    chan struct{}
	result   error       // valid when ended is closed
	terminal [2]*os.File // kept open as long as the process lives
}

func (l *library) done() <-chan struct{} { return l.ended }
func (l *library) err() error            { return l.result }

// stop does nothing: the library ends with the process that it lives in, at once. An insert is on disk before it is
// answered, so there is nothing to lose; ending clickhouse-local in an orderly way takes ten seconds and gains nothing.
func (l *library) stop(context.Context) {}

// startLibrary loads libchdb and runs clickhouse-local in it with args, on a thread of its own.
func startLibrary(path string, args []string) (runner, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	var query func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var message func(result unsafe.Pointer) string
	for name, fn := range map[string]any{"chdb_query_cmdline": &query, "chdb_result_error": &message} {
		addr, err := purego.Dlsym(lib, name)
		if err != nil {
			return nil, fmt.Errorf("%s is not a chdb library that windlass can use: %w", path, err)
		}
		purego.RegisterFunc(fn, addr)
	}
	quietSignals(lib)
	l := &library{ended: make(chan struct{})}
	if l.terminal, err = useTerminal(); err == nil {
		args = append(args, "--interactive")
	}
	go func() {
		defer close(l.ended)
		runtime.LockOSThread()
		argv := cStrings(args)
		result := query(int32(len(args)), unsafe.Pointer(&argv[0]))
		runtime.KeepAlive(argv)
		l.result = errors.New("its query came to an end")
		if result != nil {
			if text := message(result); text != "" {
				l.result = errors.New(text)
			}
		}
	}()
	return l, nil
}

// useTerminal makes a pseudo-terminal the standard input of the process. It is needed for one thing: clickhouse-local that
// is not interactive ends its process on every error in a connection's thread, such as a client with a wrong password or
// an unknown database; with --interactive, which needs a terminal, it goes on. Nothing is ever typed into it. Where there
// is no pseudo-terminal, the engine runs without, and starts again after such a client.
func useTerminal() ([2]*os.File, error) {
	master, slave, err := openTerminal()
	if err != nil {
		return [2]*os.File{}, err
	}
	if err := dupTo(int(slave.Fd()), 0); err != nil {
		return [2]*os.File{}, fmt.Errorf("make the pseudo-terminal the standard input: %w", err)
	}
	return [2]*os.File{master, slave}, nil
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

// cStrings returns args as a C argv, ended by a null pointer.
func cStrings(args []string) []*byte {
	argv := make([]*byte, 0, len(args)+1)
	for _, a := range args {
		argv = append(argv, unsafe.SliceData(append([]byte(a), 0)))
	}
	return append(argv, nil)
}
