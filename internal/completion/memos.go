package completion

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/term"
)

// memoShown is how much of a memo a completion shows, in bytes.
const memoShown = 60

// memoIDs completes a memo of this project folder, or a global one.
func memoIDs(_ *cobra.Command, _ []string, written string) ([]string, cobra.ShellCompDirective) {
	home, err := config.Home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	store := memofile.Open(home, ".", nil)
	for _, scope := range memo.Scopes() {
		h, err := store.Read(scope)
		if err != nil {
			continue
		}
		for _, m := range h.Now() {
			if strings.HasPrefix(m.ID, written) {
				list = append(list, cobra.CompletionWithDesc(m.ID, term.OneLine(excerpt.Line(m.Text, memoShown))))
			}
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// exports completes the file of an export.
func exports(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}
