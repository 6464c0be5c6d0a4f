//go:build unix

// Package recordings types commands into the panes of a real terminal, tmux, and compares what is shown with
// docs/recordings: in 80 and in 200 columns, with and without colour, and in a file in place of a terminal.
//
//	make recordings                   compares
//	make recordings FLAGS=-update     writes the files, and the blocks of docs/recordings.md
package recordings

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

var update = flag.Bool("update", false, "write docs/recordings and the blocks of docs/recordings.md")

var (
	theBinary string
	theDocs   string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "recordings-bin-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
		theBinary, err = lab.Build(dir)
	}
	if err == nil {
		theDocs, err = lab.Root()
		theDocs = filepath.Join(theDocs, "docs")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func pathVariable() string {
	return filepath.Dir(theBinary) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// variant is a way to look at the same commands.
type variant struct {
	name   string
	width  int
	height int
	colour bool
	file   bool // output goes to a file, which is shown afterwards
}

var variants = []variant{
	{"80", 80, 24, false, false},
	{"80-colour", 80, 24, true, false},
	{"200", 200, 50, false, false},
	{"200-colour", 200, 50, true, false},
	{"piped", 200, 50, false, true},
}

// TestRuns records runs.
func TestRuns(t *testing.T) { record(t, newWorld(t), scenes, false) }

// TestReadings records what is read of sessions that there are.
func TestReadings(t *testing.T) {
	w := newWorld(t)
	w.makeSessions(t)
	record(t, w, readings, true)
}

// record makes recordings. They are exact when nothing differs from run to run. The variants of a scene come one after the other: they share a home.
func record(t *testing.T, w *world, scenes []scene, exact bool) {
	for _, s := range scenes {
		for _, v := range variants {
			t.Run(s.name+"-"+v.name, func(t *testing.T) {
				r := &recorder{T: t, world: w, variant: v, exact: exact, path: filepath.Join(theDocs, "recordings", s.name+"-"+v.name+".txt")}
				r.begin(s)
				s.play(r)
				r.end()
			})
		}
	}
}

// recorder plays one scene in one variant.
type recorder struct {
	*testing.T
	*world
	variant
	path string
	pane *pane

	titled bool
	exact  bool     // nothing of what is shown differs from run to run, but the folder
	want   []string // the sections of the file
	got    []string
}

// mark begins the sections of a file that has several.
const mark = "=== "

func (r *recorder) begin(s scene) {
	r.Helper()
	r.prepare(r.T, s, r.name)
	r.pane = newPane(r.T, r.dir, r.env, r.width, r.height, r.colour)
	if *update {
		return
	}
	data, err := os.ReadFile(r.path)
	if err != nil {
		r.Fatalf("%v: make recordings FLAGS=-update makes it", err)
	}
	r.want = strings.Split("\n"+string(data), "\n"+mark)
	if r.want[0] = strings.TrimPrefix(r.want[0], "\n"); r.want[0] == "" { // the first section has a title, too
		r.want = r.want[1:]
	}
}

// enter types a command that shows nothing.
func (r *recorder) enter(command string) {
	r.Helper()
	r.pane.enter(command)
	r.pane.await(command, r.pane.idle)
}

// run types a command and waits for its end; while it runs, during is called, which may be nil.
func (r *recorder) run(command string, during func()) {
	r.Helper()
	if r.file {
		command += " > log.txt 2>&1"
	}
	r.pane.enter(command)
	if during != nil {
		during()
	}
	r.pane.await(command, r.pane.idle)
	if r.file {
		r.enter("cat log.txt")
	}
}

// look compares what the pane shows with the next section. What is still moving is looked at until it is the same. A file
// shows nothing while a command runs.
func (r *recorder) look(title string) {
	r.Helper()
	if r.file && title != "" {
		return
	}
	if title == "" && len(r.got) > 0 {
		title = "at the end"
	}
	r.titled = r.titled || title != ""
	capture := func() string {
		r.learn()
		text := strings.TrimSuffix(normalise(r.pane.text(), r.base, r.exact), prompt+"\n")
		if !r.file {
			text = wrapped(text, r.width)
		}
		if title != "" {
			text = title + "\n" + text
		}
		return text
	}
	i := len(r.got)
	if *update {
		r.got = append(r.got, r.settled(capture))
		return
	}
	if i >= len(r.want) {
		r.Fatalf("%s has only %d sections", r.path, len(r.want))
	}
	want := strings.TrimRight(r.want[i], "\n")
	got := ""
	until(r.T, r.path+", section "+fmt.Sprint(i+1), func() bool {
		got = capture()
		return strings.TrimRight(got, "\n") == want
	}, func() string {
		return "want:\n" + want + "\n\ngot:\n" + got + "\n(make recordings FLAGS=-update writes what is seen)"
	})
	r.got = append(r.got, got)
}

// settled returns what is shown when it has not changed for a while.
func (r *recorder) settled(capture func() string) string {
	r.Helper()
	last, same := "", 0
	until(r.T, "a pane that stays as it is", func() bool {
		now := capture()
		if same++; now != last {
			last, same = now, 0
		}
		return same >= 25
	}, func() string { return last })
	return last
}

func (r *recorder) end() {
	r.Helper()
	if !*update {
		if len(r.got) != len(r.want) {
			r.Fatalf("%s has %d sections, seen were %d", r.path, len(r.want), len(r.got))
		}
		return
	}
	sections := make([]string, len(r.got))
	for i, s := range r.got {
		sections[i] = strings.TrimRight(s, "\n") + "\n"
	}
	text := strings.Join(sections, "\n"+mark)
	if r.titled {
		text = mark + text
	}
	r.must(os.MkdirAll(filepath.Dir(r.path), 0o750))
	r.must(os.WriteFile(r.path, []byte(text), 0o600))
}

func (r *recorder) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}
