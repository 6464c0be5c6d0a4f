package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/live"
)

// progressOptions say how the progress of a run is shown.
type progressOptions struct {
	progress string
	quiet    bool
	mode     live.Mode // set by resolve
}

// progressFlag adds --progress, with the modes that a command has. The mode is decided before the
// command does anything.
func (o *progressOptions) progressFlag(con *console, cmd *cobra.Command, modes []live.Mode) {
	cmd.PreRunE = func(*cobra.Command, []string) error { return o.resolve(con.err, modes) }
	cmd.Flags().StringVar(&o.progress, "progress", "", fmt.Sprintf("how progress is shown, `MODE` is %s (default: live on a terminal, else plain)", orList(modes)))
}

// resolve decides the mode of what is shown on a stream.
func (o *progressOptions) resolve(to io.Writer, modes []live.Mode) (err error) {
	wanted := live.Mode(o.progress)
	if wanted != "" && !slices.Contains(modes, wanted) {
		return exit.UsageError(fmt.Errorf("--progress %q is not %s", o.progress, orList(modes)), "--progress "+string(live.ModePlain))
	}
	if o.quiet {
		wanted = cmp.Or(wanted, live.ModeQuiet)
	}
	if o.mode, err = wanted.For(to); err != nil {
		return exit.UsageError(fmt.Errorf("--progress %s: %w", o.progress, err), "--progress "+string(live.ModePlain))
	}
	return nil
}

// orList writes modes as a list: "a, b or c".
func orList(modes []live.Mode) string {
	names := textsOf(modes)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func textsOf[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return texts
}
