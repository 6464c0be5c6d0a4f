package live

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/form"
	"github.com/windlass-run/windlass/internal/term/keys"
)

// talk is what the person at the terminal says to the run by themselves. The mutex of its [Asker] guards it.
type talk struct {
	hearers []form.Hearer
	say     func(form.Said) error

	on     bool       // the key that opens the form is read
	busy   int        // reads without a key until that key counts
	form   *form.Form // nil: it is not open
	unsaid string     // words that were in the form when the run ended
}

// talkKey opens the form.
var talkKey = keys.Of('a')

// pause is how many reads without a key come before [talkKey]: who types for the shell says nothing to the model.
const pause = 5

// Listen reads keys from now on where the run hears what a person says.
func (a *Asker) Listen() {
	if a == nil || len(a.talk.hearers) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.host != nil {
		return
	}
	keyboard, err := keys.OpenPatiently(a.in, a.view.out)
	if err != nil {
		return // there is windlass audible
	}
	a.talk.on = true
	a.begin(keyboard)
	a.view.redraw()
}

// opens reports whether the keys of a read open the form in which the person says something: the key by itself, while
// no other form has the keyboard.
func (a *Asker) opens(pressed []keys.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := &a.talk
	if f, _ := a.shown(); f != nil || !t.on || a.closed {
		return false
	}
	switch {
	case len(pressed) == 0:
		t.busy = max(t.busy-1, 0)
		return false
	case pressed[0].Name == keys.Suspend: // which [Asker.press] does
		return false
	case t.busy > 0 || len(pressed) > 1 || pressed[0] != talkKey:
		t.busy = pause
		return false
	}
	t.form = form.NewAudible(hearing(a.view.progress, t.hearers))
	if a.edit != nil {
		t.form.HasEditor()
	}
	a.view.redraw()
	return true
}

// close closes the form; the key opens it again. The mutex is held.
func (t *talk) close() { t.form, t.busy = nil, 0 }

// end closes the form, as the run has ended, and keeps its words.
func (t *talk) end() {
	if t.form != nil {
		t.unsaid = t.form.Unsaid()
	}
	t.close()
}

// say says what a form has. What nobody would hear opens the form again.
func (a *Asker) say(f *form.Form) {
	err := a.talk.say(f.Said())
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		f.Refuse(err.Error())
		return
	}
	a.talk.close()
	p := a.view.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	p.say(spoken.of("said: the model is told before its next turn"))
}

// hint says which key opens the form.
func (t *talk) hint(room Room, paint func(term.Colour, string) string) []string {
	if !t.on || room.Height < 1 {
		return nil
	}
	return []string{paint(term.Dim, term.Cut("  a  say something to the model", room.Width))}
}

// Unsaid returns words that the person was writing when the run ended, "" for none.
func (a *Asker) Unsaid() string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.talk.unsaid
}

// hearing returns those of the phases that run.
func hearing(p *Progress, of []form.Hearer) []form.Hearer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(of), func(h form.Hearer) bool { return p.current(h.Phase, echo.Key{}) == nil })
}
