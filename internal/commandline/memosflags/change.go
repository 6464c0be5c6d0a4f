package memosflags

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/commandline/arguments"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/editor"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/wholefile"
)

func (c *Console) add() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add TEXT",
		Short: "Save a memo",
		Long: `Saves a memo of this project folder, or with --global of all projects; a TEXT of - is standard input. One that says the same already is
not saved again.`,
		Example: "  windlass memos add \"The tests need Redis.\" --tag gotcha\n  windlass memos add --global \"Commit messages are in English.\"",
		Args:    arguments.Takes(1, "the text of a memo", ""),
	}
	scope, tags := scoped(cmd), tagFlag(cmd, "a `TAG`: lower-case words with hyphens; several: the flag again")
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, args []string) error {
		text := args[0]
		if text == "-" {
			var err error
			if text, err = read(c.In, "standard input"); err != nil {
				return err
			}
		}
		done, err := desk.Add(cmd.Context(), one(scope()), text, *tags)
		if err != nil {
			return err
		}
		return c.Print(done, func() error { return say(c.Out(), reports.MemoAdded(done)) })
	})
}

// read reads a text that may be that of a memo.
func read(from io.Reader, name string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(from, 4*memo.MaxText+1))
	if err != nil {
		return "", exit.UsageError(fmt.Errorf("read %s: %w", name, err), "a file that you can read")
	}
	return string(text), nil
}

func (c *Console) edit() *cobra.Command {
	var file string
	var none bool
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Give a memo another text, or other tags",
		Long: `Opens the text of a memo in the editor that VISUAL or EDITOR names; --file takes it from a file, - is standard input. --tag and --no-tags
change the tags, and then the text only with --file. When somebody else has changed the memo meanwhile, nothing is written and
your text is kept. Runs that go on see the memo as it was when they began.`,
		Example: "  windlass memos edit m1a2b3c4d\n  windlass memos edit m1a2b3c4d --tag gotcha --tag api-design\n  windlass memos edit m1a2b3c4d --file text",
		Args:    id,
	}
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "the text from this `FILE`, - is standard input")
	tags := tagFlag(cmd, "the `TAG` that the memo has from now on; several: the flag again")
	f.BoolVar(&none, "no-tags", false, "no tags from now on")
	arguments.Exclude(cmd, "tag", "no-tags")
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, args []string) error {
		e := edit{id: args[0]}
		if f.Changed("tag") || none {
			e.tags = append([]string{}, *tags...)
		}
		done, err := e.do(cmd.Context(), c, desk, file, f.Changed("file"))
		if err != nil {
			return err
		}
		return c.Print(done, func() error { return say(c.Out(), reports.MemoEdited(done)) })
	})
}

// edit is a change of a memo.
type edit struct {
	id   string
	tags []string // nil: as they are
}

func (e *edit) do(ctx context.Context, c *Console, desk *memories.Memos, file string, hasFile bool) (*memories.MemoEdited, error) {
	m, err := desk.Show(e.id)
	if err != nil {
		return nil, err
	}
	switch {
	case hasFile:
		text, err := readFile(c.In, file)
		if err != nil {
			return nil, err
		}
		return desk.Edit(ctx, e.id, &text, e.tags, m.Version)
	case e.tags != nil:
		return desk.Edit(ctx, e.id, nil, e.tags, m.Version)
	}
	change := editor.Of(c.In, c.Err(), "memo.txt")
	if change == nil {
		return nil, exit.UsageError(errors.New("there is no editor: neither VISUAL nor EDITOR names one"), "--file FILE")
	}
	text, err := change(m.Text)
	if err != nil {
		return nil, exit.With(exit.Failed, err, "windlass memos edit "+e.id+" --file FILE, or another editor in VISUAL; the memo is as it was")
	}
	done, err := desk.Edit(ctx, e.id, &text, nil, m.Version)
	if err == nil {
		return done, nil
	}
	return nil, keep(text, e.id, err)
}

// keep keeps a text that was not taken in a file, which the error names.
func keep(text, id string, err error) error {
	kept, lost := memories.Keep(text)
	if lost != nil {
		return errors.Join(err, fmt.Errorf("keep your text: %w", lost))
	}
	err = fmt.Errorf("%w; your text is in %s", err, kept)
	if !failure.Is(err, failure.InvalidRequest) {
		return err
	}
	return exit.UsageError(err, "windlass memos show "+id+", then windlass memos edit with --file "+kept)
}

