package memosflags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/commandline/arguments"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// New returns windlass memos.
func New(c *Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memos",
		Short: "Look at the memos of this project and the global ones, edit them, have them forgotten",
		Long: `Looks at memos: short facts that runs and people save, and that later runs find by their words (docs/memory.md#memos). They belong
to this project folder, or are global. What a memo says is data: a model wrote it, which may have read hostile text.`,
		Example: "  windlass memos list\n  windlass memos add \"The tests need Redis.\" --tag gotcha\n  windlass memos search redis",
		Args:    arguments.None,
		RunE:    arguments.NeedsCommand("list, search, show, add, edit, delete, history, forget, export or import", "windlass memos list"),
	}
	cmd.AddCommand(
		c.list(), c.search(), c.show(), c.add(), c.edit(), c.remove(), c.history(), c.forget(), c.export(), c.imports(),
	)
	return cmd
}

// scoped adds --global and --project, which say of which scope memos are.
func scoped(cmd *cobra.Command) (scope func() string) {
	f := cmd.Flags()
	global := f.Bool("global", false, "the memos that all projects share")
	project := f.Bool("project", false, "the memos of this project folder")
	arguments.Exclude(cmd, "global", "project")
	return func() string {
		switch {
		case *global:
			return memo.Global
		case *project:
			return memo.Project
		}
		return ""
	}
}

// tagFlag adds --tag. A comma divides nothing: no tag has one, so that a list is refused and not taken for something else.
func tagFlag(cmd *cobra.Command, usage string) *[]string {
	return cmd.Flags().StringArray("tag", nil, usage)
}

// wanted returns the tags that memos must have to be listed.
func wanted(tags []string) ([]string, error) {
	tags, problem := memo.CheckTags(tags)
	if problem != "" {
		return nil, exit.UsageError(errors.New(problem), tagHint)
	}
	return tags, nil
}

// tagHint is what helps against a wrong tag.
const tagHint = "--tag TAG, and for several tags the flag again: --tag gotcha --tag api-design"

// id demands the id of a memo.
var id = arguments.Takes(1, "the id of a memo", "windlass memos list")

func (c *Console) list() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the memos of this project folder and the global ones",
		Long: `Lists the memos of this project folder and the global ones, the newest first: the text, who saved it when, how many sessions were
told of it, and which memos none of the last 30 runs was told of.`,
		Example: "  windlass memos list\n  windlass memos list --global --tag gotcha --json",
		Args:    arguments.None,
	}
	scope, tags := scoped(cmd), tagFlag(cmd, "only memos that have this `TAG`; several: all of them")
	return c.command(c.Wide(cmd), func(_ *cobra.Command, desk *memories.Memos, _ []string) error {
		having, err := wanted(*tags)
		if err != nil {
			return err
		}
		list, err := desk.List(scope(), having)
		if err != nil {
			return err
		}
		return c.memos(list, "There are no such memos. A run of a cascade with \"continuity\": {\"memos\": true} saves some, and so does windlass memos add.")
	})
}

func (c *Console) memos(list []memories.Memo, none string) error {
	return c.Print(list, func() error {
		if len(list) == 0 {
			fmt.Fprintln(c.Err(), none)
			return nil
		}
		return c.Table(reports.Memos(list))
	})
}

func (c *Console) search() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "search WORDS...",
		Short:   "Find memos by their words",
		Long:    "Finds the memos that have one of the words, as retrieve_memos does for models: those with more and rarer words first. Endings do not matter.",
		Example: "  windlass memos search deploy tuesday\n  windlass memos search redis --tag gotcha",
		Args:    arguments.AtLeastOne("word"),
	}
	scope, tags := scoped(cmd), tagFlag(cmd, "only memos that have this `TAG`; several: all of them")
	return c.command(c.Wide(cmd), func(_ *cobra.Command, desk *memories.Memos, args []string) error {
		query := strings.Join(args, " ")
		if !memo.Says(query) {
			err := fmt.Errorf("search memos for %q: no word of it says anything: words like \"the\" and \"with\" find nothing", excerpt.Line(query, 100))
			return exit.UsageError(err, "windlass memos search with another word, or windlass memos list")
		}
		having, err := wanted(*tags)
		if err != nil {
			return err
		}
		list, err := desk.Search(scope(), query, having)
		if err != nil {
			return err
		}
		return c.memos(list, "No memo has one of these words.")
	})
}

func (c *Console) show() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a memo: the text, who saved it, who was told of it",
		Long:    "Shows a memo as it is now: the text, who saved it and where in the session, and which sessions were told of it.",
		Example: "  windlass memos show m1a2b3c4d",
		Args:    id,
	}
	return c.command(cmd, func(_ *cobra.Command, desk *memories.Memos, args []string) error {
		m, err := desk.Show(args[0])
		if err != nil {
			return err
		}
		return c.Print(m, func() error { return say(c.Out(), reports.Memo(m)) })
	})
}

func (c *Console) history() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "List the versions of memos: who wrote what, and who was told of it",
		Long: `Lists the versions of memos, the newest last, or those of one: who wrote each, where in the session, and which sessions were told
of it. "now" is the memo as it is now.`,
		Example: "  windlass memos history\n  windlass memos history m1a2b3c4d --json",
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return arguments.Takes(1, "at most the id of a memo", "windlass memos list")(cmd, args)
	}
	scope := scoped(cmd)
	return c.command(c.Wide(cmd), func(_ *cobra.Command, desk *memories.Memos, args []string) error {
		list, err := desk.History(scope(), append(args, "")[0])
		if err != nil {
			return err
		}
		return c.Print(list, func() error {
			if len(list) == 0 {
				fmt.Fprintln(c.Err(), "Nobody has saved a memo yet.")
				return nil
			}
			return c.Table(reports.MemoVersions(list))
		})
	})
}
