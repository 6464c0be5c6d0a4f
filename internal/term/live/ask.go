package live

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/form"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/waits"
)

// Asker asks the person at a terminal what a run waits for, in forms below the frame of its live view: one after the
// other, questions before signals. It also takes what the person says by themselves. One goroutine has the keyboard and
// reads keys: while there is something to ask, and of a run that takes audibles from [Asker.Listen] to [Asker.Close].
// The run adds waits, and the view draws the form; the mutex guards everything below it.
type Asker struct {
	view *InPlace
	in   *os.File
	by   string
	edit func(text string) (string, error) // nil: there is no editor
	list func([]waits.Decided) []string    // says earlier decisions in lines

	mu     sync.Mutex
	queue  []*asked
	talk   talk
	host   chan struct{} // closed when the goroutine that reads keys has ended; nil: there is none
	closed bool
}

// asked is a wait that a person is asked about.
type asked struct {
	wait *waits.Wait
	desk waits.Desk
	form *form.Form
	done chan struct{} // closed when nothing is asked any more
	over bool          // it is closed
}

// AskerOptions say who is asked, and how.
type AskerOptions struct {
	In      *os.File                          // the keyboard
	By      string                            // who answers
	Edit    func(text string) (string, error) // has a text changed in another program; nil: there is none
	Earlier func([]waits.Decided) []string    // earlier decisions in lines

	Hearers []form.Hearer         // the phases that hear what the person says; none: there is no key for that
	Say     func(form.Said) error // says it
}

// NewAsker returns an asker that draws in a view, nil where that is no live one.
func NewAsker(v View, o AskerOptions) *Asker {
	view, ok := v.(*InPlace)
	if !ok || !keys.Supported {
		return nil
	}
	a := &Asker{view: view, in: o.In, by: o.By, edit: o.Edit, list: o.Earlier, talk: talk{hearers: o.Hearers, say: o.Say}}
	view.below(a.lines)
	return a
}

// mostEarlier is how many earlier decisions are shown with a wait.
const mostEarlier = 3

// Ask asks about a wait, and leaves the answer with the desk. It returns when that is done, when the person leaves the
// wait as it is, or when ctx ends: then somebody else has answered, or nothing is awaited any more.
func (a *Asker) Ask(ctx context.Context, desk waits.Desk, w *waits.Wait) {
	x := &asked{wait: w, desk: desk, form: form.New(w), done: make(chan struct{})}
	if a.edit != nil {
		x.form.HasEditor()
	}
	if !a.add(x) {
		return
	}
	go a.earlier(ctx, x)
	select {
	case <-ctx.Done():
	case <-x.done:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(x)
}

// add has a wait asked about; false when nobody can be asked.
func (a *Asker) add(x *asked) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.queue = append(a.queue, x)
	if a.host == nil {
		keyboard, err := keys.Open(a.in, a.view.out)
		if err != nil {
			a.end(x)
			return false
		}
		a.begin(keyboard)
	}
	a.view.redraw()
	return true
}

// begin has a goroutine read keys. The mutex is held.
func (a *Asker) begin(keyboard *keys.Keyboard) {
	a.host = make(chan struct{})
	go a.read(keyboard, a.host)
}

// end takes a wait out of the queue. The mutex is held.
func (a *Asker) end(x *asked) {
	if x.over {
		return
	}
	x.over = true
	close(x.done)
	a.queue = slices.DeleteFunc(a.queue, func(other *asked) bool { return other == x })
	a.view.redraw()
}

// first returns the wait that is asked about now: a signal only where there is nothing else. The mutex is held.
func (a *Asker) first() *asked {
	at := slices.IndexFunc(a.queue, func(x *asked) bool { return x.wait.IsAnswered() })
	switch {
	case at >= 0:
		return a.queue[at]
	case len(a.queue) > 0:
		return a.queue[0]
	}
	return nil
}

