package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// stranger is a user without rights, whom tests that run as root run windlass as: root may read
// every process.
const stranger = 65534

// spy looks at every process that there is: it writes what it can read of environments, and of the
// memory that is written to, and which processes it can open at all. What it finds goes to a file,
// as what it printed would be redacted.
const spy = `me=$(id -u); for p in /proc/[0-9]*; do
	tr '\0' '\n' < $p/environ 2>/dev/null | grep -a planted | sed "s/^/environ ${p#/proc/} /"
	if (: < $p/mem) 2>/dev/null; then
		echo "open ${p#/proc/}"
		grep ' rw' $p/maps 2>/dev/null | while IFS=- read a rest; do b=${rest%% *}
			dd if=$p/mem bs=4096 skip=$((0x$a/4096)) count=$(((0x$b-0x$a)/4096)) 2>/dev/null | grep -a -o 'planted-[a-z]*' | sort -u | sed "s/^/memory ${p#/proc/} /"
		done
	fi
	for f in environ fd/0 mem; do test -r $p/$f && echo "reads ${p#/proc/} $f"; done
done > $1; echo parent $2 $(cat /proc/$2/comm), user $me`

// foreignLab is a lab that a user without rights owns and runs windlass in, with secrets in the
// environment.
func foreignLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "")
	bin, err := exec.LookPath("windlass")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "bin"), 0o755))
	copyFile(t, bin, l.itself()) // its name says what it is
	l.file("spy.sh", spy)
	l.file("spy.json", `{"cascade_id": "spy", "tools": [{"tool_id": "spy", "type": "shell", "description": "looks", "command": "sh spy.sh found $PPID"}],
		"phases": [{"name": "look", "tool": "spy", "inputs": {}}]}`)
	_, cache := clickhousetest.Home(t)
	engine, _, err := embedded.Survey(t.Context(), embedded.ConfigFromEnv(cache))
	require.NoError(t, err)
	require.NotEmpty(t, engine.Path, "the tests before this one fetched it")
	library := filepath.Join(l.dir, filepath.Base(engine.Path))
	if os.Link(engine.Path, library) != nil { // the cache is on another disk
		copyFile(t, engine.Path, library)
	}
	l.env = append(l.env, "WINDLASS_CHDB_LIB="+library, "WINDLASS_CACHE="+filepath.Join(l.dir, "cache"), "WINDLASS_ENGINE_IDLE=1s",
		"OPENAI_API_KEY=sk-planted-key", "MY_TOKEN=planted-token", "ODD=planted-odd")
	l.file("windlass.json", `{"models": {"x": {"api_key_env": "ODD"}}}`)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(filepath.Dir(l.dir), 0o711))
		require.NoError(t, filepath.Walk(l.dir, func(path string, _ os.FileInfo, err error) error {
			if path == library {
				return err
			}
			return errors.Join(err, os.Chown(path, stranger, stranger))
		}))
	}
	t.Cleanup(func() {
		if e := l.engine(); e.PID != 0 {
			_ = syscall.Kill(e.PID, syscall.SIGKILL)
		}
	})
	return l
}

// itself is the binary that the user without rights can reach.
func (l *lab) itself() string { return filepath.Join(l.dir, "bin", "windlass") }

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close() //nolint:errcheck // only read from
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, errors.Join(err, out.Close()))
}

// foreign runs a program as the user without rights.
func (l *lab) foreign(name string, args ...string) *process {
	l.t.Helper()
	p := &process{Cmd: exec.Command(name, args...), t: l.t}
	if os.Geteuid() == 0 {
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger, NoSetGroups: true}}
	}
	l.begin(p)
	return p
}

