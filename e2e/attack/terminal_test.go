//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/windlass-run/windlass/e2e/lab"
)

// terminal is about what would command the terminal of whoever looks: nothing of models, tools, files, cascades and
// records reaches it, neither in the live view nor in plain lines.
func terminal() group {
	return group{
		name: "terminal",
		mutant: mutant{"the removal of control characters from answers", []lab.Edit{{
			File: "internal/term/summary/summary.go",
			Old:  "\t\ttext = term.WithoutControls(text)\n",
			New:  "",
		}}},
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, name := range sortedKeys(sequences) {
				out = append(out, answering("answer: "+name, sequences[name], false), answering("tool: "+name, sequences[name], true))
			}
			for _, s := range shows {
				out = append(out, s.attempt(false), s.attempt(true))
			}
			return out
		},
	}
}

// sequences command a terminal, or change what is read on it.
var sequences = map[string]string{
	"title": "\x1b]0;owned\x07", "clear": "\x1b[2J\x1b[H", "colour": "\x1b[31mowned", "clipboard": "\x1b]52;c;b3duZWQ=\x07", "link": "\x1b]8;;http://evil\x1b\\owned\x1b]8;;\x1b\\",
	"reset": "\x1bc", "device string": "\x1bP+q544e\x1b\\", "application command": "\x1b_owned\x1b\\", "8-bit CSI": "\u009b31mowned", "8-bit OSC": "\u009d0;owned\u009c", "bell": "\aowned",
	"backspaces": "good\b\b\b\bevil", "carriage return": "good\revil", "bidirectional": "\u202eowned\u202c", "isolate": "\u2066owned\u2069", "delete": "\x7f", "report": "\x1b[6n\x1b[c", "alternate screen": "\x1b[?1049h",
	"scroll": "\x1b[10S\x1b[5;10r", "print": "\x1b[5i", "shift out": "\x0e\x0f", "vertical tab": "a\vb\fc", "keyboard": "\x1b[>4;2m", "notification": "\x1b]9;owned\x07\x1b]777;notify;a;b\x07",
}

// everything is all sequences in one text.
func everything() string {
	var b strings.Builder
	for _, name := range sortedKeys(sequences) {
		b.WriteString("<" + sequences[name] + ">")
	}
	return b.String()
}

// own are the sequences that windlass itself sends.
var own = regexp.MustCompile("\x1b\\[\\d*A|\x1b\\[K|\x1b\\[J|\x1b\\[(0|1|2|31|32|33|36)m")

// drawnAnew is how a line of progress begins that takes the place of the one before.
var drawnAnew = regexp.MustCompile(`^(   |\d+ of \d+ |c  )`)

// shownClean demands that no text of an attacker commands the terminal.
func shownClean(text string) error {
	if i := strings.Index(text, "\x1b[31mowned"); i >= 0 {
		return errorf("a text has the terminal paint it: %q", around(text, i))
	}
	clean := own.ReplaceAllStringFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(s string) string { return strings.Repeat(" ", len(s)) })
	for i, r := range clean {
		switch {
		case r == '\n' || r == '\t' || r == '\r' && drawnAnew.MatchString(clean[i+1:]):
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return errorf("the character %U reaches the terminal: %q", r, around(clean, i))
		}
	}
	return nil
}

func around(text string, i int) string {
	const n = 120
	return text[max(0, i-n):min(len(text), i+n)]
}

// answering shows an answer of a model, or the result of a tool and what the model says of it, on a terminal.
func answering(name, text string, tool bool) attempt {
	return attempt{name, func(w *lab.World) error {
		phase := map[string]any{"name": "p", "instructions": "x"}
		turns := []any{map[string]any{"text": "before " + text + " after"}}
		if tool {
			w.File("a.txt", text)
			phase["tackle"] = []string{"read_file", "list_files"}
			w.File("name "+strings.Map(printableName, text)+".txt", "x")
			turns = []any{map[string]any{"text": text, "calls": []any{
				map[string]any{"tool": "read_file", "arguments": map[string]any{"path": "a.txt"}},
				map[string]any{"tool": "read_file", "arguments": map[string]any{"path": text}},
				map[string]any{"tool": "list_files", "arguments": map[string]any{"path": "."}},
			}}, map[string]any{"text": "{{ results[0].text }}{{ results[1].text }}{{ results[2].text }}"}}
		}
		w.JSON("../cascade/c.json", map[string]any{"cascade_id": "c", "phases": []any{phase}})
		w.JSON("../cascade/c.script.json", map[string]any{"default": turns})
		o := w.Terminal("run", "../cascade/c.json", "--offline", "--no-clickhouse")
		if err := met(w, o); err != nil {
			return err
		}
		if o.Code != exitOK {
			return errorf("the run failed, so nothing was shown: %q", o.Out)
		}
		return shownClean(o.Out)
	}}
}