// earlier shows with a wait what was decided before.
func (a *Asker) earlier(ctx context.Context, x *asked) {
	list, err := x.desk.Earlier(ctx, x.wait, mostEarlier)
	if err != nil || len(list) == 0 || a.list == nil {
		return // it is answered without
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	x.form.Earlier(a.list(list))
	a.view.redraw()
}

// read gives keys to forms until nothing is asked any more.
func (a *Asker) read(keyboard *keys.Keyboard, done chan struct{}) {
	defer close(done)
	defer keyboard.Close() // also when it panics
	for {
		pressed, err := keyboard.Read()
		if err != nil { // the terminal has gone away
			a.leave()
		}
		a.press(keyboard, pressed)
		a.mu.Lock()
		if len(a.queue) == 0 && (!a.talk.on || a.closed) {
			keyboard.Close()
			a.host = nil
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
	}
}

// press gives the keys of one read to what they are meant for.
func (a *Asker) press(keyboard *keys.Keyboard, pressed []keys.Key) {
	if a.opens(pressed) {
		return
	}
	for _, k := range pressed {
		if k.Name == keys.Suspend {
			a.view.hold(keyboard.Suspend)
			continue
		}
		if a.key(keyboard, k) {
			return // what was pressed with it was not meant for the next form
		}
	}
}

// leave leaves every wait as it is, and reads no keys any more.
func (a *Asker) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.talk.on = false
	for len(a.queue) > 0 {
		a.end(a.queue[0])
	}
}

// shown returns the form that has the keyboard: what the person says, until that is done, else that of the wait which is
// asked about now; nil for none. The mutex is held.
func (a *Asker) shown() (f *form.Form, x *asked) {
	if a.talk.form != nil {
		return a.talk.form, nil
	}
	if x = a.first(); x != nil {
		return x.form, x
	}
	return nil, nil
}

// key gives a key to the form that is shown; true when that has ended.
func (a *Asker) key(keyboard *keys.Keyboard, k keys.Key) bool {
	a.mu.Lock()
	f, x := a.shown()
	if f == nil {
		a.mu.Unlock()
		return true
	}
	defer a.view.redraw()
	if text, writes := f.Text(); writes && k.Name == keys.Editor && a.edit != nil {
		a.mu.Unlock()
		a.inEditor(keyboard, f, text)
		return false
	}
	f.Key(k)
	switch f.State() {
	case form.Open:
		a.mu.Unlock()
		return false
	case form.Left:
		if x == nil {
			a.talk.close()
		} else {
			a.end(x)
		}
		a.mu.Unlock()
		return true
	case form.Answered:
	}
	a.mu.Unlock() // the run goes on, and others may answer, while it is written
	if x == nil {
		a.say(f)
	} else {
		a.answer(x, f.Answer())
	}
	return true
}

// answer leaves an answer with the desk. One that is not taken opens the form again; one that was too late ends it: the
// answer of the record says who was faster.
func (a *Asker) answer(x *asked, said form.Answer) {
	err := x.desk.Answer(x.wait, given(x.wait, said, a.by))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && !failure.Is(err, failure.AlreadyAnswered) {
		x.form.Refuse(err.Error())
		return
	}
	a.end(x)
}

func given(w *waits.Wait, said form.Answer, by string) waits.Given {
	return waits.Given{Value: said.Value, Shown: w.Shown, Grant: said.Grant, By: by, Via: echo.ViaTerminal}
}

// inEditor has a text changed in the editor of the person, while nothing is drawn.
func (a *Asker) inEditor(keyboard *keys.Keyboard, f *form.Form, text string) {
	keyboard.Pause()
	var changed string
	var err error
	a.view.hold(func() { changed, err = a.edit(text) })
	if again := keyboard.Continue(); again != nil {
		a.leave()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		f.Refuse(err.Error())
		return
	}
	f.Write(changed)
}

// lines returns what the view shows below its frame.
func (a *Asker) lines(room Room, paint func(term.Colour, string) string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, x := a.shown()
	if f == nil {
		return a.talk.hint(room, paint)
	}
	out := f.Lines(room.Width, max(room.Height-1, 1), paint)
	if n := len(a.queue); x == nil && n > 0 {
		out = append(out, paint(term.Yellow, term.Cut("  then "+term.Plural(n, "wait")+" to be answered", room.Width)))
	} else if n > 1 {
		out = append(out, paint(term.Dim, term.Cut("  and "+term.Plural(n-1, "more wait"), room.Width)))
	}
	return out
}

// Close leaves what is asked as it is, and has the terminal be as it was.
func (a *Asker) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.closed = true
	host := a.host
	a.mu.Unlock()
	a.leave()
	if host != nil {
		<-host // which may have the terminal in an editor
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.talk.end()
}
