package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/waits"
)

// WatchEvery is how often a [Watcher] looks when nobody has told it of anything.
const WatchEvery = 2 * time.Second

// Between two attempts to resume a session of which nothing else is new.
const (
	firstPause = 10 * time.Second
	mostPause  = 10 * time.Minute
)

// servedMark is the mark of sessions that a server resumes: those that were begun or resumed over the API.
const servedMark = "served"

// Watcher resumes sessions that wait as soon as an answer, a signal or the end of a wait is there: those that were begun or
// resumed over the API, and those that were answered over HTTP or on the page. One goroutine, that of [Watcher.Watch], owns
// all of its fields but the channel.
type Watcher struct {
	desk   waits.Desk
	busy   func(session string) bool // it runs here, or is about to end
	resume func(ctx context.Context, session string) error
	log    *log.Logger

	told  chan struct{}
	known map[string]*watched // by the session above all others
}

// watched is what a watcher knows of a session that waits, and of those that it has begun.
type watched struct {
	state string        // how far the journals were when the waits were read
	waits []*waits.Wait // that are open
	tried []string      // the waits with which it was resumed
	pause time.Duration // after which it is resumed with the same ones again
	again time.Time
	said  string // why it was not, as the log has it
}

// NewWatcher returns a watcher of the sessions of a host's home.
func NewWatcher(h *Host, desk waits.Desk) *Watcher {
	return &Watcher{
		desk: desk, busy: h.has, log: h.options.Log, told: make(chan struct{}, 1), known: map[string]*watched{},
		resume: func(ctx context.Context, id string) error {
			_, err := h.resume(ctx, id, &server.ResumeRequest{})
			return err
		},
	}
}

// Look has the watcher look soon. It does not block.
func (w *Watcher) Look() {
	select {
	case w.told <- struct{}{}:
	default: // it is going to
	}
}

// Watch looks at each tick and whenever it is told to, until ctx ends. It returns when it resumes nothing more.
func (w *Watcher) Watch(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		case <-w.told:
		}
		w.look(ctx)
	}
}

// look resumes what can be resumed.
func (w *Watcher) look(ctx context.Context) {
	all, err := sessions.All(config.SessionsDir(w.desk.Home))
	if err != nil {
		w.log.Printf("warning: look for sessions that wait: %s", line(err.Error()))
		return
	}
	found := treesOf(all)
	for id := range w.known {
		if _, is := found[id]; !is {
			delete(w.known, id)
		}
	}
	for _, t := range waitingTrees(found) {
		if ctx.Err() != nil {
			return
		}
		if w.busy(t.id) {
			continue
		}
		x := w.known[t.id]
		if x == nil {
			x = &watched{}
			w.known[t.id] = x
		}
		if err := w.try(ctx, t, x); err != nil {
			w.say(t.id, x, err)
		}
	}
}

// tree is a session that nobody has begun, with those that it has.
type tree struct {
	id    string
	root  *sessions.Session
	state []string // how far each session is
}

func treesOf(all []*sessions.Session) map[string]*tree {
	out := map[string]*tree{}
	for _, s := range all {
		if s.Err != nil {
			continue
		}
		id := cmp.Or(s.Header.Root, s.ID)
		t := out[id]
		if t == nil {
			t = &tree{id: id}
			out[id] = t
		}
		if t.id == s.ID {
			t.root = s
		}
		t.state = append(t.state, fmt.Sprintf("%s %d %d", s.ID, s.Last, s.LastAt.UnixNano()))
	}
	return out
}

// waitingTrees returns those that wait and that nobody runs, in the order of their ids.
func waitingTrees(found map[string]*tree) []*tree {
	var out []*tree
	for _, t := range found {
		if t.root != nil && !t.root.Busy && t.root.Status() == echo.StatusWaiting.String() {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *tree) int { return strings.Compare(a.id, b.id) })
	return out
}

// try resumes a session if what it waits for is there.
func (w *Watcher) try(ctx context.Context, t *tree, x *watched) error {
	if state := strings.Join(t.state, "\n"); state != x.state {
		list, err := w.desk.List(ctx, t.id)
		if err != nil {
			return err
		}
		x.state, x.waits = state, list
	}
	now := w.desk.Clock()
	ready, err := w.ready(t.id, x, now)
	if err != nil || len(ready) == 0 || !x.isDue(ready, now) {
		return err
	}
	err = w.resume(ctx, t.id)
	var p *server.Problem
	if errors.As(err, &p) && (p.Kind == server.TooManyRuns || p.Kind == server.ShuttingDown) {
		return nil // with the next look
	}
	if x.attempted(ready, now); err == nil {
		x.said = ""
	}
	return err
}

// ready returns the waits that a run gets past; none where no server resumes the session.
func (w *Watcher) ready(id string, x *watched, now time.Time) ([]string, error) {
	var out []string
	ours := waits.Box(w.desk.Home, id).HasMark(servedMark)
	for _, wait := range x.waits {
		ready, by, err := w.desk.Ready(wait, now)
		if err != nil {
			return nil, err
		}
		if ready {
			out = append(out, wait.ID)
		}
		ours = ours || by != nil && waits.IsRemote(by.Via)
	}
	if !ours {
		return nil, nil
	}
	return out, nil
}

// isDue reports whether a session is resumed with waits: when one of them is new, or it was long ago.
func (x *watched) isDue(ready []string, now time.Time) bool {
	return !now.Before(x.again) || slices.ContainsFunc(ready, func(id string) bool { return !slices.Contains(x.tried, id) })
}

func (x *watched) attempted(ready []string, now time.Time) {
	if slices.Equal(ready, x.tried) {
		x.pause = min(2*x.pause, mostPause)
	} else {
		x.pause = firstPause
	}
	x.tried, x.again = ready, now.Add(x.pause)
}

// say logs why a session was not resumed, once for each reason.
func (w *Watcher) say(id string, x *watched, err error) {
	if text := line(err.Error()); text != x.said {
		x.said = text
		w.log.Printf("%s: warning: it was not resumed: %s", id, text)
	}
}
