//go:build linux

package users

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// names could lead to a user without a password: the engine's own, windlass's, and the markers of other ways to log in.
var names = []string{
	"default", "", "Default", "default ", " default", "DEFAULT", "default\x00", "`default`", "windlass", "windlass_readonly", "reader", "reader1", "reader2", "reader8", "root", "admin",
	" INTERSERVER SECRET ", " SSH KEY AUTHENTICATION default", " JWT AUTHENTICATION ", " JWT AUTHENTICATION default",
}

// TestStrangersAtTheEngine tries the engine of one user as another one.
func TestStrangersAtTheEngine(t *testing.T) {
	w := given(t)
	stop := filepath.Join(t.TempDir(), "stop")
	if err := os.Chmod(filepath.Dir(stop), 0o755); err != nil { // the other is to see when it is over
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(stop)), 0o755); err != nil { // likewise
		t.Fatal(err)
	}
	var result flooded
	var done sync.WaitGroup
	done.Go(func() {
		result = try[map[string]any, flooded](t, stranger, "flood", map[string]any{"UID": owner, "Stop": stop, "Least": 3000})
	})
	e := w.Engine()
	password := e.Password
	for range 20 { // the owner works on while others try to get in
		if o := w.Run("sql", "SELECT 1"); o.Code != 0 {
			t.Errorf("the owner is kept out: %s", o.Err)
		}
	}
	if err := os.WriteFile(stop, nil, 0o644); err != nil { // likewise
		t.Fatal(err)
	}
	done.Wait()
	t.Logf("%d logins from before the port was open", result.Tried)
	if result.In > 0 || result.Tried < 3000 {
		t.Errorf("%d of %d logins were let in", result.In, result.Tried)
	}
	addr := e.Addr()
	t.Run("logins", func(t *testing.T) {
		for _, uid := range []uint32{stranger, owner} { // who has no password gets in as nobody, whoever it is
			requireNothing(t, "let in", try[attempts, []string](t, uid, "login", attempts{Addr: addr, Users: names}))
			requireNothing(t, "let in over TLS", try[attempts, []string](t, uid, "login", attempts{Addr: addr, Users: []string{"default", "windlass", ""}, TLS: true}))
		}
	})
	t.Run("files", func(t *testing.T) {
		requireNothing(t, "can be read", try[[]string, []string](t, stranger, "read", []string{w.Home, w.EngineDir(), filepath.Join(w.EngineDir(), "endpoint.json"), filepath.Join(w.EngineDir(), "users.xml"), filepath.Join(w.EngineDir(), "data")}))
		requireNothing(t, "can be changed", try[[]string, []string](t, stranger, "write", []string{w.Home, w.EngineDir(), filepath.Join(w.EngineDir(), "endpoint.json"), filepath.Join(w.EngineDir(), "run.lock"), e.Socket, w.Base + "/x"}))
	})
	t.Run("the socket", func(t *testing.T) {
		requireNothing(t, "can be connected to", try[[]string, []string](t, stranger, "connect", []string{e.Socket, filepath.Join(w.EngineDir(), "engine.sock")}))
	})
	t.Run("processes", func(t *testing.T) {
		s := spied{PIDs: append(children(t, e.PID), e.PID), Secrets: []string{password, lab.Key}, Signal: true}
		requireNothing(t, "the engine as another user", try[spied, []string](t, stranger, "processes", s))
	})
	t.Run("the port that is held", func(t *testing.T) { takes(t, w, e) })
}

// takes lets a stranger try to listen where the engine does, end the engine, and look who is sent the password.
func takes(t *testing.T, w *lab.World, e embedded.Endpoint) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil { // the other is to see when it is over
			t.Fatal(err)
		}
	}
	stop := filepath.Join(dir, "stop")
	var sent []string
	var done sync.WaitGroup
	end := func() {
		if err := os.WriteFile(stop, nil, 0o644); err != nil { // likewise
			t.Fatal(err)
		}
		done.Wait()
		_ = os.Remove(stop)
	}
	listen := func() {
		done.Go(func() {
			sent = try[map[string]any, []string](t, stranger, "take", map[string]any{"Addrs": []string{e.Addr(), "127.0.0.2:" + strconv.Itoa(e.Port), "0.0.0.0:" + strconv.Itoa(e.Port)}, "Stop": stop})
		})
	}
	listen()
	if o := w.Run("sql", "SELECT 1"); o.Code != 0 {
		t.Errorf("the owner is kept out: %s", o.Err)
	}
	end()
	requireNothing(t, "sent while the engine runs", withPassword(sent, e.Password))
	if err := exec.Command("kill", "-9", strconv.Itoa(e.PID)).Run(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, e.PID)
	listen() // now the port is free
	for range 5 {
		if o := w.Run("sql", "SELECT 1"); o.Code != 0 {
			t.Errorf("the owner is kept out by somebody on the old port: %s", o.Err)
		}
	}
	end()
	requireNothing(t, "sent to who took the port", withPassword(sent, e.Password))
}

