//go:build unix

package attack

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// commands is about run_command: it runs what was allowed and nothing else, and nothing of it outlives the call.
func commands() group {
	return group{
		name: "commands",
		mutant: mutant{"the check of what follows a trusted command", []lab.Edit{{
			File: "internal/tool/shell.go",
			Old:  "if !word {\n\t\t\treturn false\n\t\t}",
			New:  "if !word {\n\t\t\tcontinue\n\t\t}",
		}}},
		attempts: func(*testing.T, string) []attempt {
			var rows []calls
			for _, line := range notAllowed {
				rows = append(rows, commandCall("without a grant: "+line, line, nil, refused("not allowed")))
			}
			for _, v := range behindTrusted {
				rows = append(rows, commandCall("behind a trusted command: "+v, "printf x"+v, trusting("printf *", "git status"), refused("not allowed")))
			}
			for _, line := range almostTrusted {
				rows = append(rows, commandCall("almost trusted: "+line, line, trusting("printf *", "git status", "true"), refused("not allowed")))
			}
			return append(append(of(rows), of(otherCommands)...), leftBehind()...)
		},
	}
}

// trusting writes a windlass.json that trusts commands.
func trusting(lines ...string) func(w *lab.World) {
	return func(w *lab.World) { w.JSON("windlass.json", map[string]any{"trusted_commands": lines}) }
}

func commandCall(name, line string, prepare func(*lab.World), want ...check) calls {
	return calls{name: name, prepare: prepare, want: want, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": line}}}}
}

var notAllowed = []string{
	"touch {marker}", "true", ":", " ", "cat {outside}/secret.txt", "sh -c 'touch {marker}'", "windlass run x.json", "\ttouch {marker}", "git status", "# nothing",
	"env", "sudo touch {marker}",
}

// behindTrusted is what a model writes behind the words of a command that is trusted with anything behind it.
var behindTrusted = []string{
	" ; touch {marker}", ";touch {marker}", " && touch {marker}", " || touch {marker}", " | touch {marker}", " & touch {marker}", " $(touch {marker})", " `touch {marker}`",
	" > {marker}", " >{marker}", " < {outside}/secret.txt", "\ntouch {marker}", " a\ntouch {marker}", "\rtouch {marker}", " 'a'", ` "$(touch {marker})"`, ` \;touch`, " *", " ?", " [a]",
	" {a,b}", " ~", " !!", " #", " $HOME", " ${HOME}", " <(touch {marker})", " a\x00b", " ’a’", " a\tb", " (touch {marker})", " a=b^c", " \u00a0touch",
}

var almostTrusted = []string{
	"printfx", "print", "xprintf a", "git status; touch {marker}", "git status --porcelain", "git  status -s", "git statusx", "git\nstatus", "GIT status", "true;", "true &", "true\ttouch", "./true", "x=1 true",
	"true true", "/bin/true", "exec true", "'true'", "printf\ta",
}

var otherCommands = []calls{
	{
		name: "flood", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "head -c 300000000 /dev/zero | tr '\\0' x"}}},
		want: []check{within(80 << 10)},
	},
	{
		name: "flood of errors", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "head -c 300000000 /dev/zero | tr '\\0' x >&2"}}},
		want: []check{within(80 << 10)},
	},
	{
		name: "waits for input", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "cat; read x; echo end"}}},
		want: []check{lacks("Go on")},
	},
	{
		name: "more time than there is", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "true", "timeout_seconds": 1e300}}},
		want: []check{refused("")},
	},
	{
		name: "time that is no number", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "true", "timeout_seconds": -1}}},
		want: []check{refused("")},
	},
	{
		name: "sleeps on", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "trap '' TERM; sleep 1000", "timeout_seconds": 0.2}}},
		want: []check{refused("timed out")},
	},
	{
		name: "the tool of validators", calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "touch {marker}", "stdin": "x"}}}, want: []check{refused("")},
	},
	{
		name: "stdin of a command", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": "cat", "stdin": "x"}}}, want: []check{refused("")},
	},
	{
		name: "a list for a command", flags: []string{"--allow-commands"}, calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": []any{"touch", "{marker}"}}}}, want: []check{refused("")},
	},
}

// leftBehind start something that is to go on when the command has ended.
func leftBehind() []attempt {
	ways := map[string]string{
		"background": "sleep %s & echo", "nohup": "nohup sleep %s >/dev/null 2>&1 & echo", "setsid": "setsid sleep %s >/dev/null 2>&1 & echo",
		"twice": "(setsid sh -c 'sleep %s' & ) & echo", "without the pipe": "sleep %s <&- >&- 2>&- & echo",
	}
	var out []attempt
	for _, name := range sortedKeys(ways) {
		seconds := fmt.Sprint(10_000_000 + rand.IntN(80_000_000)) // by which the process is known, whoever else runs attacks
		out = append(out, attempt{"left behind: " + name, func(w *lab.World) error {
			o := w.Ask(lab.Asked{Calls: []lab.Call{{Tool: "run_command", Args: map[string]any{"command": fmt.Sprintf(ways[name], seconds)}}}, Flags: []string{"--allow-commands"}})
			if err := met(w, o, answered("[no output]")); err != nil {
				return err
			}
			return gone(w, "sleep "+seconds)
		}})
	}
	return out
}

// gone demands that no process has this command line. One that was killed is listed until the system has ended it.
func gone(w *lab.World, line string) error {
	w.T.Helper()
	for range 1000 {
		out, err := exec.Command("ps", "-A", "-ww", "-o", "stat=,args=").Output()
		w.Must(err)
		left := ""
		for l := range strings.Lines(string(out)) {
			if f := strings.TrimSpace(l); strings.Contains(f, line) && !strings.HasPrefix(f, "Z") {
				left = f
			}
		}
		if left == "" {
			return nil
		}
	}
	return errorf("%q is still running", line)
}
