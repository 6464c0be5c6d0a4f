package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/graph"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// graphFormats make the text of a graph, by the word that --format takes.
var graphFormats = map[string]func(*graph.Graph) string{
	"mermaid": (*graph.Graph).Mermaid,
	"svg":     (*graph.Graph).SVG,
	"text":    (*graph.Graph).Text,
}

func newGraphCommand(con *console) *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Show the phases of a cascade and what leads to what, as Mermaid, SVG or text",
		Long: `Show a cascade as a graph: its phases with their tools, where each phase leads (the order of the file, handoffs,
routing, on_error, after), which cascades it begins, and which context comes into it from other phases. "-" reads standard
input.

The graph is Mermaid text, which GitHub, GitLab and many editors draw, with --format svg a picture, or with --format text
lines for a terminal.`,
		Example: "  windlass graph examples/cascades/log_triage.json\n" +
			"  windlass graph examples/cascades/log_triage.json --format svg --output log_triage.svg",
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			draw, ok := graphFormats[format]
			if !ok {
				return exit.UsageError(fmt.Errorf("--format %q is not known", format), "--format mermaid, svg or text")
			}
			c, err := loadCascade(cmd.Context(), con, args[0])
			if err != nil {
				return err
			}
			text := draw(graph.Of(c))
			if output == "" {
				_, err := fmt.Fprint(con.out, text)
				return err
			}
			if err := wholefile.CheckOwn(output, "flowchart ", "<svg ", "cascade "); err != nil {
				return exit.UsageError(fmt.Errorf("--output: %w", err), "name another file")
			}
			if err := wholefile.Replace(output, []byte(text)); err != nil {
				return exit.With(exit.Failed, fmt.Errorf("write the graph: %w", err), "check that the folder exists and can be written")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "the `FORMAT`: mermaid, svg or text")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	return cmd
}