func withPassword(sent []string, password string) []string {
	return slices.DeleteFunc(slices.Clone(sent), func(s string) bool { return !strings.Contains(s, password) })
}

// awaitGone waits for the end of a process that is not a child.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(lab.Bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Fatalf("the process %d goes on", pid)
}

// children returns the processes below one.
func children(t *testing.T, pid int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if n, _ := fmt.Sscan(line, &child, &parent); n == 2 && parent == pid {
			found = append(append(found, child), children(t, child)...)
		}
	}
	return found
}

// TestStrangersAtSessions tries the records of a run, and windlass serve, as another user.
func TestStrangersAtSessions(t *testing.T) {
	w := given(t)
	w.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
	w.File("c.script.json", `{"default": [{"text": "`+lab.Canary+`"}]}`)
	w.Give(owner)
	if o := w.Run("run", "c.json", "--offline", "--no-clickhouse", "-q", "--session", "s"); o.Code != 0 {
		t.Fatalf("the run failed: %s", o.Err)
	}
	s := w.Serve("--root", w.Dir, "--offline", "--no-clickhouse")
	t.Run("files", func(t *testing.T) {
		session := filepath.Join(w.Home, "sessions", "s")
		requireNothing(t, "can be read", try[[]string, []string](t, stranger, "read", []string{w.Home, session, filepath.Join(session, "journal.jsonl"), filepath.Join(session, "work"), filepath.Join(w.Home, "serve")}))
		requireNothing(t, "can be changed", try[[]string, []string](t, stranger, "write", []string{w.Home, session, filepath.Join(session, "journal.jsonl"), filepath.Join(session, "work", "x"), filepath.Join(w.Home, "serve", "x")}))
	})
	t.Run("serve", func(t *testing.T) {
		var urls []string
		for _, route := range []string{"GET /api/sessions", "GET /api/sessions/s", "GET /api/sessions/s/events", "GET /api/sessions/s/handoff", "GET /api/sessions/s/context/1", "POST /api/runs", "POST /api/sessions/s/resume", "POST /api/sessions/s/cancel", "GET /api/openapi.json", "GET /"} {
			method, path, _ := strings.Cut(route, " ")
			urls = append(urls, method+" http://"+s.Address+path)
		}
		for i, status := range try[[]string, []int](t, stranger, "ask", urls) {
			if status != 401 {
				t.Errorf("%s is answered with %d", urls[i], status)
			}
		}
	})
	t.Run("processes", func(t *testing.T) {
		requireNothing(t, "serve as another user", try[spied, []string](t, stranger, "processes", spied{PIDs: []int{s.PID()}, Secrets: []string{lab.Key}, Signal: true}))
		requireNothing(t, "serve as the same user", try[spied, []string](t, owner, "processes", spied{PIDs: []int{s.PID()}, Secrets: []string{lab.Key}}))
	})
}

// TestCommandsAsTheOwner runs a model's command as a user without rights: the key is nowhere that it can look.
func TestCommandsAsTheOwner(t *testing.T) {
	w := given(t)
	w.File("../cascade/x", "")
	w.Give(owner) // also the folder of cascades
	for _, line := range []string{
		"cat /proc/$PPID/environ", "cat /proc/$PPID/task/*/environ", "head -c 100 /proc/$PPID/mem", "cat /proc/$PPID/maps", "ls -la /proc/$PPID/fd/", "cat /proc/$PPID/auxv", "readlink /proc/$PPID/cwd", "env", "kill -QUIT 0; true",
	} {
		t.Run(line, func(t *testing.T) {
			o := w.Ask(lab.Asked{Calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "{ " + line + "\n} 2>&1 | rev"}}}, Flags: []string{"--allow-commands"}})
			for _, r := range o.Tools {
				if strings.Contains(r.Text, reversed(lab.Key)) || strings.Contains(r.Text, lab.Key) {
					t.Errorf("the key is found: %q", r.Text)
				}
			}
			if len(o.Tools) == 0 {
				t.Errorf("no command was run: %s", o.Err)
			}
		})
	}
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
