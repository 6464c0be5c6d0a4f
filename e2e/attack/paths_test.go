//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// paths is about the paths of file tools: nothing outside the granted folder is read, listed, searched or written.
func paths() group {
	return group{
		name: "paths",
		mutant: mutant{"os.Root under the file tools", []lab.Edit{{
			File: "internal/tool/folders.go",
			Old:  "file, err := p.folder.Root.OpenFile(p.name, os.O_RDONLY|source.NonBlock, 0)",
			New:  "file, err := os.OpenFile(filepath.Join(p.folder.Root.Name(), p.name), os.O_RDONLY|source.NonBlock, 0)",
		}}},
		attempts: func(*testing.T, string) []attempt {
			var rows []calls
			for _, f := range ways {
				for _, tool := range []string{"read_file", "list_files", "search_files", "write_file"} {
					rows = append(rows, f.by(tool))
				}
			}
			return append(append(of(rows), of(otherPaths)...), races()...)
		},
	}
}

// way is a path that leads to the file outside, or to where nothing may be.
type way struct {
	name, path string
	prepare    func(w *lab.World)
	want       string // in every failure; empty: it may fail for any reason, or find nothing
}

const (
	outsideText = "outside the granted folders"
	linkText    = "leads outside the granted folder"
)

var ways = []way{
	{"up", "../outside/secret.txt", nil, outsideText},
	{"up from here", "./../outside/secret.txt", nil, outsideText},
	{"up through a folder that is not there", "a/../../outside/secret.txt", nil, outsideText},
	{"up and back in and up", "../work/../outside/secret.txt", nil, outsideText},
	{"many ups", strings.Repeat("../", 60) + "{outside}/secret.txt", nil, outsideText},
	{"absolute", "{outside}/secret.txt", nil, outsideText},
	{"absolute with dots", "{dir}/../outside/secret.txt", nil, outsideText},
	{"a folder whose name begins like the granted one", "{dir}-other/secret.txt", func(w *lab.World) {
		w.Must(os.Mkdir(w.Dir+"-other", 0o700))
		w.Must(os.WriteFile(w.Dir+"-other/secret.txt", []byte(lab.Canary), 0o600))
	}, outsideText},
	{"doubled slashes", "{base}//outside///secret.txt", nil, outsideText},
	{"proc", "/proc/self/cwd/../outside/secret.txt", nil, outsideText},
	{"descriptor", "/proc/self/root{outside}/secret.txt", nil, outsideText},
	{"link to the file", "link", func(w *lab.World) { w.Link(filepath.Join(w.Outside, "secret.txt"), "link") }, ""},
	{"relative link to the file", "link", func(w *lab.World) { w.Link("../outside/secret.txt", "link") }, ""},
	{"link to the folder", "link/secret.txt", func(w *lab.World) { w.Link(w.Outside, "link") }, linkText},
	{"relative link to the folder", "link/secret.txt", func(w *lab.World) { w.Link("../outside", "link") }, linkText},
	{"link to a link", "a/secret.txt", func(w *lab.World) { w.Link("b", "a"); w.Link("c", "b"); w.Link("../outside", "c") }, linkText},
	{"link in a folder", "deep/er/link/secret.txt", func(w *lab.World) { w.Link("../../../outside", "deep/er/link") }, linkText},
	{"link to the root", "link{outside}/secret.txt", func(w *lab.World) { w.Link("/", "link") }, linkText},
	{"link to the parent", "link/outside/secret.txt", func(w *lab.World) { w.Link("..", "link") }, linkText},
	{"link to itself", "loop/secret.txt", func(w *lab.World) { w.Link("loop", "loop") }, ""},
	{"link through proc", "link/outside/secret.txt", func(w *lab.World) { w.Link("/proc/self/cwd/..", "link") }, linkText},
	{"dots behind a link", "link/../outside/secret.txt", func(w *lab.World) { w.Link(w.Outside, "link") }, ""},
	{"NUL", "../outside/secret.txt\x00.md", nil, "NUL"},
	{"NUL inside", "a\x00b", nil, "NUL"},
	{"home", "~/../outside/secret.txt", nil, ""},
	{"file URL", "file://{outside}/secret.txt", nil, ""},
	{"percent", "%2e%2e/outside/secret.txt", nil, ""},
	{"backslashes", `..\outside\secret.txt`, nil, ""},
	{"wide dots", "．．/outside/secret.txt", nil, ""},
	{"one-dot leader", "․․/outside/secret.txt", nil, ""},
	{"division slash", "..∕outside∕secret.txt", nil, ""},
	{"four dots", "..../outside/secret.txt", nil, ""},
	{"long name", strings.Repeat("a", 5000), nil, ""},
	{"long path", strings.Repeat("a/", 4000) + "a", nil, ""},
	{"long path of ups", strings.Repeat("../", 4000), nil, ""},
	{"another person's folder", "/root/.ssh/id_ed25519", nil, outsideText},
	{"a system file", "/etc/passwd", nil, outsideText},
	{"the environment", "/proc/self/environ", nil, outsideText},
	{"the sessions", "{home}/sessions/x/journal.jsonl", nil, outsideText},
}

