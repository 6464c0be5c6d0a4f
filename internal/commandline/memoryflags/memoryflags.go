// Package memoryflags has the texts that a person gives windlass memory edit: those of a file, or of an editor.
package memoryflags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term/editor"
)

// Put gives a draft the text of --file, which may be - for in. The text of a file may not be longer than a bank takes.
func Put(ctx context.Context, in io.Reader, file string, desk *memories.Desk, draft *memories.Draft) (*memories.Edited, error) {
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

// Edit has a person change a draft in an editor, on a terminal in and out, and puts it in place. What is not taken is kept
// in a file, which the error names.
func Edit(ctx context.Context, in io.Reader, out io.Writer, desk *memories.Desk, draft *memories.Draft) (*memories.Edited, error) {
	edit := editor.Of(in, out, nameOf(draft.Path))
	if edit == nil {
		return nil, exit.UsageError(errors.New("there is no editor: neither VISUAL nor EDITOR names one"), "--file FILE")
	}
	text, err := edit(draft.Text)
	if err != nil {
		return nil, err
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
	return nil, exit.UsageError(err, "windlass memory show "+draft.Bank+" "+memories.Quoted(draft.Path)+", then windlass memory edit with --file "+kept)
}

// nameOf returns the name of the file that an editor is given. A model chose the path: its name would tell an editor how
// to treat the text, so only some endings of it are kept.
func nameOf(p string) string {
	if end := path.Ext(p); slices.Contains([]string{".md", ".txt", ".json", ".yaml", ".csv"}, end) {
		return "memory" + end
	}
	return "memory.txt"
}
