//go:build linux

// Package users tries every door of windlass as another user of the machine, and as a process of the same user that has no
// rights of its own. It needs root, to become them. An attempt runs in the test's own binary, started again as that user.
package users

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// The users. Nobody else has these numbers on a machine that runs tests.
const (
	owner    = 60002 // who runs windlass
	stranger = 60001
)

// roleVariable tells the binary of the tests what it is to try, as whom.
const roleVariable = "WINDLASS_E2E_ROLE"

var (
	theBinary string // windlass, where everybody can run it
	theTests  string // this program, likewise
)

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVariable); name != "" {
		os.Exit(play(name))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "these tests try windlass as other users of the machine, which only root can become: sudo make e2e-users")
		return 1
	}
	dir, err := os.MkdirTemp("", "users-bin-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		theBinary, err = lab.Build(dir)
	}
	if err == nil {
		theTests = filepath.Join(dir, "users")
		err = copySelf(theTests)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func copySelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755) // the others are to run it
}

// try runs a role as a user and returns what it says.
func try[I, O any](t *testing.T, uid uint32, name string, input I) O {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(theTests)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(in), &out, &errs, "/"
	cmd.Env = []string{roleVariable + "=" + name, "PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s as the user %d: %v\n%s", name, uid, err, errs.String())
	}
	var result O
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%s as the user %d said %q: %v", name, uid, out.String(), err)
	}
	return result
}

// play is what the binary does when it was started for a role.
func play(name string) int {
	role, ok := roles[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no role %q\n", name)
		return 2
	}
	if err := role(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// given is the world of the user who runs windlass, with an engine that runs.
func given(t *testing.T) *lab.World {
	t.Helper()
	library := lab.NewWithEngine(t, theBinary).Engine().Engine // fetched by root, once
	w := lab.NewWithEngine(t, theBinary)
	w.Setenv("WINDLASS_CHDB_LIB", readable(t, library))
	w.Setenv("WINDLASS_CACHE", filepath.Join(w.Base, "cache"))
	if err := os.Remove(w.Home); err != nil { // windlass makes it
		t.Fatal(err)
	}
	w.Give(owner)
	return w
}

// readable returns a path under which everybody can read the engine's library.
func readable(t *testing.T, library string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(theBinary), "lib-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	path := filepath.Join(dir, filepath.Base(library))
	if err == nil {
		if err = os.Link(library, path); err != nil { // another file system
			err = exec.Command("cp", library, path).Run()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// requireNothing demands that a list of what got through is empty.
func requireNothing(t *testing.T, what string, list []string) {
	t.Helper()
	if len(list) > 0 {
		t.Errorf("%s: %s", what, strings.Join(list, "\n"))
	}
}
