package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/models"
)

func newModelsCommand(con *console) *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models whose prices and limits are known",
		Long: `List the models whose prices and limits are known: those of windlass.json, and those of the embedded table.
Prices are in US dollars per million tokens: sent, read from the provider's cache, written to it, and generated.
With the name of a model everything is shown that a run would take for it, and where that was found; with another text,
the models that have it in a name or in the name of the family. docs/models.md says how names are matched.

With --endpoint the endpoint itself is asked for its models: that of a model, or one with a URL. Those whose prices and limits are
known are shown with them; a NAME lists those that have the text in their name.`,
		Example: "  windlass models\n  windlass models anthropic\n  windlass models claude-3-5-sonnet-20241022\n  windlass models --json\n" +
			"  windlass models --endpoint gpt-5-mini\n  windlass models --endpoint https://openrouter.ai/api/v1 claude",
		Args: atMostOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := con.config()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("endpoint") {
				return showEndpoint(cmd.Context(), con, cfg, endpoint, strings.Join(args, ""))
			}
			known := models.Known(cfg)
			if len(args) == 0 {
				return showModels(con, known)
			}
			if m := models.Called(cfg, known, args[0]); m != nil {
				return con.print(m, func() error { return m.Write(con.out) })
			}
			matching := slices.DeleteFunc(known, func(m models.Model) bool { return !m.Has(args[0]) })
			if len(matching) == 0 {
				return exit.With(exit.Failed, fmt.Errorf("no known model is called %q: a run takes %s tokens for its window, and does not know what it costs",
					args[0], term.Count(llm.DefaultWindow)), "give it context_window and price in windlass.json; docs/models.md says how")
			}
			return showModels(con, matching)
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "ask the endpoint of this model, or with this URL, for its models")
	cmd.Flags().BoolVar(&con.wide, "wide", false, "also longest answers, prices of long requests, days, and sources; cut nothing")
	con.jsonFlag(cmd)
	return cmd
}

// atMostOne takes one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return exit.UsageError(fmt.Errorf("%s takes at most one %s, not %d", cmd.CommandPath(), name, len(args)), cmd.CommandPath()+" --help")
	}
}

func showModels(con *console, list []models.Model) error {
	return con.print(list, func() error {
		heads := []string{"model", "family", ">window", ">in", ">cached", ">write", ">out"}
		if con.wide {
			heads = append(heads, ">answer", "long requests", "as of", "found", "source")
		}
		t := term.NewTable(heads...)
		for i := range list {
			t.Add(list[i].Cells(con.wide)...)
		}
		return con.table(t.Key("model").Drop("write", "cached", "family"))
	})
}
