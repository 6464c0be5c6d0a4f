//go:build unix

package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// rulesOf is what the header of a journal says of its rules.
var rulesOf = regexp.MustCompile(`"rules":\d+`)

// rules makes a journal one of other rules.
func rules(n int) func(string) string {
	return func(s string) string {
		at := rulesOf.FindStringIndex(s)
		return s[:at[0]] + fmt.Sprintf(`"rules":%d`, n) + s[at[1]:]
	}
}

// record is about journals and the folders of sessions that somebody else has made or changed: nothing in them is run,
// followed out of the home, or taken for what happened.
func record() group {
	return group{
		name: "record",
		mutant: mutant{"the checksums of the journal", []lab.Edit{{
			File: "echo/journal/chain/sum.go",
			Old:  "if !ok || sum != s.Next(line[:len(line)-Size]) {",
			New:  "if !ok {",
		}}},
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, id := range hostileIDs {
				for _, c := range sessionCommands {
					out = append(out, c.with(id).attempt())
				}
			}
			for _, name := range sortedKeys(forgeries) {
				out = append(out, forgery("verify: "+name, forgeries[name], "verify", "s"), forgery("resume: "+name, forgeries[name], "resume", "s", "--no-clickhouse"))
			}
			for _, name := range sortedKeys(hostileFolders) {
				for _, args := range [][]string{{"sessions", "list", "--no-clickhouse"}, {"sessions", "show", "s", "--no-clickhouse"}, {"verify", "s"}, {"resume", "s", "--no-clickhouse"}, {"replay", "s", "--speed", "0"}, {"run", "c.json", "--offline", "--no-clickhouse", "-q", "--session", "s"}} {
					out = append(out, folder(name, hostileFolders[name], args))
				}
			}
			return append(out, of(hostileSessions)...)
		},
	}
}

var hostileIDs = []string{"../../outside", "..", ".", "/etc", "a/b", "s\x1b[2J", "-s", "--help", "s/../s", strings.Repeat("a", 300), "s%2f..", "", "s\n", "*", "s\\..\\..", "ſ"}

type sessionCommand []string

var sessionCommands = []sessionCommand{
	{"sessions", "show", "ID", "--no-clickhouse"},
	{"verify", "ID"},
	{"resume", "ID", "--no-clickhouse"},
	{"replay", "ID"},
	{"context", "show", "ID", "1", "--no-clickhouse"},
	{"run", "c.json", "--offline", "--no-clickhouse", "--session", "ID"},
	{"test", "freeze", "ID"},
}

func (c sessionCommand) with(id string) command {
	args := make([]string, len(c))
	for i, a := range c {
		args[i] = strings.ReplaceAll(a, "ID", id)
	}
	want := []check{fails}
	if id == "--help" || id == "" && c[0] == "run" { // the help, and a new id
		want = nil
	}
	return command{name: "id: " + c[0] + " " + c[1] + ": " + clip(id), args: args, want: want, prepare: func(w *lab.World) {
		good(w)
		w.Must(os.MkdirAll(filepath.Join(w.Outside, "work"), 0o700))
		w.Settle()
	}}
}

// session makes a session "s" whose only tool call was of a declared tool that costs something to repeat.
func session(w *lab.World) string {
	w.File("c.json", `{"cascade_id": "c", "tools": [{"tool_id": "t", "type": "shell", "command": "echo honest"}], "phases": [{"name": "p", "tool": "t"}, {"name": "q", "instructions": "x", "tackle": ["t"]}]}`)
	w.File("c.script.json", `{"phases": {"q": [{"calls": [{"tool": "t", "arguments": {}}]}, {"text": "done"}]}}`)
	if o := w.Run("run", "c.json", "--offline", "--no-clickhouse", "-q", "--session", "s"); o.Code != exitOK {
		w.T.Fatalf("the session was not made: %s", o.Err)
	}
	return filepath.Join(w.Home, "sessions", "s", "journal.jsonl")
}

