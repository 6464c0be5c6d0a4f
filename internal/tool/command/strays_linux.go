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
const sweeps = 20

// killStrays kills every process whose mark begins so, in whatever group it is, and returns how
// many there were. It looks until a round finds none and has seen every process: one that ended in
// the meantime may have started another, and one that is being replaced by a program has no
// environment for a moment.
func killStrays(id string) int {
	var seen []int
	entry := []byte(mark + "=" + id)
	for range sweeps {
		marked, all := withMark(entry)
		if len(marked) == 0 && all {
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

// withMark returns processes with such an entry in their environment, and whether every process was
// seen. That of another user's process cannot be read.
func withMark(entry []byte) (pids []int, all bool) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, true
	}
	all = true
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		switch {
		case err == nil && hasEntry(env, entry):
			pids = append(pids, pid)
		case os.IsPermission(err):
		case err != nil:
			all = false // it has ended
		case len(env) == 0 && becoming(pid):
			all = false
		}
	}
	return pids, all
}

// becoming reports whether a process that shows no environment may have one soon, or has ended.
func becoming(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || statBecoming(stat)
}

// Fields of stat, counted from the state, which follows the name.
const (
	statState    = 0
	statFlags    = 6
	statEnvStart = 47 // where the environment begins in memory
	statEnvEnd   = 48 // where it ends; 0: it is not there yet
)

const kernelThread = 0x00200000 // of the flags: PF_KTHREAD

// statBecoming says it by a line of stat: a thread of the kernel and a process that has ended, but
// is not waited for yet, never have an environment again. Of one that began without it, the place
// is known and empty.
func statBecoming(stat []byte) bool {
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // a name may have brackets and blanks
	if len(f) <= statEnvEnd || string(f[statState]) == "Z" || string(f[statState]) == "X" {
		return false
	}
	flags, err := strconv.ParseUint(string(f[statFlags]), 10, 64)
	return err == nil && flags&kernelThread == 0 &&
		(string(f[statEnvEnd]) == "0" || !bytes.Equal(f[statEnvStart], f[statEnvEnd]))
}

func hasEntry(env, entry []byte) bool {
	return slices.ContainsFunc(bytes.Split(env, []byte{0}), func(e []byte) bool { return bytes.HasPrefix(e, entry) })
}
