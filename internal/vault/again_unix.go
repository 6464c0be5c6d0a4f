//go:build unix

package vault

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// noCore keeps the process from leaving its memory in a file. Children may raise the limit again.
func noCore() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // lowering it is always allowed
	}
}

// again executes this program again, in the same process, with one environment shown and the other
// handed over. It returns only when that cannot be done, and says why.
func again(keep, hide []string) string {
	fd, err := pipe(handed(hide))
	if err != nil {
		return "the secrets of the environment cannot be handed over: " + err.Error()
	}
	path, err := self()
	if err == nil {
		err = syscall.Exec(path, os.Args, append(keep, variable+"="+strconv.Itoa(fd)))
	}
	_ = syscall.Close(fd)
	return "windlass cannot execute itself again without the secrets of its environment: " + err.Error()
}

// pipe returns the reading end of a pipe, which the next program inherits, with all data in it.
func pipe(data string) (int, error) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return 0, err
	}
	err := widen(ends[1], len(data))
	if err == nil {
		_, err = syscall.Write(ends[1], []byte(data))
	}
	_ = syscall.Close(ends[1])
	if err != nil {
		_ = syscall.Close(ends[0])
	}
	return ends[0], err
}

// fetch reads what the process handed over to itself.
func fetch(at string) (string, error) {
	fd, err := strconv.Atoi(at)
	if err != nil || fd < 3 {
		return "", errors.New("no descriptor")
	}
	f := os.NewFile(uintptr(fd), variable)
	data, err := io.ReadAll(f)
	rename(os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:])
	return string(data), errors.Join(err, f.Close())
}
