// Package sandbox starts processes that the system confines, with all that they start, to named
// files and a TCP port to listen on, without connections of their own. On Linux, without root:
// Landlock for files and TCP, seccomp for other sockets, and no capabilities but over files.
// Elsewhere nothing is confined, as [Missing] says.
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

// Start starts cmd, whose standard streams are files, as confined as [Missing] allows. The channel
// gets what cmd.Wait returns, once.
//
// The thread that starts it confines itself and lives as long: a Pdeathsig comes at the end of this
// process, not before.
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

// onThread calls do on a thread that ends with it. It is never the first thread, which outlives its
// goroutines and decides for the kernel who may look into the process.
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
