//go:build unix

package lab

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

const (
	// Canary is the text of the files that no attempt may read. It must not stand in anything that windlass writes.
	Canary = "canary-9d41c2e7-outside"
	// Key is the model's key. It must not stand in anything that windlass writes either.
	Key = "sk-attack-6f0b1d2c93a84e57"
	// DefaultMemory is how many MiB of memory a program may have. A run without an attack takes about 100.
	DefaultMemory = 1024
)

// Bound is when a program is taken for one that does not end. It is long, as it bounds and does not measure.
var Bound = time.Minute

// World is what one attempt has: a working folder that is granted to file tools; a folder outside of it with a file that
// nobody may read or change; a home; and the path of a marker that only a program of the attacker would make.
type World struct {
	T       testing.TB
	Bin     string
	Base    string // everything is below it
	Dir     string // the working folder
	Outside string // holds secret.txt with the canary
	Home    string
	Marker  string
	Env     []string
	UID     int // the user that programs run as; 0: the one who runs the tests
	Memory  int // MiB of memory that a program may have; 0: any. One that wants more crashes, which is seen

	outside map[string]string
	secrets []string // further texts that nothing may show
}

// New returns the world of one attempt. It is removed with the test.
func New(t testing.TB, bin string) *World {
	t.Helper()
	base, err := os.MkdirTemp("", "attack-")
	if err != nil {
		t.Fatalf("make a folder for the attempt: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) }) // a folder that stays behind fails nothing
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatalf("find the folder of the attempt: %v", err)
	}
	w := &World{
		T: t, Bin: bin, Base: base, Dir: filepath.Join(base, "work"), Outside: filepath.Join(base, "outside"),
		Home: filepath.Join(base, "home"), Marker: filepath.Join(base, "marker"), secrets: []string{Canary, Key},
		Memory: DefaultMemory,
	}
	for _, dir := range []string{w.Dir, w.Outside, w.Home, filepath.Join(base, "tmp")} {
		w.Must(os.Mkdir(dir, 0o700))
	}
	w.Must(os.WriteFile(filepath.Join(w.Outside, "secret.txt"), []byte(Canary+"\n"), 0o600))
	w.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "person"), "TMPDIR=" + filepath.Join(base, "tmp"), "WINDLASS_HOME=" + w.Home,
		"WINDLASS_EMBEDDING_MODEL=hashed", "WINDLASS_CLICKHOUSE_DSN=clickhouse://127.0.0.1:9/windlass", "OPENAI_API_KEY=" + Key, "OPENAI_BASE_URL=http://127.0.0.1:9/v1", "TERM=dumb", "TZ=UTC",
	}
	w.outside = w.tree(w.Outside)
	return w
}

// Must ends the test when the attempt could not be prepared: that says nothing of windlass.
func (w *World) Must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatalf("prepare the attempt: %v", err)
	}
}

// Secret adds a text that nothing may show.
func (w *World) Secret(text string) { w.secrets = append(w.secrets, text) }

// Keys replaces the key of the model and everything that nothing may show by secrets that no other attempt has, so that
// what is found of the processes of another one is not taken for a find. The first is the model's key.
func (w *World) Keys(secrets ...string) {
	w.secrets = append([]string{Canary}, secrets...)
	w.Setenv("OPENAI_API_KEY", secrets[0])
}

