//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// inputs is about the files that commands are given: what is no file, or has no end, is refused and not waited for.
func inputs() group {
	return group{
		name: "inputs",
		mutant: mutant{"the bound on how deep JSON is nested", []lab.Edit{{
			File: "internal/source/json.go",
			Old:  "if depth > MaxDepth {",
			New:  "if depth > MaxDepth+1<<40 {",
		}}},
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, c := range readers {
				for _, k := range kinds {
					if c.file == "token" && strings.Contains(k.name, "named pipe") {
						continue // it may be one, as the secrets of containers are: then the server waits for it
					}
					out = append(out, c.of(k).attempt())
				}
			}
			return out
		},
	}
}

// kind is something that is no file of the kind that is expected.
type kind struct {
	name string
	make func(w *lab.World, name string)
}

var kinds = []kind{
	{"a named pipe", func(w *lab.World, name string) { w.Fifo(name) }},
	{"a link to a named pipe", func(w *lab.World, name string) { w.Fifo("pipe"); w.Link("pipe", name) }},
	{"a folder", func(w *lab.World, name string) { w.Must(os.Mkdir(w.Path(name), 0o700)) }},
	{"a device without an end", func(w *lab.World, name string) { w.Link("/dev/zero", name) }},
	{"an empty device", func(w *lab.World, name string) { w.Link("/dev/null", name) }},
	{"a link to itself", func(w *lab.World, name string) { w.Link(name, name) }},
	{"a link to nothing", func(w *lab.World, name string) { w.Link("nothing", name) }},
	{"a socket", func(w *lab.World, name string) {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		w.Must(err)
		w.T.Cleanup(func() { _ = syscall.Close(fd) })
		w.Must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: w.Path(name)}))
	}},
	{"a sparse terabyte", func(w *lab.World, name string) { sparse(name, 1<<40)(w) }},
	{"nothing", func(w *lab.World, name string) { w.File(name, "") }},
	{"noise", func(w *lab.World, name string) { w.File(name, strings.Repeat("\x00\xff\xfe{[\"", 1000)) }},
	{"deep JSON", func(w *lab.World, name string) { w.File(name, strings.Repeat(`{"a":[`, 700_000)) }},
}

// reader is a command that reads a file.
type reader struct {
	name, file string
	args       []string
	prepare    func(w *lab.World)
}

func good(w *lab.World) {
	w.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
	w.File("c.script.json", `{"default": [{"text": "done"}]}`)
}

var readers = []reader{
	{"validate", "x.json", []string{"validate", "x.json"}, nil},
	{"validate YAML", "x.yaml", []string{"validate", "x.yaml"}, nil},
	{"run", "x.json", []string{"run", "x.json", "--offline", "--no-clickhouse", "-q"}, nil},
	{"the script", "d.script.json", []string{"run", "d.json", "--offline", "--no-clickhouse", "-q"}, func(w *lab.World) {
		w.File("d.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
	}},
	{"the input", "i.json", []string{"run", "c.json", "--offline", "--no-clickhouse", "-q", "--input-file", "i.json"}, good},
	{"the input as YAML", "i.yaml", []string{"run", "c.json", "--offline", "--no-clickhouse", "-q", "--input-file", "i.yaml"}, good},
	{"windlass.json", "windlass.json", []string{"run", "c.json", "--offline", "--no-clickhouse", "-q"}, good},
	{"a tool beside the cascade", "x.tool.json", []string{"run", "c.json", "--offline", "--no-clickhouse", "-q"}, func(w *lab.World) {
		good(w)
		w.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x", "tackle": ["x"]}]}`)
	}},
	{"a test", "tests/x.test.json", []string{"test", "run", "tests"}, func(w *lab.World) { w.Must(os.Mkdir(w.Path("tests"), 0o700)) }},
	{"simulate", "x.jsonl", []string{"simulate", "x.jsonl"}, nil},
	{"settings of simulate", "p.json", []string{"simulate", "y.jsonl", "--policy", "@p.json"}, func(w *lab.World) { w.File("y.jsonl", `{"role": "user", "content": "x"}`+"\n") }},
	{"the token of serve", "token", []string{"serve", "--token-file", "token", "--listen", "127.0.0.1:0", "--no-clickhouse"}, nil},
}

func (r reader) of(k kind) command {
	want := fails
	if r.file == "windlass.json" && (k.name == "a folder" || k.name == "a link to nothing") {
		want = exits(exitOK, "") // there is no such file
	}
	return command{name: r.name + ": " + k.name, args: r.args, want: []check{want}, prepare: func(w *lab.World) {
		if r.prepare != nil {
			r.prepare(w)
		}
		w.Must(os.RemoveAll(w.Path(r.file)))
		dir, name := filepath.Split(r.file)
		if dir == "" {
			k.make(w, name)
			return
		}
		inside := *w
		inside.Dir = w.Path(dir)
		k.make(&inside, name)
	}}
}
