//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onceSlow is a cascade whose tool hangs when it is run first, and then does not.
const onceSlow = `{"cascade_id": "order", "tools": [{"tool_id": "send_order", "type": "shell",
	"command": "if [ -e begun ]; then echo sent; else touch begun; sleep 8671; fi"}], "phases": [{"name": "one", "tool": "send_order"}]}`

// TestNextAfterStop: what comes after a run that did not complete begins with what to do about that, in
// the words of its page. A tool of which nobody knows what it did runs again when a person says so.
func TestNextAfterStop(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("order.json", onceSlow)
	p := l.start("run", "order.json", "--no-clickhouse", "--session", "order-1")
	until(t, "the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(l.dir, "begun"))
		return err == nil
	})
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait())
	require.Contains(t, p.err.String(), `
Next: windlass resume last  continues where it stopped
      windlass show last    what it did and cost, phase by phase
      windlass replay last  how it went, once more
`)
	p = l.run(exitFailed, "resume", "last")
	require.Contains(t, p.err.String(), "\nNext: windlass resume last  runs send_order again: find out first what it did\n")
	require.Contains(t, p.err.String(), "\nTry: find out what send_order did; windlass resume order-1 then runs it again, from the beginning\n")
	require.Contains(t, l.run(exitOK, "show", "order-1").out.String(), "try       windlass resume order-1  runs send_order again: find out first what it did\n")
	require.Equal(t, "sent\n", strings.TrimPrefix(l.run(exitOK, "resume", "order-1", "--quiet").out.String(), "\n"))
}

// TestTypedAgain: a command that is proposed has the flags that were typed, and can be typed as it is.
func TestTypedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", `{"cascade_id": "ask", "inputs_schema": {"a": "one", "b": "two"}, "phases": [{"name": "one", "instructions": "{{ input.a }} {{ input.b }}"}]}`)
	p := l.run(exitUsage, "run", "ask.json", "--offline", "--max-usd", "0.5", "-m", "one=gpt-5-mini", "-m", "x y", "--input", "a=1 2", "--session", "s")
	require.Contains(t, p.err.String(), "\nTry: windlass run ask.json --max-usd 0.5 --model one=gpt-5-mini --model 'x y' --offline --input 'a=1 2' --input b=...\n")
	l.file("in.json", `{}`)
	p = l.run(exitUsage, "run", "ask.json", "--quiet=false", "--input-file", "in.json", "--input-json", `{"a": "it's"}`)
	require.Contains(t, p.err.String(), "\nTry: windlass run ask.json --quiet=false --input-file in.json --input-json '{\"a\": \"it'\\''s\"}' --input b=...\n")
}

// TestChangedCascade: what a resume says of a file that has changed is a command that can be typed.
func TestChangedCascade(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("two.json", `{"cascade_id": "two", "phases": [{"name": "one", "instructions": "x"}, {"name": "next", "instructions": "y", "rules": {"loop_until": "min_words:2"}}]}`)
	l.file("two.script.json", `{"default": [{"text": "Done."}]}`)
	p := l.run(exitFailed, "run", "two.json", "--offline", "--no-clickhouse", "--session", "t1")
	require.Contains(t, p.err.String(), "\nNext: windlass resume last --fork next  begins the phase again, in a new session\n")
	l.file("order.json", onceSlow)
	p = l.start("run", "order.json", "--no-clickhouse", "--session", "t2")
	until(t, "the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(l.dir, "begun"))
		return err == nil
	})
	require.NoError(t, p.Process.Signal(os.Interrupt))
	p.wait()
	l.file("order.json", strings.Replace(onceSlow, "echo sent", "echo 'sent now'", 1))
	p = l.run(exitFailed, "resume", "t2")
	const command = "resume t2 --fork one --cascade order.json"
	require.Contains(t, p.err.String(), "continues with the cascade as it was; windlass "+command+" takes the new one, in a new session.\n")
	require.Equal(t, "sent now\n", l.run(exitOK, append(strings.Fields(command), "--quiet")...).out.String())
}

// TestNearestNames: of a name that means no session the names are proposed that are like it, and no others.
func TestNearestNames(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	for _, id := range []string{"pumps", "pumps_slow"} {
		l.file(id+".json", `{"cascade_id": "`+id+`", "phases": [{"name": "one", "instructions": "x"}]}`)
		l.file(id+".script.json", `{"default": [{"text": "Done."}]}`)
		l.run(exitOK, "run", id+".json", "--offline", "--quiet")
	}
	for name, near := range map[string]string{
		"las": "; the nearest is last", "pump": "; the nearest are pumps, pumps_slow", "pumps_slo": "; the nearest is pumps_slow", "nothing": "",
	} {
		require.Equal(t, "Error: no session \""+name+"\" on this machine or in ClickHouse"+near+"\nTry: windlass sessions list\n",
			l.run(exitUsage, "show", name).err.String())
	}
	require.Equal(t, l.run(exitOK, "sessions", "list", "--limit", "1", "--json").out.String(), l.run(exitOK, "sessions", "--limit", "1", "--json").out.String())
	require.Contains(t, l.run(exitOK, "test", "freeze", "last").out.String(), "Wrote tests/pumps_slow.test.json: ")
	require.NoError(t, os.Rename(filepath.Join(l.dir, "tests"), filepath.Join(l.dir, "checks")))
	require.Equal(t, "Error: there are no tests: tests does not exist\nTry: windlass test freeze SESSION --name NAME makes one; windlass test run DIR runs those of a folder\n",
		l.run(exitUsage, "test", "run").err.String())
}