// Setenv sets a variable of the programs' environment.
func (w *World) Setenv(name, value string) {
	w.Env = slices.DeleteFunc(w.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	w.Env = append(w.Env, name+"="+value)
}

// Path returns the path of a file in the working folder.
func (w *World) Path(name string) string { return filepath.Join(w.Dir, name) }

// File writes a file into the working folder, with the folders that it is in.
func (w *World) File(name, text string) {
	w.T.Helper()
	w.Must(os.MkdirAll(filepath.Dir(w.Path(name)), 0o700))
	w.Must(os.WriteFile(w.Path(name), []byte(text), 0o600))
	if w.UID != 0 {
		w.Must(os.Chown(w.Path(name), w.UID, w.UID))
	}
}

// Link makes a symbolic link in the working folder.
func (w *World) Link(target, name string) {
	w.T.Helper()
	w.Must(os.MkdirAll(filepath.Dir(w.Path(name)), 0o700))
	w.Must(os.Symlink(target, w.Path(name)))
}

// Fifo makes a named pipe in the working folder.
func (w *World) Fifo(name string) {
	w.T.Helper()
	w.Must(syscall.Mkfifo(w.Path(name), 0o600))
}

// Device returns the path of a terminal of its own, to link to: what takes it for a file, and replaces it, harms nothing of the machine.
func (w *World) Device() string {
	w.T.Helper()
	master, terminal, err := pty.Open()
	w.Must(err)
	w.T.Cleanup(func() { _, _ = terminal.Close(), master.Close() })
	return terminal.Name()
}

// JSON writes a value as a file.
func (w *World) JSON(name string, v any) {
	w.T.Helper()
	w.File(name, Encode(v))
}

// Encode returns a value as JSON in which < > & stand for themselves.
func Encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the tests' own values can be encoded
	}
	return b.String()
}

// tree returns what is in a folder: for each path its mode and a digest of its content.
func (w *World) tree(dir string) map[string]string {
	w.T.Helper()
	out := map[string]string{}
	w.Must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[path] += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		return nil
	}))
	return out
}

// Outcome is how a program ended.
type Outcome struct {
	Code     int
	Out, Err string
	Endless  bool // it did not end by itself
	Tools    []ToolResult
	Journal  string // all journals of the home, as they are
}

// ToolResult is what a tool returned.
type ToolResult struct {
	Name, Arguments, Text, Kind string
	Failed                      bool
}

// Run runs windlass in the working folder.
func (w *World) Run(args ...string) *Outcome { return w.Input("", args...) }

// Input runs windlass with a text on its standard input.
func (w *World) Input(stdin string, args ...string) *Outcome {
	w.T.Helper()
	return w.Program(stdin, w.Bin, args...)
}

// Program runs any program the same way.
func (w *World) Program(stdin, name string, args ...string) *Outcome {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Bound)
	defer cancel()
	var out, errs strings.Builder
	name, args = w.limited(name, args)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.Dir, w.Env, strings.NewReader(stdin), &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: w.credential()}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if cmd.ProcessState == nil || err != nil && !errors.As(err, &exit) && ctx.Err() == nil && !errors.Is(err, exec.ErrWaitDelay) {
		w.T.Fatalf("start %s: %v", name, err)
	}
	o := &Outcome{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errs.String(), Endless: ctx.Err() != nil}
	w.readJournals(o)
	return o
}

// credential returns who programs run as.
func (w *World) credential() *syscall.Credential {
	if w.UID == 0 {
		return nil
	}
	return &syscall.Credential{Uid: uint32(w.UID), Gid: uint32(w.UID)} // the tests' own numbers
}

// Give makes everything below the world's folder another user's, and has programs run as that user. The folder itself can
// be entered by everybody, as the home folders of many systems can.
func (w *World) Give(uid int) {
	w.T.Helper()
	w.UID = uid
	w.Must(filepath.WalkDir(w.Base, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
	w.Must(os.Chmod(w.Base, 0o755)) // others are to get as far as windlass lets them
}

// limited returns the command line that gives a program no more than its memory.
func (w *World) limited(name string, args []string) (string, []string) {
	if w.Memory == 0 {
		return name, args
	}
	line := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, w.Memory<<10)
	return "/bin/sh", append([]string{"-c", line, name}, args...)
}

// readJournals adds what the sessions of the home have recorded.
func (w *World) readJournals(o *Outcome) {
	w.T.Helper()
	paths, err := filepath.Glob(filepath.Join(w.Home, "sessions", "*", journal.File))
	w.Must(err)
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<28 {
			continue // a hostile one of the attempt's own
		}
		data, err := os.ReadFile(path)
		w.Must(err)
		o.Journal += string(data)
		rec, err := journal.Read(path)
		if err != nil {
			continue // likewise
		}
		for _, e := range rec.Entries {
			if e.NodeType != echo.NodeToolCall || e.Message == nil {
				continue
			}
			r := ToolResult{Text: e.Message.Text(), Failed: e.Message.Failed()}
			if e.Tool != nil {
				r.Name, r.Arguments = e.Tool.Name, e.Tool.Arguments
			}
			if e.Error != nil {
				r.Kind = e.Error.Kind
			}
			o.Tools = append(o.Tools, r)
		}
	}
}

