package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/commandline/arguments"
	"github.com/windlass-run/windlass/internal/commandline/memoryflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newMemoryCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Look at what runs remember, edit it, have it forgotten",
		Long: `Looks at banks of memory: files that runs write by the tool memory and that later runs read (docs/memory.md). NAME is that of a
bank of this project folder, or shared:NAME for one that all projects share. PATH begins with /memories, or is below it. What a
bank says is data: a model wrote it, which may have read hostile text.`,
		Example: "  windlass memory list\n  windlass memory show notes todo.md\n  windlass memory history notes",
		Args:    noArgs,
		RunE:    needsCommand("list, show, history, edit, export, import or forget", "windlass memory list"),
	}
	cmd.AddCommand(
		newMemoryListCommand(con), newMemoryShowCommand(con), newMemoryHistoryCommand(con), newMemoryEditCommand(con),
		newMemoryExportCommand(con), newMemoryImportCommand(con), newMemoryForgetCommand(con),
	)
	return cmd
}

// memoryCommand makes a command about the banks, as this folder names them.
func memoryCommand(con *console, cmd *cobra.Command, run func(cmd *cobra.Command, desk *memories.Desk, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opened, err := con.open()
		if err != nil {
			return err
		}
		return run(cmd, memories.Open(opened.Home(), ".", answerflags.UserName()), args)
	}
	con.jsonFlag(cmd)
	return cmd
}

// bankAndPath demands the name of a bank, and allows a path.
func bankAndPath(cmd *cobra.Command, args []string) error {
	if len(args) == 2 && args[1] != "" {
		return nil
	}
	return takes(1, "the name of a bank, and at most one path", "windlass memory list")(cmd, args)
}

func newMemoryListCommand(con *console) *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the banks of this project folder and the shared ones",
		Long: `Lists the banks of this project folder and those that all projects share; with --all those of every project, too. Files that none
of the last 30 runs with the bank has read are named: nobody may need them any more.`,
		Example: "  windlass memory list\n  windlass memory list --all --json",
		Args:    noArgs,
	}
	cmd.Flags().BoolVar(&every, "all", false, "banks of every project, with its folder")
	con.wideFlag(cmd)
	return memoryCommand(con, cmd, func(_ *cobra.Command, desk *memories.Desk, _ []string) error {
		list, err := desk.List(every)
		if err != nil {
			return err
		}
		return con.print(list, func() error {
			if len(list) == 0 {
				fmt.Fprintln(con.err, "There are no banks here. A run of a cascade with \"memory\": \"NAME\" makes one.")
				return nil
			}
			return con.table(reports.Banks(list, every))
		})
	})
}

func newMemoryShowCommand(con *console) *cobra.Command {
	var version string
	var remembered bool
	cmd := &cobra.Command{
		Use:   "show NAME [PATH]",
		Short: "Show the files of a bank, or the text of one",
		Long: `Shows the files of a bank: size, when each was written, and by whom. With PATH it prints the text of a file as it is; a terminal
is shown it without what would control it. --version prints it as an older version has it: windlass memory history has the ids.
--remembered shows the texts that the bank has remembered by itself, where they come from and who has found them; with the HASH of
one in place of PATH that text.`,
		Example: "  windlass memory show notes\n  windlass memory show shared:style rules.md\n  windlass memory show notes todo.md --version 2a424662\n  windlass memory show notes --remembered",
		Args:    bankAndPath,
	}
	cmd.Flags().StringVar(&version, "version", "", "the text as this version has it: its `ID`, or the beginning of it")
	cmd.Flags().BoolVar(&remembered, "remembered", false, "the texts that the bank has remembered by itself, or the one with a hash")
	exclude(cmd, "version", "remembered")
	con.wideFlag(cmd)
	return memoryCommand(con, cmd, func(cmd *cobra.Command, desk *memories.Desk, args []string) error {
		if err := memoryflags.CheckVersion(cmd.Flags(), args[0], len(args) == 2); err != nil {
			return err
		}
		if remembered {
			return showRemembered(con, desk, args[0], append(args, "")[1])
		}
		file, list, err := desk.Show(args[0], append(args, memory.Root)[1], version)
		if err != nil {
			return err
		}
		if file != nil {
			if err := memoryflags.NoTable(con.wide); err != nil {
				return err
			}
			return con.print(file, func() error {
				warning(con, reports.MemoryDiverging(args[0], file))
				return reports.MemoryText(con.out, file.Text)
			})
		}
		return con.print(list, func() error {
			if len(list) == 0 {
				fmt.Fprintf(con.err, "The bank %s has no files. What it remembers by itself: windlass memory show %[1]s --remembered\n", args[0])
				return nil
			}
			warning(con, reports.Diverging(args[0], list))
			return con.table(reports.Memories(list))
		})
	})
}

