package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/term"
)

// version and commit are set by make dist and make install (-ldflags "-X main.version=... -X main.commit=..."); where they
// are "", the Go command has recorded both in the program.
var version, commit = "", ""

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit; "" when it is not known
	Modified bool   `json:"modified,omitempty"` // files differed from those of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// fullVersion is what "windlass version --json" prints.
type fullVersion struct {
	versionInfo
	Engine embedded.Presence `json:"engine"`
}

func readVersion() versionInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(version, commit, info)
}

// pseudoVersion is how the Go command names a version that has no tag: it ends with the commit.
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})(\+.*)?$`)

// versionOf puts together what a release build was given and what the Go command has recorded.
func versionOf(version, commit string, info *debug.BuildInfo) versionInfo {
	v := versionInfo{
		Version: cmp.Or(version, info.Main.Version, "(devel)"), Revision: commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if commit != "" {
		v.Modified = strings.HasSuffix(version, "-dirty")
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if m := pseudoVersion.FindStringSubmatch(info.Main.Version); v.Revision == "" && m != nil {
		v.Revision = m[1] // "go install MODULE@VERSION" knows no more
	}
	return v
}

func (v versionInfo) commitText() string {
	switch {
	case v.Revision == "":
		return "not recorded in this build"
	case v.Modified:
		return v.Revision + ", with changes"
	}
	return v.Revision
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
		v.Version, v.Platform, v.Go, v.commitText(), term.Clean(v.Engine.String()))
	return err
}
