//go:build unix

package vault

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// noCore keeps the process from leaving its memory in a file. Its children may raise the limit again.
func noCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // lowering it is always allowed
	}
}

// again executes this program again, in the same process, with one environment shown and the other handed over. It returns
// only when that cannot be done, and says why.
func again(keep, hide []string) string {
	fd, err := memory(handed(hide))
	if err != nil {
		return "the secrets of the environment cannot be handed over: " + err.Error()
	}
	path, err := self()
	if err == nil {
		err = unix.Exec(path, os.Args, append(keep, variable+"="+strconv.Itoa(fd)))
	}
	_ = unix.Close(fd)
	return "windlass cannot execute itself again without the secrets of its environment: " + err.Error()
}

// maxPipe is what fits into a pipe everywhere.
const maxPipe = 16 << 10

// pipe returns the reading end of a pipe with data in it, which the next program inherits.
func pipe(data string) (int, error) {
	if len(data) > maxPipe {
		return 0, errors.New("they are longer than a pipe holds")
	}
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		return 0, err
	}
	_, err := unix.Write(ends[1], []byte(data))
	_ = unix.Close(ends[1])
	if err != nil {
		_ = unix.Close(ends[0])
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
	if f == nil {
		return "", errors.New("no descriptor")
	}
	data, err := io.ReadAll(f)
	rename(filepath.Base(os.Args[0]))
	return string(data), errors.Join(err, f.Close())
}