// showRemembered shows what a bank has remembered by itself, or the text whose hash begins so.
func showRemembered(con *console, desk *memories.Desk, name, hash string) error {
	list, err := desk.Remembered(name, hash)
	if err == nil && hash != "" {
		err = memoryflags.NoTable(con.wide)
	}
	if err != nil {
		return err
	}
	return con.print(list, func() error {
		switch {
		case hash != "":
			return reports.MemoryText(con.out, &list[0].Text)
		case len(list) == 0:
			fmt.Fprintf(con.err, "The bank %s has remembered nothing by itself. It does with \"remember\" in the memory of a cascade.\n", name)
			return nil
		}
		return con.table(reports.Remembered(list))
	})
}

func newMemoryHistoryCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history NAME [PATH]",
		Short: "List the versions of a bank: who wrote what, and who has read it",
		Long: `Lists the versions of a bank, the newest last, or those of a file or folder with the names that it had before: who wrote each by which
command, where in the session, and which sessions have read it since. "now" is what nothing replaces. Of sessions on this
machine it says how to see the message or the call.`,
		Example: "  windlass memory history notes\n  windlass memory history notes todo.md --json",
		Args:    bankAndPath,
	}
	con.wideFlag(cmd)
	return memoryCommand(con, cmd, func(_ *cobra.Command, desk *memories.Desk, args []string) error {
		list, err := desk.History(args[0], append(args, "")[1])
		if err != nil {
			return err
		}
		return con.print(list, func() error {
			if len(list) == 0 {
				fmt.Fprintf(con.err, "Nobody has written into the bank %s yet. What it remembers by itself: windlass memory show %[1]s --remembered\n", args[0])
				return nil
			}
			for _, see := range reports.SeenBy(list) {
				label := "The message: "
				if !strings.HasPrefix(see, "windlass context ") {
					label = "The call: "
				}
				con.labelled(label, see)
			}
			return con.table(reports.MemoryVersions(list))
		})
	})
}

func newMemoryEditCommand(con *console) *cobra.Command {
	var o memoryflags.Edit
	cmd := &cobra.Command{
		Use:   "edit NAME PATH",
		Short: "Edit, delete or rename a file of a bank",
		Long: `Opens a file of a bank in the editor that VISUAL or EDITOR names, and writes what comes back as a new version; --file takes the text
from a file. A bank or a file that is not there is made. When somebody else has written the file meanwhile, nothing is written and
your text is kept. --delete removes a file, or a folder with all in it, --rename gives it another path. Earlier versions stay. Runs
that go on see the bank as it was when they began.`,
		Example: "  windlass memory edit notes todo.md\n  windlass memory edit shared:style rules.md --file rules.md\n  windlass memory edit notes old --delete",
		Args:    takes(2, "the name of a bank and a path", "windlass memory show NAME"),
	}
	f := cmd.Flags()
	f.StringVar(&o.File, "file", "", "the text from this `FILE`, - is standard input")
	f.BoolVar(&o.Delete, "delete", false, "remove the file, or the folder with all in it")
	f.StringVar(&o.Rename, "rename", "", "give it this `PATH`")
	exclude(cmd, "file", "delete")
	exclude(cmd, "file", "rename")
	exclude(cmd, "delete", "rename")
	return memoryCommand(con, cmd, func(cmd *cobra.Command, desk *memories.Desk, args []string) error {
		o.HasFile, o.HasName = f.Changed("file"), f.Changed("rename")
		done, err := o.Do(cmd.Context(), con.in, con.err, desk, args[0], args[1])
		if err != nil {
			return err
		}
		return con.print(done, func() error { return say(con, reports.MemoryEdited(done)) })
	})
}

