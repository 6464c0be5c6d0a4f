package embedded

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// coreWord follows [ServeCommand] in the confined process; else an absolute path does.
const coreWord = "clickhouse"

// runCore is the confined process. It tells its parent why ClickHouse has ended.
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

// endWithParent ends this process when the other end of the lifeline is closed.
func endWithParent(lifeline *os.File) {
	_, _ = io.Copy(io.Discard, lifeline)
	os.Exit(1)
}
