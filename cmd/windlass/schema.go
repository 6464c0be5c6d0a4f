package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/wholefile"
	"github.com/windlass-run/windlass/schema"
)

func newSchemaCommand(con *console) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of cascade files, for editors",
		Long:    "Print the JSON Schema of cascade files. docs/editor.md says how an editor picks it up.",
		Example: "  windlass schema\n  windlass schema --output .vscode/cascade.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if output == "" {
				_, err := con.out.Write(schema.CascadeJSON())
				return err
			}
			if err := wholefile.CheckOwn(output, "{\n  \"$schema\": \"https://json-schema.org/"); err != nil {
				return exit.UsageError(fmt.Errorf("--output: %w", err), "name another file")
			}
			if err := wholefile.Replace(output, schema.CascadeJSON()); err != nil {
				return exit.With(exit.Failed, fmt.Errorf("write the schema: %w", err), "check that the folder exists and can be written")
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	return cmd
}
