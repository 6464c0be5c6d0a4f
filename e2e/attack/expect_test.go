//go:build unix

package attack

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/e2e/lab"
)

// The exit codes of windlass that attempts are to meet.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
)

// check is something that an outcome is to meet; it returns what it met instead.
type check func(w *lab.World, o *lab.Outcome) error

// met returns the first of what an attempt did not meet; what no attempt may reach comes first.
func met(w *lab.World, o *lab.Outcome, checks ...check) error {
	if err := w.Held(o); err != nil {
		return err
	}
	for _, c := range checks {
		if err := c(w, o); err != nil {
			return err
		}
	}
	return nil
}

// refused demands that every tool call failed, with a text in each result.
func refused(text string) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		if len(o.Tools) == 0 {
			return fmt.Errorf("no tool was called: exit %d, %s%s", o.Code, o.Out, o.Err)
		}
		for _, r := range o.Tools {
			if !r.Failed {
				return fmt.Errorf("%s did it: %q", r.Name, clip(r.Text))
			}
			if !strings.Contains(r.Text, text) {
				return fmt.Errorf("%s failed for another reason: %q, which does not say %q", r.Name, clip(r.Text), text)
			}
		}
		return nil
	}
}

// answered demands that every tool call succeeded with exactly this text.
func answered(text string) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		if len(o.Tools) == 0 {
			return fmt.Errorf("no tool was called: exit %d, %s%s", o.Code, o.Out, o.Err)
		}
		for _, r := range o.Tools {
			if r.Failed || r.Text != text {
				return fmt.Errorf("%s returned %q, not %q (failed: %v)", r.Name, clip(r.Text), clip(text), r.Failed)
			}
		}
		return nil
	}
}

// exits demands an exit code and a text on standard error.
func exits(code int, text string) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		if o.Code != code || !strings.Contains(o.Err, text) {
			return fmt.Errorf("exit code %d, not %d, or standard error does not say %q: %q, %q", o.Code, code, text, clip(o.Out), clip(o.Err))
		}
		return nil
	}
}

// within demands that no result of a tool has more bytes.
func within(result int) check {
	return func(_ *lab.World, o *lab.Outcome) error {
		for _, r := range o.Tools {
			if len(r.Text) > result {
				return fmt.Errorf("%s returned %d bytes, more than %d", r.Name, len(r.Text), result)
			}
		}
		return nil
	}
}

func clip(s string) string {
	const shown = 400
	if len(s) > shown {
		return s[:shown] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

// calls is an attempt in which a model makes calls of tools.
type calls struct {
	name    string
	calls   []lab.Call
	tools   []any
	flags   []string
	one     bool // one after the other
	prepare func(w *lab.World)
	want    []check
}

func (c calls) attempt() attempt {
	return attempt{c.name, func(w *lab.World) error {
		if c.prepare != nil {
			c.prepare(w)
		}
		return met(w, w.Ask(lab.Asked{Calls: c.expand(w), Tools: c.tools, Flags: c.flags, One: c.one}), c.want...)
	}}
}

// expand puts the folders of the world into arguments: {outside}, {dir}, {home}, {marker}, {base}.
func (c calls) expand(w *lab.World) []lab.Call {
	out := make([]lab.Call, len(c.calls))
	for i, call := range c.calls {
		out[i] = lab.Call{Tool: call.Tool, Args: map[string]any{}}
		for k, v := range call.Args {
			if s, ok := v.(string); ok {
				v = in(w, s)
			}
			out[i].Args[k] = v
		}
	}
	return out
}

// in puts the folders of a world into a text.
func in(w *lab.World, s string) string {
	return strings.NewReplacer("{outside}", w.Outside, "{dir}", w.Dir, "{home}", w.Home, "{marker}", w.Marker, "{base}", w.Base).Replace(s)
}

// command is an attempt with a command line of windlass.
type command struct {
	name    string
	args    []string
	files   map[string]string
	stdin   string
	prepare func(w *lab.World)
	want    []check
}

func (c command) attempt() attempt {
	return attempt{c.name, func(w *lab.World) error {
		for name, text := range c.files {
			w.File(name, in(w, text))
		}
		if c.prepare != nil {
			c.prepare(w)
		}
		args := make([]string, len(c.args))
		for i, a := range c.args {
			args[i] = in(w, a)
		}
		return met(w, w.Input(c.stdin, args...), c.want...)
	}}
}

// of makes a list of rows attempts.
func of[R interface{ attempt() attempt }](rows []R) []attempt {
	out := make([]attempt, len(rows))
	for i, r := range rows {
		out[i] = r.attempt()
	}
	return out
}

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
