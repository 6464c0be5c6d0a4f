package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// sweeps bounds the rounds over the processes: one may start another while it is looked for.
const sweeps = 10

// killStrays kills every process whose mark begins so, in whatever group it is, and returns how
// many there were.
func killStrays(id string) int {
	var seen []int
	entry := []byte(mark + "=" + id)
	for range sweeps {
		marked := withMark(entry)
		if len(marked) == 0 {
			break
		}
		for _, pid := range marked {
			if !slices.Contains(seen, pid) {
				seen = append(seen, pid)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	return len(seen)
}

// withMark returns processes with such an entry in their environment. That of another user's
// process cannot be read, and one that has ended has none any more.
func withMark(entry []byte) []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		if err == nil && hasEntry(env, entry) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasEntry(env, entry []byte) bool {
	return slices.ContainsFunc(bytes.Split(env, []byte{0}), func(e []byte) bool { return bytes.HasPrefix(e, entry) })
}
