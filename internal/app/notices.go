package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/notify"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/waits"
)

// notices tells whom windlass.json names of each wait that nobody has answered: each of them once, whatever process the run is
// continued in. It implements [effect.Mailbox] over another one.
type notices struct {
	effect.Mailbox
	home    string
	header  func() journal.Header
	targets []config.Notify
	sender  notify.Sender
	secrets *secret.Set

	all  sync.WaitGroup
	mu   sync.Mutex // guards what follows
	said map[string]bool
	errs []error
}

// newNotices returns the notices of a run over its mailbox.
func newNotices(o *opening, box effect.Mailbox) *notices {
	n := noticesOf(o.app.home, o.config, &o.options.Rights, o.run.secrets)
	n.Mailbox, n.header = box, o.run.Header
	return n
}

func noticesOf(home string, cfg *config.Config, rights *Rights, secrets *secret.Set) *notices {
	n := &notices{
		home: home, targets: cfg.Notify, secrets: secrets, said: map[string]bool{},
		sender: notify.Sender{
			AllowEnv: rights.AllowEnv, Getenv: environment.LookupEnv, Dir: filepath.Dir(cfg.Path),
			Trusts: func(line string) bool { return rights.AllowCommands || tool.Trusts(cfg.TrustedCommands, line) },
		},
	}
	for _, name := range plainVariables {
		if v, ok := environment.LookupEnv(name); ok {
			n.sender.Env = append(n.sender.Env, name+"="+v)
		}
	}
	return n
}

// tellAgain tells of the waits of a session that nothing has come for, where that has failed before. What fails again is returned.
func tellAgain(a *App, rec *journal.Recording, open []*waits.Wait) error {
	origin, err := ReadHeader(rec.Header)
	if err != nil {
		return nil //nolint:nilerr // it is no error of notifications
	}
	cfg, err := a.configOf(origin.Started.Dir)
	if err != nil || len(cfg.Notify) == 0 {
		return err
	}
	rights := origin.Started.options().Rights
	n := noticesOf(a.home, cfg, &rights, KnownSecrets(cfg, rights.AllowEnv))
	for _, w := range open {
		asked := echo.Wait{Kind: w.Kind, Form: w.Form, Call: w.Call, Signal: w.Signal, Any: w.Any}
		n.tell(noticeOf(w.Place, &asked, w.Since, w.Deadline))
	}
	return n.close()
}

// tellThose tells again of what a session waits for that is not resumed for that.
func tellThose(a *App, rec *journal.Recording, err error, w Watch) {
	var waiting *WaitsError
	if !errors.As(err, &waiting) {
		return
	}
	if err := tellAgain(a, rec, waiting.Waits); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			w.complete().Notice("Warning: " + line)
		}
	}
}

// Answer implements [effect.Mailbox].
func (n *notices) Answer(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	a, err := n.Mailbox.Answer(ctx, req)
	deadline := req.Deadline()
	if a != nil || err != nil || !deadline.IsZero() && !time.Now().Before(deadline) {
		return a, err
	}
	h := n.header()
	place := waits.Place{Session: h.SessionID, Root: cmp.Or(h.Root, h.SessionID), Cascade: req.Site.Cascade, Phase: req.Site.Phase, Key: req.Key}
	var until *time.Time
	if !deadline.IsZero() {
		until = &deadline
	}
	n.tell(noticeOf(place, &req.Wait, req.Since, until))
	return nil, nil //nolint:nilnil // see the interface
}

// tell tells of a wait in the background.
func (n *notices) tell(notice notify.Notice) {
	box := waits.Box(n.home, notice.Session)
	for _, t := range n.targets {
		mark := "notified-" + notice.ID + "-" + notify.Key(t)
		n.mu.Lock()
		told := n.said[mark] || box.HasMark(mark)
		n.said[mark] = true
		n.mu.Unlock()
		if told {
			continue
		}
		n.all.Go(func() {
			err := n.sender.Send(context.Background(), t, notice)
			if err == nil {
				err = box.Mark(mark)
			}
			if err != nil {
				n.mu.Lock()
				n.errs = append(n.errs, err)
				n.mu.Unlock()
			}
		})
	}
}

func noticeOf(at waits.Place, w *echo.Wait, since time.Time, deadline *time.Time) notify.Notice {
	out := notify.Notice{
		ID: echo.WaitID(at.Session, at.Key), Kind: string(w.Kind), Session: at.Session, Root: at.Root, Cascade: at.Cascade, Phase: at.Phase,
		Question: questionOf(w), Since: since, Deadline: deadline,
	}
	out.Answer = "windlass answer " + out.ID
	if names := waits.Signals(w); len(names) > 0 && w.Form == nil {
		out.Answer = "windlass signal " + names[0]
	}
	return out
}

// mostQuestion is how much of a question is told, in characters.
const mostQuestion = 300

// questionOf returns the first line of what is asked. Of an approval it is the tool alone: what it is called with is where it is answered.
func questionOf(w *echo.Wait) string {
	text := effect.Awaited(w)
	if w.Form != nil && w.Call == nil {
		text, _, _ = strings.Cut(strings.TrimSpace(w.Form.Question), "\n")
	}
	if runes := []rune(oneline.Of(text)); len(runes) > mostQuestion {
		return string(runes[:mostQuestion]) + "..."
	}
	return oneline.Of(text)
}

// close waits until all are told, and returns who was not.
func (n *notices) close() error {
	if n == nil {
		return nil
	}
	n.all.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return withoutSecrets(n.secrets, errors.Join(slices.Clone(n.errs)...))
}
