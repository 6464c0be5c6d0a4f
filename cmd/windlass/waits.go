package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/commandline"
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
			list, err := desk.List(cmd.Context(), session)
			if err != nil {
				return err
			}
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
	reason, arguments, value, shown string
	fields                          []string
	resume                          bool
	progressOptions
}

func newAnswerCommand(con *console) *cobra.Command {
	var o answerOptions
	cmd := &cobra.Command{
		Use:   "answer ID [ANSWER]",
		Short: "Answer what a run waits for",
		Long: `Answers what a run waits for. ID is that of windlass waiting, or its beginning. Without ANSWER it shows the whole
question and how it is answered. The first answer counts: whoever comes later is told who was faster.

An approval is answered by allow, deny with --reason, which the model is told, or edit with --arguments; the call runs
exactly as it was shown or as it was edited. Other answers are a text, yes or no, an option, options with commas between
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
	f.StringVar(&o.reason, "reason", "", "why: of a denied call, or the feedback of a review")
	f.StringVar(&o.arguments, "arguments", "", "the arguments of an edited call as `JSON`")
	f.StringArrayVar(&o.fields, "field", nil, "a field of a form as `NAME=VALUE`; may be repeated")
	f.StringVar(&o.value, "value", "", "the answer as `JSON`")
	f.StringVar(&o.shown, "shown", "", "answer only if the wait still shows what has this `HASH`")
	f.BoolVar(&o.resume, "resume", false, "continue the run with the answer")
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
		return err
	}
	value, given, err := o.answer(w, args[1:])
	if err != nil {
		return err
	}
	if !given {
		return con.print(w, func() error { return showWait(con, w) })
	}
	if err := desk.Answer(w, waits.Given{Value: value, Shown: echo.Hash(o.shown), By: userName(), Via: echo.ViaCommand}); err != nil {
		if failure.Is(err, failure.InvalidInput) {
			return exit.UsageError(err, "windlass answer "+w.ID+", which shows how it is answered")
		}
		return err
	}
	if o.resume {
		return resumeSession(cmd.Context(), con, w.Root, resumeOptions{showOptions: showOptions{asJSON: con.asJSON, progressOptions: o.progressOptions}})
	}
	return con.print(map[string]string{"wait": w.ID, "session": w.Session, "resume": w.Root}, func() error {
		fmt.Fprintf(con.out, "Answered. Continue the run: %s resume %s\n", commandline.Self(), w.Root)
		return nil
	})
}

func showWait(con *console, w *waits.Wait) error {
	for _, line := range reports.Wait(w, time.Now()) {
		fmt.Fprintln(con.out, term.CleanLines(line))
	}
	fmt.Fprintln(con.out, "\nAnswer it:")
	for _, line := range reports.AnswerHow(w) {
		fmt.Fprintln(con.out, "  "+term.CleanLines(line))
	}
	return nil
}

// answer returns the value that the command line says; given is false where it says none.
func (o *answerOptions) answer(w *waits.Wait, args []string) (value any, given bool, err error) {
	ways := 0
	for _, is := range []bool{len(args) > 0, o.value != "", len(o.fields) > 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, false, exit.UsageError(errors.New("ANSWER, --value and --field exclude each other"), "one of them")
	case ways == 0 && (o.reason != "" || o.arguments != ""):
		return nil, false, exit.UsageError(errors.New("--reason and --arguments go with ANSWER"), "windlass answer "+w.ID+" deny --reason ...")
	case o.value != "":
		value, err = decoded("--value", o.value)
	case len(o.fields) > 0:
		value, err = fieldsOf(o.fields)
	case len(args) > 0:
		value, err = o.said(w, args[0])
	}
	return value, ways > 0, err
}

// said makes a value of a word and the flags that go with it.
func (o *answerOptions) said(w *waits.Wait, word string) (any, error) {
	if w.Kind == echo.WaitApproval {
		d := map[string]any{"decision": word}
		if o.reason != "" {
			d["reason"] = o.reason
		}
		if o.arguments != "" {
			args, err := decoded("--arguments", o.arguments)
			if err != nil {
				return nil, err
			}
			d["arguments"] = args
		}
		return d, nil
	}
	if o.arguments != "" {
		return nil, exit.UsageError(errors.New("--arguments goes with the approval of a call"), "windlass answer "+w.ID)
	}
	if w.Form != nil && w.Form.Kind == echo.FormReview && o.reason != "" {
		yes := map[string]bool{"yes": true, "y": true, "true": true, "no": false, "n": false, "false": false}
		approved, ok := yes[strings.ToLower(word)]
		if !ok {
			return nil, exit.UsageError(fmt.Errorf("a review is answered by yes or no, not %q", word), "windlass answer "+w.ID+" no --reason ...")
		}
		return map[string]any{"approved": approved, "feedback": o.reason}, nil
	}
	if o.reason != "" {
		return nil, exit.UsageError(errors.New("--reason goes with the denial of a call, and with reviews"), "windlass answer "+w.ID)
	}
	return word, nil
}

func decoded(flag, text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil || dec.More() {
		return nil, exit.UsageError(fmt.Errorf("%s is not one JSON value: %q", flag, text), flag+` '{"name": "value"}'`)
	}
	return value, nil
}

func fieldsOf(fields []string) (any, error) {
	out := map[string]any{}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, exit.UsageError(fmt.Errorf("--field %q has no name before an equals sign", f), "--field NAME=VALUE")
		}
		if _, twice := out[name]; twice {
			return nil, exit.UsageError(fmt.Errorf("--field %s is given twice", name), "each field once")
		}
		out[name] = value
	}
	return out, nil
}

// userName is who answers: the user of the system.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return cmp.Or(u.Username, u.Uid)
}

func newSignalCommand(con *console) *cobra.Command {
	var data, session string
	cmd := &cobra.Command{
		Use:   "signal NAME",
		Short: "Send a signal to a run that waits for it, or will wait for it",
		Long: `Sends a signal. A run that waits for it by await_signal gets it with its data when it is resumed; one that comes to
the wait later finds it there. Without --session the first run of this machine that waits for it gets it, and no other.`,
		Example: "  windlass signal deployed --data '{\"version\": \"1.4\"}'\n  windlass signal go --session 7k2mq",
		Args:    takes(1, "the name of one signal", "windlass signal NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a := echo.Answer{Letter: strings.ToLower(ulid.Make().String()), By: userName(), Via: echo.ViaCommand, At: time.Now().UTC()}
			var err error
			if cmd.Flags().Changed("data") {
				if a.Value, err = decoded("--data", data); err != nil {
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
				return saySent(cmd.Context(), con, desk, args[0], id)
			})
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "what the signal says, as `JSON`")
	cmd.Flags().StringVar(&session, "session", "", "the `SESSION` that gets it (default: the first that waits)")
	con.jsonFlag(cmd)
	return cmd
}

// saySent says whether somebody waits for a signal that was sent.
func saySent(ctx context.Context, con *console, desk waits.Desk, name, session string) error {
	list, err := desk.List(ctx, session)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.Kind == echo.WaitSignal && w.Signal == name {
			fmt.Fprintf(con.out, "Sent. A run waits for it: %s resume %s\n", commandline.Self(), w.Root)
			return nil
		}
	}
	fmt.Fprintln(con.out, "Sent. No run waits for it yet: it is kept for the run that will.")
	return nil
}
