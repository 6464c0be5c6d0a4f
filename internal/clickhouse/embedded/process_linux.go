package embedded

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel end the child when the engine process ends, however that happens.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setsid: true}
}
