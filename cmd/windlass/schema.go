package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/wholefile"
	"github.com/windlass-run/windlass/schema"
)

func newSchemaCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of cascade files, for editors",
		Long:    "Print the JSON Schema of cascade files. docs/editor.md says how an editor picks it up.",
		Example: "  windlass schema\n  windlass schema --output .vscode/cascade.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if output == "" {
				_, err := a.out.Write(schema.CascadeJSON())
				return err
			}
			if err := replaceFile(output, schema.CascadeJSON()); err != nil {
				return withExit(exitFailed, fmt.Errorf("write the schema: %w", err), "check that the folder exists and can be written")
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	return cmd
}

// replaceable returns an error for what is there and no file: a device or a pipe would be replaced by a file.
func replaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // what is not there is made; what cannot be looked at says so when it is written
	}
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	}
	return fmt.Errorf("%s is not a file, and would be replaced by one", path)
}

// replaceFile writes a file as a whole or not at all: a reader sees the old content or the new. A symbolic link keeps
// pointing where it does.
func replaceFile(path string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := replaceable(path); err != nil {
		return err
	}
	f, err := wholefile.Create(path, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
