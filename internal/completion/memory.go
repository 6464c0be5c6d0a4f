package completion

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/term"
)

// bankNames completes a bank of this project folder, or one that all projects share.
func bankNames(_ *cobra.Command, _ []string, written string) ([]string, cobra.ShellCompDirective) {
	home, err := config.Home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := bank.Open(home, ".", nil).List(false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	for i := range found {
		if name := found[i].Ref.String(); strings.HasPrefix(name, written) {
			list = append(list, cobra.CompletionWithDesc(name, term.Plural(found[i].Files, "file")))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// bankAndFile completes a bank, and then a file of it, as a path below its folder where that was not begun otherwise.
func bankAndFile(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return bankNames(cmd, args, written)
	case 1:
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	home, err := config.Home()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	h, err := bank.Open(home, ".", nil).Read(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	for _, path := range h.Paths() {
		now, is := h.Current(path)
		if !strings.HasPrefix(written, "/") {
			path = strings.TrimPrefix(path, memory.Root+"/")
		}
		if is && strings.HasPrefix(path, written) {
			list = append(list, cobra.CompletionWithDesc(term.Cell(path), fmt.Sprintf("%s, by %s", term.Counted(len(now.Text), "byte"), term.OneLine(writer(now)))))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func writer(v bank.Placed) string {
	by := v.Origin().By
	if by.Person != "" {
		return by.Person
	}
	return by.Session
}

// bankAndExport completes a bank, and then the file of an export.
func bankAndExport(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return bankNames(cmd, args, written)
	case 1:
		return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
