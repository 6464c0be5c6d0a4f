package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/scheduling"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newTriggersCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "triggers",
		Short: "List, check and export when cascades are to begin",
		Long: `Lists, checks and exports the triggers of cascade files: times, files and addresses that change, requests of other
programs. Nothing here begins a run: export writes the times for a program that does.`,
		Example: "  windlass triggers check examples/cascades/nightly.json\n  windlass triggers export cron examples/cascades/nightly.json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTriggersListCommand(con), newTriggersCheckCommand(con), newTriggersExportCommand(con))
	return cmd
}

// triggersOf loads cascade files and says of each trigger when it acts next: at most n times.
func triggersOf(ctx context.Context, con *console, files []string, n int) ([]reports.Trigger, error) {
	out := []reports.Trigger{}
	now := time.Now()
	for _, file := range files {
		c, err := loadCascade(ctx, con, file)
		if err != nil {
			return nil, err
		}
		for _, t := range c.Triggers {
			row := reports.Trigger{File: file, Cascade: c.CascadeID, Trigger: t, Next: []time.Time{}}
			if scheduling.Exported(&t) {
				times, err := t.Times()
				if err != nil {
					return nil, fmt.Errorf("trigger %s of %s: %w", t.Name, file, err)
				}
				row.Next = times.After(now, n)
			}
			out = append(out, row)
		}
	}
	return out, nil
}

func newTriggersListCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list FILE...",
		Short:   "List the triggers of cascade files",
		Long:    "Lists the triggers of cascade files, with the next time of those that have times.",
		Example: "  windlass triggers list examples/cascades/nightly.json\n  windlass triggers list cascades/*.json --json",
		Args:    atLeastOne("cascade file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := triggersOf(cmd.Context(), con, args, 1)
			if err != nil {
				return err
			}
			return con.print(list, func() error {
				if len(list) == 0 {
					fmt.Fprintln(con.err, "No trigger is declared.")
					return nil
				}
				return con.table(reports.Triggers(list))
			})
		},
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func newTriggersCheckCommand(con *console) *cobra.Command {
	times := 3
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check the triggers of cascade files, and show their next times",
		Long: `Checks cascade files, and shows what each trigger would do: the next times of a schedule in its own time zone, how often a
sensor looks, and whether the variable with the secret of a webhook is set.

Exit codes: 0 when all is well, 1 when a variable is not set, 3 when a file has errors.`,
		Example: "  windlass triggers check examples/cascades/nightly.json --times 5",
		Args:    atLeastOne("cascade file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if times < 1 || times > 1000 {
				return exit.UsageError(fmt.Errorf("--times %d is not from 1 to 1000", times), "--times 5")
			}
			list, err := triggersOf(cmd.Context(), con, args, times)
			if err != nil {
				return err
			}
			var unset []string
			for i := range list {
				t := &list[i]
				if t.Type == triggers.Webhook && t.IsEnabled() && environment.Getenv(t.SecretEnv) == "" {
					t.Problem = fmt.Sprintf("the variable %s is not set here", t.SecretEnv)
					unset = append(unset, t.SecretEnv)
				}
			}
			if err := con.print(list, func() error { return printTriggers(con, list) }); err != nil {
				return err
			}
			if len(unset) > 0 {
				return exit.With(exit.Failed, fmt.Errorf("the secrets of %s are missing: %s", term.Plural(len(unset), "webhook"), strings.Join(unset, ", ")), "set the variables where the triggers are to act")
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&times, "times", times, "how many of the next times to show")
	con.jsonFlag(cmd)
	return cmd
}

func printTriggers(con *console, list []reports.Trigger) error {
	for _, t := range list {
		for _, line := range reports.TriggerLines(&t) {
			if _, err := fmt.Fprintln(con.out, term.Clean(line)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(con.out, term.Plural(len(list), "trigger"))
	return err
}

func newTriggersExportCommand(con *console) *cobra.Command {
	var program, image, path string
	cmd := &cobra.Command{
		Use:   "export cron|systemd|kubernetes FILE",
		Short: "Write the times of a cascade file for cron, systemd or Kubernetes",
		Long: `Writes the times of a cascade file as lines of a crontab, as units of systemd, or as CronJobs of Kubernetes. The text runs
the cascade from its file as it is then, with the inputs of the trigger as they are now. Other triggers, and those that are
not enabled, are left out, which is said. A crontab needs a cron that knows CRON_TZ.`,
		Example: "  windlass triggers export cron examples/cascades/nightly.json\n" +
			"  windlass triggers export systemd examples/cascades/nightly.json --program /usr/local/bin/windlass\n" +
			"  windlass triggers export kubernetes examples/cascades/nightly.json --image example.com/windlass:1 --path /cascades/nightly.json",
		Args: takes(2, "a format and one cascade file", "windlass triggers export cron FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, file := args[0], args[1]
			switch {
			case !slices.Contains(scheduling.Formats, format):
				return exit.UsageError(fmt.Errorf("the format %q is not known", format), "one of "+strings.Join(scheduling.Formats, ", "))
			case file == app.Stdin:
				return exit.UsageError(errors.New("what is exported runs a file, and standard input is none"), "windlass triggers export "+format+" FILE")
			case format == "kubernetes" && image == "":
				return exit.UsageError(errors.New("--image is needed: the container has to have windlass"), "--image example.com/windlass:1")
			case format != "kubernetes" && image != "":
				return exit.UsageError(errors.New("--image goes with kubernetes"), "remove it")
			}
			c, err := loadCascade(cmd.Context(), con, file)
			if err != nil {
				return err
			}
			if strings.TrimSpace(program) == "" {
				return exit.UsageError(errors.New("--program is empty"), "--program /usr/local/bin/windlass")
			}
			at, err := cleanArgument("--path", path)
			if err == nil && at == "" {
				at, err = filepath.Abs(file)
			}
			if err != nil {
				return err
			}
			text, err := scheduling.Export(format, scheduling.Source{Cascade: c.CascadeID, File: at, Program: program, Image: image}, c.Triggers)
			if err != nil {
				return err
			}
			return printExport(con, text, c.Triggers)
		},
	}
	f := cmd.Flags()
	f.StringVar(&program, "program", "windlass", "the `PATH` of windlass where it runs")
	f.StringVar(&path, "path", "", "the `PATH` of the cascade's file where it runs (default: where it is now)")
	f.StringVar(&image, "image", "", "the container's `IMAGE`, with kubernetes")
	return cmd
}

// cleanArgument refuses a text that would be several lines.
func cleanArgument(flag, text string) (string, error) {
	if strings.ContainsAny(text, "\n\r\x00") {
		return "", exit.UsageError(fmt.Errorf("%s has a line break in it", flag), commandline.Self()+" triggers export --help")
	}
	return text, nil
}

// printExport prints a text, and says what it leaves out.
func printExport(con *console, text string, list []triggers.Trigger) error {
	var left []string
	for i := range list {
		if t := &list[i]; !scheduling.Exported(t) {
			why := string(t.Type)
			if !t.IsEnabled() {
				why = "not enabled"
			}
			left = append(left, fmt.Sprintf("%s (%s)", t.Name, why))
		}
	}
	if text == "" {
		return exit.UsageError(errors.New("the file has no trigger with times that is enabled"), `declare one: "triggers": [{"name": "nightly", "type": "cron", "schedule": "30 2 * * *"}]`)
	}
	if len(left) > 0 {
		fmt.Fprintf(con.err, "Left out: %s\n", term.Clean(strings.Join(left, ", ")))
	}
	_, err := fmt.Fprint(con.out, text)
	return err
}
