package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/buildinfo"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// What is known of a build depends on how it was built.
func TestVersionOfBuilds(t *testing.T) {
	t.Parallel()
	const hash = "97ed319c1cbd8a7a3d8b6ab1c7a4b1e1d3f5a7b9"
	checkout := []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}}
	for name, c := range map[string]struct {
		version, commit, module string
		settings                []debug.BuildSetting
		want                    buildinfo.Info
		shown                   string
	}{
		"make dist":                 {"v1.2.0", hash, "(devel)", nil, buildinfo.Info{Version: "v1.2.0", Revision: hash}, hash},
		"make install with changes": {"97ed319-dirty", hash, "(devel)", checkout, buildinfo.Info{Version: "97ed319-dirty", Revision: hash, Modified: true}, hash + ", with changes"},
		"go build":                  {"", "", "v0.0.0-20261122120000-97ed319c1cbd+dirty", checkout, buildinfo.Info{Version: "v0.0.0-20261122120000-97ed319c1cbd+dirty", Revision: hash, Modified: true}, hash + ", with changes"},
		"go install @main":          {"", "", "v0.0.0-20261122120000-97ed319c1cbd", nil, buildinfo.Info{Version: "v0.0.0-20261122120000-97ed319c1cbd", Revision: "97ed319c1cbd"}, "97ed319c1cbd"},
		"go install after a tag":    {"", "", "v1.2.1-0.20261122120000-97ed319c1cbd", nil, buildinfo.Info{Version: "v1.2.1-0.20261122120000-97ed319c1cbd", Revision: "97ed319c1cbd"}, "97ed319c1cbd"},
		"go install of a tag":       {"", "", "v1.2.0", nil, buildinfo.Info{Version: "v1.2.0"}, "not recorded in this build"},
		"nothing recorded":          {"", "", "", nil, buildinfo.Info{Version: "(devel)"}, "not recorded in this build"},
	} {
		c.want.Go, c.want.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
		got := buildinfo.Of(c.version, c.commit, &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings})
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.shown, got.Commit(), name)
	}
}

// "version" and "--version" say the same, in text and as JSON, and look for the engine without
// fetching it.
func TestVersionSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	empty := filepath.Join(l.dir, "empty")
	for _, c := range []struct {
		env   []string
		shown string
		want  embedded.Presence
	}{
		{
			[]string{"WINDLASS_CACHE=" + empty, "PATH=" + empty, "WINDLASS_CHDB_LIB=" + empty},
			"engine: none, WINDLASS_CHDB_LIB: no library: stat " + empty + ": no such file or directory\n",
			embedded.Presence{Problem: "WINDLASS_CHDB_LIB: no library: stat " + empty + ": no such file or directory"},
		},
		{
			[]string{"WINDLASS_CHDB_LIB=" + filepath.Join(l.dir, "libchdb.so")},
			"engine: ClickHouse of an unknown version, on this machine: " + filepath.Join(l.dir, "libchdb.so") + "\n",
			embedded.Presence{Here: true, Path: filepath.Join(l.dir, "libchdb.so")},
		},
	} {
		l.file("libchdb.so", "")
		l := *l
		l.env = append(append([]string{}, l.env...), c.env...)
		text := l.run(exitOK, "version").out.String()
		require.Regexp(t, `^windlass \S+ \(\w+/\w+, go1\.\S+\)\ncommit: .+\nengine: `, text)
		require.Contains(t, text, c.shown)
		require.Equal(t, text, l.run(exitOK, "--version").out.String())
		var got fullVersion
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "version", "--json").out.String()), &got))
		require.Equal(t, c.want, got.Engine)
		require.Equal(t, l.run(exitOK, "version", "--json").out.String(), l.run(exitOK, "--version", "--json").out.String())
	}
	require.NoDirExists(t, empty)
	_, err := os.Stat(l.home)
	require.ErrorIs(t, err, os.ErrNotExist, "a version makes no folders")
}
