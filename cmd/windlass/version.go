package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build (-ldflags "-X main.version=..."); "" is the module's version.
var version = ""

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func newVersionCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  windlass version\n  windlass version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if con.asJSON {
				return json.NewEncoder(con.out).Encode(v)
			}
			_, err := fmt.Fprintf(con.out, "windlass %s (%s, %s)\n", v.Version, v.Platform, v.Go)
			return err
		},
	}
	con.jsonFlag(cmd)
	return cmd
}
