package term

import (
	"fmt"
	"io"
	"sync"
)

// Notices are short messages while a command runs: in the live view when there is one, else a line
// each. They are safe for concurrent use.
type Notices struct {
	mu  sync.Mutex // guards say, and is held while it writes
	say func(string)
}

// NewNotices writes notices to w until Redirect says otherwise.
func NewNotices(w io.Writer) *Notices {
	return &Notices{say: func(text string) { fmt.Fprintf(w, "\n%s\n", text) }}
}

// Redirect gives notices to say from now on.
func (n *Notices) Redirect(say func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.say = say
}

// Say shows a notice.
func (n *Notices) Say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.say(text)
}
