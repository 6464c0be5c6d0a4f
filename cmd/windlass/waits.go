package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/waits"
)

func newWaitingCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "waiting [SESSION]",
		Short: "List what runs wait for: questions, approvals, signals",
		Long: `Lists what the runs of this machine wait for: questions, approvals of tool calls, signals. A run that waits holds no
process: windlass answer leaves an answer, and windlass resume continues the run with it. With SESSION only that
run and its children are listed.`,
		Example: "  windlass waiting\n  windlass waiting last --json",
		Args:    atMostOne("session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			desk, session, err := deskOf(cmd.Context(), con, args)
			if err != nil {
				return err
			}
			found, err := desk.Survey(cmd.Context(), session)
			if err != nil {
				return err
			}
			list := found.Open
			sayDamaged(con, found)
			return con.print(append([]*waits.Wait{}, list...), func() error {
				if len(list) == 0 {
					fmt.Fprintln(con.err, "No run is waiting.")
					return nil
				}
				if err := con.table(reports.Waits(list, time.Now())); err != nil {
					return err
				}
				fmt.Fprintln(con.err, "Show one whole, and how it is answered: windlass answer ID")
				return nil
			})
		},
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

// deskOf returns the waits of the home, and the whole id of the session that arguments name.
func deskOf(ctx context.Context, con *console, args []string) (waits.Desk, string, error) {
	runs, err := con.open()
	if err != nil {
		return waits.Desk{}, "", err
	}
	desk := waits.Desk{Home: runs.Home()}
	if len(args) == 0 {
		return desk, "", nil
	}
	id, err := findSession(ctx, con, args[0])
	return desk, id, err
}

// answerOptions is what the flags of windlass answer say.
type answerOptions struct {
	answerflags.Given
	shown         string
	resume, noAsk bool
	progressOptions
}

func newAnswerCommand(con *console) *cobra.Command {
	var o answerOptions
	cmd := &cobra.Command{
		Use:   "answer ID [ANSWER]",
		Short: "Answer what a run waits for",
		Long: `Answers what a run waits for. ID is that of windlass waiting, or its beginning. Without ANSWER it shows the whole
question and how it is answered, and with --save-images writes the images that it shows as files. The first answer
counts: whoever comes later is told who was faster.

An approval is answered by allow, deny with --reason, which the model is told, or edit with --arguments; the call runs
exactly as it was shown or as it was edited. With --grant an approval counts for later calls of the tool, too:
windlass grants lists and revokes these. Other answers are a text, yes or no, an option, options with commas between
them, or --field NAME=VALUE for each field of a form. --value takes any answer as JSON.`,
		Example: "  windlass answer 7k2mq\n  windlass answer 7k2mq allow --resume\n  windlass answer 7k2mq deny --reason \"not on a Friday\"\n" +
			"  windlass answer 7k2mq edit --arguments '{\"to\": \"staging\"}'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || args[0] == "" {
				return exit.UsageError(fmt.Errorf("windlass answer takes the id of a wait and at most one answer, got %q", args), "windlass waiting")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, con, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Reason, "reason", "", "why: of a denied call or a choice among candidates, or what goes with a review or a decision")
	f.StringVar(&o.Arguments, "arguments", "", "the arguments of an edited call as `JSON`")
	f.StringArrayVar(&o.Fields, "field", nil, "a field of a form as `NAME=VALUE`; may be repeated")
	f.StringVar(&o.JSON, "value", "", "the answer as `JSON`")
	f.StringVar(&o.shown, "shown", "", "answer only if the wait still shows what has this `HASH`")
	f.StringVar(&o.Images, "save-images", "", "write the images that the question shows into this `FOLDER`, and answer nothing; files that exist stay as they are")
	f.StringVar(&o.Grant, "grant", "", "allow later calls of the tool in this cascade, too: `SCOPE` is session or cascade (every session)")
	f.BoolVar(&o.resume, "resume", false, "continue the run with the answer")
	noAskFlag(cmd, &o.noAsk)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress of a run that is resumed: the same as --progress quiet")
	o.progressFlag(con, cmd, live.Modes())
	exclude(cmd, "quiet", "progress")
	con.jsonFlag(cmd)
	return cmd
}

