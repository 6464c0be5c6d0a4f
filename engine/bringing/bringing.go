// Package bringing puts the memos that the words of a message bring at the end of the requests of a phase.
package bringing

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/memo"
)

// Memos brings memos to the requests of a visit, by the words of its newest message. The goroutine of the visit uses it.
type Memos struct {
	*core.Place
	on      bool
	session *echo.Session
	desk    memo.Desk
	at      echo.Key // the turn for which memos were chosen last
	last    *echo.MemosBrought
	stood   bool // memos have stood at the end of a request
}

// Of returns what brings memos to a visit of a session, where it has memos.
func Of(visit *core.Place, session *echo.Session, on bool, desk memo.Desk) Memos {
	return Memos{Place: visit, on: on, session: session, desk: desk}
}

// Put puts the memos that the newest message brings at the end of the request that comes behind the history. A request that
// is rebuilt in its turn has them already.
func (b *Memos) Put(ctx context.Context) error {
	if !b.on || b.at == b.Here() {
		return nil
	}
	b.at = b.Here()
	before := b.last
	var err error
	if b.last, err = b.desk.Bring(ctx, b.Site, b.Here(), newestText(b.session.Present(b.Record)), before); err != nil {
		return err
	}
	if p := b.last; p != nil && p.Problem != "" && p != before {
		if err := b.Rec.Warn(b.At(echo.StepBrought), "no memos are brought: "+p.Problem); err != nil {
			return err
		}
	}
	m := memo.Standing(b.last, b.stood)
	if m == nil {
		return nil
	}
	b.stood = true
	return b.Stand(string(echo.KindMemos), m)
}

// newestText returns the text of the newest message that is in the views of a history, by which somebody, or the phase, says what to do.
func newestText(history []echo.Item) string {
	for i := len(history) - 1; i >= 0; i-- {
		switch m := history[i].Message; m.Kind() { //nolint:exhaustive // the others say what was done
		case echo.KindTask, echo.KindTurnPrompt, echo.KindRetry, echo.KindAudible, echo.KindRetract:
			return m.Text()
		}
	}
	return ""
}