// No process that windlass is or starts shows a secret to a command of a run: not in its
// environment and not in its memory. A process beside it that is as any other shows that the
// command looks well.
func TestNoProcessShowsASecret(t *testing.T) {
	t.Parallel()
	l := foreignLab(t)
	other := l.foreign("/bin/sh", "-c", "exec sleep 300")
	p := l.foreign(l.itself(), "sql", "SELECT 1")
	require.Equal(t, exitOK, p.wait(), p.err.String()) // the engine runs
	p = l.foreign(l.itself(), "run", "spy.json", "--root", ".", "--session", "s1", "--allow-env", "MY_TOKEN")
	require.Equal(t, exitOK, p.wait(), "%s\n%s", p.out.String(), p.err.String())
	require.Contains(t, p.out.String(), fmt.Sprintf("parent %d windlass, user ", p.Process.Pid), "it is one process, before and after it began anew")
	require.NotContains(t, p.out.String(), "user 0")
	data, err := os.ReadFile(filepath.Join(l.dir, "found"))
	require.NoError(t, err)
	found := string(data)

	require.Contains(t, found, fmt.Sprintf("open %d\n", other.Process.Pid))
	require.Contains(t, found, fmt.Sprintf("environ %d OPENAI_API_KEY=sk-planted-key\n", other.Process.Pid))
	require.Contains(t, found, fmt.Sprintf("memory %d planted-key\n", other.Process.Pid))
	engine := l.engine().PID
	require.NotZero(t, engine)
	for _, pid := range []int{p.Process.Pid, engine} {
		for _, what := range []string{"open %d\n", "environ %d ", "memory %d ", "reads %d "} {
			require.NotContains(t, found, fmt.Sprintf(what, pid))
		}
	}
	for line := range strings.Lines(found) { // nor does any other, but those that were started with them
		if f := strings.Fields(line); f[0] != "open" && f[0] != "reads" && f[1] != strconv.Itoa(other.Process.Pid) && ours(t, l, f[1]) {
			t.Errorf("found: %s", line)
		}
	}
}

// ours reports whether a process works in the folder of a lab.
func ours(t *testing.T, l *lab, pid string) bool {
	t.Helper()
	dir, err := os.Readlink("/proc/" + pid + "/cwd")
	return err == nil && strings.HasPrefix(dir, l.dir)
}

// What a variable says is there for whoever may know it, though the environment of the process has
// it no more: the endpoint, a granted template, a granted command. Also through a link of the name,
// from standard input, and when the binary is gone.
func TestHiddenVariablesStillWork(t *testing.T) {
	t.Parallel()
	l := foreignLab(t)
	l.env = append(l.env, "OPENAI_API_KEY="+testKey)
	l.file("ask.json", `{"cascade_id": "ask", "model": "plain", "tools": [{"tool_id": "show", "type": "shell", "description": "d", "command": "printf %s \"$MY_TOKEN\" | wc -c; env | grep -c ODD; printf %s \"$WINDLASS_HANDED_OVER\""}],
		"phases": [{"name": "show", "tool": "show", "inputs": {}}, {"name": "ask", "instructions": "Use {{ env.MY_TOKEN }}: {{ outputs.show }}"}]}`)
	require.NoError(t, os.Chmod(filepath.Join(l.dir, "ask.json"), 0o644))
	p := l.foreign(l.itself(), "run", "ask.json", "--no-clickhouse", "--allow-env", "MY_TOKEN", "--session", "s1")
	require.Equal(t, exitOK, p.wait(), p.err.String())
	raw := string(l.provider.Requests()[0].Raw)
	require.Contains(t, raw, "Use planted-token")
	require.Contains(t, raw, `13\n0\n`, "the command has what was granted to it, and nothing else")

	stdin := l.foreign("/bin/sh", "-c", "cat ask.json | exec ./bin/windlass validate /dev/stdin --json")
	require.Equal(t, exitOK, stdin.wait(), stdin.err.String())
	name := l.foreign("/bin/sh", "-c", "./bin/windlass doctor --json --no-clickhouse 2>/dev/null; exec ./bin/windlass version --json")
	require.Equal(t, exitOK, name.wait(), name.err.String())
	require.Contains(t, name.out.String(), `"version"`)
}

// A program that is told of secrets that were not handed over says so, and does not go on as if it
// had been given none.
func TestSecretsThatWereNotHandedOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	for _, at := range []string{"77", "x", "0", ""} {
		l.env = append(l.env, "WINDLASS_HANDED_OVER="+at)
		p := l.run(exitFailed, "version")
		require.Equal(t, "Error: the secrets of the environment were not handed over, as WINDLASS_HANDED_OVER says they were\nTry: unset WINDLASS_HANDED_OVER\n", p.err.String())
	}
}
