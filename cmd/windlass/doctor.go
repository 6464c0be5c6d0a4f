package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/buildinfo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/doctor"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
)

// health is what "windlass doctor --json" prints.
type health struct {
	Version buildinfo.Info `json:"version"`
	doctor.Report
}

func newDoctorCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what windlass needs: ClickHouse, npm, keys",
		Long: "Shows where windlass keeps its files, where its ClickHouse comes from and whether it answers, and which keys are\n" +
			"set, and which files of banks and memos cannot be read. It starts an engine that is on this machine,\n" +
			"and fetches none. Exit code 6 when there is no ClickHouse, 2 when windlass.json is wrong.",
		Example: "  windlass doctor\n  windlass doctor --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), con) },
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func runDoctor(ctx context.Context, con *console) error {
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	h, err := examine(ctx, con)
	switch {
	case ctx.Err() != nil:
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	case err != nil:
		return err
	}
	err = con.print(h, func() error { return printHealth(con, h) })
	switch {
	case err != nil:
		return err
	case h.ClickHouse.Error != "":
		return exit.Shown(exit.Storage, errors.New(h.ClickHouse.Error))
	case len(h.Problems) > 0: // mostly windlass.json, which every other command refuses to go on with
		return exit.Shown(exit.Usage, errors.New(h.Problems[0]))
	}
	return nil
}

func examine(ctx context.Context, con *console) (health, error) {
	opened, err := con.open()
	if err != nil {
		return health{}, err
	}
	cfg, wrong := opened.Config()
	if wrong != nil {
		cfg = &config.Config{}
	}
	o, err := database.Options(opened.Home(), "", cfg)
	if err != nil {
		return health{}, err
	}
	return health{readVersion(), doctor.Examine(ctx, doctor.Options{
		Config: cfg, ConfigError: wrong, Database: o, Embedder: cards.EmbeddingModel(cfg),
	})}, nil
}

func printHealth(con *console, h health) error {
	t := term.NewTable("what", "finding")
	t.Add("windlass", fmt.Sprintf("%s (%s, %s)", h.Version.Version, h.Version.Platform, h.Version.Go))
	h.Findings(t, backlogText(h.ClickHouse.Waiting))
	if err := con.table(t.WrapLast()); err != nil { // nothing here may be cut: it is read for details
		return err
	}
	if client := h.ClickHouse.Client; client != "" { // on a line of its own, as it is copied
		fmt.Fprintf(con.out, "\nOther clients reach ClickHouse with:\n%s\n", term.Clean(client))
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(con.err, "Warning: %s\n", term.Clean(w))
	}
	for _, p := range h.Problems {
		fmt.Fprintf(con.out, "\nProblem: %s\n", p)
	}
	return nil
}
