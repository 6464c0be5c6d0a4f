package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/buildinfo"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/term"
)

// version and commit are set by make dist and make install (-ldflags "-X main.version=... -X main.commit=..."); where they
// are "", the Go command has recorded both in the program.
var version, commit = "", ""

// fullVersion is what "windlass version --json" prints.
type fullVersion struct {
	buildinfo.Info
	Engine embedded.Presence `json:"engine"`
}

func readVersion() buildinfo.Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildinfo.Of(version, commit, info)
}

func newVersionCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, the platform and the engine",
		Long: "Print the version of windlass, the commit that it was built from, the platform, the version of Go, and which\n" +
			"ClickHouse engine this machine has for it. windlass --version prints the same. It fetches nothing and starts no engine.",
		Example: "  windlass version\n  windlass version --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd.Context(), con) },
	}
	con.jsonFlag(cmd)
	return cmd
}

func printVersion(ctx context.Context, con *console) error {
	cache, _ := config.CacheDir() // without one no engine is found in it
	v := fullVersion{readVersion(), embedded.Present(ctx, embedded.ConfigFromEnv(cache))}
	if con.asJSON {
		return json.NewEncoder(con.out).Encode(v)
	}
	_, err := fmt.Fprintf(con.out, "windlass %s (%s, %s)\ncommit: %s\nengine: %s\n",
		v.Version, v.Platform, v.Go, v.Commit(), term.Clean(v.Engine.String()))
	return err
}
