package keys

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// ErrNoKeyboard says that single keys cannot be read here.
var ErrNoKeyboard = errors.New("keys cannot be read from this terminal")

// Keyboard is a terminal that gives single keys and does not show them. Ctrl-C interrupts as always. One goroutine
// reads, pauses and continues; Close may be called by any.
type Keyboard struct {
	in      *os.File
	out     io.Writer
	decoder Decoder
	buffer  [4096]byte
	patient bool // it leaves the terminal alone while that belongs to another program

	mu     sync.Mutex // guards what follows
	mode   *mode      // of before; nil: the terminal is as it was
	closed bool
}

// open has the keyboards that are open, for [Restore].
var open struct {
	sync.Mutex
	all map[*Keyboard]bool
}

// Open has a terminal give keys. out shows what the terminal shows: it is asked to mark what is pasted.
func Open(in *os.File, out io.Writer) (*Keyboard, error) { return opened(&Keyboard{in: in, out: out}) }

// OpenPatiently is [Open] for a keyboard that stays open while the process does other work: while the process is in
// the background of a shell, the terminal stays as it is and no key is read, as either would stop the process.
func OpenPatiently(in *os.File, out io.Writer) (*Keyboard, error) {
	return opened(&Keyboard{in: in, out: out, patient: true})
}

func opened(k *Keyboard) (*Keyboard, error) {
	if !k.isAway() {
		if err := k.Continue(); err != nil {
			return nil, err
		}
	}
	open.Lock()
	defer open.Unlock()
	if open.all == nil {
		open.all = map[*Keyboard]bool{}
	}
	open.all[k] = true
	return k, nil
}

// isAway reports whether the terminal belongs to another program.
func (k *Keyboard) isAway() bool { return k.patient && !inForeground(k.in) }

// Read returns the keys that were pressed; none after a tenth of a second without any. The error is [io.EOF] when
// the terminal has gone away.
func (k *Keyboard) Read() ([]Key, error) {
	if k.isAway() {
		time.Sleep(tick)
		return nil, nil
	}
	if err := k.Continue(); err != nil {
		return nil, io.EOF
	}
	n, err := read(k.in, k.buffer[:])
	if err != nil {
		return nil, io.EOF
	}
	if n > 0 {
		return k.decoder.Feed(k.buffer[:n]), nil
	}
	return k.decoder.Pause(), nil
}

// tick is how long a read of nothing takes.
const tick = 100 * time.Millisecond

// Pause has the terminal be what it was before, for another program. Read continues.
func (k *Keyboard) Pause() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restore(true)
}

// restore has the terminal be what it was before. The mutex is held.
func (k *Keyboard) restore(drop bool) {
	if k.mode == nil || !inForeground(k.in) { // in the background it is not ours to change
		return
	}
	_, _ = io.WriteString(k.out, unmark)
	_ = k.mode.restore(k.in, drop) // a terminal that went away needs nothing
	k.mode = nil
}

// Continue has the terminal give keys again. Without a Pause before it does nothing.
func (k *Keyboard) Continue() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return ErrNoKeyboard
	case k.mode != nil:
		return nil
	}
	m, err := setMode(k.in)
	if err != nil {
		return err
	}
	k.mode = m
	_, _ = io.WriteString(k.out, mark) // a terminal that went away is noticed by reading
	return nil
}

// Suspend stops the process until its shell continues it, as Ctrl-Z does without a keyboard. The terminal is what it was
// before meanwhile.
func (k *Keyboard) Suspend() {
	k.Pause()
	suspend()
}

// What a terminal is sent to have it mark what is pasted, and to end that.
const (
	mark   = "\x1b[?2004h"
	unmark = "\x1b[?2004l"
)

// Close has the terminal be what it was before. What was typed and not read is left for the next program where the
// keyboard was patient: it was not meant for a form.
func (k *Keyboard) Close() {
	k.mu.Lock()
	k.closed = true
	k.restore(!k.patient)
	k.mu.Unlock()
	open.Lock()
	defer open.Unlock()
	delete(open.all, k)
}

// Restore closes every keyboard, before the process ends at once.
func Restore() {
	open.Lock()
	var all []*Keyboard
	for k := range open.all {
		all = append(all, k)
	}
	open.Unlock()
	for _, k := range all {
		k.Close()
	}
}
