package engine

import (
	"context"

	"github.com/windlass-run/windlass/echo"
)

// What is said around a continuation when a run is resumed.
const (
	resumedHead = "This run was stopped here and is taken up again now: what is outside of it may have changed meanwhile. " +
		"Older messages of it are only summed up.\n\n"
	resumedTail = "\n\nGo on from there."
)

// openAgain tells the model of a phase that is resumed where the work stands, when older messages are no longer
// before it: at the first turn that begins after the record's end. A turn that had begun before is sent what it would have
// been sent, as that is recorded already. What was told is recorded, and a run that is answered from its record tells the
// same in the same place, whatever the files are by then.
func (v *visit) openAgain(ctx context.Context) error {
	what := echo.StepResumed
	if e := v.rec.Next(echo.NodeMessage, v.at(what)); e != nil {
		v.enter(e.Message, v.turn)
		v.told = v.turn
		return nil
	}
	if !v.recorded || v.opened || v.rec.IsReplay() || v.rec.Pending(trunk) != nil {
		return nil
	}
	v.opened = true
	if v.carry.Summary == nil || v.told > 0 && v.told == v.turn-1 {
		return nil
	}
	if err := v.rec.Resume(); err != nil { // what is set aside does not count from here on
		return err
	}
	p := progressOf(v.own.now(), v.cascade, &echo.Entry{NodeType: echo.NodeMessage, Key: v.at(what)})
	p.read(ctx, v.run)
	return v.say(what, echo.NewText(echo.RoleUser, echo.KindNotice, resumedHead+p.handoff().Continuation+resumedTail))
}
