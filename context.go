package windlass

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/groups"
)

// Group is a user message of a session with all that answers it: Number counts from 1 in the session, Status says whether later
// requests have it, and Messages have the content hash and the status of each.
type Group = groups.Group

// ContextChange is what a program wants to take out of the context of a session, or put back: whole groups by their numbers, single
// messages by their content hashes or the beginnings of them. [echo.ViewUndo] takes the newest group and [echo.ViewRestore] without
// groups and messages the newest change, [echo.ViewRebuild] nothing.
type ContextChange struct {
	Action   echo.ViewAction
	Groups   []int
	Messages []string
	By       string // who wants it, for the record and the audit
}

// ContextChanged says what became of a [ContextChange]: which Messages, what their calls have left elsewhere (Kept) with the commands
// that forget it (Forget), and which phases are sent their tasks all the same (Tasks).
type ContextChanged = groups.Changed

// Groups lists the groups of messages of the session as they are now, in their order; those that were removed, too, when all are
// asked for. The session is one of this machine, see [Windlass.Rebuild]. The error is of [UnknownSession], [OtherVersion] or [Damaged].
func (r *Record) Groups(all bool) ([]Group, error) {
	list, err := groups.List(r.app.Home(), r.ID(), all)
	return list, explain(err)
}

// ChangeContext takes messages of the session out of its context, or puts them back; the record keeps them. A run that goes on takes
// that before its next request, one that is stopped when it is resumed, and forks of a session that has ended. It may be called
// while the session runs. r itself stays as it was read.
//
// The error is of [InvalidRequest] when there is nothing to change, of [UnknownMessage], of [StorageFailed] when a bank of memory could
// not be told, whom the same call tells again, or one of those of [Record.Groups].
func (r *Record) ChangeContext(ctx context.Context, c ContextChange) (*ContextChanged, error) {
	wish := groups.Wish{Session: r.ID(), Action: c.Action, Groups: c.Groups, Messages: c.Messages, By: c.By, Via: echo.ViaProgram}
	changed, err := groups.Change(ctx, r.app.Home(), time.Now(), &wish)
	return changed, explain(err)
}
