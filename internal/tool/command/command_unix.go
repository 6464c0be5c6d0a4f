//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

func newCommand(line string) (*exec.Cmd, error) {
	cmd := exec.Command("/bin/sh", "-c", line) //nolint:noctx // a context would end the shell alone; Run ends its whole group
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}

// The group may be gone already, which is what is wanted.
func terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
