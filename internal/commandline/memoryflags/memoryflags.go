// Package memoryflags does what the flags of windlass memory say: it takes texts from files and an editor, and exports to files.
package memoryflags

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/commandline/arguments"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term/editor"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// Edit is what the flags of windlass memory edit say.
type Edit struct {
	File, Rename     string
	HasFile, HasName bool // they are given
	Delete           bool
}

// Do changes a file of a bank. in and out are the terminal of an editor, in also what --file - reads.
func (e *Edit) Do(ctx context.Context, in io.Reader, out io.Writer, desk *memories.Desk, bank, path string) (*memories.Edited, error) {
	switch {
	case e.Delete:
		return desk.Delete(ctx, bank, path)
	case e.HasName && e.Rename == "":
		return nil, exit.UsageError(errors.New("--rename needs the new path, and it is empty"), "--rename PATH, as --rename done/todo.md")
	case e.HasName:
		return desk.Rename(ctx, bank, path, e.Rename)
	}
	draft, err := desk.Draft(bank, path)
	if err != nil {
		return nil, err
	}
	if e.HasFile {
		return put(ctx, in, e.File, desk, draft)
	}
	return edit(ctx, in, out, desk, draft)
}

// put gives a draft the text of --file, which may be - for in. The text of a file may not be longer than a bank takes.
func put(ctx context.Context, in io.Reader, file string, desk *memories.Desk, draft *memories.Draft) (*memories.Edited, error) {
	from := in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, exit.UsageError(fmt.Errorf("read --file: %w", err), "--file with a file that you can read")
		}
		defer f.Close() //nolint:errcheck // only read from
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, memory.MaxFile+1))
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("read --file %s: %w", file, err), "--file with a file that you can read")
	}
	if len(text) > memory.MaxFile {
		return nil, exit.UsageError(fmt.Errorf("--file %s has more than %d bytes, which a file of a bank may have", file, memory.MaxFile), "several files")
	}
	return desk.Put(ctx, draft, string(text))
}

// edit has a person change a draft in an editor, on a terminal in and out, and puts it in place. What is not taken is kept
// in a file, which the error names.
func edit(ctx context.Context, in io.Reader, out io.Writer, desk *memories.Desk, draft *memories.Draft) (*memories.Edited, error) {
	change := editor.Of(in, out, nameOf(draft.Path))
	if change == nil {
		return nil, exit.UsageError(errors.New("there is no editor: neither VISUAL nor EDITOR names one"), "--file FILE")
	}
	text, err := change(draft.Text)
	if err != nil {
		return nil, exit.With(exit.Failed, err, "--file FILE, or another editor in VISUAL; the bank is as it was")
	}
	done, err := desk.Put(ctx, draft, text)
	if err == nil {
		return done, nil
	}
	kept, lost := memories.Keep(text)
	if lost != nil {
		return nil, errors.Join(err, fmt.Errorf("keep your text: %w", lost))
	}
	err = fmt.Errorf("%w; your text is in %s", err, kept)
	if !failure.Is(err, failure.InvalidRequest) {
		return nil, err
	}
	return nil, exit.UsageError(err, "windlass memory show "+draft.Bank+" "+oneline.Quoted(draft.Path)+", then windlass memory edit with --file "+kept)
}

// nameOf returns the name of the file that an editor is given. A model chose the path: its name would tell an editor how
// to treat the text, so only some endings of it are kept.
func nameOf(p string) string {
	if end := path.Ext(p); slices.Contains([]string{".md", ".txt", ".json", ".yaml", ".csv"}, end) {
		return "memory" + end
	}
	return "memory.txt"
}

// Export writes the versions of a bank into a file that is not there yet.
func Export(desk *memories.Desk, bank, output string) (*memories.Exported, error) {
	var text bytes.Buffer
	done, err := desk.Export(bank, &text)
	if err != nil {
		return nil, err
	}
	switch err := wholefile.WriteNew(output, text.Bytes(), 0o600); {
	case errors.Is(err, fs.ErrExist):
		return nil, exit.UsageError(fmt.Errorf("--output %s exists and is not overwritten", output), "--output with a file that does not exist yet")
	case err != nil:
		return nil, exit.UsageError(fmt.Errorf("write --output %s: %w", output, err), "--output with a file in a folder that exists")
	}
	done.File = output
	return done, nil
}

// Import reads an export from a file, or from in where it is -.
func Import(ctx context.Context, in io.Reader, desk *memories.Desk, bank, file string) (*memories.Imported, error) {
	if file == "-" {
		return desk.Import(ctx, bank, "standard input", in)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("open the export: %w", err), "windlass memory export NAME -o FILE")
	}
	defer f.Close() //nolint:errcheck // only read from
	return desk.Import(ctx, bank, filepath.ToSlash(file), f)
}

// NoTable refuses --wide where one text is shown.
func NoTable(wide bool) error {
	if !wide {
		return nil
	}
	return exit.UsageError(errors.New("--wide is of tables, and this shows one text, which is whole anyway"), "the command without --wide")
}

// CheckVersion refuses a --version of windlass memory show without an id, or without a path.
func CheckVersion(flags *pflag.FlagSet, bank string, hasPath bool) error {
	if flags.Changed("version") && !hasPath {
		return exit.UsageError(errors.New("--version goes with PATH"), "windlass memory history "+bank)
	}
	return arguments.Filled(flags, "version", "the id of a version", "windlass memory history "+bank)
}

// Forget is what the flags of windlass memory forget say.
type Forget struct {
	Remembered, Session string
}

// fewestDigits is how much of a hash names a text that is forgotten for good.
const fewestDigits = 6

// Flags declares the flags of remembered texts.
func (f *Forget) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Remembered, "remembered", "", "the text that the bank has remembered by itself under this `HASH`, or the beginning of it")
	flags.StringVar(&f.Session, "session", "", "all that the bank has remembered by itself of the session with this `ID`")
}

// Args returns what takes the arguments: none where one of the flags is given, else both.
func (f *Forget) Args(name, both cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := arguments.Filled(cmd.Flags(), "remembered", "the hash of a remembered text", "windlass memory show NAME --remembered")
		if err == nil {
			err = arguments.Filled(cmd.Flags(), "session", "the id of a session", "windlass memory show NAME --remembered")
		}
		switch {
		case err != nil:
			return err
		case f.Session == "" && f.Remembered != "" && len(f.Remembered) < fewestDigits:
			return exit.UsageError(fmt.Errorf("--remembered %s has %d of the digits of a hash: what it is for is final, so it needs %d or more",
				f.Remembered, len(f.Remembered), fewestDigits), "windlass memory show NAME --remembered")
		case f.Remembered != "" || f.Session != "":
			return name(cmd, args)
		}
		return both(cmd, args)
	}
}

// Of returns what is to be forgotten.
func (f *Forget) Of(desk *memories.Desk, args []string) (*memories.Forgotten, error) {
	if f.Remembered != "" || f.Session != "" {
		return desk.TextsToForget(args[0], f.Remembered, f.Session)
	}
	return desk.ToForget(args[0], args[1])
}
