// Package sandbox starts processes that the operating system confines: to named files, to one TCP
// port that they may listen on, and to no connection of their own.
//
// On Linux this is Landlock for files and TCP, a seccomp filter for the other kinds of sockets, and
// no capabilities but those over the files that Landlock leaves. None of it needs root. A process
// cannot leave its sandbox, nor can what it starts. On other systems nothing is confined, and
// [Missing] says so.
package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// Policy is what a confined process may reach. Whatever is not named is out of reach. A path that
// does not exist grants nothing. A folder stands for all that is in it.
type Policy struct {
	Read    []string // files and folders that may be read
	Write   []string // folders in which everything may be read, written, made and removed
	Execute []string // files that may be run, and read
	Listen  []uint16 // TCP ports that may be listened on
}

// ErrNoFiles is returned for a process without standard streams, which cannot be opened confined.
var ErrNoFiles = errors.New("a confined process needs its standard input, output and error as files")

// Start starts cmd under the policy, as far as this system can confine it; [Missing] says what it
// cannot. The standard streams of cmd must be files. The channel gets what cmd.Wait returns, once,
// when the process has ended.
//
// The process is started from a thread that confines itself first and lives as long as the process:
// a signal that was asked for with Pdeathsig comes at the end of this process, not before.
func Start(cmd *exec.Cmd, p Policy) (<-chan error, error) {
	if cmd.Stdin == nil || cmd.Stdout == nil || cmd.Stderr == nil {
		return nil, ErrNoFiles
	}
	started, exited := make(chan error, 1), make(chan error, 1)
	onThread(func() {
		if err := confineThread(p); err != nil {
			started <- fmt.Errorf("confine %s: %w", cmd.Path, err)
			return
		}
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	})
	return exited, <-started
}

// onThread calls do on a thread of its own, which ends with it. The first thread of the process is
// not taken: a thread cannot be freed of its sandbox, that one outlives its goroutines, and it
// stands for the whole process where the kernel decides who may look into it.
func onThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if !isFirstThread() {
			do() // never unlocked, so that the thread runs nothing else
			return
		}
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() { // on another thread, as this one is taken
			runtime.LockOSThread()
			defer close(done)
			do()
		}()
		<-done
	}()
}