// crashes are texts of a program that did not end as it should.
var crashes = []string{"panic: ", "fatal error: ", "goroutine 1 [", "runtime error", "error of its own"}

// Held checks what no attempt may reach, whatever else it is to meet: the program ends, and not by a crash; nothing shows
// the canary or the key; what lies outside is as it was; the attacker's program has not run.
func (w *World) Held(o *Outcome) error {
	w.T.Helper()
	if o != nil {
		if o.Endless {
			return errors.New("the program does not end")
		}
		all := o.Out + o.Err + o.Journal
		for _, s := range w.secrets {
			if strings.Contains(all, s) {
				return fmt.Errorf("a secret is shown: %s", excerpt(all, s))
			}
		}
		for _, c := range crashes {
			if strings.Contains(o.Err, c) {
				return fmt.Errorf("the program crashed: %s", excerpt(o.Err, c))
			}
		}
	}
	if _, err := os.Lstat(w.Marker); err == nil {
		return errors.New("the attacker's program has run")
	}
	after := w.tree(w.Outside)
	for path, was := range w.outside {
		if after[path] != was {
			return fmt.Errorf("%s was changed: %q, now %q", path, was, after[path])
		}
	}
	if len(after) != len(w.outside) {
		return fmt.Errorf("files were made outside: %d, before %d", len(after), len(w.outside))
	}
	return nil
}

func excerpt(text, at string) string {
	const around = 200
	i := strings.Index(text, at)
	return fmt.Sprintf("%q", text[max(0, i-around):min(len(text), i+len(at)+around)])
}

// Call is a tool call that a model makes.
type Call struct {
	Tool string
	Args map[string]any
}

// Asked is a run in which a model makes calls, and no more.
type Asked struct {
	Calls []Call
	Tools []any    // the tools that the cascade declares
	Flags []string // of windlass run
	One   bool     // one call in a turn, so that they come one after the other
}

// Ask runs a cascade whose scripted model makes the calls, all in one turn unless it says otherwise. The cascade is outside the working folder.
func (w *World) Ask(a Asked) *Outcome {
	w.T.Helper()
	var tackle []string
	var calls, turns []any
	seen := map[string]bool{}
	for _, c := range a.Calls {
		if !seen[c.Tool] {
			tackle = append(tackle, c.Tool)
		}
		seen[c.Tool] = true
		calls = append(calls, map[string]any{"tool": c.Tool, "arguments": literal(c.Args)})
		if a.One {
			turns, calls = append(turns, map[string]any{"calls": calls}), nil
		}
	}
	if len(calls) > 0 {
		turns = append(turns, map[string]any{"calls": calls})
	}
	cascade := map[string]any{"cascade_id": "asked", "phases": []any{map[string]any{"name": "ask", "instructions": "Go on.", "tackle": tackle}}}
	if len(a.Tools) > 0 {
		cascade["tools"] = a.Tools
	}
	w.JSON("../cascade/asked.json", cascade)
	w.JSON("../cascade/asked.script.json", map[string]any{"phases": map[string]any{"ask": append(turns, map[string]any{"text": "done"})}})
	return w.Run(append([]string{"run", "../cascade/asked.json", "--offline", "--no-clickhouse"}, a.Flags...)...)
}

// literal returns a value in which no string is read as a template of the script.
func literal(v any) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, "{", `{{ "{" }}`)
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			out[k] = literal(v)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, v := range x {
			out[i] = literal(v)
		}
		return out
	}
	return v
}

// Settle takes what is outside now for what it has to be afterwards.
func (w *World) Settle() { w.outside = w.tree(w.Outside) }

// Mkfifo makes a named pipe.
func Mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }
