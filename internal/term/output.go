package term

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// SurviveClosedPipes makes writes to a closed pipe fail from now on instead of ending the process:
// a run that is paid for does not die of an output that nobody reads.
func SurviveClosedPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // never read: the write's error says it
}

// IsReaderGone reports whether a write failed because nobody reads the output any more.
func IsReaderGone(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // ERROR_BROKEN_PIPE, ERROR_NO_DATA
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return true
	case runtime.GOOS == "windows":
		return errors.Is(err, brokenPipe) || errors.Is(err, noData)
	}
	return false
}

// Output is an output whose reader may go away: what is written afterwards is dropped. One
// goroutine at a time may write.
type Output struct {
	out  io.Writer
	gone func()
	lost bool
}

// NewOutput returns an output that calls gone once when the reader of out has gone away.
func NewOutput(out io.Writer, gone func()) *Output { return &Output{out: out, gone: gone} }

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	if o.lost {
		return len(b), nil
	}
	n, err := o.out.Write(b)
	if !IsReaderGone(err) {
		return n, err
	}
	o.lost = true
	o.gone()
	return len(b), nil
}