// by is the way taken by one tool.
func (f way) by(tool string) calls {
	args := map[string]any{"path": f.path}
	switch tool {
	case "search_files":
		args["pattern"] = "canary"
	case "write_file":
		args["content"] = "overwritten"
	}
	c := calls{name: tool + " " + f.name, prepare: f.prepare, calls: []lab.Call{{Tool: tool, Args: args}}}
	if f.want != "" {
		c.want = []check{refused(f.want)}
	}
	return c
}

// private makes a home inside the granted folder, with a session in it.
func private(w *lab.World) {
	w.Home = w.Path("home")
	w.Setenv("WINDLASS_HOME", w.Home)
	w.File("home/sessions/other/work/secret.txt", lab.Canary)
	w.File("home/clickhouse/endpoint.json", lab.Canary)
}

const privateText = "folder of windlass itself"

var otherPaths = []calls{
	{name: "named pipe", prepare: func(w *lab.World) { w.Fifo("pipe") }, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "pipe"}},
		{Tool: "write_file", Args: map[string]any{"path": "pipe", "content": "x"}},
		{Tool: "write_file", Args: map[string]any{"path": "pipe", "content": "x", "append": true}},
	}, want: []check{refused("")}},
	{name: "named pipe in a search", prepare: func(w *lab.World) { w.Fifo("pipe") }, calls: []lab.Call{
		{Tool: "search_files", Args: map[string]any{"pattern": "x"}}, {Tool: "list_files", Args: map[string]any{"path": "pipe"}},
	}},
	{name: "link to a device", prepare: func(w *lab.World) { w.Link("/dev/zero", "zero"); w.Link(w.Device(), "device") }, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "zero"}}, {Tool: "write_file", Args: map[string]any{"path": "device", "content": "x"}},
	}, want: []check{refused("")}},
	{name: "write over a link inside", prepare: func(w *lab.World) { w.File("a.txt", "a"); w.Link("a.txt", "b.txt") }, calls: []lab.Call{
		{Tool: "write_file", Args: map[string]any{"path": "b.txt", "content": "x"}},
	}, want: []check{refused("symbolic link")}},
	{name: "write over a folder", prepare: func(w *lab.World) { w.File("a/b", "a") }, calls: []lab.Call{
		{Tool: "write_file", Args: map[string]any{"path": "a", "content": "x"}},
	}, want: []check{refused("folder")}},
	{name: "a list does not follow links", prepare: func(w *lab.World) { w.Link("../outside", "link") }, calls: []lab.Call{
		{Tool: "list_files", Args: map[string]any{"path": ".", "all": true}},
	}, want: []check{lacks("secret.txt")}},
	{name: "a search does not follow links", prepare: func(w *lab.World) { w.Link("../outside", "link"); w.Link("../outside/secret.txt", "file") }, calls: []lab.Call{
		{Tool: "search_files", Args: map[string]any{"pattern": "canar.", "all": true}},
	}, want: []check{answered("[no matches in 0 files]")}},
	{name: "session of another run", prepare: private, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "home/sessions/other/work/secret.txt"}},
		{Tool: "write_file", Args: map[string]any{"path": "home/sessions/other/work/secret.txt", "content": "x"}},
		{Tool: "list_files", Args: map[string]any{"path": "home/sessions"}},
	}, want: []check{refused(privateText)}},
	{name: "commit logs", prepare: private, calls: []lab.Call{
		{Tool: "write_file", Args: map[string]any{"path": "home/commit/0123456789abcdef-1.log", "content": "x"}},
		{Tool: "list_files", Args: map[string]any{"path": "home/commit"}},
	}, want: []check{refused(privateText)}},
	{name: "endpoint of the engine", prepare: private, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "home/clickhouse/endpoint.json"}},
		{Tool: "search_files", Args: map[string]any{"path": "home/clickhouse", "pattern": "canar"}},
	}, want: []check{refused(privateText)}},
	{name: "private folder by a link", prepare: func(w *lab.World) { private(w); w.Link("home/sessions", "link") }, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "link/other/work/secret.txt"}},
	}, want: []check{refused(privateText)}},
	{name: "private folder by dots", prepare: private, calls: []lab.Call{
		{Tool: "read_file", Args: map[string]any{"path": "x/../home/./sessions/other/work/secret.txt"}},
	}, want: []check{refused(privateText)}},
	{name: "private folder in a search of all", prepare: private, calls: []lab.Call{
		{Tool: "search_files", Args: map[string]any{"pattern": "canary-", "all": true}},
	}},
	{name: "private folder in a list of all", prepare: private, calls: []lab.Call{
		{Tool: "list_files", Args: map[string]any{"all": true, "depth": 10}},
	}, want: []check{lacks("endpoint.json")}},
}

