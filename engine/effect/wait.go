package effect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// WaitRequest is a wait as those see it that may answer it.
type WaitRequest struct {
	Key   echo.Key
	Site  Site
	Wait  echo.Wait
	Since time.Time // when it was recorded
}

// Deadline returns when the wait ends without an answer; zero: never.
func (r *WaitRequest) Deadline() time.Time { return r.Wait.Deadline(r.Since) }

// Mailbox has what was left for the waits of a session. It is safe for concurrent use.
type Mailbox interface {
	// Answer returns how a wait has ended, nil while it has not. It may ask somebody and block until
	// that is answered, the wait has ended or ctx has. It is asked again by a process that died before the
	// answer was recorded, and then returns the same.
	Answer(ctx context.Context, req *WaitRequest) (*echo.Answer, error)
}

// WaitingError ends a branch of a run whose answer is not there. It is no outcome: a run that resumes
// comes to the same wait.
type WaitingError struct{ Request WaitRequest }

func (e *WaitingError) Error() string {
	return "it waits for " + Awaited(&e.Request.Wait)
}

// Signals says in words which signals are awaited: one, or the first of several.
func Signals(names []string) string {
	if len(names) == 1 {
		return "the signal " + names[0]
	}
	return "one of the signals " + strings.Join(names, ", ")
}

// Awaited says in words what a wait is for.
func Awaited(w *echo.Wait) string {
	switch w.Kind {
	case echo.WaitApproval:
		return fmt.Sprintf("approval of %s", w.Call.Tool)
	case echo.WaitSignal:
		return fmt.Sprintf("the signal %q", w.Signal)
	case echo.WaitAny:
		signals := Signals(w.Any)
		if w.Form != nil {
			return "an answer, or " + signals
		}
		return signals
	case echo.WaitChoice:
		return "a choice among candidates"
	case echo.WaitDecision:
		return "a decision"
	case echo.WaitQuestion, echo.WaitInput:
	}
	return "an answer"
}

// IsWaiting reports whether a run ends because it waits.
func IsWaiting(err error) bool { return errors.As(err, new(*WaitingError)) }

// Ended is how a wait ended, and what was awaited, both as they are recorded.
type Ended struct {
	*echo.Answer
	Wait echo.Wait
	Seq  uint64 // the number of the answer where the recording has it; 0: it is new
}

// AwaitAnswer records that a run waits, once, and returns how the wait has ended. The error is a [*WaitingError]
// while it has not.
func AwaitAnswer(ctx context.Context, r *Recorder, key echo.Key, site Site, w echo.Wait) (*Ended, error) {
	e := newEntry("", key, site)
	e.Set(w)
	e = withoutSecrets(r.w.Mask, e) // what people see is what is recorded
	if recorded := r.Peek(echo.NodeWait, key); recorded != nil {
		if err := r.Append(e); err != nil {
			return nil, err
		}
		e = recorded
	} else if err := r.Append(e); err != nil {
		return nil, err
	}
	asked, err := echo.Read[echo.Wait](e)
	if err != nil {
		return nil, err
	}
	out := &Ended{Wait: asked}
	if recorded := r.Peek(echo.NodeAnswer, key); recorded != nil {
		out.Seq = recorded.Seq
	}
	out.Answer, err = r.Await(ctx, &WaitRequest{Key: key, Site: site, Wait: asked, Since: e.At})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Await implements [Effects].
func (r *Recorder) Await(ctx context.Context, req *WaitRequest) (*echo.Answer, error) {
	e, err := r.follow(echo.NodeAnswer, req.Key)
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return readAnswer(e)
	}
	return r.effects.Await(ctx, req)
}

func readAnswer(e *echo.Entry) (*echo.Answer, error) {
	a, err := echo.Read[echo.Answer](e)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// Await implements [Effects]. What is awaited is durable before anybody can answer it.
func (l *Live) Await(ctx context.Context, req *WaitRequest) (*echo.Answer, error) {
	if err := l.w.Settle(ctx); err != nil {
		return nil, err
	}
	var found *echo.Answer
	if l.mailbox != nil {
		var err error
		if found, err = l.mailbox.Answer(ctx, req); err != nil {
			return nil, err
		}
	}
	deadline := req.Deadline()
	switch {
	case found != nil:
	case !deadline.IsZero() && !l.now().Before(deadline):
		found = &echo.Answer{TimedOut: true, Via: echo.ViaClock, At: deadline.UTC()}
	default:
		return nil, &WaitingError{Request: *req}
	}
	return l.w.Answered(req, found)
}

// Answered records how a wait has ended and returns it as it is recorded.
func (w Writer) Answered(req *WaitRequest, a *echo.Answer) (*echo.Answer, error) {
	e := newEntry("", req.Key, req.Site)
	e.Set(*a)
	e = withoutSecrets(w.mask(), e)
	if err := w.Append(e); err != nil {
		return nil, err
	}
	w.Log.Commit()
	return readAnswer(e)
}

// Await implements [Effects].
func (a *Answered) Await(ctx context.Context, req *WaitRequest) (*echo.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	was := a.take(echo.NodeAnswer, req.Key, func(*echo.Entry) bool { return true })
	if was == nil {
		return nil, &UnansweredError{Node: echo.NodeAnswer, Key: req.Key, Site: req.Site}
	}
	answer, err := readAnswer(was)
	if err != nil {
		return nil, err
	}
	return a.w.Answered(req, answer)
}
