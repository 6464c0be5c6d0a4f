package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newAudibleCommand(con *console) *cobra.Command {
	said := audibles.Said{Via: echo.ViaCommand}
	cmd := &cobra.Command{
		Use:   "audible SESSION [WORDS]",
		Short: "Say something to the model of a run, before its next turn",
		Long: `Says something to the model of a run while it goes on: the model is told it before its next turn, and before an answer
ends the phase. With --retry the model's newest answer is taken back first: it is not sent that again. The cascade has to
take audibles ("audibles": true). A run that is stopped is told when it is resumed.

WORDS of - are read from standard input. Without WORDS it lists what was said, and which turn was told it.`,
		Example: "  windlass audible last \"Leave the tests alone.\"\n  windlass audible 7k2mq --retry \"Not that file: the other one.\"\n  windlass audible 7k2mq",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || args[0] == "" {
				return exit.UsageError(fmt.Errorf("windlass audible takes a session and what to say in one argument, got %q", args), `windlass audible SESSION "what you want to say"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			desk, id, err := deskOf(cmd.Context(), con, args[:1])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if cmd.Flags().Changed("retry") || cmd.Flags().Changed("phase") {
					return exit.UsageError(fmt.Errorf("--retry and --phase go with words"), `windlass audible SESSION --retry "what you want to say"`)
				}
				return listAudibles(con, desk.Home, id)
			}
			said.Session, said.Letter, said.By = id, strings.ToLower(ulid.Make().String()), answerflags.UserName()
			if said.Text, err = wordsOf(con, args[1]); err != nil {
				return err
			}
			left, err := audibles.Say(cmd.Context(), desk.Home, time.Now(), said)
			if err != nil {
				return err
			}
			return con.print(left, func() error {
				fmt.Fprintln(con.out, reports.AudibleLeft(&left, commandline.Self()))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&said.Retry, "retry", false, "take the model's newest answer back: it is not sent that again")
	cmd.Flags().StringVar(&said.Phase, "phase", "", "only the phase with this `NAME` is told (default: the next turn of any)")
	con.jsonFlag(cmd)
	con.wideFlag(cmd)
	return cmd
}

// wordsOf returns what is to be said: an argument, or for - what standard input has.
func wordsOf(con *console, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	text, err := io.ReadAll(io.LimitReader(con.in, audibles.MaxText+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(text), nil
}

func listAudibles(con *console, home, id string) error {
	list, damaged, err := audibles.List(home, id)
	if err != nil {
		return err
	}
	for _, err := range damaged {
		con.labelled("Warning: ", err.Error())
	}
	return con.print(append([]*audibles.Heard{}, list...), func() error {
		if len(list) == 0 {
			fmt.Fprintln(con.err, "Nothing was said to this session.")
			return nil
		}
		return con.table(reports.Audibles(list))
	})
}