// lacks demands that no tool's result has a text in it.
func lacks(text string) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		for _, r := range o.Tools {
			if strings.Contains(r.Text, text) {
				return errorf("%s shows %q: %q", r.Name, text, clip(r.Text))
			}
		}
		return nil
	}
}

// races let a model make many calls for a path while a link there leads in and out.
func races() []attempt {
	const rounds = 150
	var out []attempt
	for _, tool := range []string{"read_file", "list_files", "search_files", "write_file"} {
		for _, what := range []string{"folder", "parent"} {
			path := map[string]string{"folder": "swap/secret.txt", "parent": "swap/deep/secret.txt"}[what]
			out = append(out, attempt{tool + " while the " + what + " becomes a link", func(w *lab.World) error {
				w.File("inside/secret.txt", "inside\n")
				w.File("inside/deep/secret.txt", "inside\n")
				w.Must(os.Mkdir(filepath.Join(w.Outside, "deep"), 0o700))
				w.Must(os.WriteFile(filepath.Join(w.Outside, "deep", "secret.txt"), []byte(lab.Canary+"\n"), 0o600))
				w.Settle()
				defer swapping(w)()
				list := make([]lab.Call, rounds)
				for i := range list {
					list[i] = way{path: path}.by(tool).calls[0]
				}
				return met(w, w.Ask(lab.Asked{Calls: list}))
			}})
		}
	}
	return out
}

// swapping lets the link swap lead inside and outside in turn until the function that it returns is called.
func swapping(w *lab.World) func() {
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		targets := []string{"inside", w.Outside}
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := w.Path("next")
			if os.Symlink(targets[i%2], next) == nil {
				_ = os.Rename(next, w.Path("swap")) // the attempt goes on with what is there
			}
		}
	})
	return func() { close(stop); done.Wait() }
}