// printableName takes from a text what cannot be in the name of a file.
func printableName(r rune) rune {
	if r == '/' || r == 0 {
		return '_'
	}
	return r
}

// show is a command that shows a text which somebody else wrote.
type show struct {
	name    string
	prepare func(w *lab.World, text string)
	args    []string
}

// ran makes a session with the id "s" whose texts are all hostile.
func ran(w *lab.World, text string) {
	w.File("a.txt", text)
	w.JSON("c.json", map[string]any{
		"cascade_id": "c " + text, "description": text, "tags": []string{text}, "inputs_schema": map[string]any{"v": text},
		"phases": []any{map[string]any{
			"name": "p", "instructions": text + " {{ input.v }}", "tackle": []string{"read_file", "set_state"}, "rules": map[string]any{"loop_until": "regex:" + regexp.QuoteMeta(text) + "2", "max_attempts": 2},
			"callouts": "note",
		}},
	})
	call := map[string]any{"text": text, "calls": []any{
		map[string]any{"tool": "read_file", "arguments": map[string]any{"path": "a.txt"}},
		map[string]any{"tool": "read_file", "arguments": map[string]any{"path": text}},
		map[string]any{"tool": "set_state", "arguments": map[string]any{"key": "todo", "value": "- [ ] " + text}},
	}}
	w.JSON("c.script.json", map[string]any{"phases": map[string]any{"p": map[string]any{"attempts": []any{[]any{call, map[string]any{"text": text + "1"}}, []any{map[string]any{"text": text + "3"}}}}}})
	w.JSON("input.json", map[string]any{"v": text})
	o := w.Run("run", "c.json", "--offline", "--no-clickhouse", "--session", "s", "--input-file", "input.json", "-q")
	if _, err := os.Stat(filepath.Join(w.Home, "sessions", "s")); err != nil {
		w.T.Fatalf("the session was not made: %s%s", o.Out, o.Err)
	}
}

func file(name string) func(*lab.World, string) {
	return func(w *lab.World, text string) { w.File(name, text) }
}

func value1(v func(text string) any) func(*lab.World, string) {
	return func(w *lab.World, text string) { w.JSON("c.json", v(text)) }
}

