// Package contextflags makes the commands of windlass context that change what later requests of a session have.
package contextflags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/commandline/arguments"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// Door is what the commands have of the terminal and the home.
type Door struct {
	Session func(ctx context.Context, given string) (home, id string, err error)
	Print   func(found any, text func() error) error // as JSON where that is asked for
	Table   func(*term.Table) error
	Out     func() io.Writer
	Err     func() io.Writer
	Flags   func(*cobra.Command) // of every command
	Self    func() string        // how windlass is called
}

// Commands returns groups, drop, remove, undo, restore and rebuild.
func Commands(d *Door) []*cobra.Command {
	return []*cobra.Command{
		list(d),
		change(d, echo.ViewDrop, "Take groups or messages out of later requests; a person still finds them", `Takes groups of messages, or single messages, out of the context of a session: no later request, selection, search, summary or
handoff of it has them. The record keeps them. A run that goes on takes that before its next request; one that is stopped, when it
is resumed; forks of a session have it, too. A call goes with its results. windlass context restore takes it back.`,
			"  windlass context drop last --group 3\n  windlass context drop 7k2mq --message 802db2e5 --message 1f00a2"),
		change(d, echo.ViewRemove, "The same as drop, and gone from lists as well", `Takes groups of messages, or single messages, out of the context of a session, as windlass context drop does, and out of the list of
its groups (windlass context groups --all has them). The record keeps them; windlass context restore takes it back.`,
			"  windlass context remove last --group 3"),
		change(d, echo.ViewUndo, "Take the newest group out of later requests", `Takes the newest group of messages that is in the context of a session out of it, as windlass context drop does with any. What its
tools have done stays, and so does what they wrote to memory and state: the command names it. Called again, it takes the group
before.`,
			"  windlass context undo last"),
		change(d, echo.ViewRestore, "Put back what was undone, dropped or removed", `Puts groups of messages, or single messages, back into the context of a session. Without --group and --message it takes the newest
undo, drop or remove back.`,
			"  windlass context restore last\n  windlass context restore last --group 3"),
		change(d, echo.ViewRebuild, "Have the state block rebuilt", `Has a model write the state block of a session anew before its next request, from what that request would have and from nothing
else; where the model fails it is put together without one. A run that goes on does that before its next request; one that is
stopped, when it is resumed.`,
			"  windlass context rebuild last"),
	}
}

func oneSession(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return exit.UsageError(fmt.Errorf("expected one session id, got %d arguments", len(args)), "windlass sessions list")
	}
	return nil
}

func list(d *Door) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "groups SESSION",
		Short: "List the groups of messages of a session, and which are in its context",
		Long: `Lists the groups of messages of a session: a group is a user message with all that answers it. It begins at the task of a phase, the
prompt of a turn, a retry, or what a person said; the groups are numbered from 1 in the session. The status says whether later
requests have it.`,
		Example: "  windlass context groups last\n  windlass context groups last --all --json",
		Args:    oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			home, id, err := d.Session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			found, err := groups.List(home, id, all)
			if err != nil {
				return err
			}
			return d.Print(found, func() error {
				if len(found) == 0 {
					fmt.Fprintln(d.Err(), "The session has no groups of messages here.")
					return nil
				}
				return d.Table(reports.Groups(found))
			})
		},
	}
	d.Flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also those that were removed")
	return cmd
}

func change(d *Door, action echo.ViewAction, short, long, example string) *cobra.Command {
	w := groups.Wish{Action: action, Via: echo.ViaCommand}
	cmd := &cobra.Command{
		Use: string(action) + " SESSION", Short: short, Long: long, Example: example, Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := filled(cmd, action); err != nil {
				return err
			}
			home, id, err := d.Session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			w.Session, w.By = id, answerflags.UserName()
			c, err := groups.Change(cmd.Context(), home, time.Now(), &w)
			if c == nil {
				return err
			}
			return errors.Join(d.Print(c, func() error {
				_, err := fmt.Fprintln(d.Out(), reports.ContextChanged(c, d.Self()))
				return err
			}), err)
		},
	}
	d.Flags(cmd)
	if names(action) {
		cmd.Flags().IntSliceVar(&w.Groups, "group", nil, "the `NUMBER` of a group, as windlass context groups shows it; several times")
		cmd.Flags().StringSliceVar(&w.Messages, "message", nil, "the content `HASH` of a message, or its beginning; several times")
	}
	return cmd
}

// names reports whether a change is of groups and messages that are named.
func names(action echo.ViewAction) bool { return action != echo.ViewUndo && action != echo.ViewRebuild }

// filled demands that a message which is named is: without a name restore takes the newest change back.
func filled(cmd *cobra.Command, action echo.ViewAction) error {
	if !names(action) {
		return nil
	}
	return arguments.Filled(cmd.Flags(), "message", "the hash of a message", "windlass context groups SESSION --json")
}
