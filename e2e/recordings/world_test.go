//go:build unix

package recordings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// world is one home with its engine and a provider, shared by all recordings.
type world struct {
	lab      *lab.World
	provider *llmtest.Server
	base     string
	env      []string
	dir      string // where the commands of the scene are typed

	mu    sync.Mutex
	asked map[string]int // how often the provider was asked for a cascade, in this scene
	hangs string         // the task whose next answer does not come
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{base: newBase(t)} // removed after the engine has ended
	w.lab = lab.NewWithEngine(t, theBinary)
	w.lab.Home = filepath.Join(w.base, ".windlass")
	w.lab.Setenv("WINDLASS_HOME", w.lab.Home)
	w.lab.Setenv("HOME", w.base)
	w.provider = llmtest.Start(llmtest.Config{Key: lab.Key, Models: []string{"gpt-5-mini"}, Answer: w.answer})
	t.Cleanup(w.provider.Close)
	w.lab.Setenv("OPENAI_BASE_URL", w.provider.URL)
	w.lab.Setenv("WINDLASS_PAGER", "")
	w.lab.Setenv("PATH", pathVariable())
	w.lab.Setenv("WINDLASS_MODEL", "gpt-5-mini")
	w.env = slices.DeleteFunc(slices.Clone(w.lab.Env), func(v string) bool { return strings.HasPrefix(v, "TERM=") })
	w.lab.Engine()
	return w
}

// newBase makes the folder that everything is below. Its name is as long as the one that it gets in recordings, so that
// lines break where they break on every machine.
func newBase(t *testing.T) string {
	t.Helper()
	for {
		base := fmt.Sprintf("/tmp/wl%07x", rand.N(1<<28)) //nolint:gosec // not a secret
		err := os.Mkdir(base, 0o700)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(base) }) // what stays behind fails nothing
		return base
	}
}

// shownBase is what recordings have in place of that folder.
const shownBase = "/home/me/test0"

// prepare gives a scene a working folder of its own with its files.
func (w *world) prepare(t *testing.T, s scene, variant string) {
	t.Helper()
	w.mu.Lock()
	w.asked, w.hangs = map[string]int{}, ""
	w.mu.Unlock()
	w.dir = filepath.Join(w.base, "work", variant, s.name)
	for name, text := range s.files {
		path := filepath.Join(w.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.gates {
		if err := syscall.Mkfifo(filepath.Join(w.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// keep moves a session of the home scratch into the home of the world, with an id and times that are always the same.
func (w *world) keep(t *testing.T, scratch, from, id string, start time.Time) {
	t.Helper()
	rec, err := journal.Read(filepath.Join(scratch, "sessions", from, journal.File))
	must(t, err)
	h := rec.Header
	h.SessionID, h.StartedAt = id, start
	h.Options = bytes.ReplaceAll(bytes.ReplaceAll(h.Options, []byte(from), []byte(id)), []byte(scratch), []byte(w.lab.Home))
	head, err := json.Marshal(h)
	must(t, err)
	store := journal.NewStore(filepath.Join(w.lab.Home, "sessions"), filepath.Join(w.lab.Home, "commit"))
	j, err := store.Create(t.Context(), h)
	must(t, err)
	for i, e := range rec.Entries {
		if e.Provider != "" {
			e.Provider = "api.openai.com"
		}
		e.SessionID, e.At = id, start.Add(time.Duration(i)*900*time.Millisecond)
		if e.DurationMS > 0 {
			e.DurationMS = float64(350 * (1 + i%5))
		}
		if e.NodeType == echo.NodeRunStart {
			must(t, e.SetHeader(head))
		}
		must(t, j.Write(e))
	}
	must(t, j.Close(t.Context()))
	must(t, store.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until the newest session has so many results of tools.
func (w *world) await(t testing.TB, results int) {
	t.Helper()
	until(t, fmt.Sprint(results, " results of tools"), func() bool {
		w.learn()
		rec, err := journal.Read(filepath.Join(w.lab.Home, "sessions", slices.Max(current), journal.File))
		n := 0
		for _, e := range rec.Entries {
			if e.NodeType == echo.NodeToolCall {
				n++
			}
		}
		return err == nil && n == results
	}, func() string { return "" })
}

// forget deletes a session, so that the next variant can use its id.
func (w *world) forget(id string) {
	w.lab.T.Helper()
	if o := w.lab.Run("sessions", "delete", id, "--yes"); o.Code != 0 {
		w.lab.T.Fatal(o.Err)
	}
}

// learn reads which sessions there are.
func (w *world) learn() {
	found, _ := filepath.Glob(filepath.Join(w.lab.Home, "sessions", "*")) // the pattern is well formed
	current = nil
	for _, path := range found {
		current = append(current, filepath.Base(path))
	}
}

// atGate waits until a tool reads the gate, and returns what opens it.
func (w *world) atGate(t testing.TB, name string) (open func(text string)) {
	t.Helper()
	var fd int
	until(t, "a tool at "+name, func() bool {
		var err error
		fd, err = syscall.Open(filepath.Join(w.dir, name), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	}, func() string { return "nobody reads it" })
	return func(text string) {
		_, err := syscall.Write(fd, []byte(text))
		if err = errors.Join(err, syscall.Close(fd)); err != nil {
			t.Fatal(err)
		}
	}
}

// answer answers as the scenes say: by the first words of the newest task, and by how often it was asked.
func (w *world) answer(r llmtest.Request) *llmtest.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	task := ""
	for i := range r.Messages {
		if r.Messages[i].Role == "user" || r.Messages[i].Role == "system" {
			task += r.Messages[i].Text() + "\n"
		}
	}
	if w.hangs != "" && strings.Contains(task, w.hangs) {
		w.hangs = ""
		return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}}
	}
	for _, a := range answers {
		if !strings.Contains(task, a.task) {
			continue
		}
		n := w.asked[a.task]
		w.asked[a.task]++
		return a.give[min(n, len(a.give)-1)]
	}
	return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusBadRequest, Message: "no scene asks this"}}
}

// hang has the next answer to a task not come.
func (w *world) hang(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hangs = task
}
