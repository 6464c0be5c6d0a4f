package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// binary is a clickhouse server as a child of the engine process, which stays to watch it.
type binary struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	result error // valid when ended is closed
}

func (b *binary) done() <-chan struct{} { return b.ended }
func (b *binary) err() error            { return b.result }

func (b *binary) stop(ctx context.Context) {
	_ = b.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended, which is what is wanted
	select {
	case <-b.ended:
	case <-ctx.Done():
		_ = b.cmd.Process.Kill()
	}
}

// startBinary runs "clickhouse server" with a configuration file. The server dies with the engine process, so that a
// killed engine never leaves one behind that holds the data.
func startBinary(path, config, dir string) (runner, error) {
	cmd := exec.Command(path, "server", "--config-file="+config) //nolint:noctx // stop ends it, with time to write
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	b := &binary{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		if b.result = cmd.Wait(); b.result == nil {
			b.result = fmt.Errorf("%s ended", path)
		}
	}()
	return b, nil
}
