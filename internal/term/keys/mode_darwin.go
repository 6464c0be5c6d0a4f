package keys

import "golang.org/x/sys/unix"

const (
	getMode  = unix.TIOCGETA
	putMode  = unix.TIOCSETAF // what was typed before is dropped: it was not meant for a form
	keepMode = unix.TIOCSETAW
	disabled = 0xff // a key that does nothing
)