func readFile(in io.Reader, file string) (string, error) {
	if file == "-" {
		return read(in, "standard input")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", exit.UsageError(fmt.Errorf("read --file: %w", err), "--file with a file that you can read")
	}
	defer f.Close() //nolint:errcheck // only read from
	return read(f, "--file "+file)
}

func (c *Console) remove() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete ID",
		Short:   "Delete a memo; its versions stay",
		Long:    "Deletes a memo: later runs do not see it any more. Its versions stay in the history; windlass memos forget takes the text out for good.",
		Example: "  windlass memos delete m1a2b3c4d",
		Args:    id,
	}
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, args []string) error {
		done, err := desk.Delete(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return c.Print(done, func() error { return say(c.Out(), reports.MemoEdited(done)) })
	})
}

func (c *Console) forget() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Take all texts of a memo out, for good",
		Long: `Takes the texts and tags of all versions of a memo out of the file of memos. The versions stay, with the hashes of their texts. Records of
sessions that wrote the memo, or were told of it, have the text still: it lists the commands that redact or delete them. Without a
terminal nothing is forgotten without --yes.`,
		Example: "  windlass memos forget m1a2b3c4d\n  windlass memos forget m1a2b3c4d --yes",
		Args:    id,
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, args []string) error {
		f, err := desk.ToForget(args[0])
		if err == nil && !yes {
			what := Consent{
				Would: "the memo " + args[0] + " would be forgotten", Hint: "--yes forgets it", Question: "Forget it for good?", Refused: "nothing was forgotten",
			}
			err = c.Confirm(what, func() error { return say(c.Err(), reports.MemoForgotten(f, false)) })
		}
		if err != nil {
			return err
		}
		if f, err = desk.Forget(cmd.Context(), args[0]); err != nil {
			return err
		}
		return c.Print(f, func() error { return say(c.Out(), reports.MemoForgotten(f, true)) })
	})
}

// one returns the one scope of a command that needs one: the project's, unless --global is there.
func one(scope string) string {
	if scope == "" {
		return memo.Project
	}
	return scope
}

func (c *Console) export() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Write all versions of the memos, for another machine",
		Long:    "Writes all versions of the memos of this project folder, or with --global of the global ones, as lines of JSON, which windlass memos import reads.",
		Example: "  windlass memos export -o memos.jsonl\n  windlass memos export --global | ssh other windlass memos import --global -",
		Args:    arguments.None,
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `FILE` that it is written to; one that exists stays as it is")
	scope := scoped(cmd)
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, _ []string) error {
		err := arguments.Filled(cmd.Flags(), "output", "the name of a file", "windlass memos export -o FILE")
		switch {
		case err != nil:
			return err
		case output == "" && term.IsTerminal(c.Out()):
			return exit.UsageError(errors.New("an export is for a file or a pipe, not for a terminal"), "windlass memos export -o FILE")
		case output == "":
			_, err := desk.Export(one(scope()), c.Out())
			return err
		}
		var text bytes.Buffer
		done, err := desk.Export(one(scope()), &text)
		if err != nil {
			return err
		}
		switch err := wholefile.WriteNew(output, text.Bytes(), 0o600); {
		case errors.Is(err, fs.ErrExist):
			return exit.UsageError(fmt.Errorf("--output %s exists and is not overwritten", output), "--output with a file that does not exist yet")
		case err != nil:
			return exit.UsageError(fmt.Errorf("write --output %s: %w", output, err), "--output with a file in a folder that exists")
		}
		done.File = output
		return c.Print(done, func() error { return say(c.Out(), reports.MemosExported(done)) })
	})
}

func (c *Console) imports() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add the memos of an export",
		Long: `Adds the versions of an export that are not there, all or none; - is standard input. Of a memo that was written here and elsewhere the
version that was written last counts. The texts were written elsewhere: look at them before runs read them.`,
		Example: "  windlass memos import memos.jsonl\n  windlass memos import --global memos.jsonl",
		Args:    arguments.Takes(1, "the file of an export", "windlass memos export -o FILE"),
	}
	scope := scoped(cmd)
	return c.command(cmd, func(cmd *cobra.Command, desk *memories.Memos, args []string) error {
		from, name := c.In, "standard input"
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return exit.UsageError(fmt.Errorf("open the export: %w", err), "windlass memos export -o FILE")
			}
			defer f.Close() //nolint:errcheck // only read from
			from, name = f, filepath.ToSlash(args[0])
		}
		done, err := desk.Import(cmd.Context(), one(scope()), name, from)
		if err != nil {
			return err
		}
		return c.Print(done, func() error { return say(c.Out(), reports.MemosImported(done)) })
	})
}