// forgeries change the journal of a session.
var forgeries = map[string]func(string) string{
	"an output": replace("honest", "forged"),
	"a number":  replace(`"duration_ms":`, `"duration_ms":1`),
	"a key":     replace(`"node_type":"model_call"`, `"node_type":"model_cal1"`),
	"a letter of a sum": func(s string) string {
		i := strings.LastIndex(s, `"sum":"`)
		return s[:i+7] + "0000000000000000" + s[i+23:]
	},
	"a line less": func(s string) string {
		l := strings.SplitAfter(s, "\n")
		return strings.Join(append(l[:3:3], l[4:]...), "")
	},
	"a line twice": func(s string) string {
		l := strings.SplitAfter(s, "\n")
		return strings.Join(append(l[:4:4], l[3:]...), "")
	},
	"two lines changed over": func(s string) string {
		l := strings.SplitAfter(s, "\n")
		l[3], l[4] = l[4], l[3]
		return strings.Join(l, "")
	},
	"a line of another": func(s string) string {
		return s + `{"session_id":"other","seq":99,"node_type":"run_end","key":"run/end"}` + "\n"
	},
	"another session's name": replace(`"session_id":"s"`, `"session_id":"t"`),
	"the command":            replace("echo honest", "touch {marker}"),
	"the rights":             replace(`"options":{`, `"options":{"allow_commands":true,`),
	"the folder":             replace(`"roots":["{dir}"]`, `"roots":["{outside}"]`),
	"a space":                replace(`{"session_id"`, `{ "session_id"`),
	"a member more":          replace(`"node_type":"run_end"`, `"extra":1,"node_type":"run_end"`),
	"a member twice":         replace(`"node_type":"run_end"`, `"node_type":"run_start","node_type":"run_end"`),
	"no UTF-8":               replace("honest", "hon\xff\xfe"),
	"NUL":                    replace("honest", "hon\x00est"),
	"a deep value":           replace(`"data":{`, `"data":{"x":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+`,`),
	"a huge line":            func(s string) string { return s + strings.Repeat("a", 40<<20) + "\n" },
	"a huge number":          replace(`"seq":3`, `"seq":99999999999999999999999`),
	"a negative number":      replace(`"seq":3`, `"seq":-3`),
	"another format":         replace(`"windlass_journal":3`, `"windlass_journal":99`),
	"an old format":          replace(`"windlass_journal":3`, `"windlass_journal":2`),
	"other rules":            rules(99),
	"older rules":            rules(1),
	"no header":              func(s string) string { return s[strings.IndexByte(s, '\n')+1:] },
	"two headers":            func(s string) string { i := strings.IndexByte(s, '\n') + 1; return s[:i] + s },
	"nothing":                func(string) string { return "" },
	"only noise":             func(string) string { return strings.Repeat("\x00\xff{", 10_000) },
	"line ends of Windows":   func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

// forgery changes a session's journal and demands that the command does not take it for what happened.
func forgery(name string, change func(string) string, args ...string) attempt {
	return attempt{"forged: " + name, func(w *lab.World) error {
		path := session(w)
		data, err := os.ReadFile(path)
		w.Must(err)
		text := string(data)
		changed := in(w, change(strings.ReplaceAll(text, w.Dir, "{dir}")))
		if changed == text {
			w.T.Fatal("the forgery changes nothing")
		}
		if args[0] == "resume" { // there has to be something left to do
			changed = strings.Replace(changed, changed[strings.LastIndex(strings.TrimSuffix(changed, "\n"), "\n")+1:], "", 1)
		}
		w.Must(os.WriteFile(path, []byte(changed), 0o600))
		return met(w, w.Run(args...), fails)
	}}
}

// hostileFolders change the folder of a session, which has the path dir.
var hostileFolders = map[string]func(w *lab.World, dir string){
	"the journal is a pipe":   func(w *lab.World, dir string) { special(w, dir, func(p string) { w.Must(lab.Mkfifo(p)) }) },
	"the journal is a folder": func(w *lab.World, dir string) { special(w, dir, func(p string) { w.Must(os.Mkdir(p, 0o700)) }) },
	"the journal is a device": func(w *lab.World, dir string) { special(w, dir, func(p string) { w.Must(os.Symlink(w.Device(), p)) }) },
	"the journal is a link out": func(w *lab.World, dir string) {
		special(w, dir, func(p string) { w.Must(os.Symlink(filepath.Join(w.Outside, "secret.txt"), p)) })
	},
	"the journal is a terabyte": func(w *lab.World, dir string) { w.Must(os.Truncate(filepath.Join(dir, "journal.jsonl"), 1<<40)) },
	"the lock is a pipe": func(w *lab.World, dir string) {
		p := filepath.Join(dir, "lock")
		w.Must(os.Remove(p))
		w.Must(lab.Mkfifo(p))
	},
	"the lock is a link out": func(w *lab.World, dir string) {
		p := filepath.Join(dir, "lock")
		w.Must(os.Remove(p))
		w.Must(os.Symlink(filepath.Join(w.Outside, "secret.txt"), p))
	},
	"the marks are a pipe": func(w *lab.World, dir string) {
		p := filepath.Join(dir, "shipped.json")
		w.Must(os.Remove(p))
		w.Must(lab.Mkfifo(p))
	},
	"the marks are noise": func(w *lab.World, dir string) {
		w.Must(os.WriteFile(filepath.Join(dir, "shipped.json"), []byte(strings.Repeat("[", 1<<20)), 0o600))
	},
	"the work folder is a link": func(w *lab.World, dir string) {
		p := filepath.Join(dir, "work")
		w.Must(os.RemoveAll(p))
		w.Must(os.Symlink(w.Outside, p))
	},
	"the session is a link out": func(w *lab.World, dir string) { w.Must(os.RemoveAll(dir)); w.Must(os.Symlink(w.Outside, dir)) },
	"the session is a pipe":     func(w *lab.World, dir string) { w.Must(os.RemoveAll(dir)); w.Must(lab.Mkfifo(dir)) },
}

func special(w *lab.World, dir string, make func(path string)) {
	path := filepath.Join(dir, "journal.jsonl")
	w.Must(os.Remove(path))
	make(path)
}

func folder(name string, change func(*lab.World, string), args []string) attempt {
	return attempt{"folder: " + name + ": " + strings.Join(args[:2], " "), func(w *lab.World) error {
		change(w, filepath.Dir(session(w)))
		o := w.Run(args...)
		if args[0] == "run" { // the id is taken
			return met(w, o, fails)
		}
		return met(w, o)
	}}
}

// hostileSessions are sessions that somebody has put there, to be resumed.
var hostileSessions = []command{
	given("a command in its cascade", func(w *lab.World, text string) string {
		return strings.ReplaceAll(text, "echo honest", "touch "+w.Marker)
	}),
	given("a right", func(_ *lab.World, text string) string {
		return strings.Replace(text, `"options":{`, `"options":{"allow_commands":true,`, 1)
	}),
	given("another folder", func(w *lab.World, text string) string {
		return strings.ReplaceAll(text, `"`+w.Dir+`"`, `"`+w.Outside+`"`)
	}),
	given("a script elsewhere", func(w *lab.World, text string) string {
		return strings.ReplaceAll(text, w.Path("c.script.json"), filepath.Join(w.Outside, "secret.txt"))
	}),
	given("an environment", func(_ *lab.World, text string) string {
		return strings.Replace(text, `"options":{`, `"options":{"allow_env":["OPENAI_API_KEY"],`, 1)
	}),
	given("another work folder", func(w *lab.World, text string) string {
		return strings.ReplaceAll(text, filepath.Join(w.Home, "sessions", "s", "work"), w.Outside)
	}),
}

// given changes a session that was interrupted before it ended.
func given(name string, change func(w *lab.World, text string) string) command {
	return command{name: "given: " + name, args: []string{"resume", "s", "--no-clickhouse"}, want: []check{fails}, prepare: func(w *lab.World) {
		path := session(w)
		data, err := os.ReadFile(path)
		w.Must(err)
		lines := strings.SplitAfter(string(data), "\n")
		w.Must(os.WriteFile(path, []byte(change(w, strings.Join(lines[:3], ""))), 0o600))
	}}
}