func newMemoryExportCommand(con *console) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "export NAME",
		Short:   "Write all versions of a bank, for another machine",
		Long:    "Writes all versions of a bank as lines of JSON, which windlass memory import reads on another machine or in another project.",
		Example: "  windlass memory export notes -o notes.jsonl\n  windlass memory export notes | ssh other windlass memory import notes -",
		Args:    takes(1, "the name of a bank", "windlass memory list"),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `FILE` that it is written to; one that exists stays as it is")
	return memoryCommand(con, cmd, func(cmd *cobra.Command, desk *memories.Desk, args []string) error {
		err := arguments.Filled(cmd.Flags(), "output", "the name of a file", "windlass memory export NAME -o FILE")
		switch {
		case err != nil:
			return err
		case output == "" && term.IsTerminal(con.out):
			return exit.UsageError(errors.New("an export is for a file or a pipe, not for a terminal"), "windlass memory export "+args[0]+" -o FILE")
		case output == "":
			_, err := desk.Export(args[0], con.out)
			return err
		}
		done, err := memoryflags.Export(desk, args[0], output)
		if err != nil {
			return err
		}
		return con.print(done, func() error { return say(con, reports.MemoryExported(done)) })
	})
}

func newMemoryImportCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import NAME FILE",
		Short: "Add the versions of an export to a bank",
		Long: `Adds the versions of an export that the bank does not have, all or none; - is standard input. A file that was written here and elsewhere
has two versions then, with a warning: runs see the newer one, and the next write settles it. The texts were written elsewhere:
look at them before runs read them.`,
		Example: "  windlass memory import notes notes.jsonl",
		Args:    takes(2, "the name of a bank and the file of an export", "windlass memory export NAME -o FILE"),
	}
	return memoryCommand(con, cmd, func(cmd *cobra.Command, desk *memories.Desk, args []string) error {
		done, err := memoryflags.Import(cmd.Context(), con.in, desk, args[0], args[1])
		if err != nil {
			return err
		}
		if len(done.Divergent) > 0 {
			warning(con, reports.Divergent(args[0], done.Divergent))
		}
		return con.print(done, func() error { return say(con, reports.MemoryImported(done)) })
	})
}

func newMemoryForgetCommand(con *console) *cobra.Command {
	var yes bool
	var texts memoryflags.Forget
	cmd := &cobra.Command{
		Use:   "forget NAME [PATH]",
		Short: "Take all texts of a file, or remembered texts, out of a bank, for good",
		Long: `Takes the texts of all versions of a file out of a bank, also those that it had under earlier names. The versions stay, with
the hashes of their texts. Records of sessions that wrote or read the file have the text still: it lists the commands that
redact or delete them. Without a terminal nothing is forgotten without --yes. --remembered and --session forget texts that the
bank has remembered by itself; it does not remember them again.`,
		Example: "  windlass memory forget notes secrets.md\n  windlass memory forget notes --remembered 59426a19ea5c8545\n  windlass memory forget notes --session 01K5XQ --yes",
		Args:    texts.Args(takes(1, "the name of a bank", "windlass memory list"), takes(2, "the name of a bank and a path", "windlass memory show NAME")),
	}
	texts.Flags(cmd.Flags())
	exclude(cmd, "remembered", "session")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return memoryCommand(con, cmd, func(cmd *cobra.Command, desk *memories.Desk, args []string) error {
		f, err := texts.Of(desk, args)
		if err == nil && !yes {
			err = confirm(con, consent{
				would: f.Subject() + " of the bank " + f.Bank + " would be forgotten", hint: "--yes forgets it", question: "Forget it for good?", refused: "nothing was forgotten",
			}, func() error { return sayTo(con.err, reports.Forgotten(f, false)) })
		}
		if err != nil {
			return err
		}
		if f, err = desk.Forget(cmd.Context(), f); err != nil {
			return err
		}
		return con.print(f, func() error { return say(con, reports.Forgotten(f, true)) })
	})
}
