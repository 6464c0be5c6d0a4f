//go:build unix

package library_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/library"
)

// TestHostileFolders: nothing in a folder keeps a search from its end, or leads it out.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	link := func(t *testing.T, to, at string) {
		t.Helper()
		require.NoError(t, os.Symlink(to, at))
	}
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string) // in the folder cascades, below a folder with secret.json
		want []string
		told string // in the hint, when the child is not found
	}{
		"pipes, sockets' kin, folders and circles of links": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a.json"), 0o600))
				require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a.tool.json"), 0o600))
				require.NoError(t, os.Mkdir(filepath.Join(dir, "b.json"), 0o700))
				link(t, "d.yaml", filepath.Join(dir, "c.yaml"))
				link(t, "c.yaml", filepath.Join(dir, "d.yaml"))
				link(t, "/dev/zero", filepath.Join(dir, "e.json"))
				link(t, "..", filepath.Join(dir, "f"))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(text("child")), 0o600))
			},
			want: []string{"child=cascades/x.json"},
		},
		"a link to a file of the folder is that file": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(text("child")), 0o600))
				link(t, "x.json", filepath.Join(dir, "a.json"))
			},
			want: []string{"child=cascades/a.json"},
		},
		"a link within the project folder": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.WriteFile(filepath.Join(dir, "../shared.txt"), []byte(text("child")), 0o600))
				link(t, "../shared.txt", filepath.Join(dir, "a.json"))
			},
			want: []string{"child=cascades/a.json"},
		},
		"a link out of it": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				link(t, "../../secret.json", filepath.Join(dir, "a.json"))
				link(t, "nowhere.json", filepath.Join(dir, "b.json"))
			},
			told: "cascades (1 link out of it not followed; 1 file that cannot be read)",
		},
		"the folder is a link out of it": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.Remove(dir))
				link(t, "../elsewhere", dir)
			},
			told: "cascades (a link that leads out of the project folder)",
		},
		"the folder is a pipe": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.Remove(dir))
				require.NoError(t, syscall.Mkfifo(dir, 0o600))
			},
			told: "cascades (no folder)",
		},
		"huge files": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				for name, start := range map[string]string{"a.json": "", "b.json": `{"x": "`, "c.yaml": "x: [", "d.yml": "cascade_id: |\n" + strings.Repeat("y\n", 1<<16), "e.json": strings.Repeat(`{"x":`, 1<<20)} {
					path := filepath.Join(dir, name)
					require.NoError(t, os.WriteFile(path, []byte(start), 0o600))
					require.NoError(t, os.Truncate(path, 1<<30))
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(text("child")), 0o600))
			},
			want: []string{"child=cascades/x.json"},
		},
		"more than is read": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				for i := range 7 {
					path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
					require.NoError(t, os.WriteFile(path, []byte(`{"x": "`+strings.Repeat("y", 15<<20)+`"}`), 0o600))
				}
			},
			told: "cascades (2 files were not read: those before them have more than 64 MiB)",
		},
		"10,001 files": {
			make: func(t *testing.T, dir string) {
				t.Helper()
				for i := range 10_001 {
					require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.json", i)), []byte("{}"), 0o600))
				}
			},
			told: "cascades (only 10000 of its 10001 JSON and YAML files were read)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := write(t, map[string]string{"p/flows/main.json": text("main", "child"), "secret.json": text("child"), "elsewhere/x.json": text("child")})
			dir := filepath.Join(top, "p")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "cascades"), 0o700))
			tt.make(t, filepath.Join(dir, "cascades"))
			c, found, err := library.Folders{Project: dir}.Load(t.Context(), filepath.Join(dir, "flows/main.json"), known)
			if tt.told != "" {
				require.Error(t, err)
				require.Len(t, found, 1)
				require.Contains(t, told(dir, found)[0], "the folders that were read: flows, "+tt.told+", tackle (not there), examples (not there)")
				return
			}
			require.NoError(t, err, found)
			require.Equal(t, tt.want, reached(dir, c))
		})
	}
}

// TestNamedThroughLinks: a person may name any file, through any link; a search beside it reads the
// folder that was named.
func TestNamedThroughLinks(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"p/x.txt": "", "real/main.json": text("main", "child", "link.json"), "real/x.json": text("child"), "other/y.json": text("other")})
	require.NoError(t, os.Symlink("../real", filepath.Join(dir, "p/flows")))
	require.NoError(t, os.Symlink("../other/y.json", filepath.Join(dir, "real/link.json")))
	c, found, err := library.Folders{Project: filepath.Join(dir, "p")}.Load(t.Context(), filepath.Join(dir, "p/flows/main.json"), known)
	require.NoError(t, err, found)
	require.Equal(t, []string{"child=p/flows/x.json", "link.json=p/flows/link.json"}, reached(dir, c))
}

// TestOneFileByManyNames: links do not hide a circle.
func TestOneFileByManyNames(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"main.json": text("main", "link.json")})
	require.NoError(t, os.Symlink("main.json", filepath.Join(dir, "link.json")))
	_, found, err := library.Folders{}.Load(t.Context(), filepath.Join(dir, "main.json"), known)
	require.Error(t, err)
	require.Contains(t, told(dir, found)[0], "the cascade main.json would run below itself: main.json -> main.json")
}