var shows = []show{
	{"sessions list", ran, []string{"sessions", "list", "--no-clickhouse"}},
	{"sessions show", ran, []string{"sessions", "show", "s", "--no-clickhouse"}},
	{"handoff", ran, []string{"sessions", "handoff", "s", "--no-clickhouse"}},
	{"context show", ran, []string{"context", "show", "s", "1", "--no-clickhouse"}},
	{"context stats", ran, []string{"context", "stats", "s", "--no-clickhouse"}},
	{"context diff", ran, []string{"context", "diff", "s", "1", "2", "--no-clickhouse"}},
	{"context select", ran, []string{"context", "select", "s", "--task", "a note", "--no-clickhouse"}},
	{"replay", ran, []string{"replay", "s", "--speed", "0"}},
	{"replay list", ran, []string{"replay", "s", "--list"}},
	{"verify", ran, []string{"verify", "s"}},
	{"resume", ran, []string{"resume", "s", "--no-clickhouse"}},
	{"an id", ran, []string{"sessions", "show", "\x1b]0;owned\x07\u202e", "--no-clickhouse"}},
	{"failed run", func(w *lab.World, text string) {
		ran(w, text)
	}, []string{"run", "c.json", "--offline", "--no-clickhouse", "--input-file", "input.json"}},
	{"validate: a value", value1(func(s string) any { return map[string]any{"cascade_id": s, "phases": s} }), []string{"validate", "c.json"}},
	{"validate: a key", value1(func(s string) any { return map[string]any{"cascade_id": "c", s: 1, "phases": []any{}} }), []string{"validate", "c.json"}},
	{"validate: a template", value1(func(s string) any {
		return map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": "p", "instructions": "{{ " + s + " }}"}}}
	}), []string{"validate", "c.json"}},
	{"validate: a name", value1(func(s string) any {
		return map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": s, "instructions": "x"}}}
	}), []string{"validate", "c.json"}},
	{"validate: a tool", value1(func(s string) any {
		return map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": "p", "instructions": "x", "tackle": []string{s}}}}
	}), []string{"validate", "c.json"}},
	{"validate: JSON as it is", file("c.json"), []string{"validate", "c.json"}},
	{"validate: JSON with raw controls", func(w *lab.World, s string) { w.File("c.json", `{"cascade_id": "`+s+`", "phases": 1}`) }, []string{"validate", "c.json"}},
	{"validate: YAML", func(w *lab.World, s string) { w.File("c.yaml", "cascade_id: c # "+s+"\nphases: 1 # "+s+"\n") }, []string{"validate", "c.yaml"}},
	{"validate: YAML with escapes", func(w *lab.World, s string) {
		w.File("c.yaml", "cascade_id: "+encoded(s)+"\nphases: "+encoded(s)+"\n")
	}, []string{"validate", "c.yaml"}},
	{"validate: a file's name", func(w *lab.World, s string) { w.File("\x1b]0;owned\x07\u202e.json", "{}") }, []string{"validate", "\x1b]0;owned\x07\u202e.json"}},
	{"run: a file that is not there", func(*lab.World, string) {}, []string{"run", "\x1b]0;owned\x07\u202e.json"}},
	{"windlass.json", func(w *lab.World, s string) { w.JSON("windlass.json", map[string]any{s: 1, "default_model": 3}) }, []string{"run", "c.json"}},
	{"a script", func(w *lab.World, s string) {
		w.JSON("c.json", map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": "p", "instructions": "x"}}})
		w.JSON("c.script.json", map[string]any{s: 1, "phases": map[string]any{"p": []any{map[string]any{"fail": map[string]any{"kind": s, "message": s}}}}})
	}, []string{"run", "c.json", "--offline", "--no-clickhouse"}},
	{"an error of a provider", func(w *lab.World, s string) {
		w.JSON("c.json", map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": "p", "instructions": "x"}}})
		w.JSON("c.script.json", map[string]any{"phases": map[string]any{"p": []any{map[string]any{"fail": map[string]any{"kind": "server", "message": s}}}}})
	}, []string{"run", "c.json", "--offline", "--no-clickhouse"}},
	{"an error of a tool", func(w *lab.World, s string) {
		w.JSON("c.json", map[string]any{"cascade_id": "c", "tools": []any{map[string]any{"tool_id": "t", "type": "shell", "command": "cat a.txt >&2; exit 3"}}, "phases": []any{map[string]any{"name": "p", "tool": "t"}}})
		w.File("a.txt", s)
	}, []string{"run", "c.json", "--no-clickhouse"}},
	{"an input that does not fit", func(w *lab.World, s string) {
		w.JSON("c.json", map[string]any{"cascade_id": "c", "inputs_schema": map[string]any{s: s}, "phases": []any{map[string]any{"name": "p", "instructions": "x"}}})
		w.JSON("input.json", map[string]any{s + "1": 1})
	}, []string{"run", "c.json", "--input-file", "input.json", "--offline", "--no-clickhouse"}},
	{"a test", func(w *lab.World, s string) {
		ran(w, s)
		w.Run("test", "freeze", "s", "--name", "t")
		w.JSON("c.script.json", 1)
		w.JSON("c.json", map[string]any{"cascade_id": "d", "inputs_schema": map[string]any{"v": "x"}, "phases": []any{map[string]any{"name": "p", "instructions": s + "changed", "rules": map[string]any{"max_turns": 3}, "tackle": []string{"read_file", "set_state"}}}})
	}, []string{"test", "run"}},
	{"a damaged journal", func(w *lab.World, s string) {
		ran(w, s)
		path := filepath.Join(w.Home, "sessions", "s", "journal.jsonl")
		data, err := os.ReadFile(path)
		w.Must(err)
		w.Must(os.WriteFile(path, []byte(strings.Replace(string(data), "\n", "\n"+s+"\n", 1)), 0o600))
	}, []string{"verify", "s"}},
	{"simulate", ran, []string{"simulate", "s"}},
}

func (s show) attempt(plain bool) attempt {
	name := "on a terminal: " + s.name
	if plain {
		name = "in plain lines: " + s.name
	}
	return attempt{name, func(w *lab.World) error {
		s.prepare(w, everything())
		if plain {
			o := w.Run(s.args...)
			if err := met(w, o); err != nil {
				return err
			}
			return shownClean(o.Err)
		}
		o := w.Terminal(s.args...)
		if err := met(w, o); err != nil {
			return err
		}
		if o.Out == "" {
			return errorf("nothing was shown (exit %d)", o.Code)
		}
		return shownClean(o.Out)
	}}
}