func (o *answerOptions) run(cmd *cobra.Command, con *console, args []string) error {
	desk, _, err := deskOf(cmd.Context(), con, nil)
	if err != nil {
		return err
	}
	w, err := desk.Find(cmd.Context(), args[0])
	if err != nil {
		if len(args) > 1 || cmd.Flags().Changed("value") || cmd.Flags().Changed("field") {
			err = waits.Missed(cmd.Context(), desk, args[0], waits.Given{By: answerflags.UserName(), Via: echo.ViaCommand}, err)
		}
		return err
	}
	value, given, err := o.Value(w, args[1:])
	if err != nil {
		return err
	}
	if o.Images != "" {
		saved, err := o.SaveImages(desk, w, given || o.resume)
		if err != nil {
			return err
		}
		return con.print(saved, func() error { return say(con, reports.SavedImages(saved)) })
	}
	switch {
	case given:
	case o.resume && w.Answer != nil:
		return exit.UsageError(errors.New("--resume goes with ANSWER: "+w.ID+" has one already"), "windlass resume "+w.Root)
	case o.resume:
		return exit.UsageError(errors.New("--resume goes with ANSWER: nothing is answered, and nothing is resumed"), "windlass answer "+w.ID+", which shows how it is answered")
	default:
		return con.print(w, func() error { return showWait(cmd.Context(), con, desk, w) })
	}
	if w.Call != nil {
		if desk.Secrets, err = app.SecretsOf(con.app, nil); err != nil {
			return err
		}
	}
	if err := desk.Answer(w, waits.Given{Value: value, Shown: echo.Hash(o.shown), Grant: echo.GrantScope(o.Grant), By: answerflags.UserName(), Via: echo.ViaCommand}); err != nil {
		if failure.Is(err, failure.InvalidAnswer) {
			return exit.UsageError(err, answerHint(w))
		}
		return err
	}
	if edited := waits.Edited(w, value); edited != nil && !con.asJSON {
		_ = say(con, reports.Edited(w.Call, edited)) // the answer counts
	}
	if o.resume {
		return resumeSession(cmd.Context(), con, w.Root, resumeOptions{showOptions: showOptions{asJSON: con.asJSON, noAsk: o.noAsk, progressOptions: o.progressOptions}})
	}
	return con.print(map[string]string{"wait": w.ID, "session": w.Session, "resume": w.Root}, func() error {
		fmt.Fprintf(con.out, "Answered. Continue the run: %s resume %s\n", commandline.Self(), w.Root)
		return nil
	})
}

// answerHint says how a wait is answered for whom an answer was refused: a choice among candidates is not typed as JSON.
func answerHint(w *waits.Wait) string {
	if w.Form != nil && w.Form.Choose != nil {
		return reports.AnswerHow(w)[0]
	}
	return "windlass answer " + w.ID + ", which shows how it is answered"
}

// mostEarlier is how many earlier decisions are shown with a wait.
const mostEarlier = 5

func showWait(ctx context.Context, con *console, desk waits.Desk, w *waits.Wait) error {
	earlier, err := desk.Earlier(ctx, w, mostEarlier)
	if err != nil {
		return err
	}
	return say(con, reports.Asked(w, earlier, time.Now()))
}

func newSignalCommand(con *console) *cobra.Command {
	var data, session, letter string
	cmd := &cobra.Command{
		Use:   "signal NAME",
		Short: "Send a signal to a run that waits for it, or will wait for it",
		Long: `Sends a signal. A run that waits for it by await_signal gets it with its data when it is resumed; one that comes to
the wait later finds it there. Without --session the first run of this machine that waits for it gets it, and no other.`,
		Example: "  windlass signal deployed --data '{\"version\": \"1.4\"}'\n  windlass signal go --session 7k2mq\n  windlass signal built --letter build-1812",
		Args:    takes(1, "the name of one signal", "windlass signal NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a := echo.Answer{Letter: strings.ToLower(ulid.Make().String()), By: answerflags.UserName(), Via: echo.ViaCommand, At: time.Now().UTC()}
			var err error
			if cmd.Flags().Changed("letter") {
				a.Letter = letter
			}
			if cmd.Flags().Changed("data") {
				if a.Value, err = answerflags.Decoded("--data", data); err != nil {
					return err
				}
			}
			var to []string
			if session != "" {
				to = []string{session}
			}
			desk, id, err := deskOf(cmd.Context(), con, to)
			if err != nil {
				return err
			}
			if err := desk.Signal(id, args[0], a); err != nil {
				return err
			}
			return con.print(map[string]string{"signal": args[0], "letter": a.Letter, "session": id}, func() error {
				return saySent(cmd.Context(), con, desk, args[0], id, a.Letter)
			})
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "what the signal says, as `JSON`")
	cmd.Flags().StringVar(&session, "session", "", "the `SESSION` that gets it (default: the first that waits)")
	cmd.Flags().StringVar(&letter, "letter", "", "an `ID` of your own: a signal that is sent again with it is the same one")
	con.jsonFlag(cmd)
	return cmd
}

// saySent says what becomes of a signal that was sent.
func saySent(ctx context.Context, con *console, desk waits.Desk, name, session, letter string) error {
	sent, err := desk.Sent(ctx, session, name, letter)
	if err != nil {
		return err
	}
	switch first := sent.Earlier; {
	case sent.Wait != nil:
		fmt.Fprintf(con.out, "Sent. A run waits for it: %s resume %s\n", commandline.Self(), sent.Wait.Root)
	case first != nil:
		fmt.Fprintf(con.out, "Sent, but not first: one of %s (%s) of %s is there already for the run that waits. This one is kept for another wait.\n",
			term.OneLine(cmp.Or(first.By, "somebody")), first.Via, first.At.Local().Format(time.DateTime))
	default:
		fmt.Fprintln(con.out, "Sent. No run waits for it yet: it is kept for the run that will.")
	}
	return nil
}
