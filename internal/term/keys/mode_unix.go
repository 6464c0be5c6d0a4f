//go:build linux || darwin

package keys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether keys can be read on this system.
const Supported = true

type mode struct{ before unix.Termios }

// setMode has a terminal give what is pressed at once, without an echo, and reads return after a tenth of a second.
// Signals stay, but for the one that stops the process, which would leave the terminal so.
func setMode(f *os.File) (*mode, error) {
	now, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKeyboard, err)
	}
	m := &mode{before: *now}
	now.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.IEXTEN
	now.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.IXON
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 1
	now.Cc[unix.VSUSP], now.Cc[unix.VQUIT] = disabled, disabled
	if err := unix.IoctlSetTermios(int(f.Fd()), putMode, now); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKeyboard, err)
	}
	return m, nil
}

// restore has a terminal be as it was. drop is whether what was typed and not read is dropped.
func (m *mode) restore(f *os.File, drop bool) error {
	put := uint(putMode)
	if !drop {
		put = keepMode
	}
	return unix.IoctlSetTermios(int(f.Fd()), put, &m.before)
}

// inForeground reports whether the process may use its terminal: a shell has not put it into the background.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// suspend stops the processes that the terminal would stop by Ctrl-Z, and returns when the shell continues them, or at once
// where no shell could.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(tick): // it began to run down before the stop
	}
}

// read reads what there is; nothing after a tenth of a second. A terminal that has gone away returns nothing at once.
func read(f *os.File, b []byte) (int, error) {
	begun := time.Now()
	n, err := unix.Read(int(f.Fd()), b)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0 && time.Since(begun) < leastWait:
		return 0, io.EOF
	}
	return n, nil
}

// leastWait is how long a read of nothing takes on a terminal that is there.
const leastWait = 20 * time.Millisecond
