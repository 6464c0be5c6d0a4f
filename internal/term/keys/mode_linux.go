package keys

import "golang.org/x/sys/unix"

const (
	getMode  = unix.TCGETS
	putMode  = unix.TCSETSF // what was typed before is dropped: it was not meant for a form
	keepMode = unix.TCSETSW
	disabled = 0 // a key that does nothing
)
