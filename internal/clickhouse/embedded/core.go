package embedded

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// coreWord follows [ServeCommand] on the command line of the confined process that runs ClickHouse
// from the library. It is not the absolute path of a folder, which follows otherwise.
const coreWord = "clickhouse"

// runCore is the confined process. It returns the exit code when ClickHouse has ended, and tells
// its parent why.
func runCore(args []string) int {
	if len(args) != 6 {
		fmt.Fprintf(os.Stderr, "engine: wrong arguments for ClickHouse: %q\n", args)
		return 1
	}
	library, dir, config := args[2], args[3], args[4]
	port, err := strconv.Atoi(args[5])
	if err != nil {
		fmt.Fprintf(os.Stderr, "engine: port: %v\n", err)
		return 1
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(lockFD)
	syscall.CloseOnExec(reasonFD)
	go endWithParent(os.NewFile(lifelineFD, "lifeline"))
	fmt.Fprint(os.NewFile(reasonFD, "reason"), runLibrary(library, localArgs(dir, config, port)))
	return 1
}

// endWithParent ends this process at once when the process at the other end of the lifeline is
// gone. Nothing is ever written into it.
func endWithParent(lifeline *os.File) {
	_, _ = io.Copy(io.Discard, lifeline)
	os.Exit(1)
}
